//! A snapshot of all repositories: every branch is resolved once, and all references to it get the same commit.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use model::diagnostic::{Code, Diagnostic};
use model::fleet::{AuthorRole, Limits};
use model::kind::Kind;
use model::name::EnvironmentName;
use model::object::{AnyObject, Environment, GitOpsRepo, Object};
use model::similar::nearest;

use super::assembly::Assembly;
use super::destinations::Sources;
use super::fallback::{self, ReadPublications};
use super::follow::Platform;
use super::place::{LoadedPlace, PlaceError, SourcePlace, read_place};
use super::reference::Reference;
use super::resolution::{Registration, Resolution};
use super::view::View;
use super::{ControlPlane, DeclaredEnvironments, LoadedFiles, ReadRole, diagnostics};
use crate::limits::PLACES_MAX;
use crate::publications::Publications;
use crate::repositories::{Repositories, RepositoryError, Revision};
use crate::walk::{ENVIRONMENTS, PathError};

/// A snapshot of all repositories. All reads are consistent: a branch does not move between the reads of two environments.
pub struct Snapshot<'a>(View<'a>);

/// The platform's part of an environment: everything except the files of applications.
pub struct PlatformPart {
    assembly: Assembly,
    environment: EnvironmentName,
    is_declared: bool,
}

impl PlatformPart {
    /// The objects that name the destinations of the output.
    pub fn gitops_repos(&self) -> impl Iterator<Item = &Object<GitOpsRepo>> {
        self.assembly.gitops_repos(&self.environment).into_iter()
    }
}

impl<'a> Snapshot<'a> {
    /// A snapshot of the current commits. Each branch is resolved at its first read.
    pub fn new(repositories: &'a dyn Repositories, control_plane: ControlPlane<'a>) -> Self {
        Self(View::new(repositories, control_plane))
    }

    /// The environments that the control plane declares.
    pub fn environments(&self) -> DeclaredEnvironments {
        let mut assembly = Assembly::new(self.0.control_plane.progress, self.0.control_plane.promoted);
        self.declarations(&mut assembly);
        let mut places = BTreeMap::new();
        for found in assembly.platform_objects().filter_map(environment) {
            // Files are sorted. If several objects have the same name, the first one counts.
            places.entry(found.name.clone()).or_insert_with(|| found.spec.control_plane.clone());
        }
        let declarations = std::mem::take(&mut assembly.declarations);
        let (files, diagnostics) = assembly.into_diagnostics();
        DeclaredEnvironments { names: places.keys().cloned().collect(), places, declarations, files, diagnostics }
    }

    /// Loads one environment. If the repository of an application can't be reached, its last cached commit is used.
    pub fn load(&self, name: &EnvironmentName) -> LoadedFiles {
        self.complete(self.platform(name), &|| Ok(Vec::new()))
    }

    /// Same as [`Self::load`], with the publications on the environment's branches. They prove which objects existed before: these are kept if they
    /// may be in files that can't be read.
    pub fn load_after(&self, name: &EnvironmentName, published: &[Publications]) -> LoadedFiles {
        self.complete(self.platform_after(name, published), &|| Ok(published.to_vec()))
    }

    /// Loads the platform's part of an environment.
    pub fn platform(&self, name: &EnvironmentName) -> PlatformPart {
        self.platform_after(name, &[])
    }

    fn platform_after(&self, name: &EnvironmentName, published: &[Publications]) -> PlatformPart {
        let mut assembly = Assembly::new(self.0.control_plane.progress, self.0.control_plane.promoted);
        assembly.published = published.to_vec();
        let mut is_declared = false;
        if self.declarations(&mut assembly) {
            match self.declaration(&assembly, name) {
                Ok(declared) => {
                    is_declared = true;
                    self.admit_settings(&mut assembly, name);
                    Platform::read(&self.0, &mut assembly, &declared);
                }
                Err(diagnostic) => {
                    assembly.is_complete = false;
                    assembly.diagnostics.push(diagnostic);
                }
            }
        }
        PlatformPart { assembly, environment: name.clone(), is_declared }
    }

