//! What is read from repositories at one moment: each branch is looked up once, and whoever reads it later gets the same commit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::progress::Phase;
use rayon::prelude::*;

use super::place::{Place, PlaceError, Snapshot, snapshot};
use super::{BrokenFiles, ControlPlane};
use crate::limits::FETCHES_AT_ONCE;
use crate::repositories::{Commit, Repositories, RepositoryError, Revision};
use crate::url::RepositoryUrl;

/// The repositories as they are when something of them is first looked at.
pub(super) struct View<'a> {
    pub(super) repositories: &'a dyn Repositories,
    pub(super) control_plane: ControlPlane<'a>,
    resolved: Mutex<BTreeMap<(RepositoryUrl, Revision), Resolved>>,
    /// None if the system gives no threads: then one repository is fetched after another.
    threads: Option<rayon::ThreadPool>,
}

type Resolved = Arc<OnceLock<Result<Commit, RepositoryError>>>;

impl<'a> View<'a> {
    pub(super) fn new(repositories: &'a dyn Repositories, control_plane: ControlPlane<'a>) -> Self {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(FETCHES_AT_ONCE).build().ok();
        Self { repositories, control_plane, resolved: Mutex::default(), threads }
    }

    /// Whether all branches and tags that were read so far are still where they were. They are asked again, several at once.
    pub(super) fn is_still_true(&self) -> bool {
        let resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        let commit = |resolved: &Resolved| resolved.get().and_then(|found| found.clone().ok());
        let commits: Vec<_> = resolved.values().filter_map(commit).collect();
        drop(resolved);
        let commits: Vec<_> =
            commits.into_iter().filter(|commit| !matches!(commit.revision, Revision::Commit { .. })).collect();
        let is_there = |commit: &Commit| {
            self.repositories.resolve(&commit.url, &commit.revision).is_ok_and(|now| now.id == commit.id)
        };
        self.in_parallel(&commits, is_there).into_iter().all(|is_there| is_there)
    }

    /// What earlier versions of files are looked for with.
    pub(super) fn reader(&self) -> (&'a dyn Repositories, &'a BrokenFiles) {
        (self.repositories, self.control_plane.broken)
    }

    /// The files of a place.
    pub(super) fn read(&self, place: &Place) -> Result<Snapshot, PlaceError> {
        let commit = self.resolve(&place.url, &place.revision)?;
        snapshot(self.repositories, commit, place)
    }

    /// Does something to every item, several at once. The results are in the order of the items.
    pub(super) fn in_parallel<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
        match &self.threads {
            Some(threads) if items.len() > 1 => threads.install(|| items.par_iter().map(&work).collect()),
            _ => items.iter().map(work).collect(),
        }
    }

    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        let key = (url.clone(), revision.clone());
        let resolved = Arc::clone(self.resolved.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        let resolve = || {
            let fetching = self.control_plane.progress.begin(Phase::Fetching);
            let _fetching = fetching.named(|| format!("{} ({revision})", url.label()).into());
            self.repositories.resolve(url, revision)
        };
        resolved.get_or_init(resolve).clone()
    }
}
