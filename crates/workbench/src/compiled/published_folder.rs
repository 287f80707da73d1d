//! The folders of an assignment at the publications of its environment.

use delivery::branches::branch::{Branch, folder_of};
use delivery::error::DestinationError;
use engine::compile::Prepared;
use engine::layout::assignment_folders::AssignmentFolders;
use engine::layout::{Folder, Layout};
use git::publish::PublishError;
use hub_api::compiled::{CompiledRefusal, FolderPublication};
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::tree::{OpenError, Sealed, Tree};

use super::assignments::{destination, path_in};
use super::limits::PUBLICATIONS_MAX;
use super::scope::VisibleState;

/// The branch of the first `GitOpsRepo`, by name.
pub(super) struct GitOpsOutput {
    branch: Branch,
    /// Where the output is in it now.
    destination: (Folder, Layout),
    /// The URL of the repository.
    repository: String,
    /// The name of the branch.
    name: String,
}

/// The folder of an assignment at a publication.
pub(super) struct PublishedFolder {
    pub(super) shown: FolderPublication,
    /// The branch at its commit.
    pub(super) branch: Branch,
    /// The path of the folder in the repository.
    pub(super) path: String,
    /// Empty if it has none.
    pub(super) folder: Tree,
    /// The fleet that was published. None: its sources can't be read any more.
    pub(super) prepared: Option<Prepared>,
}

impl GitOpsOutput {
    /// Reads the branch. None: the environment has no `GitOpsRepo`, or nothing was published there yet.
    ///
    /// # Errors
    /// If it can't be read.
    pub(super) fn read(state: &VisibleState<'_>) -> Result<Option<Self>, CompiledRefusal> {
        let loaded = &state.state.loaded;
        let Some(object) = loaded.fleet.gitops_repos.values().next() else { return Ok(None) };
        let place = &object.spec.place;
        let read = || {
            let destination = (folder_of(object)?, engine::output::layout(object));
            let branch = match Branch::read(loaded, (object.name.as_str(), place), None) {
                Err(DestinationError::Publish(PublishError::NoBase { .. })) => return Ok(None),
                read => read?,
            };
            let repository = loaded.url(&place.repo)?.as_str().to_owned();
            Ok(Some(Self { branch, destination, repository, name: place.branch.to_string() }))
        };
        read().map_err(|error: DestinationError| state.unreadable(&error))
    }

    /// The newest publication: its commit.
    pub(super) fn newest(&self, state: &VisibleState<'_>) -> Option<String> {
        Some(self.branch.newest_publication(&state.state.loaded)?.commit.to_string())
    }

    /// The folder of an assignment at a publication. None: the commit is no publication of the environment, or the caller may not see what it had there.
    ///
    /// # Errors
    /// If the commit can't be read.
    pub(super) fn at(
        &self,
        state: &VisibleState<'_>,
        id: &AssignmentId,
        commit: &str,
    ) -> Result<Option<PublishedFolder>, CompiledRefusal> {
        let loaded = &state.state.loaded;
        let Some(commit) = GitId::from_hex(commit) else { return Ok(None) };
        let Some(branch) = self.branch.at(commit).map_err(|error| state.unreadable(&error))? else { return Ok(None) };
        let Some(publication) = branch.publication(loaded, commit) else { return Ok(None) };
        let published = branch.load_publication(loaded, &publication);
        let prepared = published.as_ref().map(|published| Prepared::new(&published.fleet));
        if !state.has_at(id, prepared.as_ref()) {
            return Ok(None);
        }
        let destination = published.as_ref().and_then(destination).unwrap_or_else(|| self.destination.clone());
        let folder = folder_at(&branch, &destination.0, id).map_err(|error| state.unreadable(&error))?;
        let path = path_in((&destination.0, destination.1), id);
        Ok(Some(PublishedFolder {
            shown: self.shown(&branch, commit),
            branch,
            path,
            folder: folder.unwrap_or_default(),
            prepared,
        }))
    }

    /// The newest publications that changed the folder of an assignment, newest first.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub(super) fn publications(
        &self,
        state: &VisibleState<'_>,
        id: &AssignmentId,
    ) -> Result<Vec<FolderPublication>, CompiledRefusal> {
        let read = || {
            let found = self.branch.publications(&state.state.loaded, PUBLICATIONS_MAX)?.unwrap_or_default();
            let mut changes: Vec<(Option<GitId>, FolderPublication)> = Vec::new();
            for publication in &found.publications {
                let Some(branch) = self.branch.at(publication.commit)? else { continue };
                let open = |sealed: &Sealed| branch.open(sealed);
                let folder = AssignmentFolders::new(&branch.tree, &self.destination.0, &open)
                    .and_then(|mut folders| folders.find(id))?;
                // The oldest publication with a folder is the one that changed it.
                changes.pop_if(|(newer, _)| *newer == folder);
                changes.push((folder, self.shown(&branch, publication.commit)));
            }
            Ok(changes.into_iter().filter(|(folder, _)| folder.is_some()).map(|(_, shown)| shown).collect())
        };
        read().map_err(|error: DestinationError| state.unreadable(&error))
    }

    fn shown(&self, branch: &Branch, commit: GitId) -> FolderPublication {
        let seconds = branch.committed_on();
        FolderPublication {
            repository: self.repository.clone(),
            branch: self.name.clone(),
            commit: commit.to_string(),
            committed_on: seconds.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1_000))),
        }
    }
}

/// The folder of an assignment in a branch.
fn folder_at(branch: &Branch, folder: &Folder, id: &AssignmentId) -> Result<Option<Tree>, OpenError> {
    let open = |sealed: &Sealed| branch.open(sealed);
    AssignmentFolders::new(&branch.tree, folder, &open)?.folder(id)
}
