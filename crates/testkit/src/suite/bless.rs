//! Writes the actual results of cases into their files as the expected results.

use std::ops::Range;
use std::path::Path;

use super::Case;
use super::run::{self, CaseOutcome, text_of};

/// Replaces the expected parts of all cases of a file with the current results.
///
/// # Errors
/// Returns a readable text if a case cannot be run or the file cannot be written.
pub fn bless(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let mut edits = Vec::new();
    for case in super::cases(file)? {
        let outcome = run::run(&case)?;
        edits.extend(edits_of(&case, &outcome));
    }
    let blessed = edited(&text, edits);
    if blessed == text {
        return Ok(());
    }
    std::fs::write(file, blessed).map_err(|error| format!("{}: {error}", file.display()))
}

fn edits_of(case: &Case, outcome: &CaseOutcome) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    let parts = [("It says", &case.says, &outcome.says), ("It makes", &case.makes, &outcome.makes)];
    for (what, expected, found) in parts {
        let text = match &**found {
            "" => format!("{what} nothing.\n"),
            found => format!("{what}:\n\n```text\n{found}```\n"),
        };
        match expected {
            Some(expected) if expected.text == *found => {}
            Some(expected) => edits.push((expected.lines.clone(), text)),
            None if what == "It makes" && !case.contents.is_empty() => {}
            None => edits.push((case.end..case.end, format!("\n{text}"))),
        }
    }
    for (path, expected) in &case.contents {
        let Some(found) = text_of(&outcome.tree, path).filter(|found| *found != expected.text) else { continue };
        let name = path.rsplit('/').next().unwrap_or(path);
        let language = name.rsplit_once('.').map_or("text", |(_, extension)| extension);
        let text = if found.ends_with('\n') {
            format!("`{path}` is:\n\n```{language}\n{found}```\n")
        } else {
            format!("`{path}` is, without a newline at the end:\n\n```{language}\n{found}\n```\n")
        };
        edits.push((expected.lines.clone(), text));
    }
    edits
}

/// `text` with some line ranges replaced.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(lines, _)| lines.start);
    let lines: Vec<&str> = text.lines().collect();
    let mut result = String::new();
    let mut at = 0;
    let copy = |result: &mut String, range: Range<usize>| {
        lines[range].iter().for_each(|line| {
            result.push_str(line);
            result.push('\n');
        });
    };
    for (range, new) in edits {
        copy(&mut result, at..range.start);
        // Text that is added at the end of a case follows exactly one empty line. If something follows it, one empty line comes after it.
        if range.is_empty() {
            result.truncate(result.trim_end().len() + 1);
        }
        result.push_str(&new);
        if range.is_empty() && range.end < lines.len() {
            result.push('\n');
        }
        at = range.end;
    }
    copy(&mut result, at..lines.len());
    result
}
