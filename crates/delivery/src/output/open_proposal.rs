//! What is proposed already of applications that can't be read now.
//!
//! What was published of them stays on the branch that clusters pull. What was proposed of them, and is not merged yet, stays in the proposal.

use engine::output::{PlaceFolders, ProposedFolders};
use git::publications::{Publications, PublishedCommit};
use git::publish::PublishError;
use git::{Commit, Repositories, opener};
use model::tree::Sealed;

use crate::error::DestinationError;
use crate::output::gitops_destination::GitOpsDestination;
use crate::sources::loaded::Loaded;

/// The output on the proposing branch of a destination.
pub(crate) struct OpenProposal {
    /// Its folders.
    pub(crate) folders: ProposedFolders,
    /// The commit.
    pub(crate) head: Commit,
}

/// Reads what is proposed at a destination. None: all applications can be read, nothing is proposed, or something else was admitted since.
///
/// # Errors
/// If the branches can't be read.
pub(crate) fn read(loaded: &Loaded, target: &GitOpsDestination) -> Result<Option<OpenProposal>, DestinationError> {
    let heads = target.branch.heads.as_ref().and_then(|found| found.heads.as_ref().ok());
    let (Some(head), Some((_, repositories))) =
        (heads.and_then(|heads| heads.branch.as_ref()), target.branch.read_at())
    else {
        return Ok(None);
    };
    if loaded.fleet.unavailable.is_empty() {
        return Ok(None);
    }
    let environment = &loaded.fleet.environment;
    let published = Publications::read_back(repositories, (head, 1), environment).map_err(PublishError::from)?;
    let Some(publication) = published.publications.first() else { return Ok(None) };
    let line = repositories.history(head, 2).map_err(PublishError::from)?;
    let (Some(base), true) = (line.get(1), is_admitted(loaded, publication)) else { return Ok(None) };
    let folders =
        ProposedFolders { before: folders(repositories, target, base)?, after: folders(repositories, target, head)? };
    Ok(Some(OpenProposal { folders, head: head.clone() }))
}

fn folders(
    repositories: &dyn Repositories,
    target: &GitOpsDestination,
    commit: &Commit,
) -> Result<PlaceFolders, DestinationError> {
    let open = |sealed: &Sealed| opener(repositories, commit)(sealed);
    let tree = repositories.tree(commit).map_err(PublishError::from)?;
    Ok(PlaceFolders::read(&tree, &target.folder, &open)?)
}

/// Whether the applications that can't be read now are admitted with the commits that were proposed. Where no gate is before an environment, they are.
fn is_admitted(loaded: &Loaded, proposed: &PublishedCommit) -> bool {
    let Some(admission) = &loaded.admission else { return true };
    let mut names = loaded.fleet.unavailable.iter().filter_map(|name| loaded.source_name(name.as_str()));
    names.all(|name| admission.sources.get(&name).is_none_or(|commit| proposed.sources.get(&name) == Some(commit)))
}
