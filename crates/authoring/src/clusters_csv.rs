//! Reads clusters from CSV: a header with the names of labels, then a row for each cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::git_id::GitId;
use model::label;
use model::name::{ClusterName, ClusterTypeName, NameError};
use model::similar;
use model::source::{File, FileId, Files, Source};
use model::yaml::Span;

use crate::branch_files::EditRefusal;
use crate::objects::LabelList;

/// The column with the name.
const NAME: &str = "name";
/// The column with the cluster type.
const CLUSTER_TYPE: &str = "cluster-type";
/// The maximum number of errors that are reported.
const ERRORS_MAX: usize = 20;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterRow {
    /// The name of the cluster.
    pub name: ClusterName,
    /// Its cluster type.
    pub cluster_type: ClusterTypeName,
    /// Its labels, in the order of the columns.
    pub labels: LabelList,
}

/// Reads clusters. `cluster_type` is that of rows without one. Empty rows are left out. The separator is a comma, a semicolon or a tab, by the header.
///
/// # Errors
/// The wrong cells, with their places. No row counts then.
pub fn read(
    path: &str,
    content: &[u8],
    cluster_type: Option<&ClusterTypeName>,
) -> Result<Vec<ClusterRow>, EditRefusal> {
    let mut reader = Reader::new(path, content, cluster_type);
    let rows = reader.rows();
    if reader.diagnostics.is_empty() { Ok(rows) } else { Err(reader.refusal()) }
}

/// A cell with its range in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    text: String,
    span: Span,
}

struct Reader<'t> {
    text: &'t str,
    files: Files,
    file: FileId,
    cluster_type: Option<&'t ClusterTypeName>,
    diagnostics: Vec<Diagnostic>,
    names: BTreeMap<ClusterName, Span>,
}

impl<'t> Reader<'t> {
    fn new(path: &str, content: &'t [u8], cluster_type: Option<&'t ClusterTypeName>) -> Self {
        let mut files = Files::default();
        let source = Arc::new(Source::directory());
        let file = files.add(File { source, path: path.into(), id: GitId::of_blob(content), content: content.into() });
        let (diagnostics, names) = Default::default();
        let mut reader = Self { text: "", files, file, cluster_type, diagnostics, names };
        match std::str::from_utf8(content) {
            Ok(text) => reader.text = text,
            Err(error) => reader.problem(Span::at(error.valid_up_to()), "the file is not UTF-8"),
        }
        reader
    }

    fn refusal(mut self) -> EditRefusal {
        if self.diagnostics.len() > ERRORS_MAX {
            let more = self.diagnostics.len() - ERRORS_MAX;
            self.diagnostics.truncate(ERRORS_MAX);
            if let Some(last) = self.diagnostics.last_mut() {
                last.notes.push(format!("the file has {more} more errors"));
            }
        }
        EditRefusal { diagnostics: self.diagnostics, files: self.files }
    }

