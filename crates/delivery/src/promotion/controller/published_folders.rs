//! The folders of an environment as it published them: evidence counts only if it is about exactly these.
//!
//! A hub that has not read the newest publication yet still compares the reports of clusters with the output before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use engine::layout::Folder;
use engine::output::PlaceFolders;
use engine::promotion::evidence::{Measured, PlaceReports};
use git::{Commit, Repositories, Revision, opener};
use hub_api::endpoint::repository;
use hub_api::places::PlaceState;
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::rollout::Counts;
use model::tree::{Child, Sealed};
use serde::{Deserialize, Serialize};

use crate::access::{RepositoryAccess, destination_url};

/// A commit of a GitOps branch, with the folder of the output in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitOpsCommit {
    /// The repository, the branch and the path.
    #[serde(rename = "\0flatten")]
    pub place: RepositoryPlace,
    /// The commit.
    pub commit: GitId,
    /// The folders that stay only until their removal is confirmed, by their paths in the repository. They have no part in what is measured.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub removals: BTreeSet<String>,
}

/// The folders of all places of an environment.
pub(super) struct PublishedFolders<'a> {
    repositories: &'a dyn Repositories,
    branches: Vec<PublishedBranch>,
}

struct PublishedBranch {
    repository: String,
    branch: Arc<str>,
    commit: Commit,
    folders: PlaceFolders,
    removals: BTreeSet<String>,
}

/// What a hub says of one place.
#[derive(Default)]
struct PlaceRows<'r> {
    own: Option<&'r PlaceState>,
    inner: Vec<&'r PlaceState>,
}

impl<'a> PublishedFolders<'a> {
    /// Reads the folders at these commits.
    ///
    /// # Errors
    /// The reason in words.
    pub(super) fn read(access: &'a RepositoryAccess, commits: &[GitOpsCommit]) -> Result<Self, Arc<str>> {
        let reason = |error: &dyn std::fmt::Display| Arc::from(format!("its published output can't be read: {error}"));
        let repositories = &*access.repositories;
        let mut branches = Vec::new();
        for GitOpsCommit { place, commit, removals } in commits {
            let url = destination_url(Some(access), &place.repo).map_err(|error| reason(&error))?;
            let revision = Revision::Commit { id: *commit, branch: Some(Arc::clone(&place.branch)) };
            let commit = repositories.resolve(&url, &revision).map_err(|error| reason(&error))?;
            let tree = repositories.tree(&commit).map_err(|error| reason(&error))?;
            let folder = Folder::parse(&place.path).ok_or_else(|| reason(&"its path leads out of the repository"))?;
            let open = |sealed: &Sealed| opener(repositories, &commit)(sealed);
            let folders = PlaceFolders::read(&tree, &folder, &open).map_err(|error| reason(&error))?;
            let (repository, branch) = (repository(&place.repo), Arc::clone(&place.branch));
            branches.push(PublishedBranch { repository, branch, commit, folders, removals: removals.clone() });
        }
        Ok(Self { repositories, branches })
    }

    /// The state of all places, by the rows of a hub. A place counts by the reconcilers of its own folder, and if there are none, by those of the folders in it.
    /// A place whose folder the hub does not show as it was published is not published yet.
    pub(super) fn measured(&self, rows: &[PlaceState]) -> Measured {
        let mut sum = Measured::default();
        for branch in &self.branches {
            let mut of_place: HashMap<&str, PlaceRows<'_>> = HashMap::new();
            for row in rows.iter().filter(|row| branch.has(row)) {
                let found = of_place.entry(&row.place).or_default();
                match row.target {
                    None => found.own = Some(row),
                    Some(_) => found.inner.push(row),
                }
            }
            let marked =
                branch.folders.names().filter(|name| of_place.contains_key(&***name) || self.is_own(branch, name));
            for name in marked {
                let (Some(child), none) = (branch.folders.get(name), PlaceRows::default()) else { continue };
                let rows = of_place.get(&**name).unwrap_or(&none);
                sum.add(PlaceReports::reported(&counts(rows), self.is_published(branch, child, rows)));
            }
        }
        sum
    }

    /// The state of the folders of a workload, by the rows of a hub about it.
    pub(super) fn workload(&self, rows: &[PlaceState]) -> Measured {
        let mut sum = Measured::default();
        for branch in &self.branches {
            let mut of_place: BTreeMap<&str, PlaceRows<'_>> = BTreeMap::new();
            for row in rows.iter().filter(|row| branch.has(row) && row.target.is_some()) {
                of_place.entry(&row.place).or_default().inner.push(row);
            }
            for (name, rows) in of_place {
                let is_published =
                    branch.folders.get(name).is_some_and(|child| self.is_published(branch, child, &rows));
                sum.add(PlaceReports::reported(&counts(&rows), is_published));
            }
        }
        sum
    }

    /// Whether the folder of a place that the hub does not know is one of the environment, and not one of others.
    fn is_own(&self, branch: &PublishedBranch, name: &str) -> bool {
        let open = |sealed: &Sealed| opener(self.repositories, &branch.commit)(sealed);
        let folder = branch.folders.get(name).and_then(|child| child.opened(&open).ok().flatten());
        folder.is_some_and(|folder| engine::layout::is_marked(&folder))
    }

    /// Whether the hub shows the folder of a place as it was published.
    fn is_published(&self, branch: &PublishedBranch, child: &Child, rows: &PlaceRows<'_>) -> bool {
        if let Some(own) = rows.own {
            return own.tree == child.id().to_string();
        }
        let open = |sealed: &Sealed| opener(self.repositories, &branch.commit)(sealed);
        let Ok(Some(folder)) = child.opened(&open) else { return false };
        let is_same = |row: &&PlaceState| {
            let target = row.path.rsplit('/').next().unwrap_or_default();
            folder.child(target).is_some_and(|child| child.id().to_string() == row.tree)
        };
        !rows.inner.is_empty() && rows.inner.iter().all(is_same)
    }
}

impl PublishedBranch {
    fn has(&self, row: &PlaceState) -> bool {
        let is_here = *row.branch == *self.branch && repository(&row.repository) == self.repository;
        is_here && !self.is_leaving(&row.path)
    }

    /// Whether a folder, or one around it, stays only until its removal is confirmed.
    fn is_leaving(&self, path: &str) -> bool {
        let mut around = path.match_indices('/').map(|(end, _)| path.split_at(end).0).chain([path]);
        !self.removals.is_empty() && around.any(|folder| self.removals.contains(folder))
    }
}

fn counts(rows: &PlaceRows<'_>) -> Counts {
    let own = rows.own.map(|row| row.counts).unwrap_or_default();
    if own.expected > 0 {
        return own;
    }
    let mut inner = Counts::default();
    rows.inner.iter().for_each(|row| inner.merge(&row.counts));
    inner
}

/// The commits that an environment published, sorted.
pub(super) fn sorted(commits: impl IntoIterator<Item = GitOpsCommit>) -> Vec<GitOpsCommit> {
    commits.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}