    /// Whether all branches and tags that were read so far still have the same head. It requests all of them again, in parallel.
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// Loads the applications of an environment. If a repository can't be reached, its last cached commit is used, unless it is older than the
    /// published one.
    pub fn complete(&self, part: PlatformPart, published: ReadPublications<'_>) -> LoadedFiles {
        let PlatformPart { mut assembly, environment, is_declared } = part;
        if is_declared {
            self.applications(&mut assembly, (&environment, published));
            let is_declaration =
                |(object, _): (&AnyObject, &Limits)| matches!(object.kind(), Kind::Environment | Kind::Promotion);
            if assembly.is_complete && assembly.counting_objects(&environment).into_iter().all(is_declaration) {
                assembly.report_empty(&environment);
            }
            let ControlPlane { url, branch, rewrite, .. } = self.0.control_plane;
            assembly.check_destinations(&Sources { main: Some((url, branch)), rewrite }, &environment);
        }
        let registrations = registrations(&assembly, &environment);
        let resolution =
            Resolution { view: &self.0, assembly: &assembly, registrations: &registrations, environment: &environment };
        let (releases, reads) = resolution.resolve(published);
        assembly.reads.extend(reads);
        assembly.finish(environment, &releases)
    }

    /// Gives an environment the settings for its output that it has at the promoted commit of the main branch. Otherwise, a new setting would change output
    /// that no gate let through. An environment that did not exist there keeps its settings.
    fn admit_settings(&self, assembly: &mut Assembly, name: &EnvironmentName) {
        let ControlPlane { promoted, url, branch, progress, .. } = self.0.control_plane;
        let is_head = |id| self.0.resolve(url, &Revision::branch(branch)).is_ok_and(|head| head.id == id);
        let Some(id) = promoted.filter(|id| !is_head(*id)) else { return };
        let place = self.declarations_at(Revision::Commit { id, branch: Some(branch.into()) });
        let loaded = match self.0.read(&place) {
            Ok(loaded) => loaded,
            Err(PlaceError::Path(PathError::Missing) | PlaceError::Repository(RepositoryError::NoRevision { .. })) => {
                return;
            }
            Err(error) => {
                let diagnostic = diagnostics::place(&error, ENVIRONMENTS);
                assembly.diagnostics.push(
                    diagnostic
                        .note(format!("the settings of `{name}` are read from {} of `{}`", place.revision, place.url)),
                );
                assembly.is_complete = false;
                return;
            }
        };
        let mut earlier = Assembly::new(progress, None);
        earlier.add(&self.0, &place, loaded);
        earlier.set_declarations();
        assembly.is_complete &= earlier.is_complete;
        if let Some(found) = earlier.declarations.environments.iter().find(|found| found.name == *name) {
            assembly.set_output_settings(found);
        }
    }

    /// The place of the `Environment` and `Promotion` objects at a commit of the main branch.
    fn declarations_at(&self, revision: Revision) -> SourcePlace {
        SourcePlace {
            url: self.0.control_plane.url.clone(),
            revision,
            path: ENVIRONMENTS.into(),
            role: ReadRole::Main,
            limits: Limits::default(),
            is_control_plane: true,
        }
    }

    /// Loads the `Environment` and `Promotion` objects at the head of the main branch. Returns false if they can't be read.
    fn declarations(&self, assembly: &mut Assembly) -> bool {
        let place = self.declarations_at(Revision::branch(self.0.control_plane.branch));
        match self.0.read(&place) {
            Ok(loaded) => {
                assembly.add(&self.0, &place, loaded);
                assembly.set_declarations();
                true
            }
            Err(error) => {
                let diagnostic = match error {
                    PlaceError::Path(PathError::Missing) => no_declarations(&place),
                    error => diagnostics::place(&error, ENVIRONMENTS),
                };
                assembly.diagnostics.push(
                    diagnostic
                        .note(format!("`Environment` objects are read from {} of `{}`", place.revision, place.url)),
                );
                assembly.is_complete = false;
                false
            }
        }
    }

    fn declaration(&self, assembly: &Assembly, name: &EnvironmentName) -> Result<Arc<Object<Environment>>, Diagnostic> {
        let mut declared = BTreeMap::new();
        for found in assembly.platform_objects().filter_map(environment) {
            // Files are sorted. If several objects have the same name, the first one counts; the fleet reports the others.
            declared.entry(&found.name).or_insert(found);
        }
        declared.get(name).map(|found| Arc::clone(found)).ok_or_else(|| {
            let branch = self.0.control_plane.branch;
            unknown_environment(name, declared.keys().copied())
                .note(format!("`Environment` objects are in `{ENVIRONMENTS}` on branch `{branch}`"))
        })
    }

