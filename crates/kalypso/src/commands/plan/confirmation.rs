//! Changes that require a confirmation before they are published directly.

use std::fmt::Write as _;

use delivery::planned::Planned;
use engine::plan::ChangeKind;
use model::diagnostic::{Code, Diagnostic};
use serde_json::{Value as Json, json};

use super::places_text;
use crate::terminal::{count, named, thousands};

/// The removed assignments: ``12 of 40 assignments, all of workload `shop` ``.
pub(super) fn removed_text(planned: &Planned) -> String {
    let plan = &planned.plan;
    let (removed, before) = (thousands(plan.count(ChangeKind::Removed)), count(plan.before(), "assignment"));
    let mut text = format!("{removed} of {before}");
    let gone = &plan.removed_workloads;
    for (what, names) in [("workload", &gone.workloads), ("target", &gone.targets)] {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        match &names[..] {
            [] => {}
            [name] => {
                let _ = write!(text, ", all of {what} {name}");
            }
            names => {
                let _ = write!(text, ", all of {}: {}", count(names.len(), what), named(names));
            }
        }
    }
    let places: Vec<_> = plan.removed_places.iter().map(|name| format!("`{name}`")).collect();
    if !places.is_empty() {
        let kinds = places_text(planned, plan.removed_places.iter().map(|name| &**name));
        let _ = write!(text, ", and {kinds}: {}", named(&places));
    }
    text
}

/// The diagnostic for a plan that is not published because its confirmation is missing.
pub(in crate::commands) fn unconfirmed(planned: &Planned, has_other_words: bool) -> Diagnostic {
    let message = format!("this would remove {}", removed_text(planned));
    let mut diagnostic = Diagnostic::error(Code::NeedsConfirmation, message);
    if has_other_words {
        diagnostic = diagnostic.note("the word of `--confirm` belongs to other removals");
    }
    let word = planned.confirmation_word().unwrap_or_default();
    diagnostic.help(format!("look at `kalypso plan`; to confirm the removals, add `--confirm {word}`"))
}

/// The required confirmation, as JSON. At most `listed_max` removed folders are listed.
pub(in crate::commands) fn confirmation(planned: &Planned, listed_max: usize) -> Json {
    if !planned.plan.needs_confirmation() {
        return Json::Null;
    }
    let removals = planned.plan.removals();
    json!({
        "word": planned.confirmation_word(),
        "removed": removals.len(),
        "removals": removals.iter().take(listed_max).collect::<Vec<_>>(),
    })
}
