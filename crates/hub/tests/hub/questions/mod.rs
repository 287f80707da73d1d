//! The questions over small fleets, whose names are full of what SQL takes for its own.

mod compare;
mod deployments;
mod drift;
mod environments;
mod fleet;
mod history;
mod plans;
mod rollouts;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        compare::trials(),
        deployments::trials(),
        drift::trials(),
        environments::trials(),
        history::trials(),
        plans::trials(),
        rollouts::trials(),
    ];
    trials.into_iter().flatten().collect()
}
