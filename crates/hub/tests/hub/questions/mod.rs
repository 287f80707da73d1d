//! Queries over small fleets whose names contain characters with a special meaning in SQL.

mod changes;
mod compare;
mod crowd;
mod deployments;
mod drift;
mod environments;
pub(crate) mod fleet;
mod history;
mod many;
mod place_folders;
mod place_states;
mod plans;
mod recorded;
mod releases;
mod renamed_places;
mod rollouts;
mod search;
mod shared_manifests;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        place_folders::trials(),
        changes::trials(),
        compare::trials(),
        deployments::trials(),
        drift::trials(),
        environments::trials(),
        history::trials(),
        many::trials(),
        place_states::trials(),
        plans::trials(),
        recorded::trials(),
        releases::trials(),
        renamed_places::trials(),
        rollouts::trials(),
        search::trials(),
        shared_manifests::trials(),
    ];
    trials.into_iter().flatten().collect()
}
