//! Polls one branch, and records its new commits as desired state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use git::{Commit, Repositories, Revision};
use hub_api::limits::PUBLICATION_PLACES_MAX;
use hub_api::publication::{BranchContent, BranchRead, DesiredPlace, ReadProgress, Role};
use hub_api::sink::{BranchName, PathPage};
use hub_api::timestamp::Timestamp;
use hub_api::watches::WatchProblem;
use model::git_id::GitId;
use model::tree::Tree;

use crate::commits::{UnreadCommits, unread_commits};
use crate::descriptors::{DescribedManifests, DescriptorFiles, ReadError};
use crate::limits::PROBLEMS_MAX;
use crate::opened_commit::OpenedCommit;
use crate::{BranchKey, Resources, Shared, WatchedBranch, platform};

/// Reads the new commits of one branch.
pub(crate) struct BranchPoller {
    branch: WatchedBranch,
    key: BranchKey,
    resources: Resources,
    shared: Arc<Shared>,
    cache: PollerCache,
}

/// Data that is kept between polls. It can be computed again at any time.
#[derive(Default)]
struct PollerCache {
    files: DescriptorFiles,
    /// The desired places of manifests. None: they must be read from the store.
    applications: Option<ApplicationPlaces>,
    /// The error of the last poll.
    error: Option<String>,
}

/// The desired places of manifests.
struct ApplicationPlaces {
    by_path: BTreeMap<String, DesiredPlace>,
    /// Whether the store has no other ones.
    is_complete: bool,
}

/// The changes of a commit.
struct CommitChanges {
    opened: OpenedCommit,
    /// The changed places of Kalypso's own layout. All of its places if the previous commit is not available.
    platform: Vec<DesiredPlace>,
    /// Whether the previous commit is not available.
    is_first: bool,
    /// All places of manifests.
    applications: BTreeMap<String, DesiredPlace>,
    /// Whether these are complete.
    is_complete: bool,
    problems: Vec<WatchProblem>,
    /// Other branches that must be polled again.
    affected: BTreeSet<BranchKey>,
}

impl BranchPoller {
    pub(crate) fn new(branch: WatchedBranch, resources: Resources, shared: Arc<Shared>) -> Self {
        Self { key: branch.key(), branch, resources, shared, cache: PollerCache::default() }
    }

