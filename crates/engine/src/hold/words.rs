//! What is said about assignments that are held, and about those that can't be.

use std::collections::BTreeMap;

use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::object::release_pin::MANIFESTS;

use super::{FLEETS_MAX, HELD_MAX, Held, NotHeld, Pin, Reason};

/// Everything there is to say, each thing once for all assignments that it is about.
pub(super) fn diagnostics(held: &Held) -> Vec<Diagnostic> {
    let mut said: BTreeMap<(Vec<String>, Result<GitId, Reason>), Diagnostic> = BTreeMap::new();
    let key = |pins: &[Pin]| pins.iter().map(|pin| pin.name.to_string()).collect::<Vec<_>>();
    for (id, folder) in &held.folders {
        let diagnostic = said.entry((key(&folder.pins), Ok(folder.from)));
        reaches(diagnostic.or_insert_with(|| is_held(&folder.pins, folder.from)), id);
    }
    for (id, NotHeld { pins, reason }) in &held.failures {
        let diagnostic = said.entry((key(pins), Err(reason.clone())));
        reaches(diagnostic.or_insert_with(|| is_not_held(pins, reason)), id);
    }
    said.into_values().collect()
}

fn reaches(diagnostic: &mut Diagnostic, id: &AssignmentId) {
    diagnostic.assignments.push(id.clone());
}

/// `release pin a`, `release pins a and b`
fn named(pins: &[Pin]) -> String {
    let names: Vec<_> = pins.iter().map(|pin| format!("`{}`", pin.name)).collect();
    format!("release pin{} {}", if names.len() == 1 { "" } else { "s" }, names.join(" and "))
}

fn is_held(pins: &[Pin], from: GitId) -> Diagnostic {
    let from = from.short();
    let message = if pins.is_empty() {
        format!("what fails is rendered from the commits of publication {from}: no release pin holds it any more")
    } else {
        format!("what fails is rendered from the commits of publication {from}, with {}", named(pins))
    };
    let diagnostic = Diagnostic::warning(Code::HeldEarlier, message)
        .note("its values and templates are those of that publication, whatever the control plane says now")
        .help("mend what is wrong with it; from then on it follows its sources again");
    at_pins(diagnostic, pins)
}

fn is_not_held(pins: &[Pin], reason: &Reason) -> Diagnostic {
    let what = if pins.is_empty() {
        "what a release pin held can't be rendered without it".to_owned()
    } else {
        format!("{} can't be laid over what was published", named(pins))
    };
    let (because, help) = in_words(reason);
    let diagnostic = Diagnostic::error(Code::NotHeld, format!("{what}: {because}"));
    at_pins(diagnostic.note("the folder stays as it is in the branch").help(help), pins)
}

fn in_words(reason: &Reason) -> (String, String) {
    let mend = "mend what is wrong with the assignment: then the pin is laid over what the control plane says now";
    match reason {
        Reason::NoPublication => (
            "no commit of the GitOps branch that is near enough says what it was made of".to_owned(),
            format!("merge Kalypso's commits with their messages, `Kalypso-Source` lines included; or {mend}"),
        ),
        Reason::Unreadable(from, why) => (
            format!("the commits that publication {} was made of can't be read: {why}", from.short()),
            format!("make these commits available again, for example by pushing a branch or tag at them; or {mend}"),
        ),
        Reason::Failing(from, codes) => {
            let codes: Vec<_> = codes.iter().map(|code| code.id()).collect();
            let with = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
            (format!("it can't be rendered from the commits of publication {} either{with}", from.short()), mend.into())
        }
        Reason::TooManyFleets => (
            format!("more than {FLEETS_MAX} earlier publications would have to be read"),
            format!("let the pin select fewer assignments; or {mend}"),
        ),
        Reason::TooManyAssignments => (
            format!("more than {} assignments that fail would be held", model::count::thousands(HELD_MAX)),
            format!("let the pin select fewer assignments; or {mend}"),
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
