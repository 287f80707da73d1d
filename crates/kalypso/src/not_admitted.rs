//! What was not admitted into an environment, for people and for programs.

use std::fmt::Write as _;

use delivery::enforcement::NotAdmitted;
use model::diagnostic::Diagnostic;
use serde_json::{Value as Json, json};

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

/// The same for programs.
pub(crate) fn answer(found: &[NotAdmitted]) -> Json {
    let one = |found: &NotAdmitted| {
        let gates = found.gates.iter();
        let gates = gates.map(|gate| json!({"name": *gate.name, "since": gate.since.to_string(), "text": *gate.text}));
        json!({
            "source": *found.source,
            "revision": *found.revision,
            "admitted": found.admitted.as_deref(),
            "waitsFor": found.waits_for.name(),
            "gates": gates.collect::<Vec<_>>(),
        })
    };
    found.iter().map(one).collect::<Vec<_>>().into()
}

/// The diagnostics.
pub(crate) fn diagnostics(found: &[NotAdmitted]) -> impl Iterator<Item = Diagnostic> {
    found.iter().map(|found| found.diagnostic.clone())
}
