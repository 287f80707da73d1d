//! Follows the references between objects of the platform: base repositories, and pairs of a Flux `GitRepository` and a `Kustomization`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::name::ConfigMapName;
use model::object::{AnyObject, FluxGitRepository, FluxKustomization, Object};

use super::assembly::Assembly;
use super::place::{LoadedPlace, SourcePlace};
use super::reference::Reference;
use super::view::View;
use crate::limits::{BASE_DEPTH_MAX, PLACES_MAX};
use crate::url::RepositoryUrl;
use crate::walk;

/// Reads the platform's places of an environment.
pub(super) struct Platform<'a> {
    view: &'a View<'a>,
    assembly: &'a mut Assembly,
    visited: BTreeSet<Visit>,
    repositories: BTreeMap<ConfigMapName, Arc<Object<FluxGitRepository>>>,
    /// Kustomizations whose `GitRepository` is not found yet.
    waiting: Vec<(Arc<Object<FluxKustomization>>, Chain)>,
}

/// A place at its commit that was already read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    url: RepositoryUrl,
    commit: GitId,
    path: String,
    shown: String,
}

/// The chain of places that led to the current one.
type Chain = Vec<Visit>;

/// A reference that is followed next.
struct Step {
    reference: Reference,
    chain: Chain,
}

impl<'a> Platform<'a> {
    /// Reads the place of the environment, and all places that it refers to, directly and indirectly.
    pub(super) fn read(view: &'a View<'a>, assembly: &'a mut Assembly, environment: Reference) {
        let (visited, repositories, waiting) = Default::default();
        let mut platform = Self { view, assembly, visited, repositories, waiting };
        let mut open = vec![Step { reference: environment, chain: Chain::new() }];
        while !open.is_empty() {
            open = platform.read_steps(open);
        }
        platform.report_waiting();
    }

    /// Reads the places of all steps in parallel. Returns the next steps.
    fn read_steps(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let mut places = Vec::new();
        for step in steps {
            match step.reference.place(&self.view.control_plane) {
                Ok(place) => places.push((step, place)),
                Err(diagnostic) => self.report_unread(diagnostic),
            }
        }
        let results = self.view.in_parallel(&places, |(_, place)| self.view.read(place));
        let mut next = Vec::new();
        for ((step, place), result) in places.into_iter().zip(results) {
            match result {
                Ok(loaded) => next.extend(self.add_place(step, &place, loaded)),
                Err(error) => self.report_unread(step.reference.diagnostic(&error)),
            }
        }
        next.extend(self.flux_steps());
        next
    }

    /// Adds the files of a place. Returns the steps for the references in them.
    fn add_place(&mut self, step: Step, place: &SourcePlace, loaded: LoadedPlace) -> Vec<Step> {
        let Step { reference, mut chain } = step;
        let visit = Visit {
            url: place.url.clone(),
            commit: loaded.commit.id,
            path: walk::normalize(&place.path).unwrap_or_default(),
            shown: loaded.source.to_string(),
        };
        if chain.contains(&visit) {
            self.assembly.diagnostics.push(cycle(&reference, &chain, &visit));
            return Vec::new();
        }
        if self.visited.contains(&visit) {
            return Vec::new();
        }
        if chain.len() >= BASE_DEPTH_MAX || self.visited.len() >= PLACES_MAX {
            self.report_unread(too_many_references(&reference));
            return Vec::new();
        }
        self.visited.insert(visit.clone());
        chain.push(visit);
        let mut steps = Vec::new();
        let files = self.assembly.add(self.view.reader(), place, loaded);
        for object in files.iter().flat_map(|file| &file.objects.objects) {
            match object {
                AnyObject::BaseRepo(base) => {
                    steps.push(Step { reference: Reference::of_base_repo(base), chain: chain.clone() });
                }
                AnyObject::FluxGitRepository(found) => {
                    self.repositories.entry(found.name.clone()).or_insert_with(|| Arc::clone(found));
                }
                AnyObject::FluxKustomization(found) => self.waiting.push((Arc::clone(found), chain.clone())),
                _ => {}
            }
        }
        steps
    }

    /// The steps of Kustomizations whose `GitRepository` is now found.
    fn flux_steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (object, chain) in std::mem::take(&mut self.waiting) {
            match self.repositories.get(&*object.spec.repository) {
                Some(repository) => steps.push(Step { reference: Reference::of_flux(repository, &object), chain }),
                None => self.waiting.push((object, chain)),
            }
        }
        steps
    }

    fn report_waiting(&mut self) {
        for (object, _) in std::mem::take(&mut self.waiting) {
            let key = object.key();
            let message = format!("{key} refers to `GitRepository` `{}`, which does not exist", object.spec.repository);
            let origin = Origin::At(object.address, FieldPath::from(["spec", "sourceRef", "name"]));
            let diagnostic = Diagnostic::error(Code::SourceNotFound, message).at(origin, "named here").about(&key);
            self.report_unread(diagnostic.help("add the `GitRepository`, or remove the `Kustomization`"));
        }
    }

    /// Reports that a place of the platform can't be read.
    fn report_unread(&mut self, diagnostic: Diagnostic) {
        let note = "nothing is published for this environment until all its files can be read";
        self.assembly.diagnostics.push(diagnostic.note(note));
        self.assembly.is_complete = false;
    }
}

fn cycle(reference: &Reference, chain: &[Visit], visit: &Visit) -> Diagnostic {
    let cycle = chain.iter().skip_while(|passed| *passed != visit).chain([visit]).map(|visit| visit.shown.as_str());
    let cycle = cycle.collect::<Vec<_>>().join(" -> ");
    Diagnostic::error(Code::Cycle, format!("{} is part of a cycle of references: {cycle}", reference.key))
        .at(reference.origin(), "closes the cycle")
        .help("remove one of the references")
        .about(&reference.key)
}

fn too_many_references(reference: &Reference) -> Diagnostic {
    let message = format!(
        "{} is not followed: the limits are {BASE_DEPTH_MAX} references in a row and {PLACES_MAX} in total",
        reference.key
    );
    Diagnostic::error(Code::Cycle, message)
        .at(reference.origin(), "not followed")
        .help("remove references that lead to older commits of the same branch")
        .about(&reference.key)
}