    fn problem(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(Code::InvalidRow, message).at(Origin::Span(self.file, span), ""));
    }

    fn help(&mut self, help: impl Into<String>) {
        if let Some(last) = self.diagnostics.last_mut() {
            last.help.push(help.into());
        }
    }

    fn rows(&mut self) -> Vec<ClusterRow> {
        let mut rows = records(self.text).into_iter().filter(|row| row.iter().any(|cell| !cell.text.is_empty()));
        let Some(header) = rows.next() else {
            self.problem(Span::at(0), "the file has no header");
            self.help(format!("its first line has the names of the columns: `{NAME},{CLUSTER_TYPE},region`"));
            return Vec::new();
        };
        let Some(columns) = self.columns(&header) else { return Vec::new() };
        rows.filter_map(|row| self.row(&columns, &row)).collect()
    }

    /// The columns of the header.
    fn columns(&mut self, header: &[Cell]) -> Option<Vec<Arc<str>>> {
        let mut columns: Vec<Arc<str>> = Vec::new();
        for cell in header {
            let plain = cell.text.to_ascii_lowercase().replace(['_', ' '], "-");
            let is_known = plain == NAME || plain == CLUSTER_TYPE || plain == "clustertype";
            let column = match plain.as_str() {
                NAME => NAME,
                CLUSTER_TYPE | "clustertype" => CLUSTER_TYPE,
                _ => &cell.text,
            };
            if columns.iter().any(|known| **known == *column) {
                self.problem(cell.span, format!("there are two columns `{column}`"));
            } else if !is_known && let Err(reason) = label::check_key(column) {
                self.problem(cell.span, format!("column `{}` can't be a label: {reason}", cell.text));
            }
            columns.push(column.into());
        }
        let has = |column: &str| columns.iter().any(|known| **known == *column);
        let missing = [NAME, CLUSTER_TYPE].into_iter().filter(|column| !has(column));
        let missing: Vec<_> = missing.filter(|column| *column == NAME || self.cluster_type.is_none()).collect();
        for column in missing {
            let first = header.first().map(|cell| cell.span).unwrap_or_default();
            self.problem(first, format!("there is no column `{column}`"));
            match similar::nearest(column, columns.iter().map(|column| &**column)) {
                Some(nearest) => self.help(format!("is it `{nearest}`?")),
                None if column == CLUSTER_TYPE => self.help("add it, or give all rows one type with --cluster-type"),
                None => {}
            }
        }
        self.diagnostics.is_empty().then_some(columns)
    }

    fn row(&mut self, columns: &[Arc<str>], row: &[Cell]) -> Option<ClusterRow> {
        let (first, last) = (row.first()?, row.last()?);
        let whole = Span { start: first.span.start, end: last.span.end };
        if row.len() != columns.len() {
            let (cells, expected) = (row.len(), columns.len());
            self.problem(whole, format!("this row has {cells} cells, the header has {expected}"));
            self.help("put texts with separators in double quotes");
            return None;
        }
        let before = self.diagnostics.len();
        let (mut name, mut cluster_type, mut labels) = (None, self.cluster_type.cloned(), Vec::new());
        for (column, cell) in columns.iter().zip(row) {
            match &**column {
                NAME => name = self.name(cell, whole),
                CLUSTER_TYPE if cell.text.is_empty() => {}
                CLUSTER_TYPE => cluster_type = self.parsed(cell, |text| ClusterTypeName::new(text)).or(cluster_type),
                _ if cell.text.is_empty() => {}
                _ => match label::check_value(&cell.text) {
                    Ok(()) => labels.push((Arc::clone(column), cell.text.as_str().into())),
                    Err(reason) => {
                        self.problem(cell.span, format!("`{}` can't be the value of a label: {reason}", cell.text));
                    }
                },
            }
        }
        if cluster_type.is_none() && self.diagnostics.len() == before {
            self.problem(whole, "this row has no cluster type");
        }
        (self.diagnostics.len() == before).then_some(ClusterRow { name: name?, cluster_type: cluster_type?, labels })
    }

    fn name(&mut self, cell: &Cell, row: Span) -> Option<ClusterName> {
        if cell.text.is_empty() {
            self.problem(row, "this row has no name");
            return None;
        }
        let name = self.parsed(cell, |text| ClusterName::new(text))?;
        if let Some(earlier) = self.names.insert(name.clone(), cell.span) {
            self.problem(cell.span, format!("cluster `{name}` is in two rows"));
            let file = self.file;
            if let Some(last) = self.diagnostics.pop() {
                self.diagnostics.push(last.at(Origin::Span(file, earlier), "the first one is here"));
            }
        }
        Some(name)
    }

    fn parsed<T>(&mut self, cell: &Cell, parse: impl FnOnce(&str) -> Result<T, NameError>) -> Option<T> {
        match parse(&cell.text) {
            Ok(name) => Some(name),
            Err(error) => {
                self.problem(cell.span, format!("`{}` is not a name: {error}", cell.text));
                None
            }
        }
    }
}

