//! The stored states of an environment's rollouts: files on a branch of the control plane's repository.
//!
//! The branch `kalypso-rollouts/<environment>` has a file `rollouts/<workload>.yaml` for each rollout, and `promotion.yaml` with the changes on their way into the
//! environment. Only one program writes at a time: each push requires the head that was read. A file that can't be read stops only the moves that it describes.

mod files;
mod promotion;
mod signer;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::state::{AdvanceState, Decision, Revision, RolloutState};
use git::publications::{AdmittedReleases, KEPT, PublishedCommit, SOURCE, SourceBranch};
use git::{
    Commit, EntryKind, FileContent, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, opener, trailer,
};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::Promotion;
use model::progress::Progress;
use model::tree::{Child, Entry, Open, OpenError, Sealed, Tree, closed};
use serde::{Deserialize, Serialize};

use self::files::{advances_text, parse_advances, parse_rollout, rollout_text, source_commits, source_name};
pub use self::promotion::AdmittedPromotion;
use crate::access::RepositoryAccess;
use crate::branches::branch::Branch;
use crate::error::DestinationError;
use crate::sources::loaded::Loaded;
use crate::states::state_branch::{self, StateBranchError};
pub use crate::states::state_file::StateFileError;
use crate::untrusted_states::{UntrustedStates, branch_name};
use crate::write_lease::{LeaseEnded, WriteLease};

/// The folder with the files of rollouts.
const ROLLOUTS: &str = "rollouts";
/// The file with the changes on their way into the environment.
const PROMOTION_FILE: &str = "promotion.yaml";
/// The maximum size of a state file, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// The stored states of an environment, at one commit of their branch.
#[derive(Clone, Debug, Default)]
pub struct StoredStates {
    /// The head of the branch. None: the branch does not exist, and there is no state.
    pub head: Option<Commit>,
    /// The rollouts by workload. An error: the state of this workload is not known, so nothing of the workload moves.
    pub rollouts: BTreeMap<Arc<str>, Result<StoredRollout, StateFileError>>,
    /// The changes on their way into the environment. None: there is no file. An error: their states are not known.
    pub advances: Option<Result<Advances, StateFileError>>,
    /// The admitted promotion. None: none was admitted. An error: its gates are not known, so nothing moves.
    pub promotion: Option<Result<AdmittedPromotion, StateFileError>>,
    /// The earlier names of workloads whose rollouts have their present names here, and not yet on the branch.
    pub renamed: BTreeMap<Arc<str>, Arc<str>>,
}

impl StoredStates {
    /// The states with the rollouts of renamed workloads under their present names, so that one rollout has the folders under both names. `renames` has the
    /// present names by earlier names. A workload that has a rollout under its present name keeps it.
    #[must_use]
    pub fn following(mut self, renames: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        for (earlier, present) in renames {
            let is_known = self.rollouts.get(earlier).is_some_and(Result::is_ok);
            if !is_known || self.rollouts.contains_key(present) {
                continue;
            }
            if let Some(rollout) = self.rollouts.remove(earlier) {
                self.rollouts.insert(Arc::clone(present), rollout);
                self.renamed.insert(Arc::clone(earlier), Arc::clone(present));
            }
        }
        self
    }

    /// The changes on their way into the environment: none, if there is no file.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn known_advances(&self) -> Result<Advances, StateFileError> {
        self.advances.clone().unwrap_or_else(|| Ok(Advances::default()))
    }

    /// A hold of the whole environment by a person.
    pub fn hold(&self) -> Option<&Decision> {
        self.advances.as_ref()?.as_ref().ok()?.hold()
    }

    /// The admitted promotion, if it can be read.
    pub fn admitted_promotion(&self) -> Option<&Promotion> {
        self.promotion.as_ref()?.as_ref().ok().map(|promotion| &promotion.spec)
    }
}

/// The rollout of a workload, with the sources of its revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRollout {
    /// The state.
    #[serde(rename = "\0flatten")]
    pub state: RolloutState,
    /// The names of the deployment targets of the stable and the moving revision. Their folders move with the workload, also after a target was removed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub targets: BTreeSet<Arc<str>>,
    /// The sources from which each revision is rendered again when the newest sources give another one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub revisions: BTreeMap<Revision, RevisionSources>,
}

/// The sources of a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionSources {
    /// The commits.
    #[serde(with = "source_commits")]
    pub sources: BTreeMap<SourceBranch, GitId>,
    /// The commit of the main branch that was admitted. None: the `BaseRepo` named `main` says it.
    pub promoted: Option<GitId>,
    /// The releases of workloads that were admitted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub releases: AdmittedReleases,
    /// Objects that are kept although no readable file contains them, as values of the trailer `Kalypso-Kept`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Arc<str>>,
}

