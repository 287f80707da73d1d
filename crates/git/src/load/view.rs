//! A consistent view of all repositories. Each branch is resolved once; later reads of the same branch use the same commit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::progress::ProgressPhase;

use super::ControlPlane;
use super::place::{LoadedPlace, PlaceError, SourcePlace, read_place};
use super::threads::RequestThreads;
use crate::repositories::{Commit, Repositories, RepositoryError, Revision};
use crate::url::RepositoryUrl;

/// The repositories at the commits that the first read of each branch or tag found.
pub(super) struct View<'a> {
    pub(super) repositories: &'a dyn Repositories,
    pub(super) control_plane: ControlPlane<'a>,
    resolved: Mutex<BTreeMap<(RepositoryUrl, Revision), Resolved>>,
    threads: RequestThreads,
}

type Resolved = Arc<OnceLock<Result<Commit, RepositoryError>>>;

impl<'a> View<'a> {
    pub(super) fn new(repositories: &'a dyn Repositories, control_plane: ControlPlane<'a>) -> Self {
        Self {
            repositories,
            control_plane,
            resolved: Mutex::default(),
            threads: RequestThreads::for_requests(usize::MAX),
        }
    }

    /// Whether all branches and tags that were read so far still have the same head. It requests all of them again, in parallel.
    pub(super) fn is_current(&self) -> bool {
        let resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        let commit = |resolved: &Resolved| resolved.get().and_then(|found| found.clone().ok());
        let commits: Vec<_> = resolved.values().filter_map(commit).collect();
        drop(resolved);
        let commits: Vec<_> =
            commits.into_iter().filter(|commit| !matches!(commit.revision, Revision::Commit { .. })).collect();
        let is_unchanged = |commit: &Commit| {
            self.repositories.resolve(&commit.url, &commit.revision).is_ok_and(|now| now.id == commit.id)
        };
        self.in_parallel(&commits, is_unchanged).into_iter().all(|is_unchanged| is_unchanged)
    }

    /// Reads the files of a place.
    pub(super) fn read(&self, place: &SourcePlace) -> Result<LoadedPlace, PlaceError> {
        let commit = self.resolve(&place.url, &place.revision)?;
        read_place(self.repositories, commit, place)
    }

    /// Calls `work` for each item, in parallel. The results have the order of the items.
    pub(super) fn in_parallel<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
        self.threads.map(items, work)
    }

    /// The commit of a branch or tag at its first read.
    pub(super) fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let key = (url.clone(), revision.clone());
        let resolved = Arc::clone(self.resolved.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        let resolve = || {
            let fetching = self.control_plane.progress.begin(ProgressPhase::Fetching);
            let _fetching = fetching.named(|| format!("{} ({revision})", url.label()).into());
            self.repositories.resolve(url, revision)
        };
        resolved.get_or_init(resolve).clone()
    }
}
