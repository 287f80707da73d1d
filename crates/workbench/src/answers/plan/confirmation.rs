//! Changes that require a confirmation before they are published directly.

use delivery::output::planned::Planned;
use serde::Serialize;
use utoipa::ToSchema;

/// The required confirmation.
#[derive(Serialize, ToSchema)]
pub struct ConfirmationFields {
    /// The value for `--confirm`; `null` if it is compared with no branch.
    word: Option<String>,
    /// How many folders are removed: those of assignments and of cluster types.
    removed: usize,
    /// Their paths in the GitOps repository.
    removals: Vec<String>,
}

impl ConfirmationFields {
    /// At most `listed_max` removed folders are listed. None: so little is removed that none is needed.
    pub fn new(planned: &Planned, listed_max: usize) -> Option<Self> {
        let plan = planned.whole_plan();
        plan.needs_confirmation().then(|| {
            let removals = plan.removals();
            Self {
                word: planned.confirmation_word(),
                removed: removals.len(),
                removals: removals.into_iter().take(listed_max).collect(),
            }
        })
    }
}
