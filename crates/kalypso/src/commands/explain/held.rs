//! The files that release pins hold for a failing assignment.

use delivery::held_assignments::{self, Failing};
use delivery::loaded::Loaded;
use engine::compile::Prepared;
use engine::hold::{Held, HeldFolder};
use model::diagnostic::{AssignmentId, Diagnostic};
use serde_json::{Value as Json, json};

use crate::terminal;

/// The files that release pins hold for a failing assignment, on each branch.
pub(super) fn of(
    loaded: &Loaded,
    (prepared, problems): (&Prepared, &[Diagnostic]),
    id: &AssignmentId,
) -> Vec<(String, Held)> {
    let ids = || if problems.iter().any(Diagnostic::is_error) { vec![id.clone()] } else { Vec::new() };
    let found = held_assignments::on_branches(loaded, Failing { prepared, ids: &ids });
    found.unwrap_or_else(|error| {
        terminal::warn(&format!("the files that release pins hold in the GitOps branch can't be read: {error}"));
        Vec::new()
    })
}

pub(super) fn json(held: &[(String, Held)]) -> Json {
    let folders = held.iter().flat_map(|(branch, held)| held.folders.values().map(move |folder| (branch, folder)));
    let json = |(branch, folder): (&String, &std::sync::Arc<HeldFolder>)| {
        let pins: Vec<_> = folder.pins.iter().map(|pin| pin.name.as_str()).collect();
        json!({"branch": branch, "from": folder.from.to_string(), "releasePins": pins})
    };
    folders.map(json).collect::<Vec<_>>().into()
}
