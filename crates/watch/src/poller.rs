//! Polls one branch: its new commits become desired state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::plan::FolderChanges;
use git::{Commit, Repositories, Revision};
use hub_api::limits::PUBLICATION_PLACES_MAX;
use hub_api::publication::{BranchContent, DesiredPlace, ReadProgress, Role};
use hub_api::sink::{BranchName, PathPage};
use hub_api::timestamp::Timestamp;
use hub_api::watches::WatchProblem;
use model::git_id::GitId;
use model::tree::Tree;

use crate::commits::{Unread, unread};
use crate::descriptors::{Described, Files, ReadError};
use crate::limits::PROBLEMS_MAX;
use crate::opened_commit::OpenedCommit;
use crate::{BranchKey, Resources, Shared, WatchedBranch, platform};

/// Reads the new commits of one branch.
pub(crate) struct BranchPoller {
    branch: WatchedBranch,
    key: BranchKey,
    resources: Resources,
    shared: Arc<Shared>,
    memory: Memory,
}

/// What is known from one poll to the next. All of it can be found out again.
#[derive(Default)]
struct Memory {
    files: Files,
    /// The places of manifests that are wanted; none if only the store knows.
    applications: Option<Applications>,
}

/// The places of manifests that are wanted.
struct Applications {
    by_path: BTreeMap<String, DesiredPlace>,
    /// Whether the store wants no others.
    is_all: bool,
}

/// What a commit changes.
struct Step {
    seen: OpenedCommit,
    /// Places of Kalypso's own layout that changed; all of them, if it is not known what was there before.
    platform: Vec<DesiredPlace>,
    is_from_nothing: bool,
    /// All places of manifests.
    applications: BTreeMap<String, DesiredPlace>,
    /// Whether these are all.
    is_whole: bool,
    problems: Vec<WatchProblem>,
    /// Branches of which something else is known now.
    woken: BTreeSet<BranchKey>,
}

impl BranchPoller {
    pub(crate) fn new(branch: WatchedBranch, resources: Resources, shared: Arc<Shared>) -> Self {
        Self { key: branch.key(), branch, resources, shared, memory: Memory::default() }
    }

