//! The questions over small fleets, whose names are full of what SQL takes for its own.

mod compare;
mod deployments;
mod environments;
mod fleet;
mod rollouts;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [compare::trials(), deployments::trials(), environments::trials(), rollouts::trials()]
        .into_iter()
        .flatten()
        .collect()
}