    fn name(&self) -> BranchName<'_> {
        BranchName { repository: self.branch.url.as_str(), branch: &self.branch.branch }
    }

    /// Waits until the branch must be polled before the end of the pause.
    pub(crate) async fn woken(&self) {
        match self.shared.wake.get(&self.key) {
            Some(wake) => wake.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Polls once. Returns whether the branch could be read.
    pub(crate) async fn poll(&mut self) -> bool {
        let polled = self.read_new_commits().await;
        let now = Timestamp::now();
        if let Err(error) = &polled {
            // Some places may be recorded and others not. The next poll compares with the store.
            self.cache.applications = None;
            // A lasting error is logged once.
            if self.cache.error.as_ref() != Some(error) {
                tracing::warn!(repository = self.key.repository, branch = self.key.branch, error, "branch not read");
            }
        }
        self.cache.error = polled.as_ref().err().cloned();
        self.shared.change_state(&self.key, |state| {
            state.polled_on = Some(now);
            state.failing_since = polled.is_err().then(|| state.failing_since.unwrap_or(now));
            state.error = polled.as_ref().err().cloned();
        });
        polled.is_ok()
    }

    async fn read_new_commits(&mut self) -> Result<(), String> {
        let shared = Arc::clone(&self.shared);
        let _permit = shared.permits.acquire().await.map_err(|error| error.to_string())?;
        let name = self.branch.branch.clone();
        let read = self.resources.sink.read_up_to(self.name()).await;
        let mut read = read.map_err(|error| error.to_string())?;
        // In another folder, all folders are compared: those of the earlier one are not desired any more.
        let is_moved = |folder: &String| *folder != self.branch.folder.as_str();
        let of_folder = read.as_ref().filter(|read| !read.folder.as_ref().is_some_and(is_moved));
        let before = of_folder.and_then(|read| GitId::from_hex(&read.commit));
        let url = self.branch.url.clone();
        let found = self.blocking(move |repositories, cache| {
            let heads = || {
                let head = repositories.resolve(&url, &Revision::branch(&name))?;
                Ok((unread_commits(repositories, head.clone(), before)?, head))
            };
            (heads().map_err(ReadError::Repository), cache)
        });
        let (UnreadCommits { mut base, mut commits }, head) = found.await?;
        if commits.is_empty() {
            commits.push(head);
        }
        for commit in commits {
            let changes = self.read(base.take(), commit.clone()).await?;
            self.record(changes, &mut read).await?;
            base = Some(commit);
        }
        Ok(())
    }

    /// Reads a commit.
    async fn read(&mut self, base: Option<Commit>, commit: Commit) -> Result<CommitChanges, String> {
        let (branch, shared) = (self.branch.clone(), Arc::clone(&self.shared));
        let changes = self.blocking(move |repositories, mut cache| {
            let reader = CommitReader { repositories, branch: &branch, shared: &shared };
            (reader.changes(&mut cache.files, base, commit), cache)
        });
        changes.await
    }

    /// Runs blocking work on a thread for it.
    async fn blocking<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&dyn Repositories, PollerCache) -> (Result<T, ReadError>, PollerCache) + Send + 'static,
    ) -> Result<T, String> {
        let (repositories, cache) = (Arc::clone(&self.resources.repositories), std::mem::take(&mut self.cache));
        let done = tokio::task::spawn_blocking(move || work(&*repositories, cache)).await;
        let (result, cache) = done.map_err(|error| error.to_string())?;
        self.cache = cache;
        result.map_err(|error| match error {
            ReadError::Repository(error) => error.to_string(),
            ReadError::Open(error) => error.to_string(),
        })
    }

    /// Records the content of a commit as the desired state.
    async fn record(&mut self, changes: CommitChanges, read: &mut Option<BranchRead>) -> Result<(), String> {
        let CommitChanges { opened, mut platform, is_first, applications, is_complete, problems, affected } = changes;
        let commit = opened.commit.id.to_string();
        if is_first {
            let present: BTreeSet<&str> = platform.iter().map(|place| place.path.as_str()).collect();
            let removed = self.removed_paths(Role::Platform, |path| present.contains(path)).await?;
            platform.extend(removed.into_iter().map(|path| empty_place(path, Role::Platform)));
        }
        let (places, applications) = self.changed_applications(applications, is_complete).await?;
        platform.extend(places);
        let folder = self.branch.folder.as_str().to_owned();
        let new_read = Some(BranchRead { commit: commit.clone(), folder: Some(folder.clone()) });
        if !platform.is_empty() || *read != new_read {
            let mut parts = platform.chunks(PUBLICATION_PLACES_MAX).peekable();
            let mut next = parts.next().or(Some(&[]));
            while let Some(places) = next {
                next = parts.next();
                let before = read.as_ref().map(|read| read.commit.clone());
                let progress = ReadProgress { before, is_last: next.is_none(), folder: folder.clone() };
                let content = self.content(&opened, places.to_vec());
                self.resources.sink.record(content, progress).await.map_err(|error| error.to_string())?;
            }
            *read = new_read;
            tracing::info!(
                repository = self.key.repository,
                branch = self.key.branch,
                commit,
                places = platform.len(),
                "commit read"
            );
        }
        self.cache.applications = Some(applications);
        let descriptors = self.cache.files.descriptors().descriptors.len();
        self.shared.change_state(&self.key, |state| {
            state.commit = Some(commit);
            state.descriptors = descriptors;
            state.problem_count = problems.len();
            state.problems = problems;
            state.problems.truncate(PROBLEMS_MAX);
        });
        affected.iter().filter_map(|other| self.shared.wake.get(other)).for_each(tokio::sync::Notify::notify_one);
        Ok(())
    }

    fn content(&self, opened: &OpenedCommit, places: Vec<DesiredPlace>) -> BranchContent {
        BranchContent {
            repository: self.branch.url.as_str().to_owned(),
            branch: self.branch.branch.clone(),
            commit: opened.commit.id.to_string(),
            committed_on: opened.committed_on,
            places,
            is_complete: false,
        }
    }

    /// The places of manifests that have changed since they were last recorded, and all desired ones.
    async fn changed_applications(
        &self,
        mut by_path: BTreeMap<String, DesiredPlace>,
        is_complete: bool,
    ) -> Result<(Vec<DesiredPlace>, ApplicationPlaces), String> {
        let empty = BTreeMap::new();
        let recorded = self.cache.applications.as_ref();
        let was_complete = recorded.is_some_and(|recorded| recorded.is_complete);
        let recorded = recorded.map_or(&empty, |recorded| &recorded.by_path);
        let is_recorded = |place: &&DesiredPlace| recorded.get(&place.path) == Some(*place);
        let mut places: Vec<_> = by_path.values().filter(|place| !is_recorded(place)).cloned().collect();
        let is_missing = |path: &&String| !by_path.contains_key(*path);
        if !is_complete {
            // A missing place may be in a descriptor that can't be read, so it stays desired.
            let missing: Vec<_> = recorded.keys().filter(is_missing).cloned().collect();
            let kept = |path: String| recorded.get(&path).map(|place| (path, place.clone()));
            by_path.extend(missing.into_iter().filter_map(kept));
        } else if was_complete {
            let removed = recorded.keys().filter(is_missing);
            places.extend(removed.map(|path| empty_place(path.clone(), Role::Application)));
        } else {
            let removed = self.removed_paths(Role::Application, |path| by_path.contains_key(path)).await?;
            places.extend(removed.into_iter().map(|path| empty_place(path, Role::Application)));
        }
        Ok((places, ApplicationPlaces { by_path, is_complete }))
    }

    /// The paths with desired content in the store that are no longer present.
    async fn removed_paths(&self, role: Role, is_present: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
        let (mut removed, mut last) = (Vec::new(), None::<String>);
        loop {
            let (sink, page) =
                (&self.resources.sink, PathPage { after: last.as_deref(), count: PUBLICATION_PLACES_MAX });
            let paths = sink.desired_paths(self.name(), role, page).await;
            let paths = paths.map_err(|error| error.to_string())?;
            last = paths.last().cloned();
            if paths.is_empty() {
                return Ok(removed);
            }
            removed.extend(paths.into_iter().filter(|path| !is_present(path)));
        }
    }
}