    fn name(&self) -> BranchName<'_> {
        BranchName { repository: self.branch.url.as_str(), branch: &self.branch.branch }
    }

    /// Ends when the branch has to be polled again before the pause is over.
    pub(crate) async fn woken(&self) {
        match self.shared.wake.get(&self.key) {
            Some(wake) => wake.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Polls once. The result says whether the branch could be read.
    pub(crate) async fn poll(&mut self) -> bool {
        let polled = self.read_new_commits().await;
        let now = Timestamp::now();
        if let Err(error) = &polled {
            // What was told halfway is told again.
            self.memory.applications = None;
            tracing::warn!(repository = self.key.repository, branch = self.key.branch, error, "branch not read");
        }
        self.shared.change_state(&self.key, |state| {
            state.polled_on = Some(now);
            state.failing_since = polled.is_err().then(|| state.failing_since.unwrap_or(now));
            state.error = polled.as_ref().err().cloned();
        });
        polled.is_ok()
    }

    async fn read_new_commits(&mut self) -> Result<(), String> {
        let shared = Arc::clone(&self.shared);
        let _room = shared.room.acquire().await.map_err(|error| error.to_string())?;
        let name = self.branch.branch.clone();
        let read = self.resources.sink.read_up_to(self.name()).await;
        let mut read = read.map_err(|error| error.to_string())?;
        let before = read.as_deref().and_then(GitId::from_hex);
        let url = self.branch.url.clone();
        let found = self.blocking(move |repositories, memory| {
            let heads = || {
                let head = repositories.resolve(&url, &Revision::branch(&name))?;
                Ok((unread(repositories, head.clone(), before)?, head))
            };
            (heads().map_err(ReadError::Repository), memory)
        });
        let (Unread { mut base, mut commits }, head) = found.await?;
        if commits.is_empty() {
            commits.push(head);
        }
        for commit in commits {
            let step = self.read(base.take(), commit.clone()).await?;
            self.record(step, &mut read).await?;
            base = Some(commit);
        }
        Ok(())
    }

    /// Reads a commit.
    async fn read(&mut self, base: Option<Commit>, commit: Commit) -> Result<Step, String> {
        let (branch, shared) = (self.branch.clone(), Arc::clone(&self.shared));
        let step = self.blocking(move |repositories, mut memory| {
            let step = step(repositories, (&branch, &shared), &mut memory.files, (base, commit));
            (step, memory)
        });
        step.await
    }

    /// Does what blocks where that is allowed.
    async fn blocking<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&dyn Repositories, Memory) -> (Result<T, ReadError>, Memory) + Send + 'static,
    ) -> Result<T, String> {
        let (repositories, memory) = (Arc::clone(&self.resources.repositories), std::mem::take(&mut self.memory));
        let done = tokio::task::spawn_blocking(move || work(&*repositories, memory)).await;
        let (result, memory) = done.map_err(|error| error.to_string())?;
        self.memory = memory;
        result.map_err(|error| match error {
            ReadError::Repository(error) => error.to_string(),
            ReadError::Open(error) => error.to_string(),
        })
    }

    /// Records the content of a commit as the desired state.
    async fn record(&mut self, step: Step, read: &mut Option<String>) -> Result<(), String> {
        let Step { seen, mut platform, is_from_nothing, applications, is_whole, problems, woken } = step;
        let commit = seen.commit.id.to_string();
        if is_from_nothing {
            let known: BTreeSet<&str> = platform.iter().map(|place| place.path.as_str()).collect();
            let gone = self.gone(Role::Platform, |path| known.contains(path)).await?;
            platform.extend(gone.into_iter().map(|path| nothing(path, Role::Platform)));
        }
        let (places, applications) = self.differing(applications, is_whole).await?;
        platform.extend(places);
        if !platform.is_empty() || read.as_ref() != Some(&commit) {
            let mut parts = platform.chunks(PUBLICATION_PLACES_MAX).peekable();
            let mut next = parts.next().or(Some(&[]));
            while let Some(places) = next {
                next = parts.next();
                let progress = ReadProgress { before: read.clone(), is_last: next.is_none() };
                let content = self.content(&seen, places.to_vec());
                self.resources.sink.record(content, progress).await.map_err(|error| error.to_string())?;
            }
            *read = Some(commit.clone());
            tracing::info!(
                repository = self.key.repository,
                branch = self.key.branch,
                commit,
                places = platform.len(),
                "commit read"
            );
        }
        self.memory.applications = Some(applications);
        let descriptors = self.memory.files.contribution().descriptors.len();
        self.shared.change_state(&self.key, |state| {
            state.commit = Some(commit);
            state.descriptors = descriptors;
            state.problem_count = problems.len();
            state.problems = problems;
            state.problems.truncate(PROBLEMS_MAX);
        });
        woken.iter().filter_map(|other| self.shared.wake.get(other)).for_each(tokio::sync::Notify::notify_one);
        Ok(())
    }

    fn content(&self, seen: &OpenedCommit, places: Vec<DesiredPlace>) -> BranchContent {
        BranchContent {
            repository: self.branch.url.as_str().to_owned(),
            branch: self.branch.branch.clone(),
            commit: seen.commit.id.to_string(),
            committed_on: seen.committed_on,
            places,
            is_complete: false,
        }
    }

    /// The places of manifests that are not as they were told before, and all that are wanted now.
    async fn differing(
        &self,
        mut by_path: BTreeMap<String, DesiredPlace>,
        is_whole: bool,
    ) -> Result<(Vec<DesiredPlace>, Applications), String> {
        let nothing_told = BTreeMap::new();
        let told = self.memory.applications.as_ref();
        let was_all = told.is_some_and(|told| told.is_all);
        let told = told.map_or(&nothing_told, |told| &told.by_path);
        let is_told = |place: &&DesiredPlace| told.get(&place.path) == Some(*place);
        let mut places: Vec<_> = by_path.values().filter(|place| !is_told(place)).cloned().collect();
        let is_missing = |path: &&String| !by_path.contains_key(*path);
        if !is_whole {
            // What nobody names now may only be unreadable.
            let missing: Vec<_> = told.keys().filter(is_missing).cloned().collect();
            by_path.extend(missing.into_iter().filter_map(|path| told.get(&path).map(|place| (path, place.clone()))));
        } else if was_all {
            let gone = told.keys().filter(is_missing);
            places.extend(gone.map(|path| nothing(path.clone(), Role::Application)));
        } else {
            let gone = self.gone(Role::Application, |path| by_path.contains_key(path)).await?;
            places.extend(gone.into_iter().map(|path| nothing(path, Role::Application)));
        }
        Ok((places, Applications { by_path, is_all: is_whole }))
    }

    /// The paths at which something is wanted by what the store knows, except those that are there.
    async fn gone(&self, role: Role, is_there: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
        let (mut gone, mut last) = (Vec::new(), None::<String>);
        loop {
            let (sink, page) =
                (&self.resources.sink, PathPage { after: last.as_deref(), count: PUBLICATION_PLACES_MAX });
            let paths = sink.desired_paths(self.name(), role, page).await;
            let paths = paths.map_err(|error| error.to_string())?;
            last = paths.last().cloned();
            if paths.is_empty() {
                return Ok(gone);
            }
            gone.extend(paths.into_iter().filter(|path| !is_there(path)));
        }
    }
}

