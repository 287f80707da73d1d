//! Functions and files stay small. Larger ones are listed by name, in a list that may only shrink.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Finding, line_of};
use crate::workspace::Workspace;

/// The largest number of lines of a function, from the line of its `fn` to the line of its closing brace.
const FUNCTION_LINES: usize = 70;
/// The largest number of lines of a file. Blank lines, comments and `#[cfg(test)]` modules do not count.
const FILE_LINES: usize = 500;

const LIST: &str = "xtask/tidy-exceptions.toml";

/// A file, or a function in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Item {
    path: String,
    function: Option<String>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(flatten)]
    place: Item,
    lines: usize,
    reason: String,
}

#[derive(Default, Deserialize)]
struct Exceptions {
    #[serde(default)]
    exception: Vec<Exception>,
}

#[derive(Clone, Copy)]
struct Measure {
    lines: usize,
    /// The line where the place begins.
    line: usize,
}

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let list = workspace.text(LIST);
    let exceptions = match toml::from_str::<Exceptions>(list) {
        Ok(exceptions) => exceptions.exception,
        Err(error) => return vec![Finding::new(LIST, 1, format!("size law: {}", error.message()))],
    };
    let sizes = measure(workspace);
    let too_large = sizes.iter().filter_map(|(place, measure)| too_large(place, *measure, &exceptions));
    let too_generous = exceptions.iter().filter_map(|exception| {
        let message = too_generous(exception, sizes.get(&exception.place).copied())?;
        Some(Finding::new(LIST, line_of(list, &exception.place.path), message))
    });
    too_large.chain(too_generous).collect()
}

/// The sizes of all files and functions. If several functions of a file have the same name, the largest counts.
fn measure(workspace: &Workspace) -> BTreeMap<Item, Measure> {
    let mut sizes = BTreeMap::new();
    for (path, source) in &workspace.rust {
        let file = Item { path: path.clone(), function: None };
        sizes.insert(file, Measure { lines: source.code_lines(), line: 1 });
        for function in &source.functions {
            let place = Item { path: path.clone(), function: Some(function.name.clone()) };
            let measure = Measure { lines: function.lines.clone().count(), line: *function.lines.start() };
            let largest = sizes.entry(place).or_insert(measure);
            if largest.lines < measure.lines {
                *largest = measure;
            }
        }
    }
    sizes
}

fn too_large(place: &Item, measure: Measure, exceptions: &[Exception]) -> Option<Finding> {
    let exception = exceptions.iter().find(|exception| exception.place == *place);
    let allowed = exception.map_or(limit(place), |exception| exception.lines);
    let message = || format!("size law: {} has {} lines, {allowed} are allowed: divide it", name(place), measure.lines);
    (measure.lines > allowed).then(|| Finding::new(&place.path, measure.line, message()))
}

fn too_generous(exception: &Exception, measure: Option<Measure>) -> Option<String> {
    let Exception { place, lines, reason } = exception;
    let name = name(place);
    match measure {
        None => Some(format!("size law: {name} does not exist: remove its entry")),
        Some(now) if now.lines <= limit(place) => Some(format!("size law: {name} is small now: remove its entry")),
        Some(now) if now.lines < *lines => {
            Some(format!("size law: {name} has only {} lines now: lower its entry from {lines}", now.lines))
        }
        Some(_) if reason.trim().is_empty() => Some(format!("size law: {name}: give its exception a reason")),
        Some(_) => None,
    }
}

fn limit(place: &Item) -> usize {
    if place.function.is_some() { FUNCTION_LINES } else { FILE_LINES }
}

fn name(place: &Item) -> String {
    place.function.as_ref().map_or_else(|| format!("`{}`", place.path), |function| format!("`{function}`"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    /// The findings for a function `f` with this number of lines, with this list of exceptions.
    fn check(lines: usize, list: &str) -> Vec<String> {
        let text = format!("//! A.\nfn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
        check_law(super::check, &[("a.rs", &text), ("xtask/tidy-exceptions.toml", list)])
    }

    fn exception(lines: usize) -> String {
        format!("[[exception]]\npath = \"a.rs\"\nfunction = \"f\"\nlines = {lines}\nreason = \"a table\"\n")
    }

    #[test]
    fn small_or_listed_functions_are_accepted() {
        assert_eq!(check(70, ""), Vec::<String>::new());
        assert_eq!(check(80, &exception(80)), Vec::<String>::new());
    }

    #[test]
    fn a_large_function_is_a_finding() {
        assert_eq!(check(71, ""), ["a.rs:2: size law: `f` has 71 lines, 70 are allowed: divide it"]);
    }

    #[test]
    fn a_large_file_is_a_finding() {
        let text = "const A: u8 = 1;\n\n// why\n".repeat(501);
        let found = check_law(super::check, &[("a.rs", &text)]);
        assert_eq!(found, ["a.rs:1: size law: `a.rs` has 501 lines, 500 are allowed: divide it"]);
    }

    #[test]
    fn the_list_may_only_shrink() {
        assert_eq!(check(81, &exception(80)), ["a.rs:2: size law: `f` has 81 lines, 80 are allowed: divide it"]);
        let entry = "xtask/tidy-exceptions.toml:2: size law: `f`";
        assert_eq!(check(79, &exception(80)), [format!("{entry} has only 79 lines now: lower its entry from 80")]);
        assert_eq!(check(70, &exception(80)), [format!("{entry} is small now: remove its entry")]);
        assert_eq!(check(80, &exception(80).replace("a table", "")), [format!("{entry}: give its exception a reason")]);
    }

    #[test]
    fn stale_or_invalid_entries_are_findings() {
        let entry = exception(80).replace("\"f\"", "\"gone\"");
        assert!(check(9, &entry)[0].ends_with("`gone` does not exist: remove its entry"));
        assert!(check(9, "nonsense")[0].starts_with("xtask/tidy-exceptions.toml:1: size law: "));
    }
}
