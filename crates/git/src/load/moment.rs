//! One moment of all repositories: every branch is looked up once, however often it is referred to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::diagnostic::{Code, Diagnostic};
use model::name::EnvironmentName;
use model::object::{AnyObject, Environment, Kind, Object, WorkloadRegistration};
use model::progress::Phase;
use rayon::prelude::*;

use super::assembly::Assembly;
use super::follow::Platform;
use super::place::{Place, PlaceError, Snapshot, snapshot};
use super::reference::Reference;
use super::{ControlPlane, Environments, Loaded, ReadRole, problem};
use crate::limits::{FETCHES_AT_ONCE, PLACES_MAX};
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

    /// Everything that one environment consists of.
    pub fn load(&self, name: &EnvironmentName) -> Loaded {
        let mut assembly = Assembly::new(self.control_plane.progress, self.control_plane.promoted);
        if self.declarations(&mut assembly) {
            match self.declaration(&assembly, name) {
                Ok(reference) => self.load_into(&mut assembly, reference, name),
                Err(diagnostic) => {
                    assembly.is_whole = false;
                    assembly.diagnostics.push(diagnostic);
                }
            }
        }
        assembly.finish(name.clone())
    }

    fn load_into(&self, assembly: &mut Assembly, declaration: Reference, name: &EnvironmentName) {
        Platform::read(self, assembly, declaration);
        self.applications(assembly);
        if assembly.is_whole && assembly.platform_objects().all(|object| object.kind() == Kind::Environment) {
            assembly.report_empty(name);
        }
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
                assembly.add(self.repositories, &place, snapshot);
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
    fn applications(&self, assembly: &mut Assembly) {
        let registrations = registrations(assembly);
        if registrations.len() > PLACES_MAX {
            let message = format!("there are {} registrations; at most {PLACES_MAX} are read", registrations.len());
            assembly.diagnostics.push(Diagnostic::error(Code::YamlLimit, message));
            assembly.is_whole = false;
            return;
        }
        let read = |reference: &Reference| match reference.place(&self.control_plane) {
            Ok(place) => (self.read_or_remember(reference, &place), Some(place)),
            Err(diagnostic) => ((None, Some(diagnostic)), None),
        };
        let references: Vec<_> = registrations.iter().map(|object| Reference::of_registration(object)).collect();
        let results = self.in_parallel(&references, read);
        for (object, ((snapshot, diagnostic), place)) in registrations.iter().zip(results) {
            assembly.diagnostics.extend(diagnostic);
            match (snapshot, place) {
                (Some(snapshot), Some(place)) => drop(assembly.add(self.repositories, &place, snapshot)),
                _ => drop(assembly.unavailable.insert(object.name.clone())),
            }
        }
    }

    /// What a registration refers to; where that can't be read, what was read last. And what is wrong.
    fn read_or_remember(&self, reference: &Reference, place: &Place) -> (Option<Snapshot>, Option<Diagnostic>) {
        let error = match self.read(place) {
            Ok(snapshot) => return (Some(snapshot), None),
            Err(error) => error,
        };
        let diagnostic = reference.report(&error);
        let remembered = match error {
            PlaceError::Repository(_) => self.repositories.remembered(&place.url, &place.revision),
            _ => None,
        };
        let remembered = remembered.and_then(|commit| snapshot(self.repositories, commit, &place.path).ok());
        let note = match &remembered {
            Some(snapshot) => format!("commit {}, which was read before, is used instead", snapshot.commit.id.short()),
            None => "what it brings is not known: its workloads keep their last good output".to_owned(),
        };
        (remembered, Some(diagnostic.note(note)))
    }

    /// The files of a place.
    pub(super) fn read(&self, place: &Place) -> Result<Snapshot, PlaceError> {
        let commit = self.resolve(&place.url, &place.revision)?;
        snapshot(self.repositories, commit, &place.path)
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
