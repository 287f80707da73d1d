//! Diagnostics about assignments that are held, and about those that can't be held.

use std::collections::BTreeMap;

use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::object::release_pin::MANIFESTS;

use super::{FLEETS_MAX, HELD_MAX, Held, NotHeld, NotHeldReason};
use crate::schedule::pin::Pin;

/// Returns one diagnostic for all assignments with the same pins and the same result.
pub(super) fn diagnostics(held: &Held) -> Vec<Diagnostic> {
    let mut by_result: BTreeMap<(Vec<String>, Result<GitId, NotHeldReason>), Diagnostic> = BTreeMap::new();
    let key = |pins: &[Pin]| pins.iter().map(|pin| pin.name.to_string()).collect::<Vec<_>>();
    for (id, folder) in &held.folders {
        let diagnostic = by_result.entry((key(&folder.pins), Ok(folder.from)));
        add_assignment(diagnostic.or_insert_with(|| is_held(&folder.pins, folder.from)), id);
    }
    for (id, NotHeld { pins, reason }) in &held.failures {
        let diagnostic = by_result.entry((key(pins), Err(reason.clone())));
        add_assignment(diagnostic.or_insert_with(|| is_not_held(pins, reason)), id);
    }
    by_result.into_values().collect()
}

fn add_assignment(diagnostic: &mut Diagnostic, id: &AssignmentId) {
    diagnostic.assignments.push(id.clone());
}

/// The names of pins in a message: `release pin a`, `release pins a and b`.
fn pin_names(pins: &[Pin]) -> String {
    let names: Vec<_> = pins.iter().map(|pin| format!("`{}`", pin.name)).collect();
    format!("release pin{} {}", if names.len() == 1 { "" } else { "s" }, names.join(" and "))
}

fn is_held(pins: &[Pin], from: GitId) -> Diagnostic {
    let from = from.short();
    let message = if pins.is_empty() {
        format!(
            "failing assignments are rendered from the commits of publication {from}; no release pin holds them any more"
        )
    } else {
        format!("failing assignments are rendered from the commits of publication {from}, with {}", pin_names(pins))
    };
    let diagnostic = Diagnostic::warning(Code::HeldEarlier, message)
        .note("their values and templates are those of that publication, not the current ones")
        .help("fix the errors; the assignments are then rendered from their current sources again");
    at_pins(diagnostic, pins)
}

fn is_not_held(pins: &[Pin], reason: &NotHeldReason) -> Diagnostic {
    let what = if pins.is_empty() {
        "assignments that a release pin held can't be rendered without it".to_owned()
    } else {
        format!("{} can't be applied to the published output", pin_names(pins))
    };
    let (because, help) = reason_and_help(reason);
    let diagnostic = Diagnostic::error(Code::NotHeld, format!("{what}: {because}"));
    at_pins(diagnostic.note("the published folder stays").help(help), pins)
}

fn reason_and_help(reason: &NotHeldReason) -> (String, String) {
    let help = "fix the errors of the assignment; the pin then applies to its current sources";
    match reason {
        NotHeldReason::NoPublication => (
            "no recent commit of the GitOps branch names the commits that it was rendered from".to_owned(),
            format!("merge Kalypso's commits with their messages, including the `Kalypso-Source` lines; or {help}"),
        ),
        NotHeldReason::Unreadable(from, why) => (
            format!("the commits that publication {} was rendered from can't be read: {why}", from.short()),
            format!("make these commits available again, for example with a branch or tag; or {help}"),
        ),
        NotHeldReason::Failing(from, codes) => {
            let codes: Vec<_> = codes.iter().map(|code| code.id()).collect();
            let with = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
            (
                format!(
                    "the assignments can't be rendered from the commits of publication {} either{with}",
                    from.short()
                ),
                help.into(),
            )
        }
        NotHeldReason::TooManyFleets => (
            format!("more than {FLEETS_MAX} earlier publications would have to be read"),
            format!("let the pin select fewer assignments; or {help}"),
        ),
        NotHeldReason::TooManyAssignments => (
            format!("more than {} failing assignments would be held", model::count::thousands(HELD_MAX)),
            format!("let the pin select fewer assignments; or {help}"),
        ),
    }
}

fn at_pins(mut diagnostic: Diagnostic, pins: &[Pin]) -> Diagnostic {
    for pin in pins {
        diagnostic = diagnostic.at(Origin::field(&pin.key(), FieldPath::from(MANIFESTS)), "these manifests");
    }
    match pins {
        [only] => diagnostic.about(&only.key()),
        _ => diagnostic,
    }
}
