//! Checks the page `docs/reference/template-functions.md` against the functions.

use crate::{RenderLimits, Template, Value, names};

const PAGE: &str = include_str!("../../../docs/reference/template-functions.md");

/// The templates of the examples on the page, each with the output that the page states.
fn examples() -> Vec<(&'static str, &'static str)> {
    let lines = PAGE.lines().filter(|line| line.starts_with("- `"));
    lines.map(|line| example(line).unwrap_or_else(|| panic!("an example at the end of: {line}"))).collect()
}

fn example(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (before, output) = line.rsplit_once("` → ")?;
    Some((&before[before.find("`{{")? + 1..], output))
}

/// The output in the format of the page.
fn shown(template: &str) -> String {
    let rendered = Template::parse("example", template)
        .and_then(|template| template.render(&Value::Nil, &RenderLimits::default()));
    match rendered {
        Ok(output) => format!("`{}`", String::from_utf8_lossy(&output).replace('\n', "⏎")),
        Err(_) => "an error".to_owned(),
    }
}

#[test]
fn examples_have_the_output_on_the_page() {
    for (template, expected) in examples() {
        assert_eq!(shown(template), expected, "{template}");
    }
}

#[test]
fn every_function_is_on_the_page() {
    let documented = |name: &str| {
        let line = format!("- `{name}");
        let listed = PAGE.lines().filter_map(|text| text.strip_prefix(&line)).any(|rest| rest.starts_with([' ', '`']));
        let refused = PAGE.lines().any(|text| text.starts_with("| `") && text.contains(&format!("`{name}`")));
        listed || refused
    };
    let missing: Vec<_> = names::all().into_iter().filter(|name| !documented(name)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
}
