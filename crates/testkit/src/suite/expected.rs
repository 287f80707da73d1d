//! Compares the expected results of a case with the actual results.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::case::{Case, Expected};
use super::run::{CaseOutcome, text_of};

/// Compares every expected part of a case with its outcome.
pub(super) fn compare(case: &Case, outcome: &CaseOutcome) -> Result<(), String> {
    let mut differences = Vec::new();
    let parts = [("It says", &case.says, &outcome.says), ("It makes", &case.makes, &outcome.makes)];
    for (what, expected, found) in parts {
        match expected {
            // A case about the content of a file need not list all other files.
            None if what == "It makes" && !case.contents.is_empty() => {}
            None => differences.push(format!("the case has no \"{what}:\"; it gives\n{found}")),
            Some(expected) if expected.text == *found => {}
            Some(expected) => differences.push(different(case, what, expected, found)),
        }
    }
    for (path, expected) in &case.contents {
        match text_of(&outcome.tree, path) {
            None => differences.push(format!("{}: there is no `{path}`", place(case, expected))),
            Some(found) if found == expected.text => {}
            Some(found) => differences.push(different(case, &format!("`{path}`"), expected, &found)),
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    differences.push("KALYPSO_BLESS=1 writes what is found into the case; see suite/README.md".to_owned());
    Err(differences.join("\n\n"))
}

fn different(case: &Case, what: &str, expected: &Expected, found: &str) -> String {
    let mut text = format!("{}: {what} differs (- expected, + found)\n", place(case, expected));
    for change in TextDiff::from_lines(expected.text.as_str(), found).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let _ = write!(text, "{sign} {}", change.value());
        if change.missing_newline() {
            text.push_str("  (no newline at the end)\n");
        }
    }
    text
}

fn place(case: &Case, expected: &Expected) -> String {
    format!("{}:{}", case.file.display(), expected.lines.start + 1)
}
