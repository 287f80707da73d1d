//! The release pins of people, in the history of the hub.

use std::collections::BTreeSet;

use engine::promotion::report::MoveEvent;
use git::load::ReadRole;
use git::{Commit, CommitInfo, RepositoryError, Revision};
use hub_api::client::ClientError;
use hub_api::evidence::PromotionEvents;
use jiff::Timestamp;
use model::git_id::GitId;

use super::events;
use crate::promotion::pin_changes::{PinChange, PinChangesError, PinnedBranch};
use crate::sources::loaded::Loaded;

/// The number of generations of commits that are compared with their parents: after a restart, or if the last commit that was sent is not among them, the pins of all of these are sent.
const GENERATIONS_MAX: usize = 20;

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

/// Sends the release pins that people made, changed or removed on the branch of an environment since the last commit that was sent. The hub ignores events that it has.
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
    let head = Commit { url: read.url.clone(), revision: Revision::branch(&read.revision), id: read.commit };
    let branch = PinnedBranch { repositories, head: &head };
    let mut found = Vec::new();
    for (id, info) in unsent(&repositories.ancestry(&head, GENERATIONS_MAX + 1)?, *sent).iter().rev() {
        for PinChange { name, kind, text } in branch.changes((*id, info))? {
            let at = Timestamp::from_second(info.seconds).unwrap_or(Timestamp::MIN);
            let event = MoveEvent { at, kind, revision: None, text: text.into(), gates: Vec::new() };
            found.push(events::promotion_event(
                &loaded.fleet.environment,
                Some(&name),
                &event,
                Some(&info.author.to_string()),
            ));
        }
    }
    if !found.is_empty() {
        sink.record(&found)?;
    }
    *sent = Some(head.id);
    Ok(())
}

/// The commits that are newer than the last one that was sent, newest first. Commits whose parents are not in the list are left out: a shallow copy of the repository may
/// not have these parents.
fn unsent(commits: &[(GitId, CommitInfo)], sent: Option<GitId>) -> Vec<(GitId, &CommitInfo)> {
    let known: BTreeSet<_> = commits.iter().map(|(id, _)| *id).collect();
    let unsent = commits.iter().take_while(|(id, _)| Some(*id) != sent);
    let comparable = unsent.filter(|(_, info)| info.parents.iter().all(|parent| known.contains(parent)));
    comparable.map(|(id, info)| (*id, info)).collect()
}

#[cfg(test)]
mod tests {
    use git::Person;

    use super::*;

    fn id(number: u8) -> GitId {
        GitId::from_bytes([number; 20])
    }

    #[test]
    fn commits_with_unknown_parents_are_not_compared() {
        let commit = |number, parents: &[u8]| {
            let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
            let parents = parents.iter().map(|parent| id(*parent)).collect();
            let (tree, committer, message) = (id(0), author.clone(), String::new());
            (id(number), CommitInfo { parents, tree, author, committer, seconds: 0, message, signature: None })
        };
        // 4 merges 3. The parent of 1 is not in the copy.
        let commits = [commit(4, &[2, 3]), commit(3, &[1]), commit(2, &[1]), commit(1, &[0])];
        let check = |sent: Option<u8>, expected: &[u8]| {
            let found: Vec<_> = unsent(&commits, sent.map(id)).into_iter().map(|(id, _)| id).collect();
            assert_eq!(found, expected.iter().map(|number| id(*number)).collect::<Vec<_>>(), "{sent:?}");
        };
        check(None, &[4, 3, 2]);
        check(Some(2), &[4, 3]);
        check(Some(4), &[]);
        check(Some(9), &[4, 3, 2]);
        let first = [commit(1, &[])];
        assert_eq!(unsent(&first, None).len(), 1);
    }
}