/// A place at which nothing is wanted any more.
fn nothing(path: String, role: Role) -> DesiredPlace {
    DesiredPlace {
        path,
        tree: None,
        role,
        environment: None,
        cluster_type: None,
        cluster: None,
        config_version: None,
        targets: Vec::new(),
    }
}

/// Reads a commit: what is different from the one before, and which manifests are described.
fn step(
    repositories: &dyn Repositories,
    (branch, shared): (&WatchedBranch, &Shared),
    files: &mut Files,
    (base, commit): (Option<Commit>, Commit),
) -> Result<Step, ReadError> {
    let seen = OpenedCommit::open(repositories, commit)?;
    let commit = seen.commit.clone();
    let opener = git::opener(repositories, &commit);
    let base = base.map(|base| Ok::<_, ReadError>((base.id, repositories.tree(&base)?))).transpose();
    // A commit that can't be had any more is as good as none.
    let base = base.ok().flatten();
    let before = base.as_ref().map(|(_, tree)| tree.clone()).unwrap_or_default();
    let changes = platform::changes(&before, &seen.tree, (&branch.folder, &opener))?;
    let is_known = files.at.is_some() && files.at == base.as_ref().map(|(id, _)| *id);
    let FolderChanges { before, after, .. } = if is_known {
        FolderChanges { places: Vec::new(), before: changes.before.clone(), after: changes.after.clone() }
    } else {
        *files = Files::default();
        platform::changes(&Tree::default(), &seen.tree, (&branch.folder, &opener))?
    };
    files.read(repositories, &commit, (&before, &after))?;
    let woken = shared.registry.set(&branch.key(), files.contribution());
    let environment = platform::environment(repositories, branch, &seen)?;
    let platform = platform::places(&changes.places, (&branch.folder, environment.as_deref()), &opener)?;
    let mut problems = files.problems();
    let described = shared.registry.of(&branch.key());
    let mut applications = BTreeMap::new();
    for (path, descriptors) in described.by_path {
        match seen.tree.folder(&path, &opener)? {
            Some(folder) => {
                let place = application(&path, folder.id(), &descriptors);
                applications.insert(path, place);
            }
            None => problems.extend(descriptors.iter().map(|described| missing(&described.file, &path))),
        }
    }
    let foreign =
        files.contribution().descriptors.into_iter().filter(|described| !shared.registry.has(&described.manifests));
    problems.extend(foreign.map(|described| unwatched(&described.file, &described.manifests)));
    let rivals = shared.registry.rivals(&branch.key());
    problems.extend(rivals.iter().map(|(one, key, other)| rival(one, (&branch.key(), key), other)));
    Ok(Step {
        seen,
        platform,
        is_from_nothing: base.is_none(),
        applications,
        is_whole: described.is_whole,
        problems,
        woken,
    })
}

fn application(path: &str, tree: GitId, descriptors: &[Arc<Described>]) -> DesiredPlace {
    let environment = descriptors.first().map(|described| described.target.environment.clone());
    DesiredPlace {
        path: path.to_owned(),
        tree: Some(tree.to_string()),
        role: Role::Application,
        environment,
        cluster_type: None,
        cluster: None,
        config_version: None,
        targets: descriptors.iter().map(|described| described.target.clone()).collect(),
    }
}

fn missing(file: &str, path: &str) -> WatchProblem {
    WatchProblem {
        file: Some(file.to_owned()),
        line: None,
        message: format!("there is no folder `{path}`, which `manifests` names"),
        hint: Some("commit descriptor and manifests together".to_owned()),
    }
}

/// Two descriptors give one target different content.
fn rival(one: &Described, (own, key): (&BranchKey, &BranchKey), other: &Described) -> WatchProblem {
    let [environment, workspace, application, workload, target] = one.key();
    let place = if key == own {
        format!("`{}`", other.file)
    } else {
        format!("`{}` on branch `{}` of `{}`", other.file, key.branch, key.repository)
    };
    WatchProblem {
        file: Some(one.file.clone()),
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
