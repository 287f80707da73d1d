//! Finds the markers that git leaves in a file if a merge was not finished.

use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::source::FileId;
use crate::yaml::Span;

/// The length of a marker in characters.
const LENGTH: usize = 7;
/// How many markers are listed.
const SHOWN_MAX: usize = 4;

/// The diagnostic for an unfinished merge. None if the file has no markers.
pub(super) fn diagnostic(file: FileId, content: &[u8]) -> Option<Diagnostic> {
    let (mut at, mut found, mut is_conflict) = (0, Vec::new(), false);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        if let Some(mark) = mark(line.trim_ascii_end()) {
            // A line of seven `=` alone can have another meaning.
            is_conflict |= matches!(mark, b'<' | b'>');
            found.push(Span::new(at, at + line.trim_ascii_end().len()));
        }
        at += line.len();
    }
    let (first, others) = found.split_first().filter(|_| is_conflict)?;
    let message = "a merge was not finished in this file: this line is a conflict marker of git";
    let mut diagnostic = Diagnostic::error(Code::MergeConflict, message).at(Origin::Span(file, *first), "");
    for other in others.iter().take(SHOWN_MAX - 1) {
        diagnostic = diagnostic.at(Origin::Span(file, *other), "and here");
    }
    Some(diagnostic.help(
        "choose between the versions, remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`, and commit",
    ))
}

/// The character that a marker line consists of. None if the line is not a marker.
fn mark(line: &[u8]) -> Option<u8> {
    let (run, rest) = line.split_at_checked(LENGTH)?;
    let mark = *run.first()?;
    let is_mark = matches!(mark, b'<' | b'|' | b'=' | b'>') && run.iter().all(|byte| *byte == mark);
    (is_mark && rest.first().is_none_or(|byte| *byte == b' ')).then_some(mark)
}
