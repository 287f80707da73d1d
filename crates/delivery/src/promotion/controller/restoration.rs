//! Restores the branch with the states of an environment after it was rewritten or deleted: a decision of a person.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::report::{EventKind, MoveEvent};
use engine::promotion::state::{AdvanceState, Candidate, CandidatePhase, Revision as Moved};
use git::limits::STATES_REACHES;
use git::load::{ControlPlane, Read, ReadRole, Snapshot};
use git::publications::PublishedCommit;
use git::{Commit, Person, RepositoryError, Revision, trailer};
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::base_repo::MAIN;

use super::events;
use super::line;
use super::plane::Plane;
use super::sources;
use crate::access::RepositoryAccess;
use crate::reading::RACES_MAX;
use crate::sources::pinned_repositories::PinnedRepositories;
use crate::states::rollout_store::{AdmissionChange, Advances, StateChange, StatePlace, StoreError, Written, write_at};
use crate::states::state_branch::{self, REPLACES, RESTORED, StateBranchError};
use crate::untrusted_states::branch_name;

/// The value of the trailer if no commit is restored.
const BASELINE: &str = "baseline";

/// A decision to restore states.
#[derive(Clone, Copy)]
pub struct Restoration<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// What is restored.
    pub to: RestoredStates,
    /// The author of the commit.
    pub author: &'a Person,
    /// Who decided, for the history.
    pub by: &'a str,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub at: Timestamp,
}

/// What is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoredStates {
    /// The states that the newest publication names.
    Published,
    /// The states of this commit.
    Commit(GitId),
    /// Nothing is left: what the newest publication was rendered from is admitted.
    Baseline,
}

/// The reason why states are not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestorationError {
    /// There is no such environment.
    #[error("there is no environment `{0}`")]
    UnknownEnvironment(EnvironmentName),
    /// Nothing is missing.
    #[error("the branch `{}` contains all that was published: there is nothing to restore", branch_name(.0))]
    Unneeded(EnvironmentName),
    /// The commit can't be fetched.
    #[error("commit {commit} of the states of {environment} can't be read: {error}")]
    Lost {
        /// The environment.
        environment: EnvironmentName,
        /// The commit.
        commit: GitId,
        /// The reason.
        error: RepositoryError,
    },
    /// The commit is no commit of the branch.
    #[error("commit {commit} has no states of {environment}")]
    NoStates {
        /// The environment.
        environment: EnvironmentName,
        /// The commit.
        commit: GitId,
    },
    /// A baseline would discard states that can be restored.
    #[error(
        "commit {commit}, which the newest publication names, can still be read, with all holds and rollbacks in it"
    )]
    NotLost {
        /// The commit.
        commit: GitId,
    },
    /// There is no publication to begin with.
    #[error("no publication of {0} names its states: there is no state to start from")]
    NoPublication(EnvironmentName),
    /// The sources of the publication can't be read.
    #[error("the sources of publication {commit} can't be read: {reason}")]
    Sources {
        /// The commit of the GitOps repository.
        commit: GitId,
        /// The reason.
        reason: String,
    },
    /// The control plane can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The states can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Other programs moved the branch during every attempt.
    #[error("another program stores the state of {0} at the same time")]
    LostRaces(EnvironmentName),
}

/// Restores the states of an environment: one commit with their files, whose history has all that was published and can still be read. Returns what happened, in one
/// line for people.
///
/// # Errors
/// If there is nothing to restore, or nothing to restore it from. If the branch can't be written.
pub fn restore(access: &Arc<RepositoryAccess>, restoration: &Restoration<'_>) -> Result<String, RestorationError> {
    let environment = restoration.environment;
    let plane = Plane::read(access)?;
    if plane.graph.step(environment.as_str()).is_none() {
        return Err(RestorationError::UnknownEnvironment(environment.clone()));
    }
    for _ in 0..RACES_MAX {
        let head = state_branch::unchecked_head(access, environment)?;
        let publications = state_branch::read_publications(access, environment);
        let published = Published::find(access, &publications)?;
        let work = Work { access, plane: &plane, restoration, published };
        let restored = work.states(&publications)?;
        if work.write(head.as_ref(), &restored)? {
            return Ok(work.text(&restored));
        }
    }
    Err(RestorationError::LostRaces(environment.clone()))
}

/// The commits of the states that publications name.
struct Published {
    /// The commits that can be read. The first one contains the most of the others.
    found: Vec<Commit>,
    lost: Vec<(GitId, RepositoryError)>,
}

