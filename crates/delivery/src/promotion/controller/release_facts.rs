//! The releases of workloads as an environment publishes them, and how each of them moves on.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::release::workload_releases;
use engine::promotion::state::Revision;
use git::{Commit, Repositories, Revision as GitRevision};
use model::fleet::{Fleet, RegisteredWorkload};
use model::label::Labels;
use model::name::EnvironmentName;
use model::object::deployment_target::DeploymentTarget;
use model::object::environment::RepositoryPlace;
use model::object::release::Release;
use model::tree::{Sealed, Tree};

use crate::access::{RepositoryAccess, destination_url};
use crate::output::planned::Planned;

/// The number of commits of a branch of manifests that are searched for a release, along the first parents.
const SEARCHED_MAX: usize = 200;

/// The releases of workloads, by the name of the workload.
pub(super) type Releases = BTreeMap<Arc<str>, PublishedRelease>;

/// The release of a workload as an environment publishes it.
#[derive(Clone, Debug, Default)]
pub struct PublishedRelease {
    /// The release. None: no key names it, or the targets have different ones.
    pub release: Option<Release>,
    /// The labels of its registration. None: the platform team wrote the workload, and its releases do not move.
    pub labels: Option<Labels>,
    /// Whether it moves by a pull request to the repository of its manifests. Otherwise, it moves by a release pin.
    pub by_pull_request: bool,
    /// The manifests of the targets of each environment, by their own names.
    manifests: BTreeMap<Arc<str>, BTreeMap<Arc<str>, RepositoryPlace>>,
}

/// The manifests of a target, and those of the target that they come from.
pub(super) struct ManifestsPair<'a> {
    pub(super) from: &'a RepositoryPlace,
    pub(super) to: &'a RepositoryPlace,
}

/// The releases of an environment that was published.
pub(super) fn of_planned(planned: &Planned) -> Releases {
    let fleet = planned.compiled.fleet();
    let releases = workload_releases(planned.compiled.prepared()).into_iter();
    releases.map(|(name, release)| (Arc::clone(&name), PublishedRelease::new(fleet, &name, release))).collect()
}

impl PublishedRelease {
    fn new(fleet: &Fleet, name: &str, release: Option<Release>) -> Self {
        let Some(workload) = fleet.workloads.get(name) else { return Self { release, ..Self::default() } };
        let registration = workload.registration.as_ref().and_then(|name| fleet.registrations.get(name.as_str()));
        let by_pull_request = registration.is_some_and(|object| object.moves_by_pull_request());
        let labels = registration.map(|object| object.labels.clone());
        Self { release, labels, by_pull_request, manifests: manifests(workload) }
    }

    /// The pairs of manifests between two environments: by the names of targets, or the only target of the environment before.
    ///
    /// # Errors
    /// The reason in words.
    pub(super) fn pairs(&self, from: &str, to: &str) -> Result<Vec<ManifestsPair<'_>>, Arc<str>> {
        let none = || Arc::from(format!("the workload has no target in `{to}`, or none in `{from}`"));
        let (before, after) = self.manifests.get(from).zip(self.manifests.get(to)).ok_or_else(none)?;
        let only = before.values().next().filter(|_| before.len() == 1);
        let pair = |(name, to): (&Arc<str>, _)| {
            let from = before.get(name).or(only).ok_or_else(|| {
                Arc::from(format!(
                    "`{from}` has no target `{name}`, and not exactly one target that could stand for it"
                ))
            })?;
            Ok(ManifestsPair { from, to })
        };
        after.iter().map(pair).collect()
    }

    /// The revision that an environment without an environment before has: the version of its targets, or the commit of their manifests.
    pub(super) fn revision(&self, access: &RepositoryAccess, environment: &EnvironmentName) -> Option<Revision> {
        if !self.by_pull_request {
            return self.release.as_ref().map(|release| Revision(release.text()));
        }
        let mut places = self.manifests.get(environment.as_str())?.values();
        let first = places.next()?;
        let is_same = |place: &RepositoryPlace| (&place.repo, &place.branch) == (&first.repo, &first.branch);
        if !places.all(is_same) {
            return None;
        }
        Some(Revision(head(access, first)?.id.to_string().into()))
    }

    /// The revision of the environment before that an environment has: the newest commit whose manifests are those of this environment.
    pub(super) fn revision_from(
        &self,
        access: &RepositoryAccess,
        (from, environment): (&str, &EnvironmentName),
    ) -> Option<Revision> {
        if !self.by_pull_request {
            return self.revision(access, environment);
        }
        let pairs = self.pairs(from, environment.as_str()).ok()?;
        let repositories = &*access.repositories;
        let mut wanted = Vec::new();
        for pair in &pairs {
            wanted.push((&pair.from.path, folder(repositories, &head(access, pair.to)?, &pair.to.path)?.id()));
        }
        let source = head(access, pairs.first()?.from)?;
        let history = repositories.history(&source, SEARCHED_MAX).ok()?;
        let has_all = |commit: &Commit| {
            let is_there =
                |(path, id): &(&Arc<str>, _)| folder(repositories, commit, path).is_some_and(|tree| tree.id() == *id);
            wanted.iter().all(is_there)
        };
        history.iter().find(|commit| has_all(commit)).map(|commit| Revision(commit.id.to_string().into()))
    }
}

fn manifests(workload: &RegisteredWorkload) -> BTreeMap<Arc<str>, BTreeMap<Arc<str>, RepositoryPlace>> {
    let mut manifests: BTreeMap<Arc<str>, BTreeMap<Arc<str>, RepositoryPlace>> = BTreeMap::new();
    for target in &workload.object.spec.deployment_targets {
        if let Some(place) = place(&target.spec) {
            manifests.entry(Arc::clone(&target.spec.environment)).or_default().insert(Arc::clone(&target.name), place);
        }
    }
    manifests
}

fn place(target: &DeploymentTarget) -> Option<RepositoryPlace> {
    let text = |key: &str| target.manifests.get(key).cloned();
    Some(RepositoryPlace { repo: text("repo")?, branch: text("branch")?, path: text("path").unwrap_or_default() })
}

/// The head of the branch of manifests. None if it can't be read.
pub(super) fn head(access: &RepositoryAccess, place: &RepositoryPlace) -> Option<Commit> {
    let url = destination_url(Some(access), &place.repo).ok()?;
    access.repositories.resolve(&url, &GitRevision::branch(&place.branch)).ok()
}

/// The folder of manifests at a commit. None if it can't be read.
pub(super) fn folder(repositories: &dyn Repositories, commit: &Commit, path: &str) -> Option<Tree> {
    let open = |sealed: &Sealed| git::opener(repositories, commit)(sealed);
    repositories.tree(commit).ok()?.folder(&plain(path), &open).ok().flatten()
}

/// A path without `.` and slashes around it.
pub(super) fn plain(path: &str) -> String {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/")
}