/// The changes on their way into an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advances {
    /// The commits of the main branch.
    pub platform: Option<AdvanceState>,
    /// The releases of each workload.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub releases: BTreeMap<Arc<str>, AdvanceState>,
    /// The sources of values and applications whose newest commits wait for gates, by the name that people use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<Arc<str>, StoredSource>,
}

impl Advances {
    /// A hold of the whole environment by a person. It is in the state of the commits of the main branch, also where these do not move.
    pub fn hold(&self) -> Option<&Decision> {
        self.platform.as_ref()?.hold.as_ref()
    }
}

/// A source of values or of an application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredSource {
    /// The repository and the branch.
    #[serde(rename = "\0flatten", with = "source_name")]
    pub source: SourceBranch,
    /// Its commits on their way into the environment.
    pub state: AdvanceState,
}

/// A change of stored states, as one commit.
pub struct StateChange<'a> {
    /// The changed rollouts by workload. None removes the state of a workload.
    pub rollouts: BTreeMap<Arc<str>, Option<StoredRollout>>,
    /// The changes on their way into the environment. None: they stay as they are.
    pub advances: Option<Advances>,
    /// The admitted promotion.
    pub promotion: AdmissionChange,
    /// What moved and why: the text of the commit message, without trailers.
    pub message: &'a str,
    /// The author and committer.
    pub author: &'a Person,
    /// The time, in seconds since 1970.
    pub seconds: i64,
    /// The permission to write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
}

/// A change of the admitted promotion.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AdmissionChange {
    /// It stays.
    #[default]
    Keep,
    /// Another one is admitted.
    Set(AdmittedPromotion),
    /// The main branch has none any more.
    Remove,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The branch is at this new commit.
    Moved(GitId),
    /// The files already have this content. Nothing was written.
    Unchanged,
    /// Another program moved the branch. Nothing was written: the caller reads again, decides again, and tries again.
    LostRace,
}

/// The reason why states can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The repository can't be read, or refuses the push.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder of the branch can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Another replica may lead the environment now.
    #[error(transparent)]
    LeaseEnded(#[from] LeaseEnded),
    /// The branch lacks a commit that counted before, or its head is not signed.
    #[error(transparent)]
    Untrusted(#[from] UntrustedStates),
    /// The states must be signed, and this program can't.
    #[error(
        "the states of `{environment}` must be signed, and this program can't sign them: {reason}. Nothing was written"
    )]
    NoKey {
        /// The environment.
        environment: EnvironmentName,
        /// Why there is no key.
        reason: Arc<str>,
    },
    /// The name of a workload can't be the name of a file.
    #[error("`{0}` is not the name of a workload")]
    Workload(Arc<str>),
}

impl StoreError {
    /// Whether a person must act. Otherwise, the next attempt can succeed.
    pub fn needs_person(&self) -> bool {
        matches!(self, Self::Untrusted(_) | Self::NoKey { .. })
    }
}

impl From<StateBranchError> for StoreError {
    fn from(error: StateBranchError) -> Self {
        match error {
            StateBranchError::Repository(error) => Self::Repository(error),
            StateBranchError::Untrusted(untrusted) => Self::Untrusted(untrusted),
        }
    }
}

