//! The release pins of people, in the history of the hub.

use engine::promotion::report::Event;
use git::load::ReadRole;
use git::{RepositoryError, Revision};
use hub_api::client::ClientError;
use hub_api::evidence::PromotionEvents;
use jiff::Timestamp;
use model::git_id::GitId;

use super::events;
use crate::loaded::Loaded;
use crate::pin_changes::{PinChange, PinChangesError, PinnedBranch};

/// The number of generations of commits whose pins are sent again after a restart.
const SENT_AGAIN_MAX: usize = 20;

/// The reason why pins are not in the history.
#[derive(Debug, thiserror::Error)]
pub(super) enum PinsError {
    /// The branch of the environment can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The pins of a commit can't be read.
    #[error(transparent)]
    Changes(#[from] PinChangesError),
    /// The hub does not take them.
    #[error("the history of the hub does not have all release pins: {0}")]
    Hub(#[from] ClientError),
}

/// Sends which pins people made, changed or removed on the branch of an environment since the last commit that was sent. The hub leaves out those that it has.
///
/// # Errors
/// If the branch can't be read, or the hub does not take them. They are sent again with the next call.
pub(super) fn send(loaded: &Loaded, sent: &mut Option<GitId>, sink: &dyn PromotionEvents) -> Result<(), PinsError> {
    let Some(access) = &loaded.access else { return Ok(()) };
    let Some(read) = loaded.reads.iter().find(|read| read.role == ReadRole::Environment) else { return Ok(()) };
    if *sent == Some(read.commit) {
        return Ok(());
    }
    let repositories = &*access.repositories;
    let head = repositories.resolve(&read.url, &Revision::branch(&read.revision))?;
    let branch = PinnedBranch { repositories, head: &head };
    let mut found = Vec::new();
    for (id, info) in repositories.ancestry(&head, SENT_AGAIN_MAX)? {
        if *sent == Some(id) {
            break;
        }
        for PinChange { name, kind, text } in branch.changes((id, &info))? {
            let at = Timestamp::from_second(info.seconds).unwrap_or(Timestamp::MIN);
            let event = Event { at, kind, revision: None, text: text.into(), gates: Vec::new() };
            found.push(events::of(&loaded.fleet.environment, Some(&name), &event, Some(&info.author.to_string())));
        }
    }
    if !found.is_empty() {
        found.reverse();
        sink.record(&found)?;
    }
    *sent = Some(head.id);
    Ok(())
}
