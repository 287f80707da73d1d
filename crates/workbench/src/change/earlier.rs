//! Earlier states of an environment: the branches that give its values, as they were before one commit after the other. Applications are as they are now.

use std::collections::BTreeMap;
use std::sync::Arc;

use delivery::sources::loaded::Loaded;
use delivery::sources::pinned_repositories::PinnedRepositories;
use git::load::{Read, ReadRole};
use git::publications::SourceBranch;
use git::{Commit, CommitInfo, RepositoryUrl, Revision};
use model::git_id::GitId;
use model::name::{BaseRepoName, EnvironmentName};

use super::Now;
use crate::{EnvironmentSource, Error, Failure};

/// The commits of branches.
pub type BranchHeads = BTreeMap<SourceBranch, GitId>;

/// An environment with the branches that give its values: its own branch, and the branches that its `BaseRepo`s and Flux objects name without a commit.
pub struct EarlierStates {
    now: Now,
    /// The environment's own branch is the first.
    branches: Vec<Commit>,
}

/// A state of the environment.
pub struct EarlierState {
    /// The commit that led to the state.
    pub commit: Commit,
    /// Who made it, when, and why.
    pub info: CommitInfo,
    /// The commits of all branches in this state.
    pub heads: BranchHeads,
}

impl EarlierStates {
    /// Reads the environment as it is now.
    ///
    /// # Errors
    /// If the environment can't be read.
    pub fn read(source: &EnvironmentSource, environment: &str) -> Result<Self, Error> {
        let now = Now::read(source, environment)?;
        let mut branches = vec![now.own.clone()];
        for read in now.loaded.reads.iter().filter(|read| gives_values(read)) {
            let revision = Revision::Branch(Arc::clone(&read.revision));
            let branch = Commit { url: read.url.clone(), revision, id: read.commit };
            if branches.iter().all(|other| source_name(other) != source_name(&branch)) {
                branches.push(branch);
            }
        }
        Ok(Self { now, branches })
    }

    /// The newest states, newest first: at most `count`. The commits of all branches are in the order of their times, and those of one branch in its own order.
    ///
    /// # Errors
    /// If the history of a branch can't be read.
    pub fn newest(&self, count: usize) -> Result<Vec<EarlierState>, Failure> {
        let outside = |error: git::RepositoryError| Failure::outside(error.to_string());
        let repositories = &*self.now.access.repositories;
        let mut histories = Vec::new();
        for branch in &self.branches {
            let commits = repositories.history(branch, count).map_err(outside)?.into_iter();
            let with_info = |commit: Commit| repositories.info(&commit).map(|info| (commit, info)).map_err(outside);
            histories.push(commits.map(with_info).collect::<Result<Vec<_>, _>>()?.into_iter().peekable());
        }
        let (mut heads, mut states) = (self.heads(), Vec::new());
        while states.len() < count {
            let newest = histories.iter_mut().enumerate();
            let newest = newest.filter_map(|(position, history)| Some((history.peek()?.1.seconds, position)));
            // Of one second, the change of the environment's own branch is shown as the later one.
            let Some((_, position)) = newest.max_by_key(|(seconds, position)| (*seconds, std::cmp::Reverse(*position)))
            else {
                break;
            };
            let Some((commit, info)) = histories.get_mut(position).and_then(Iterator::next) else { break };
            let name = source_name(&commit);
            heads.insert(name.clone(), commit.id);
            let state = EarlierState { commit, info, heads: heads.clone() };
            if let Some((before, _)) = histories.get_mut(position).and_then(|history| history.peek()) {
                heads.insert(name, before.id);
            }
            states.push(state);
        }
        Ok(states)
    }

    /// The commits of all branches now.
    pub fn heads(&self) -> BranchHeads {
        self.branches.iter().map(|branch| (source_name(branch), branch.id)).collect()
    }

    /// The environment with these commits of the branches that give its values.
    pub fn at(&self, heads: &BranchHeads) -> Arc<Loaded> {
        if *heads == self.heads() {
            return Arc::clone(&self.now.loaded);
        }
        let mut pins = self.now.pins();
        pins.extend(heads.iter().map(|(name, id)| (name.clone(), *id)));
        self.now.load(&PinnedRepositories::new(&*self.now.access.repositories, pins), None)
    }

    /// The name of the environment.
    pub fn environment(&self) -> &EnvironmentName {
        &self.now.loaded.fleet.environment
    }

    /// The environment's own branch.
    pub fn own(&self) -> &Commit {
        &self.now.own
    }

    /// The branches as they are now, the environment's own one first.
    pub fn branches(&self) -> &[Commit] {
        &self.branches
    }

    /// The branch of a repository, if its head gives values.
    pub fn find_branch(&self, url: &RepositoryUrl, name: &str) -> Option<&Commit> {
        let settings = &self.now.access.settings.git;
        let is_it =
            |branch: &&Commit| *branch.revision.name() == *name && settings.is_same_repository(&branch.url, url);
        self.branches.iter().find(is_it)
    }

    /// The `BaseRepo` of the environment that names a branch. None: another object does.
    pub fn base_repo(&self, branch: &Commit) -> Option<&BaseRepoName> {
        let is_of_branch = |read: &&Read| read.url == branch.url && *read.revision == *branch.revision.name();
        let mut reads = self.now.loaded.reads.iter().filter(|read| gives_values(read)).filter(is_of_branch);
        reads.find_map(|read| match &read.role {
            ReadRole::Base(name) => Some(name),
            _ => None,
        })
    }

    /// Whether a branch is the main branch of the control plane.
    pub fn is_main(&self, branch: &Commit) -> bool {
        let settings = &self.now.access.settings;
        branch.url == settings.repo && *branch.revision.name() == *settings.branch
    }

    /// A branch for people: its name, with its repository if that is not the one of the environment's own branch.
    pub fn branch_text(&self, branch: &Commit) -> String {
        let name = branch.revision.name();
        if branch.url == self.own().url { name.to_string() } else { format!("{}@{name}", branch.url.label()) }
    }
}

/// The name of a branch.
pub fn source_name(branch: &Commit) -> SourceBranch {
    (branch.url.as_str().to_owned(), branch.revision.name().to_string())
}

/// Whether values can come from a branch whatever its head is. A fixed commit changes only with the object that names it.
fn gives_values(read: &Read) -> bool {
    let has_values = matches!(read.role, ReadRole::Environment | ReadRole::Base(_) | ReadRole::Flux(_));
    has_values && !read.is_pinned
}
