//! Follows the references between objects of the platform: base repositories, and pairs of a Flux `GitRepository` and a `Kustomization`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::name::ConfigMapName;
use model::object::{AnyObject, FluxGitRepository, FluxKustomization, Object};

use super::assembly::Assembly;
use super::place::{Place, Snapshot};
use super::reference::Reference;
use super::view::View;
use crate::limits::{BASE_DEPTH_MAX, PLACES_MAX};
use crate::url::RepositoryUrl;
use crate::walk;

/// Reads the platform's places of an environment.
pub(super) struct Platform<'a> {
    view: &'a View<'a>,
    assembly: &'a mut Assembly,
    visited: BTreeSet<Stop>,
    repositories: BTreeMap<ConfigMapName, Arc<Object<FluxGitRepository>>>,
    /// Kustomizations whose `GitRepository` is not found yet.
    waiting: Vec<(Arc<Object<FluxKustomization>>, Trail)>,
}

/// A place at its commit that was already read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stop {
    url: RepositoryUrl,
    commit: GitId,
    path: String,
    shown: String,
}

/// The chain of places that led to the current one.
type Trail = Vec<Stop>;

/// A reference that is followed next.
struct Step {
    reference: Reference,
    trail: Trail,
}

impl<'a> Platform<'a> {
    /// Reads the place of the environment, and all places that it refers to, directly and indirectly.
    pub(super) fn read(view: &'a View<'a>, assembly: &'a mut Assembly, environment: Reference) {
        let (visited, repositories, waiting) = Default::default();
        let mut platform = Self { view, assembly, visited, repositories, waiting };
        let mut open = vec![Step { reference: environment, trail: Trail::new() }];
        while !open.is_empty() {
            open = platform.go(open);
        }
        platform.report_waiting();
    }

    /// Reads the places of all steps in parallel. Returns the next steps.
    fn go(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let mut places = Vec::new();
        for step in steps {
            match step.reference.place(&self.view.control_plane) {
                Ok(place) => places.push((step, place)),
                Err(diagnostic) => self.fail(diagnostic),
            }
        }
        let results = self.view.in_parallel(&places, |(_, place)| self.view.read(place));
        let mut next = Vec::new();
        for ((step, place), result) in places.into_iter().zip(results) {
            match result {
                Ok(snapshot) => next.extend(self.arrive(step, &place, snapshot)),
                Err(error) => self.fail(step.reference.report(&error)),
            }
        }
        next.extend(self.pairs());
        next
    }

    /// Adds the files of a place. Returns the steps for the references in them.
    fn arrive(&mut self, step: Step, place: &Place, snapshot: Snapshot) -> Vec<Step> {
        let Step { reference, mut trail } = step;
        let stop = Stop {
            url: place.url.clone(),
            commit: snapshot.commit.id,
            path: walk::normal(&place.path).unwrap_or_default(),
            shown: snapshot.source.to_string(),
        };
        if trail.contains(&stop) {
            self.assembly.diagnostics.push(cycle(&reference, &trail, &stop));
            return Vec::new();
        }
        if self.visited.contains(&stop) {
            return Vec::new();
        }
        if trail.len() >= BASE_DEPTH_MAX || self.visited.len() >= PLACES_MAX {
            self.fail(too_far(&reference));
            return Vec::new();
        }
        self.visited.insert(stop.clone());
        trail.push(stop);
        let mut steps = Vec::new();
        let files = self.assembly.add(self.view.reader(), place, snapshot);
        for object in files.iter().flat_map(|file| &file.objects.objects) {
            match object {
                AnyObject::BaseRepo(base) => {
                    steps.push(Step { reference: Reference::of_base_repo(base), trail: trail.clone() });
                }
                AnyObject::FluxGitRepository(found) => {
                    self.repositories.entry(found.name.clone()).or_insert_with(|| Arc::clone(found));
                }
                AnyObject::FluxKustomization(found) => self.waiting.push((Arc::clone(found), trail.clone())),
                _ => {}
            }
        }
        steps
    }

    /// The steps of Kustomizations whose `GitRepository` is now found.
    fn pairs(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (object, trail) in std::mem::take(&mut self.waiting) {
            match self.repositories.get(&*object.spec.repository) {
                Some(repository) => steps.push(Step { reference: Reference::of_flux(repository, &object), trail }),
                None => self.waiting.push((object, trail)),
            }
        }
        steps
    }

    fn report_waiting(&mut self) {
        for (object, _) in std::mem::take(&mut self.waiting) {
            let key = object.key();
            let message = format!("{key} refers to `GitRepository` `{}`, which is not there", object.spec.repository);
            let origin = Origin::At(object.address, FieldPath::from(["spec", "sourceRef", "name"]));
            let diagnostic = Diagnostic::error(Code::SourceNotFound, message).at(origin, "named here").about(&key);
            self.fail(diagnostic.help("add the `GitRepository`, or remove the `Kustomization`"));
        }
    }

    /// Reports that a place of the platform can't be read.
    fn fail(&mut self, diagnostic: Diagnostic) {
        let note = "nothing of the environment is published while a part of it is not known";
        self.assembly.diagnostics.push(diagnostic.note(note));
        self.assembly.is_whole = false;
    }
}

fn cycle(reference: &Reference, trail: &[Stop], stop: &Stop) -> Diagnostic {
    let way = trail.iter().skip_while(|passed| *passed != stop).chain([stop]).map(|stop| stop.shown.as_str());
    let way = way.collect::<Vec<_>>().join(" -> ");
    Diagnostic::error(Code::Cycle, format!("{} leads back to where it came from: {way}", reference.key))
        .at(reference.origin(), "leads back")
        .help("remove one of the references")
        .about(&reference.key)
}

fn too_far(reference: &Reference) -> Diagnostic {
    let message = format!(
        "{} is not followed: at most {BASE_DEPTH_MAX} references in a row, and {PLACES_MAX} in all, are",
        reference.key
    );
    Diagnostic::error(Code::Cycle, message)
        .at(reference.origin(), "not followed")
        .help("refer to a branch or commit that does not refer to an older one of itself")
        .about(&reference.key)
}
