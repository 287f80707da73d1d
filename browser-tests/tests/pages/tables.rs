//! The tables of counts on pages, as texts, and the same from the API.

use serde_json::Value;

use super::{Page, Site};

/// A table of counts: the names of the columns, and each row with its name, its sum and its cells, as `succeeded/expected`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<String>>)>,
}

/// The part of a page with an id.
pub(crate) fn section<'a>(page: &'a Page, id: &str) -> &'a str {
    let (_, rest) = page.html.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("{id}: {page:?}"));
    rest.split("</section>").next().unwrap()
}

/// The text of HTML without its elements.
pub(crate) fn text(html: &str) -> String {
    html.split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The table in a part of a page.
pub(crate) fn shown(html: &str) -> Counted {
    let (head, body) = html.split_once("<tbody>").unwrap();
    let columns = head.split("<th scope=\"col\">").skip(3).map(|rest| text(rest.split("</th>").next().unwrap()));
    let row = |row: &str| {
        let (name, cells) = row.split_once("</th>").unwrap();
        let numbers = |cell: &str| text(cell).split_whitespace().find(|word| word.contains('/')).map(str::to_owned);
        let cells = cells.split("<td").skip(1).map(|cell| numbers(&format!("<td{cell}")));
        (text(&format!("<tr {name}")), cells.collect())
    };
    Counted { columns: columns.collect(), rows: body.split("<tr ").skip(1).map(row).collect() }
}

/// The table that the API answers to a reader. Groups without a value are named so.
pub(crate) async fn answered(site: &Site, token: &str, (query, without): (&str, &str)) -> Counted {
    let response = site.get(&format!("/api/v1/counts?{query}"), Some(token)).await;
    let table: Value = response.json().await.unwrap();
    let group = |axis: &str| table[axis].as_array().unwrap().clone();
    let name = |group: &Value| group["value"].as_str().unwrap_or(without).to_owned();
    let numbers = |counts: &Value| format!("{}/{}", counts["succeeded"], counts["expected"]);
    let (rows, columns) = (group("rows"), group("columns"));
    let cell = |row: usize, column: usize| {
        let cells = table["cells"].as_array().unwrap();
        let found = cells.iter().find(|cell| cell["row"] == row && cell["column"] == column);
        found.map(|cell| numbers(&cell["counts"]))
    };
    let row = |(at, row): (usize, &Value)| {
        let sum = Some(numbers(&row["counts"]));
        (name(row), std::iter::once(sum).chain((0..columns.len()).map(|column| cell(at, column))).collect())
    };
    Counted { columns: columns.iter().map(name).collect(), rows: rows.iter().enumerate().map(row).collect() }
}
