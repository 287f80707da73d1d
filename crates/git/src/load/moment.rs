//! One moment of all repositories: every branch is looked up once, however often it is referred to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::diagnostic::{Code, Diagnostic};
use model::name::EnvironmentName;
use model::object::{AnyObject, Environment, GitOpsRepo, Kind, Object, WorkloadRegistration};
use model::progress::Phase;
use rayon::prelude::*;

use super::assembly::Assembly;
use super::follow::Platform;
use super::own_source::Sources;
use super::place::{Place, PlaceError, Snapshot, snapshot};
use super::reference::Reference;
use super::stand_in::{self, ReadPublished};
use super::{BrokenFiles, ControlPlane, Environments, Loaded, ReadRole, problem};
use crate::limits::{FETCHES_AT_ONCE, PLACES_MAX};
use crate::published::Published;
use crate::repositories::{Commit, Repositories, RepositoryError, Revision};
use crate::url::RepositoryUrl;
use crate::walk::{ENVIRONMENTS, PathError};

/// One moment of all repositories. What is read from it fits together: a branch does not move between two environments.
pub struct Moment<'a> {
    pub(super) repositories: &'a dyn Repositories,
    pub(super) control_plane: ControlPlane<'a>,
    resolved: Mutex<BTreeMap<(RepositoryUrl, Revision), Resolved>>,
    /// None if the system gives no threads: then one repository is fetched after another.
    threads: Option<rayon::ThreadPool>,
}

/// The platform's part of an environment: everything but what applications bring.
pub struct PlatformPart {
    assembly: Assembly,
    environment: EnvironmentName,
    is_declared: bool,
}

impl PlatformPart {
    /// The objects that say where output goes.
    pub fn gitops_repos(&self) -> impl Iterator<Item = &Object<GitOpsRepo>> {
        self.assembly.gitops_repos()
    }
}

type Resolved = Arc<OnceLock<Result<Commit, RepositoryError>>>;

impl<'a> Moment<'a> {
    /// The present moment, as seen from when something is first looked at.
    pub fn new(repositories: &'a dyn Repositories, control_plane: ControlPlane<'a>) -> Self {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(FETCHES_AT_ONCE).build().ok();
        Self { repositories, control_plane, resolved: Mutex::default(), threads }
    }

    /// The environments that the control plane declares.
    pub fn environments(&self) -> Environments {
        let mut assembly = Assembly::new(self.control_plane.progress, self.control_plane.promoted);
        self.declarations(&mut assembly);
        let declared = assembly.platform_objects().filter_map(environment);
        let names: BTreeSet<_> = declared.map(|found| found.name.clone()).collect();
        let (files, diagnostics) = assembly.into_diagnostics();
        Environments { names: names.into_iter().collect(), files, diagnostics }
    }

    /// Everything that one environment consists of. Where an application's repository can't be reached, what was read of it before stands in.
    pub fn load(&self, name: &EnvironmentName) -> Loaded {
        self.complete(self.platform(name), &|| Ok(Vec::new()))
    }

    /// The same, where this was published before on the environment's branches: objects of what was published are not gone while they may be in files
    /// that can't be understood.
    pub fn load_after(&self, name: &EnvironmentName, published: &[Published]) -> Loaded {
        self.complete(self.platform_after(name, published), &|| Ok(published.to_vec()))
    }

    /// The platform's part of an environment.
    pub fn platform(&self, name: &EnvironmentName) -> PlatformPart {
        self.platform_after(name, &[])
    }

    fn platform_after(&self, name: &EnvironmentName, published: &[Published]) -> PlatformPart {
        let mut assembly = Assembly::new(self.control_plane.progress, self.control_plane.promoted);
        assembly.published = published.to_vec();
        let mut is_declared = false;
        if self.declarations(&mut assembly) {
            match self.declaration(&assembly, name) {
                Ok(reference) => {
                    is_declared = true;
                    Platform::read(self, &mut assembly, reference);
                }
                Err(diagnostic) => {
                    assembly.is_whole = false;
                    assembly.diagnostics.push(diagnostic);
                }
            }
        }
        PlatformPart { assembly, environment: name.clone(), is_declared }
    }