/// A place without desired content.
fn empty_place(path: String, role: Role) -> DesiredPlace {
    DesiredPlace {
        path,
        tree: None,
        role,
        environment: None,
        cluster_type: None,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: Vec::new(),
    }
}

/// Reads the commits of a branch.
#[derive(Clone, Copy)]
struct CommitReader<'a> {
    repositories: &'a dyn Repositories,
    branch: &'a WatchedBranch,
    shared: &'a Shared,
}

impl CommitReader<'_> {
    /// Reads a commit: its differences from the previous one, and the described manifests.
    fn changes(
        self,
        files: &mut DescriptorFiles,
        base: Option<Commit>,
        commit: Commit,
    ) -> Result<CommitChanges, ReadError> {
        let Self { repositories, branch, shared } = self;
        let opened = OpenedCommit::open(repositories, commit)?;
        let commit = opened.commit.clone();
        let opener = git::opener(repositories, &commit);
        let base = base.map(|base| Ok::<_, ReadError>((base.id, repositories.tree(&base)?))).transpose();
        // If the previous commit can't be read, the whole tree is read.
        let base = base.ok().flatten();
        let before = base.as_ref().map(|(_, tree)| tree.clone()).unwrap_or_default();
        let changes = platform::changes(&before, &opened.tree, (&branch.folder, &opener))?;
        let is_known = files.commit.is_some() && files.commit == base.as_ref().map(|(id, _)| *id);
        if is_known {
            files.read(repositories, &commit, &changes)?;
        } else {
            *files = DescriptorFiles::default();
            let all = platform::changes(&Tree::default(), &opened.tree, (&branch.folder, &opener))?;
            files.read(repositories, &commit, &all)?;
        }
        let affected = shared.registry.set(&branch.key(), files.descriptors());
        let environment = platform::environment(repositories, branch, &opened)?;
        let platform = platform::places(&changes.places, (&branch.folder, environment.as_deref()), &opener)?;
        let mut problems = files.problems();
        let described = shared.registry.of_manifests(&branch.key());
        let mut applications = BTreeMap::new();
        for (path, descriptors) in described.by_path {
            match opened.tree.folder(&path, &opener)? {
                Some(folder) => {
                    let place = application_place(&path, folder.id(), &descriptors);
                    applications.insert(path, place);
                }
                None => problems.extend(descriptors.iter().map(|described| missing_folder(&described.file, &path))),
            }
        }
        let foreign =
            files.descriptors().descriptors.into_iter().filter(|described| !shared.registry.has(&described.manifests));
        problems.extend(foreign.map(|described| unwatched(&described.file, &described.manifests)));
        let conflicts = shared.registry.conflicts(&branch.key());
        problems.extend(conflicts.iter().map(|(own, key, other)| conflict(own, (&branch.key(), key), other)));
        Ok(CommitChanges {
            opened,
            platform,
            is_first: base.is_none(),
            applications,
            is_complete: described.is_complete,
            problems,
            affected,
        })
    }
}