impl Published {
    /// # Errors
    /// If the repository can't be reached: only what a repository does not have is lost.
    fn find(access: &RepositoryAccess, publications: &[PublishedCommit]) -> Result<Self, RepositoryError> {
        let (mut found, mut lost) = (Vec::new(), Vec::new());
        for id in publications.iter().filter_map(|publication| publication.states) {
            match commit(access, id) {
                Err(error @ RepositoryError::NoRevision { .. }) => lost.push((id, error)),
                commit => found.push(commit?),
            }
        }
        let contained = |commit: &Commit| found.iter().filter(|other| is_in(access, other.id, commit)).count();
        let mut found: Vec<_> = found.iter().map(|commit| (contained(commit), commit.clone())).collect();
        found.sort_by_key(|(contained, _)| std::cmp::Reverse(*contained));
        Ok(Self { found: found.into_iter().map(|(_, commit)| commit).collect(), lost })
    }
}

/// What is written.
#[derive(Default)]
struct RestoredFiles {
    /// The commit whose files are restored. None: a baseline.
    from: Option<Commit>,
    advances: Option<Advances>,
    promotion: AdmissionChange,
}

impl RestoredFiles {
    /// What is restored, for people.
    fn text(&self) -> String {
        match &self.from {
            Some(commit) => format!("the states of commit {} are restored", commit.id.short()),
            None => "the published output was admitted again".to_owned(),
        }
    }
}

struct Work<'a> {
    access: &'a Arc<RepositoryAccess>,
    plane: &'a Plane<'a>,
    restoration: &'a Restoration<'a>,
    published: Published,
}