/// The rows of a text, by RFC 4180. Blanks around cells do not count.
fn records(text: &str) -> Vec<Vec<Cell>> {
    let start = crate::lines::mark(text);
    let header = crate::lines::line(text, start);
    let separator = [',', ';', '\t'].into_iter().find(|separator| header.contains(*separator)).unwrap_or(',');
    let (mut rows, mut row, mut at) = (Vec::new(), Vec::new(), start);
    while at < text.len() {
        let cell = cell(text, at, separator);
        let end = cell.end;
        row.push(Cell { text: cell.text, span: Span::new(cell.start, cell.end) });
        let rest = text.get(end..).unwrap_or_default();
        if rest.starts_with(separator) {
            at = end + separator.len_utf8();
            if at == text.len() {
                row.push(Cell { text: String::new(), span: Span::at(at) });
            }
            continue;
        }
        at = end + if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) };
        rows.push(std::mem::take(&mut row));
    }
    if !row.is_empty() {
        rows.push(row);
    }
    rows
}

struct ReadCell {
    text: String,
    start: usize,
    end: usize,
}

fn cell(text: &str, start: usize, separator: char) -> ReadCell {
    let rest = text.get(start..).unwrap_or_default();
    let Some(quoted) = rest.strip_prefix('"') else {
        let length = rest.find([separator, '\n']).unwrap_or(rest.len());
        let raw = rest.get(..length).unwrap_or_default();
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        return ReadCell { text: raw.trim().to_owned(), start, end: start + raw.len() };
    };
    let mut content = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character != '"' {
            content.push(character);
        } else if characters.next_if(|(_, next)| *next == '"').is_some() {
            content.push('"');
        } else {
            let end = start + 1 + at + 1;
            let behind = text.get(end..).unwrap_or_default();
            let blanks = behind.len() - behind.trim_start_matches(' ').len();
            return ReadCell { text: content, start, end: end + blanks };
        }
    }
    ReadCell { text: content, start, end: text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let refusal = read("stores.csv", text.as_bytes(), None).unwrap_err();
        let shown = |diagnostic: &Diagnostic| match &diagnostic.labels[0].origin {
            Origin::Span(_, span) => format!("{:?}: {}", text.get(span.range()).unwrap(), diagnostic.message),
            _ => diagnostic.message.clone(),
        };
        refusal.diagnostics.iter().map(shown).collect()
    }

    #[test]
    fn rows_are_clusters_with_labels() {
        let text =
            "\u{feff}Name;Cluster Type;region;line\r\nstore-001;store;west-us;\r\n\r\n\"store-002\" ; store ;\"a\";7";
        let rows = read("stores.csv", text.as_bytes(), None).unwrap();
        let shown: Vec<_> =
            rows.iter().map(|row| format!("{} {} {:?}", row.name, row.cluster_type, row.labels)).collect();
        assert_eq!(
            shown,
            [r#"store-001 store [("region", "west-us")]"#, r#"store-002 store [("region", "a"), ("line", "7")]"#]
        );
    }

    #[test]
    fn one_type_can_be_for_all_rows() {
        let store = ClusterTypeName::new("store").unwrap();
        let rows = read("stores.csv", b"name\na\n", Some(&store)).unwrap();
        assert_eq!((rows.len(), rows[0].cluster_type.as_str()), (1, "store"));
    }

    #[test]
    fn wrong_cells_are_reported_at_their_places() {
        assert_eq!(
            messages("name,cluster-type,region\nStore 1,s,a\nx,s\nx,s,b\nx,s,\"a\"\"b\"\n,s,a\ny,,a\n"),
            [
                "\"Store 1\": `Store 1` is not a name: 'S' can't be in a name: only a-z, 0-9, `-` and `.` can",
                "\"x,s\": this row has 2 cells, the header has 3",
                "\"x\": cluster `x` is in two rows",
                "\"\\\"a\\\"\\\"b\\\"\": `a\"b` can't be the value of a label: only letters, digits, `-`, `_` and `.` can be in it, with letters or digits at both ends",
                "\",s,a\": this row has no name",
                "\"y,,a\": this row has no cluster type",
            ]
        );
        assert_eq!(
            messages("nam,region\na,b\n"),
            ["\"nam\": there is no column `name`", "\"nam\": there is no column `cluster-type`"]
        );
        assert_eq!(messages(""), ["\"\": the file has no header"]);
    }
}
