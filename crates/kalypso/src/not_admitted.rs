//! What was not admitted into an environment, for people.

use std::fmt::Write as _;

use delivery::publication::enforcement::{self, NotAdmitted};
use delivery::sources::loaded::Loaded;
use model::diagnostic::Diagnostic;

use crate::terminal;

/// What waits, with its gates, as a part of a longer text. Empty: nothing waits.
pub(crate) fn text(found: &[NotAdmitted]) -> String {
    let mut text = if found.is_empty() { String::new() } else { "\n  not admitted yet:\n".to_owned() };
    for NotAdmitted { diagnostic, .. } in found {
        let _ = writeln!(text, "    {}", diagnostic.message);
        for note in &diagnostic.notes {
            let _ = writeln!(text, "      {note}");
        }
    }
    text
}

/// The same as Markdown.
pub(crate) fn markdown(found: &[NotAdmitted]) -> String {
    let mut text = if found.is_empty() { String::new() } else { "\n### Not admitted yet\n\n".to_owned() };
    for NotAdmitted { diagnostic, .. } in found {
        let all = [std::slice::from_ref(&diagnostic.message), diagnostic.notes.as_slice()].concat();
        let _ = writeln!(text, "- {}", delivery::output::changes::markdown::code(&all.join("; ")));
    }
    text
}

/// The diagnostics.
pub(crate) fn diagnostics(found: &[NotAdmitted]) -> impl Iterator<Item = Diagnostic> {
    found.iter().map(|found| found.diagnostic.clone())
}

/// Says for an answer about an environment which revisions are not in it yet.
pub(crate) fn note(loaded: &Loaded) {
    for found in enforcement::not_admitted(loaded) {
        terminal::note(&format!("note: {}, so it is not in this: `--head` shows it", found.diagnostic.message));
    }
}
