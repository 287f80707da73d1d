//! What the branches of an environment without rings have where it is not what is desired: output that waits for its publication, and output of assignments with
//! errors.

use std::collections::BTreeMap;

use engine::compile::{Prepared, SingleAssignments};
use engine::layout::Folder;
use engine::layout::assignment_folders::AssignmentFolders;
use engine::promotion::release::placed_release;
use git::publications::PublishedCommit;
use git::publish::PublishError;
use git::{RepositoryError, Revision, opener};
use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::tree::{OpenError, Sealed, Tree};

use crate::access::RepositoryAccess;
use crate::branches::branch::{Branch, folder_of};
use crate::error::DestinationError;
use crate::output::rings::{HeldContent, Origins, PlaceHoldings};
use crate::sources::heads::proposing_branch;
use crate::sources::loaded::Loaded;

/// Finds what is published of assignments where it is not what is desired.
pub struct PublishedContents<'a> {
    loaded: &'a Loaded,
    prepared: &'a Prepared,
    branches: Vec<PublishedBranch>,
}

/// A branch with publications.
struct PublishedBranch {
    branch: Branch,
    folder: Folder,
    newest: PublishedCommit,
    /// The proposing branch. None: nothing is proposed.
    proposed: Option<Proposed>,
}

/// The content of a proposing branch.
struct Proposed {
    name: String,
    commit: git::Commit,
    tree: Tree,
}

/// An assignment with the git ids of its folders.
struct Differing<'i> {
    id: &'i AssignmentId,
    published: Option<GitId>,
    reason: String,
}

impl<'a> PublishedContents<'a> {
    /// Reads the branches. `prepared` is the environment as it is desired. A branch without a publication counts as none: it is not said of each assignment that it is
    /// not published yet.
    ///
    /// # Errors
    /// If a branch can't be read.
    pub fn read(loaded: &'a Loaded, prepared: &'a Prepared) -> Result<Self, DestinationError> {
        let mut branches = Vec::new();
        let Some(access) = loaded.access.as_deref() else { return Ok(Self { loaded, prepared, branches }) };
        let (repos, environment) = (&loaded.fleet.gitops_repos, &loaded.fleet.environment);
        for object in repos.values() {
            let name = object.name.as_str();
            let branch = match Branch::read(loaded, (name, &object.spec.place), None) {
                Err(DestinationError::Publish(PublishError::NoBase { .. })) => continue,
                read => read?,
            };
            let Some(newest) = branch.newest_publication(loaded) else { continue };
            let proposing = proposing_branch(environment, (repos.len() > 1).then_some(name));
            let proposed = Proposed::read((loaded, access), (&object.spec.place.repo, proposing))?;
            branches.push(PublishedBranch { branch, folder: folder_of(object)?, newest, proposed });
        }
        Ok(Self { loaded, prepared, branches })
    }

    /// The assignments whose published folder is not the desired one. `desired` has the git id of the folder of each assignment. An assignment without one has errors.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn find(
        &self,
        ids: &[AssignmentId],
        desired: &[Option<GitId>],
    ) -> Result<BTreeMap<AssignmentId, HeldContent>, OpenError> {
        let mut found = BTreeMap::new();
        for at in &self.branches {
            let differing = self.differing(at, (ids, desired))?;
            let mut origins = self.origins_of(at, &differing);
            found.extend(differing.into_iter().map(|Differing { id, published, reason }| {
                let held = match (published, origins.remove(id)) {
                    (None, _) => PlaceHoldings::Nothing,
                    (Some(_), Some(origins)) => PlaceHoldings::Revision(origins),
                    (Some(_), None) => PlaceHoldings::Unknown,
                };
                let desired = origins_in(self.prepared, self.loaded, id);
                (id.clone(), HeldContent { ring: None, since: None, reason: reason.into(), desired, held })
            }));
        }
        Ok(found)
    }

    /// The assignments with another folder on a branch, with the reasons.
    fn differing<'i>(
        &self,
        at: &PublishedBranch,
        (ids, desired): (&'i [AssignmentId], &[Option<GitId>]),
    ) -> Result<Vec<Differing<'i>>, OpenError> {
        let open = |sealed: &Sealed| at.branch.open(sealed);
        let mut published = AssignmentFolders::new(&at.branch.tree, &at.folder, &open)?;
        let access = self.loaded.access.as_deref();
        let open_proposed = |sealed: &Sealed| match (access, &at.proposed) {
            (Some(access), Some(proposed)) => opener(&*access.repositories, &proposed.commit)(sealed),
            _ => model::tree::closed(sealed),
        };
        let none = Tree::default();
        let tree = at.proposed.as_ref().map_or(&none, |proposed| &proposed.tree);
        let mut proposed = AssignmentFolders::new(tree, &at.folder, &open_proposed)?;
        let mut found = Vec::new();
        for (id, desired) in ids.iter().zip(desired) {
            let published = published.find(id)?;
            if published == *desired {
                continue;
            }
            let reason = match (desired, &at.proposed) {
                (None, _) => "it has errors".to_owned(),
                (Some(_), Some(branch)) if proposed.find(id)? == *desired => {
                    format!("it waits for the merge of {}", branch.name)
                }
                _ => "it is not published yet".to_owned(),
            };
            found.push(Differing { id, published, reason });
        }
        Ok(found)
    }

    /// What published folders were rendered from, if the sources of the newest publication give the same folder.
    fn origins_of(&self, at: &PublishedBranch, differing: &[Differing<'_>]) -> BTreeMap<AssignmentId, Origins> {
        let with_folder: Vec<_> = differing.iter().filter(|one| one.published.is_some()).collect();
        if with_folder.is_empty() {
            return BTreeMap::new();
        }
        let earlier = at.branch.load_publication(self.loaded, &at.newest);
        let Some((earlier, access)) = earlier.zip(self.loaded.access.as_deref()) else { return BTreeMap::new() };
        let prepared = Prepared::with_progress(&earlier.fleet, &access.progress);
        let ids: Vec<_> = with_folder.iter().map(|one| one.id.clone()).collect();
        let folders = SingleAssignments::new(&prepared, ids.iter()).folders(&ids);
        let same = with_folder.into_iter().zip(folders).filter(|(one, folder)| one.published == *folder);
        same.map(|(one, _)| (one.id.clone(), origins_in(&prepared, &earlier, one.id))).collect()
    }
}

impl Proposed {
    /// Reads a proposing branch. None: there is none.
    fn read(
        (loaded, access): (&Loaded, &RepositoryAccess),
        (repo, name): (&str, String),
    ) -> Result<Option<Self>, DestinationError> {
        let url = loaded.url(repo)?;
        let commit = match access.repositories.resolve(&url, &Revision::branch(&name)) {
            Err(RepositoryError::NoRevision { .. }) => return Ok(None),
            found => found.map_err(PublishError::from)?,
        };
        let tree = access.repositories.tree(&commit).map_err(PublishError::from)?;
        Ok(Some(Self { name, commit, tree }))
    }
}

/// The release and the commit of main of an assignment in a state of its environment.
fn origins_in(prepared: &Prepared, loaded: &Loaded, id: &AssignmentId) -> Origins {
    let main = loaded.fleet.promoted_commit().and_then(|commit| GitId::from_hex(commit));
    Origins { release: placed_release(prepared, id).map(|placed| placed.release.text()), main }
}