    /// Loads the repositories that the registrations refer to.
    fn applications(
        &self,
        assembly: &mut Assembly,
        (environment, published): (&EnvironmentName, ReadPublications<'_>),
    ) {
        let registrations = registrations(assembly, environment);
        if registrations.len() > PLACES_MAX {
            let message = format!("there are {} registrations; at most {PLACES_MAX} are read", registrations.len());
            assembly.diagnostics.push(Diagnostic::error(Code::YamlLimit, message));
            assembly.is_complete = false;
            return;
        }
        let publications = OnceLock::new();
        let published = || publications.get_or_init(published);
        let read = |reference: &Reference| match reference.place(&self.0.control_plane) {
            Ok(place) => (self.read_or_use_cache(reference, &place, &published), Some(place)),
            Err(diagnostic) => ((None, Some(diagnostic)), None),
        };
        let references: Vec<_> =
            registrations.iter().map(|(object, limits)| Reference::of_registration(object, limits)).collect();
        let results = self.0.in_parallel(&references, read);
        for ((object, _), ((loaded, diagnostic), place)) in registrations.iter().zip(results) {
            assembly.diagnostics.extend(diagnostic);
            match (loaded, place) {
                (Some(loaded), Some(place)) => drop(assembly.add(&self.0, &place, loaded)),
                _ => drop(assembly.unavailable.insert(object.name.clone())),
            }
        }
    }

    /// Reads the place of a registration. If it can't be reached, the last cached commit is used. Also returns the diagnostic, if there is one.
    fn read_or_use_cache<'p>(
        &self,
        reference: &Reference,
        place: &SourcePlace,
        published: &dyn Fn() -> &'p Result<Vec<Publications>, RepositoryError>,
    ) -> (Option<LoadedPlace>, Option<Diagnostic>) {
        let error = match self.0.read(place) {
            Ok(loaded) => return (Some(loaded), None),
            Err(error) => error,
        };
        let cached = match error {
            PlaceError::Repository(_) => self.0.repositories.cached(&place.url, &place.revision),
            PlaceError::Path(_) => None,
        };
        let unknown = "its objects are not known; the published output of its workloads stays";
        let Some(commit) = cached else { return (None, Some(reference.diagnostic(&error).note(unknown))) };
        let seen = self.0.repositories.seen(&place.url, &place.revision);
        if let Err(refusal) = fallback::check(commit.id, &seen, published(), &fallback::name(place)) {
            return (None, Some(fallback::diagnostic(reference.diagnostic(&error), place, commit.id, &refusal)));
        }
        let cached = read_place(self.0.repositories, commit, place).ok();
        let note = match &cached {
            Some(loaded) => format!("the cached commit {} is used instead", loaded.commit.id.short()),
            None => unknown.to_owned(),
        };
        (cached, Some(reference.diagnostic(&error).note(note)))
    }
}

/// The error for an environment that is not among the declared ones.
pub fn unknown_environment<'e>(
    name: &EnvironmentName,
    declared: impl Iterator<Item = &'e EnvironmentName>,
) -> Diagnostic {
    let found = Diagnostic::error(Code::EnvironmentNotFound, format!("there is no environment `{name}`"));
    match nearest(name.as_str(), declared.map(EnvironmentName::as_str)) {
        Some(nearest) => found.help(format!("did you mean `{nearest}`?")),
        None => found.help(format!("is the name right? Otherwise commit `{ENVIRONMENTS}/{name}.yaml`")),
    }
}

fn environment(object: &AnyObject) -> Option<&Arc<Object<Environment>>> {
    match object {
        AnyObject::Environment(environment) => Some(environment),
        _ => None,
    }
}

/// The registrations by name, with the limits that allow them. If several have the same name, the first one counts, as in the fleet.
fn registrations(assembly: &Assembly, environment: &EnvironmentName) -> Vec<Registration> {
    let counting = assembly.counting_objects(environment).into_iter();
    let found = counting.filter_map(|(object, limits)| match object {
        AnyObject::WorkloadRegistration(registration) => {
            Some((Arc::clone(registration), limits.granted(&AuthorRole::Platform, object)?))
        }
        _ => None,
    });
    let mut registrations: Vec<_> = found.collect();
    registrations.sort_by_cached_key(|(object, _)| {
        let file = assembly.files.get(object.address.file);
        (object.name.clone(), Arc::clone(&file.source), Arc::clone(&file.path), object.address)
    });
    registrations.dedup_by(|(later, _), (first, _)| later.name == first.name);
    registrations
}

fn no_declarations(place: &SourcePlace) -> Diagnostic {
    Diagnostic::error(
        Code::EnvironmentNotFound,
        format!("`{}` has no folder `{ENVIRONMENTS}` on {}", place.url, place.revision),
    )
    .help(format!("commit an `Environment` object there, for example `{ENVIRONMENTS}/dev.yaml`"))
}
