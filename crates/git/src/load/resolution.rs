//! Resolves the tags and branches that name releases to commits.
//!
//! A tag or a branch can get another commit after a gate has let it through. So the releases that promotions move are commits, with the tag or branch that they come
//! from. Once a release is admitted into an environment, it is not resolved there again. Where no template prints commits, nothing is resolved: it would guard nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::fleet::{AuthorRole, Limits};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::release::{COMMIT, GitReference, Release, TAG, git_reference};
use model::object::workload::WorkloadTarget;
use model::object::{AnyObject, Object, Promotion, Workload, WorkloadRegistration};

use super::assembly::Assembly;
use super::fallback::ReadPublications;
use super::reference::allowed;
use super::view::View;
use super::{Read, ReadRole, releases};
use crate::publications::AdmittedReleases;
use crate::repositories::{RepositoryError, Revision};
use crate::url::RepositoryUrl;

/// A registration, with the limits that allow it.
pub(super) type Registration = (Arc<Object<WorkloadRegistration>>, Limits);

/// The release of a workload that can be resolved.
struct Resolvable {
    workload: Arc<str>,
    url: RepositoryUrl,
    repo: Arc<str>,
    key: &'static str,
    name: Arc<str>,
}

impl Resolvable {
    fn revision(&self) -> Revision {
        let name = Arc::clone(&self.name);
        if self.key == TAG { Revision::Tag(name) } else { Revision::Branch(name) }
    }

    fn read(&self, commit: GitId) -> Read {
        Read {
            role: ReadRole::Manifests(Arc::clone(&self.workload)),
            url: self.url.clone(),
            revision: Arc::clone(&self.name),
            path: "".into(),
            is_pinned: false,
            commit,
        }
    }

    fn release(&self, commit: GitId) -> Arc<str> {
        let reference = GitReference { repo: &self.repo, key: self.key, name: &self.name };
        Release::at_commit(reference, &commit.to_string()).text()
    }
}

/// The resolution of the releases that promotions move from or into an environment.
pub(super) struct Resolution<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) assembly: &'a Assembly,
    pub(super) registrations: &'a [Registration],
    pub(super) environment: &'a EnvironmentName,
}

impl Resolution<'_> {
    /// The admitted releases, with others that promotions move from or into the environment: those have the commits of their tags and branches now, which were
    /// read. If a repository can't be reached, its last published commit counts. A release without a commit is left out.
    pub(super) fn resolve(&self, published: ReadPublications<'_>) -> (AdmittedReleases, Vec<Read>) {
        let mut found = self.view.control_plane.releases.clone();
        let all = self.resolvable(&found);
        let commits = self.view.in_parallel(&all, |release| self.view.resolve(&release.url, &release.revision()));
        let (mut publications, mut reads) = (None, Vec::new());
        for (release, commit) in all.iter().zip(commits) {
            let commit = match commit {
                Ok(commit) => Some(commit.id),
                Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => None,
                Err(_) => {
                    let name = (release.url.as_str().to_owned(), release.name.to_string());
                    let known = publications.get_or_insert_with(|| published().unwrap_or_default());
                    known.iter().find_map(|published| published.last(&name)).map(|last| last.commit)
                }
            };
            let Some(commit) = commit else { continue };
            found.insert(Arc::clone(&release.workload), release.release(commit));
            reads.push(release.read(commit));
        }
        (found, reads)
    }

    /// The releases of the environment to resolve, by workload.
    fn resolvable(&self, admitted: &AdmittedReleases) -> Vec<Resolvable> {
        let promotions = self.promotions();
        if promotions.is_empty() || !self.assembly.platform_objects().any(prints_commits) {
            return Vec::new();
        }
        let registrations: BTreeMap<_, _> = self.registrations.iter().map(|(found, _)| (&found.name, found)).collect();
        let objects = self.assembly.platform_objects();
        // What a person wrote in the name of a promotion, where nothing is admitted, is more than what the target says.
        let pinned: BTreeSet<&str> = objects.filter_map(releases::promoted).collect();
        let mut found = BTreeMap::new();
        for file in &self.assembly.contents {
            let AuthorRole::Application(name) = &file.role else { continue };
            let Some(registration) = registrations.get(name).filter(|found| !found.moves_by_pull_request()) else {
                continue;
            };
            let selects = |promotion: &&&Promotion| {
                promotion.select.workloads.as_ref().is_some_and(|selector| selector.matches(&registration.labels))
            };
            let involved: BTreeSet<&str> =
                promotions.iter().filter(selects).flat_map(|found| environments(found)).collect();
            for object in &file.objects.objects {
                let AnyObject::Workload(workload) = object else { continue };
                let name = workload.name.as_arc();
                if !admitted.contains_key(name)
                    && !pinned.contains(&**name)
                    && let Some(release) = self.release(workload, &involved)
                {
                    found.entry(Arc::clone(name)).or_insert(release);
                }
            }
        }
        found.into_values().collect()
    }

    /// The promotions that move releases from or into the environment.
    fn promotions(&self) -> Vec<&Promotion> {
        let all = self.assembly.declarations.promotions.iter().map(|promotion| &promotion.spec);
        let moves = |promotion: &&Promotion| promotion.select.workloads.is_some() && !promotion.from.is_empty();
        all.filter(moves).filter(|found| environments(found).any(|name| *name == *self.environment.as_str())).collect()
    }

    /// The release of a workload. None if its targets in these environments do not share a repository: then a commit of one is none of the others.
    fn release(&self, workload: &Object<Workload>, involved: &BTreeSet<&str>) -> Option<Resolvable> {
        let targets = || workload.spec.deployment_targets.iter();
        let is_own = |target: &&WorkloadTarget| *target.spec.environment == *self.environment.as_str();
        let reference = git_reference(
            &targets().find(is_own).filter(|own| involved.contains(&*own.spec.environment))?.spec.manifests,
        )?;
        let is_shared = |target: &WorkloadTarget| {
            git_reference(&target.spec.manifests).is_some_and(|other| {
                let is_same = other.name == reference.name;
                // Each environment may have a tag of its own: the promotion brings the tag with its commit.
                let may_differ = reference.key == TAG && !is_own(&target);
                (other.repo, other.key) == (reference.repo, reference.key) && (is_same || may_differ)
            })
        };
        let mut others = targets().filter(|target| involved.contains(&*target.spec.environment));
        if !others.all(is_shared) {
            return None;
        }
        let url = allowed(reference.repo, &self.view.control_plane).ok()?;
        let GitReference { repo, key, name } = reference;
        Some(Resolvable {
            workload: Arc::clone(workload.name.as_arc()),
            url,
            repo: repo.into(),
            key,
            name: name.into(),
        })
    }
}

/// Whether an object is a template that seems to print commits of manifests. Its reads are not analysed before the fleet is complete.
fn prints_commits(object: &AnyObject) -> bool {
    let AnyObject::Template(template) = object else { return false };
    template.spec.manifests.iter().any(|text| text.contains("Manifests") && text.contains(COMMIT))
}

/// The environments of a promotion.
fn environments(promotion: &Promotion) -> impl Iterator<Item = &str> {
    promotion.from.iter().chain([&promotion.to]).map(|name| &**name)
}