impl Work<'_> {
    /// The files of a commit, or the states of a baseline.
    fn states(&self, publications: &[PublishedCommit]) -> Result<RestoredFiles, RestorationError> {
        let environment = self.restoration.environment;
        if !matches!(self.restoration.to, RestoredStates::Commit(_)) {
            match state_branch::head(self.access, environment) {
                Ok(_) => return Err(RestorationError::Unneeded(environment.clone())),
                Err(StateBranchError::Untrusted(_)) => {}
                Err(StateBranchError::Repository(error)) => return Err(error.into()),
            }
        }
        let lost = |commit, error| RestorationError::Lost { environment: environment.clone(), commit, error };
        let commit = match self.restoration.to {
            RestoredStates::Published => match (self.published.found.first(), self.published.lost.first()) {
                (Some(commit), None) => commit.clone(),
                (_, Some((id, error))) => return Err(lost(*id, error.clone())),
                (None, None) => return Err(RestorationError::NoPublication(environment.clone())),
            },
            RestoredStates::Commit(id) => commit(self.access, id).map_err(|error| lost(id, error))?,
            RestoredStates::Baseline => {
                if let Some(commit) = self.published.found.first() {
                    return Err(RestorationError::NotLost { commit: commit.id });
                }
                return self.baseline(publications);
            }
        };
        let message = self.access.repositories.info(&commit)?.message;
        if !trailer::trailers(&message, trailer::ENVIRONMENT).contains(&environment.as_str()) {
            return Err(RestorationError::NoStates { environment: environment.clone(), commit: commit.id });
        }
        Ok(RestoredFiles { from: Some(commit), ..RestoredFiles::default() })
    }

    /// What the newest publication was rendered from, as the first step of a new environment admits it.
    fn baseline(&self, publications: &[PublishedCommit]) -> Result<RestoredFiles, RestorationError> {
        let environment = self.restoration.environment;
        let none = || RestorationError::NoPublication(environment.clone());
        let publication = publications.iter().find(|publication| publication.states.is_some()).ok_or_else(none)?;
        let pinned = PinnedRepositories::strict(&*self.access.repositories, publication.sources.clone());
        let (promoted, releases) = (publication.promoted, &publication.releases);
        let control_plane = ControlPlane { promoted, releases, ..self.access.control_plane() };
        let read = Snapshot::new(&pinned, control_plane).load(environment);
        if !read.is_complete {
            let first = read.diagnostics.iter().find(|found| found.is_error());
            let reason = first.map(|found| format!("[{}] {}", found.code, found.message)).unwrap_or_default();
            return Err(RestorationError::Sources { commit: publication.commit, reason });
        }
        let is_main = |read: &&Read| matches!(&read.role, ReadRole::Base(name) if name.as_str() == MAIN);
        let moves_main = self.plane.step(environment).is_some_and(|step| step.promotion.select.platform);
        let main = read.reads.iter().find(is_main).map(|read| read.commit).filter(|_| moves_main);
        let main = promoted.or(main);
        let releases =
            releases.iter().map(|(name, release)| (Arc::clone(name), self.begun(Moved(Arc::clone(release)))));
        let advances = Advances {
            platform: main.map(|commit| self.begun(line::revision(commit))),
            releases: releases.collect(),
            sources: sources::begun(self.access, &read.reads),
        };
        let promotion = main.and_then(|commit| self.plane.promotion_at(environment, commit));
        let promotion = promotion.map_or(AdmissionChange::Keep, AdmissionChange::Set);
        Ok(RestoredFiles { from: None, advances: Some(advances), promotion })
    }

    /// The state of a revision that the environment has, and proves.
    fn begun(&self, revision: Moved) -> AdvanceState {
        let since = self.restoration.at;
        let current = Candidate::new(revision.clone(), since, CandidatePhase::Proving { since });
        AdvanceState { admitted: Some(revision), current: Some(current), ..AdvanceState::default() }
    }

    /// Writes the commit. False: another program moved the branch.
    fn write(&self, head: Option<&Commit>, restored: &RestoredFiles) -> Result<bool, RestorationError> {
        let mut parents: Vec<Commit> = restored.from.clone().into_iter().collect();
        // A healthy branch goes on; a rewritten one is replaced.
        let healthy = state_branch::head(self.access, self.restoration.environment).ok().flatten();
        for other in self.published.found.iter().chain(healthy.as_ref()) {
            if !parents.iter().any(|parent| is_in(self.access, other.id, parent)) {
                parents.push(other.clone());
            }
        }
        let parents: Vec<_> = parents.iter().map(|parent| parent.id).collect();
        let written = self.write_after(head, restored, &parents);
        match written {
            // The repository does not have the history of a commit that is only in the local copy.
            Err(StoreError::Repository(RepositoryError::Refused { .. })) if healthy.is_none() => {
                Ok(self.write_after(head, restored, &[])?)
            }
            written => Ok(written?),
        }
    }

    fn write_after(
        &self,
        head: Option<&Commit>,
        restored: &RestoredFiles,
        parents: &[GitId],
    ) -> Result<bool, StoreError> {
        let files = restored.from.as_ref();
        let Restoration { environment, author, by, at, .. } = *self.restoration;
        let mut replaced: Vec<_> = self.published.lost.iter().map(|(id, _)| id.to_string()).collect();
        if parents.is_empty() {
            replaced.extend(self.published.found.iter().map(|commit| commit.id.to_string()));
        }
        let restored_to = files.map_or_else(|| BASELINE.to_owned(), |files| files.id.to_string());
        let replaced = replaced.iter().map(|id| (REPLACES, id.as_str()));
        let trailers: Vec<_> = [(RESTORED, restored_to.as_str())].into_iter().chain(replaced).collect();
        let event = MoveEvent {
            at,
            kind: EventKind::Restored,
            revision: None,
            text: format!("{} by {by}: {}", restored.text(), self.restoration.reason).into(),
            gates: Vec::new(),
        };
        let message = events::message(environment, &[events::promotion_event(environment, None, &event, Some(by))]);
        let change = StateChange {
            rollouts: BTreeMap::new(),
            advances: restored.advances.clone(),
            promotion: restored.promotion.clone(),
            message: &message,
            author,
            seconds: at.as_second(),
            lease: None,
        };
        let place =
            StatePlace { files, parents, head: head.map(|head| head.id), is_unconditional: true, trailers: &trailers };
        Ok(!matches!(write_at((self.access, environment), &place, &change)?, Written::LostRace))
    }

    fn text(&self, restored: &RestoredFiles) -> String {
        format!("{}: {}", self.restoration.environment, restored.text())
    }
}

/// A commit of the control plane's repository, fetched by its id.
fn commit(access: &RepositoryAccess, id: GitId) -> Result<Commit, RepositoryError> {
    access.repositories.resolve(&access.settings.repo, &Revision::Commit { id, branch: None })
}

/// Whether a commit is in the history of another one, as far as it can be read.
fn is_in(access: &RepositoryAccess, id: GitId, commit: &Commit) -> bool {
    access.repositories.is_ancestor(id, commit, STATES_REACHES[1]).unwrap_or(false)
}