/// Reads the stored states of an environment at the head of their branch.
///
/// # Errors
/// If the branch can't be read, or lacks a commit that counted before. It is not known then what the states are. A single file that can't be read is a part of the
/// result.
pub fn read(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<StoredStates, StoreError> {
    match state_branch::head(access, environment)? {
        None => Ok(StoredStates::default()),
        Some(head) => read_at(&*access.repositories, &head, environment),
    }
}

/// Reads what is on its way into an environment, without the rollouts in it. None: there is no state. An error: the state is not known.
///
/// # Errors
/// As in [`read`].
pub fn read_advances(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
) -> Result<Option<Result<Advances, StateFileError>>, StoreError> {
    match state_branch::head(access, environment)? {
        None => Ok(None),
        Some(head) => Ok(read_promotions_at(&*access.repositories, &head, environment)?.advances),
    }
}

/// Reads the stored states of an environment at a commit of their branch.
///
/// # Errors
/// If the commit can't be read.
pub fn read_at(
    repositories: &dyn Repositories,
    head: &Commit,
    environment: &EnvironmentName,
) -> Result<StoredStates, StoreError> {
    let mut states = read_promotions_at(repositories, head, environment)?;
    for entry in repositories.folder(head, ROLLOUTS)?.unwrap_or_default() {
        let Some(workload) = entry.name.strip_suffix(".yaml").filter(|_| entry.kind == EntryKind::File) else {
            continue;
        };
        let path = rollout_path(workload);
        let read = |text: String| parse_rollout((&path, &text), (environment.as_str(), workload));
        let rollout = content(repositories, (head, entry.id), &path)?.and_then(read);
        states.rollouts.insert(workload.into(), rollout);
    }
    Ok(states)
}

/// Reads what is on its way into an environment, without the rollouts in it.
pub(crate) fn read_promotions_at(
    repositories: &dyn Repositories,
    head: &Commit,
    environment: &EnvironmentName,
) -> Result<StoredStates, StoreError> {
    let mut states = StoredStates { head: Some(head.clone()), ..StoredStates::default() };
    let root = repositories.folder(head, "")?.unwrap_or_default();
    if let Some(entry) = root.iter().find(|entry| entry.name == PROMOTION_FILE && entry.kind == EntryKind::File) {
        let text = content(repositories, (head, entry.id), PROMOTION_FILE)?;
        let read = |text: String| parse_advances((PROMOTION_FILE, &text), environment.as_str());
        states.advances = Some(text.and_then(read));
    }
    if let Some(entry) = root.iter().find(|entry| entry.name == promotion::FILE && entry.kind == EntryKind::File) {
        let text = content(repositories, (head, entry.id), promotion::FILE)?;
        states.promotion = Some(text.and_then(|text| AdmittedPromotion::parse(text.as_bytes(), environment.as_str())));
    }
    Ok(states)
}

/// The text of the state file of a workload's rollout.
pub fn file_text(environment: &str, workload: &str, rollout: &StoredRollout) -> String {
    rollout_text((environment, workload), rollout)
}

fn rollout_path(workload: &str) -> String {
    format!("{ROLLOUTS}/{workload}.yaml")
}

/// The text of a file, or the reason why it is none.
fn content(
    repositories: &dyn Repositories,
    (head, id): (&Commit, GitId),
    path: &str,
) -> Result<Result<String, StateFileError>, StoreError> {
    let error = |message: &str| StateFileError { file: path.into(), line: 1, column: 1, message: message.to_owned() };
    Ok(match repositories.content(head, id, FILE_BYTES_MAX)? {
        FileContent::Bytes(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| error("the file is not UTF-8")),
        FileContent::TooLarge(_) => Err(error("the file is too large")),
    })
}

/// Writes changed states as one commit after the head that was read. Without a branch, begins it without a parent.
///
/// # Errors
/// If the repository can't be reached, or refuses the push. If the lease has ended.
pub fn write(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    before: Option<&Commit>,
    change: &StateChange<'_>,
) -> Result<Written, StoreError> {
    let parents: Vec<_> = before.iter().map(|head| head.id).collect();
    let head = before.map(|head| head.id);
    let place = StatePlace { files: before, parents: &parents, head, is_unconditional: false, trailers: &[] };
    write_after((access, environment), &place, change)
}

/// Writes a commit that changes no state: its message is what counts.
///
/// # Errors
/// As in [`write()`].
pub(crate) fn note(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    head: &Commit,
    change: &StateChange<'_>,
) -> Result<Written, StoreError> {
    let parents = [head.id];
    let place =
        StatePlace { files: Some(head), parents: &parents, head: Some(head.id), is_unconditional: true, trailers: &[] };
    write_after((access, environment), &place, change)
}

fn write_after(
    (access, environment): (&RepositoryAccess, &EnvironmentName),
    place: &StatePlace<'_>,
    change: &StateChange<'_>,
) -> Result<Written, StoreError> {
    let written = write_at((access, environment), place, change)?;
    if let Written::Moved(id) = written {
        access.state_anchors.advance(environment, place.head, id);
    }
    Ok(written)
}

/// Where a commit with states is put.
pub(crate) struct StatePlace<'a> {
    /// The commit whose files change. None: there are none yet.
    pub(crate) files: Option<&'a Commit>,
    pub(crate) parents: &'a [GitId],
    /// The head that the branch has now.
    pub(crate) head: Option<GitId>,
    /// Whether it is written although no file changes.
    pub(crate) is_unconditional: bool,
    /// More trailers of its message.
    pub(crate) trailers: &'a [(&'a str, &'a str)],
}