    /// Whether all branches and tags that were read so far are still where they were. They are asked again, several at once.
    pub fn is_still_true(&self) -> bool {
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

    /// Reads the applications of an environment. Where a repository can't be reached, what was read of it before stands in, if it is not older than what was
    /// published.
    pub fn complete(&self, part: PlatformPart, published: ReadPublished<'_>) -> Loaded {
        let PlatformPart { mut assembly, environment, is_declared } = part;
        if is_declared {
            self.applications(&mut assembly, published);
            if assembly.is_whole && assembly.platform_objects().all(|object| object.kind() == Kind::Environment) {
                assembly.report_empty(&environment);
            }
            let ControlPlane { url, branch, rewrite, .. } = self.control_plane;
            assembly.check_destinations(&Sources { main: Some((url, branch)), rewrite }, &environment);
        }
        assembly.finish(environment)
    }

    /// Reads the `Environment` objects; whether that was possible.
    fn declarations(&self, assembly: &mut Assembly) -> bool {
        let place = Place {
            url: self.control_plane.url.clone(),
            revision: Revision::branch(self.control_plane.branch),
            path: ENVIRONMENTS.into(),
            role: ReadRole::Main,
        };
        match self.read(&place) {
            Ok(snapshot) => {
                assembly.add(self.reader(), &place, snapshot);
                assembly.keep_environments();
                true
            }
            Err(error) => {
                let diagnostic = match error {
                    PlaceError::Path(PathError::Missing) => no_declarations(&place),
                    error => problem::place(&error, ENVIRONMENTS),
                };
                assembly.diagnostics.push(
                    diagnostic
                        .note(format!("`Environment` objects are read from {} of `{}`", place.revision, place.url)),
                );
                assembly.is_whole = false;
                false
            }
        }
    }

    fn declaration(&self, assembly: &Assembly, name: &EnvironmentName) -> Result<Reference, Diagnostic> {
        let mut declared = BTreeMap::new();
        for found in assembly.platform_objects().filter_map(environment) {
            // Files are sorted; of several objects with one name the first counts, and the fleet reports the others.
            declared.entry(&found.name).or_insert(found);
        }
        declared.get(name).map(|found| Reference::of_environment(found)).ok_or_else(|| {
            let names: Vec<_> = declared.keys().map(|name| format!("`{name}`")).collect();
            let known =
                if names.is_empty() { "there is none".to_owned() } else { format!("there are {}", names.join(", ")) };
            Diagnostic::error(Code::EnvironmentNotFound, format!("there is no environment `{name}`"))
                .note(format!("{known} in `{ENVIRONMENTS}` on branch `{}`", self.control_plane.branch))
                .help(format!("is the name right? Otherwise commit `{ENVIRONMENTS}/{name}.yaml`"))
        })
    }

    /// Reads what the registrations refer to.
    fn applications(&self, assembly: &mut Assembly, published: ReadPublished<'_>) {
        let registrations = registrations(assembly);
        if registrations.len() > PLACES_MAX {
            let message = format!("there are {} registrations; at most {PLACES_MAX} are read", registrations.len());
            assembly.diagnostics.push(Diagnostic::error(Code::YamlLimit, message));
            assembly.is_whole = false;
            return;
        }
        let read_once = OnceLock::new();
        let published = || read_once.get_or_init(published);
        let read = |reference: &Reference| match reference.place(&self.control_plane) {
            Ok(place) => (self.read_or_remember(reference, &place, &published), Some(place)),
            Err(diagnostic) => ((None, Some(diagnostic)), None),
        };
        let references: Vec<_> = registrations.iter().map(|object| Reference::of_registration(object)).collect();
        let results = self.in_parallel(&references, read);
        for (object, ((snapshot, diagnostic), place)) in registrations.iter().zip(results) {
            assembly.diagnostics.extend(diagnostic);
            match (snapshot, place) {
                (Some(snapshot), Some(place)) => drop(assembly.add(self.reader(), &place, snapshot)),
                _ => drop(assembly.unavailable.insert(object.name.clone())),
            }
        }
    }

    /// What a registration refers to; where that can't be read, what was read last. And what is wrong.
    fn read_or_remember<'p>(
        &self,
        reference: &Reference,
        place: &Place,
        published: &dyn Fn() -> &'p Result<Vec<Published>, RepositoryError>,
    ) -> (Option<Snapshot>, Option<Diagnostic>) {
        let error = match self.read(place) {
            Ok(snapshot) => return (Some(snapshot), None),
            Err(error) => error,
        };
        let remembered = match error {
            PlaceError::Repository(_) => self.repositories.remembered(&place.url, &place.revision),
            PlaceError::Path(_) => None,
        };
        let unknown = "what it brings is not known: what was published of its workloads stays";
        let Some(commit) = remembered else { return (None, Some(reference.report(&error).note(unknown))) };
        let seen = self.repositories.seen(&place.url, &place.revision);
        if let Err(refusal) = stand_in::check(commit.id, &seen, published(), &stand_in::name(place)) {
            return (None, Some(stand_in::report((reference, place, &error), commit.id, &refusal)));
        }
        let remembered = snapshot(self.repositories, commit, place).ok();
        let note = match &remembered {
            Some(snapshot) => format!("commit {}, which was read before, is used instead", snapshot.commit.id.short()),
            None => unknown.to_owned(),
        };
        (remembered, Some(reference.report(&error).note(note)))
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

fn environment(object: &AnyObject) -> Option<&Object<Environment>> {
    match object {
        AnyObject::Environment(environment) => Some(environment),
        _ => None,
    }
}

/// The registrations by name. Of several with one name the first counts, as it does in the fleet.
fn registrations(assembly: &Assembly) -> Vec<Arc<Object<WorkloadRegistration>>> {
    let found = assembly.platform_objects().filter_map(|object| match object {
        AnyObject::WorkloadRegistration(registration) => Some(Arc::clone(registration)),
        _ => None,
    });
    let mut registrations: Vec<_> = found.collect();
    registrations.sort_by_cached_key(|object| {
        let file = assembly.files.get(object.address.file);
        (object.name.clone(), Arc::clone(&file.source), Arc::clone(&file.path), object.address)
    });
    registrations.dedup_by(|later, first| later.name == first.name);
    registrations
}

fn no_declarations(place: &Place) -> Diagnostic {
    Diagnostic::error(
        Code::EnvironmentNotFound,
        format!("`{}` has no folder `{ENVIRONMENTS}` on {}", place.url, place.revision),
    )
    .help(format!("commit an `Environment` object there, for example `{ENVIRONMENTS}/dev.yaml`"))
}
