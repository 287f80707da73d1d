//! Diagnostics about assignments that are held, and about those that can't be held.

use std::collections::BTreeMap;

use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::object::release_pin::MANIFESTS;

use super::{FLEETS_MAX, HELD_MAX, Held, NotHeld, NotHeldReason};
use crate::pin::Pin;

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
        format!("what fails is rendered from the commits of publication {from}: no release pin holds it any more")
    } else {
        format!("what fails is rendered from the commits of publication {from}, with {}", pin_names(pins))
    };
    let diagnostic = Diagnostic::warning(Code::HeldEarlier, message)
        .note("its values and templates are those of that publication, whatever the control plane says now")
        .help("mend what is wrong with it; from then on it follows its sources again");
    at_pins(diagnostic, pins)
}

fn is_not_held(pins: &[Pin], reason: &NotHeldReason) -> Diagnostic {
    let what = if pins.is_empty() {
        "what a release pin held can't be rendered without it".to_owned()
    } else {
        format!("{} can't be laid over what was published", pin_names(pins))
    };
    let (because, help) = reason_and_help(reason);
    let diagnostic = Diagnostic::error(Code::NotHeld, format!("{what}: {because}"));
    at_pins(diagnostic.note("the folder stays as it is in the branch").help(help), pins)
}

fn reason_and_help(reason: &NotHeldReason) -> (String, String) {
    let help = "mend what is wrong with the assignment: then the pin is laid over what the control plane says now";
    match reason {
        NotHeldReason::NoPublication => (
            "no commit of the GitOps branch that is near enough says what it was made of".to_owned(),
            format!("merge Kalypso's commits with their messages, `Kalypso-Source` lines included; or {help}"),
        ),
        NotHeldReason::Unreadable(from, why) => (
            format!("the commits that publication {} was made of can't be read: {why}", from.short()),
            format!("make these commits available again, for example by pushing a branch or tag at them; or {help}"),
        ),
        NotHeldReason::Failing(from, codes) => {
            let codes: Vec<_> = codes.iter().map(|code| code.id()).collect();
            let with = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
            (format!("it can't be rendered from the commits of publication {} either{with}", from.short()), help.into())
        }
        NotHeldReason::TooManyFleets => (
            format!("more than {FLEETS_MAX} earlier publications would have to be read"),
            format!("let the pin select fewer assignments; or {help}"),
        ),
        NotHeldReason::TooManyAssignments => (
            format!("more than {} assignments that fail would be held", model::count::thousands(HELD_MAX)),
            format!("let the pin select fewer assignments; or {help}"),
        ),
    }
}

fn at_pins(mut diagnostic: Diagnostic, pins: &[Pin]) -> Diagnostic {
    for pin in pins {
        diagnostic = diagnostic.at(Origin::field(&pin.key(), FieldPath::from(MANIFESTS)), "this is laid over");
    }
    match pins {
        [only] => diagnostic.about(&only.key()),
        _ => diagnostic,
    }
}
