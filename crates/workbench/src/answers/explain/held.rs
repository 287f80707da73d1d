//! The files that release pins hold for a failing assignment.

use delivery::error::DestinationError;
use delivery::output::held_assignments::{self, Failing};
use delivery::sources::loaded::Loaded;
use engine::compile::Prepared;
use engine::hold::{Held, HeldFolder};
use hub_api::compiled::ExplainedHold;
use model::diagnostic::{AssignmentId, Diagnostic};

/// The files that release pins hold for a failing assignment, on each branch.
pub(super) fn files(
    loaded: &Loaded,
    (prepared, problems): (&Prepared, &[Diagnostic]),
    id: &AssignmentId,
) -> Result<Vec<(String, Held)>, DestinationError> {
    let ids = || if problems.iter().any(Diagnostic::is_error) { vec![id.clone()] } else { Vec::new() };
    held_assignments::on_branches(Failing { loaded, prepared, ids: &ids })
}

/// The answer about the branches on which an assignment is held.
pub(super) fn explained(held: &[(String, Held)]) -> Vec<ExplainedHold> {
    let folders = held.iter().flat_map(|(branch, held)| held.folders.values().map(move |folder| (branch, folder)));
    let of = |(branch, folder): (&String, &std::sync::Arc<HeldFolder>)| ExplainedHold {
        branch: branch.clone(),
        from: folder.from.to_string(),
        release_pins: folder.pins.iter().map(|pin| pin.name.to_string()).collect(),
    };
    folders.map(of).collect()
}