fn application_place(path: &str, tree: GitId, descriptors: &[Arc<DescribedManifests>]) -> DesiredPlace {
    let environment = descriptors.first().map(|described| described.target.environment.clone());
    DesiredPlace {
        path: path.to_owned(),
        tree: Some(tree.to_string()),
        role: Role::Application,
        environment,
        cluster_type: None,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: descriptors.iter().map(|described| described.target.clone()).collect(),
    }
}

fn missing_folder(file: &str, path: &str) -> WatchProblem {
    WatchProblem {
        file: Some(file.to_owned()),
        line: None,
        message: format!("there is no folder `{path}`, which `manifests` names"),
        hint: Some("commit descriptor and manifests together".to_owned()),
    }
}

/// The problem of two descriptors with the same target and different content.
fn conflict(
    described: &DescribedManifests,
    (own, key): (&BranchKey, &BranchKey),
    other: &DescribedManifests,
) -> WatchProblem {
    let [environment, workspace, application, workload, target] = described.key();
    let place = if key == own {
        format!("`{}`", other.file)
    } else {
        format!("`{}` on branch `{}` of `{}`", other.file, key.branch, key.repository)
    };
    WatchProblem {
        file: Some(described.file.clone()),
        line: None,
        message: format!(
            "target `{target}` of `{workspace}/{application}/{workload}` in `{environment}` has other content in {place}"
        ),
        hint: Some("keep one descriptor for each target and environment, with one folder and one version".to_owned()),
    }
}

fn unwatched(file: &str, branch: &BranchKey) -> WatchProblem {
    let BranchKey { repository, branch } = branch;
    WatchProblem {
        file: Some(file.to_owned()),
        line: None,
        message: format!("its manifests are on branch `{branch}` of `{repository}`, which is not watched"),
        hint: Some(format!("add `[[hub.watch]]` with `repo = \"{repository}\"` and `branch = \"{branch}\"`")),
    }
}
