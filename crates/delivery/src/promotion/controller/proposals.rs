//! The status `kalypso/admission` of output that waits in pull requests, after a step has decided.

use super::context::Context;
use super::published::PublicationFacts;
use crate::states::rollout_store::{self, StoreError};

/// What was found about proposed output.
#[derive(Default)]
pub(super) struct Proposals {
    /// The statuses that could not be set, and why.
    pub(super) problems: Vec<String>,
    /// Whether something else is admitted than what is proposed.
    pub(super) is_outdated: bool,
}

/// Sets the statuses by the states as they are stored now.
///
/// # Errors
/// If the states can't be read.
pub(super) fn report(context: &Context<'_>, published: Option<&PublicationFacts>) -> Result<Proposals, StoreError> {
    let mut found = Proposals::default();
    let (Some(published), Some(hosts), false) = (published, context.hosts, context.is_read_only) else {
        return Ok(found);
    };
    if published.proposed.is_empty() {
        return Ok(found);
    }
    let stored = rollout_store::read(context.access, context.environment)?;
    for proposed in &published.proposed {
        found.is_outdated |= proposed.is_outdated(&stored).unwrap_or_default();
        if context.check_lease().is_ok()
            && let Err(error) = proposed.set(hosts, &stored, true)
        {
            found.problems.push(format!("the status of a pull request can't be set: {error}"));
        }
    }
    Ok(found)
}