/// Writes changed states as one commit.
pub(crate) fn write_at(
    (access, environment): (&RepositoryAccess, &EnvironmentName),
    place: &StatePlace<'_>,
    change: &StateChange<'_>,
) -> Result<Written, StoreError> {
    let repositories = &*access.repositories;
    let open = |sealed: &Sealed| match place.files {
        Some(files) => opener(repositories, files)(sealed),
        None => closed(sealed),
    };
    let old = place.files.map_or_else(|| Ok(Tree::default()), |files| repositories.tree(files))?;
    let tree = changed_tree(old.clone(), environment, change, &open)?;
    if tree == old && !place.is_unconditional {
        return Ok(Written::Unchanged);
    }
    let signer = signer::signer(access, environment, place.files)?;
    let own = [(trailer::ENVIRONMENT, environment.as_str())];
    let trailers: Vec<_> = own.iter().chain(place.trailers).copied().collect();
    let message = trailer::with_trailers(change.message, &trailers);
    let (StateChange { author, seconds, .. }, parents) = (change, place.parents);
    let commit = NewCommit { parents, tree: &tree, open: &open, message: &message, author, seconds: *seconds, signer };
    let branch = branch_name(environment);
    let progress = &Progress::default();
    let push = Push { branch: &branch, expected: place.head, commit: Some(commit), progress };
    change.lease.map_or(Ok(()), WriteLease::check)?;
    Ok(match repositories.push(&access.settings.repo, &push)? {
        Pushed::Moved(id) => Written::Moved(id),
        Pushed::Removed | Pushed::LostRace => Written::LostRace,
    })
}

fn changed_tree(
    mut tree: Tree,
    environment: &EnvironmentName,
    change: &StateChange<'_>,
    open: &Open<'_>,
) -> Result<Tree, StoreError> {
    let mut put = |path: &str, text: Option<String>| {
        match text {
            Some(text) => {
                tree.put(path, Child::File(Entry::file(text.into_bytes())), open)?;
            }
            None => drop(tree.remove(path, open)?),
        }
        Ok::<_, OpenError>(())
    };
    for (workload, rollout) in &change.rollouts {
        model::name::check(workload).map_err(|_| StoreError::Workload(Arc::clone(workload)))?;
        let text = rollout.as_ref().map(|rollout| file_text(environment.as_str(), workload, rollout));
        put(&rollout_path(workload), text)?;
    }
    if let Some(advances) = &change.advances {
        put(PROMOTION_FILE, Some(advances_text(environment.as_str(), advances)))?;
    }
    match &change.promotion {
        AdmissionChange::Keep => {}
        AdmissionChange::Set(promotion) => {
            put(promotion::FILE, Some(String::from_utf8_lossy(&promotion.file).into_owned()))?;
        }
        AdmissionChange::Remove => put(promotion::FILE, None)?,
    }
    Ok(tree)
}

impl RevisionSources {
    /// The sources of an environment, as its publication on a branch names them.
    ///
    /// # Errors
    /// If the publications on the branch are needed, and can't be read.
    pub fn read(loaded: &Loaded, branch: &Branch) -> Result<Self, DestinationError> {
        let (sources, kept) = branch.source_trailers(loaded)?;
        let promoted = loaded.admission.as_ref().and_then(|admission| admission.main);
        let found = Self::of_trailers(sources.iter().map(String::as_str), kept.iter().map(String::as_str));
        let releases = loaded.admission.as_ref().map(|admission| admission.releases.clone()).unwrap_or_default();
        Ok(Self { promoted, releases, ..found })
    }

    /// The sources that these trailers of a publication name: values of `Kalypso-Source` and of `Kalypso-Kept`.
    pub fn of_trailers<'t>(
        sources: impl IntoIterator<Item = &'t str>,
        kept: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let trailers: Vec<_> = sources.into_iter().map(|value| (SOURCE, value)).collect();
        let publication = PublishedCommit::from_message(no_commit(), &trailer::with_trailers("sources", &trailers));
        let kept = kept.into_iter().map(Arc::from).collect();
        Self { sources: publication.sources, promoted: None, releases: AdmittedReleases::new(), kept }
    }

    /// The sources as a publication, which can be loaded. It has no commit.
    pub fn publication(&self) -> PublishedCommit {
        let trailers: Vec<_> = self.kept.iter().map(|value| (KEPT, &**value)).collect();
        let publication = PublishedCommit::from_message(no_commit(), &trailer::with_trailers("sources", &trailers));
        let (promoted, releases) = (self.promoted, self.releases.clone());
        PublishedCommit { sources: self.sources.clone(), promoted, releases, ..publication }
    }
}

/// The commit of sources that were never published together.
fn no_commit() -> GitId {
    GitId::from_bytes([0; 20])
}
