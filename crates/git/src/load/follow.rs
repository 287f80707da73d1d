//! Follows the references between objects of the platform: base repositories, and pairs of a Flux `GitRepository` and a `Kustomization`.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::limits::Chain;
use model::fleet::{AuthorRole, Limits};
use model::git_id::GitId;
use model::kind::Kind;
use model::name::ConfigMapName;
use model::object::{AnyObject, Environment, FluxGitRepository, FluxKustomization, Object};
use model::object_key::ObjectKey;
use model::source::Address;

use super::assembly::Assembly;
use super::main_branch;
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
    /// The places that were read, with the chains of limits that led there.
    visited: BTreeMap<Visit, Vec<Chain>>,
    repositories: BTreeMap<ConfigMapName, (Arc<Object<FluxGitRepository>>, Chain)>,
    /// Kustomizations that were not followed yet.
    waiting: Vec<Follower>,
    /// The objects that lead to places, with the chains of limits of their files.
    known: BTreeMap<ObjectKey, Vec<(Address, Chain)>>,
}

/// A Kustomization, with the way to it.
struct Follower {
    object: Arc<Object<FluxKustomization>>,
    /// The places that led to the object.
    visits: Visits,
    /// The limits of the object's file.
    chain: Chain,
}

/// A place at its commit that was already read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    url: RepositoryUrl,
    commit: GitId,
    path: String,
    shown: String,
}

/// The places that led to the current one.
type Visits = Vec<Visit>;

/// A reference that is followed next.
struct Step {
    reference: Reference,
    visits: Visits,
    /// The limits of the place that the reference leads to.
    chain: Chain,
    /// The address and the limits of the object that refers to the place.
    from: (Address, Chain),
    /// Whether the limit of the environment does not apply, so that the commit must be on the main branch.
    is_main: bool,
}

impl<'a> Platform<'a> {
    /// Reads the place of the environment, and all places that it refers to, directly and indirectly.
    pub(super) fn read(view: &'a View<'a>, assembly: &'a mut Assembly, environment: &Object<Environment>) {
        let (visited, repositories, waiting, known) = Default::default();
        let mut platform = Self { view, assembly, visited, repositories, waiting, known };
        let (reference, chain) = (Reference::of_environment(environment), Chain::of_environment(environment));
        let from = (environment.address, Chain::default());
        let mut open = vec![Step { reference, visits: Visits::new(), chain, from, is_main: false }];
        loop {
            open.extend(platform.flux_steps());
            // Places with fewer limits come first. So all objects above an object are known when it is followed.
            let Some(least) = open.iter().map(|step| step.chain.len()).min() else { break };
            let (steps, later): (Vec<_>, Vec<_>) = open.into_iter().partition(|step| step.chain.len() == least);
            open = later;
            open.extend(platform.read_steps(steps));
        }
        platform.report_waiting();
    }

    /// Reads the places of all steps in parallel. Returns the next steps.
    fn read_steps(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        steps.retain(|step| !self.is_outranked(&step.reference.key, &step.from));
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
                Ok(loaded) => next.extend(self.add_place(step, place, loaded)),
                Err(error) => self.report_unread(step.reference.diagnostic(&error)),
            }
        }
        next
    }

    /// Whether another object of the same name is above the object. Then the object does not count.
    fn is_outranked(&self, key: &ObjectKey, (address, chain): &(Address, Chain)) -> bool {
        let others = self.known.get(key).into_iter().flatten();
        others.into_iter().any(|(other, above)| other != address && above.is_above(chain))
    }

    /// Adds the files of a place. Returns the next steps.
    fn add_place(&mut self, step: Step, mut place: SourcePlace, loaded: LoadedPlace) -> Vec<Step> {
        let Step { reference, mut visits, chain, is_main, .. } = step;
        if is_main && let Err(problem) = main_branch::check(self.view, &place, loaded.commit.id) {
            self.report_unread(problem.diagnostic(&reference));
            return Vec::new();
        }
        place.limits = Limits::from_chain(chain.clone());
        let visit = Visit {
            url: place.url.clone(),
            commit: loaded.commit.id,
            path: walk::normalize(&place.path).unwrap_or_default(),
            shown: format!("`{}` at {}, path `{}`", place.url, place.revision, place.path),
        };
        if visits.contains(&visit) {
            self.assembly.diagnostics.push(cycle(&reference, &visits, &visit));
            return Vec::new();
        }
        let count: usize = self.visited.values().map(Vec::len).sum();
        let chains = self.visited.entry(visit.clone()).or_default();
        if chains.iter().any(|known| known.is_within(&chain)) {
            return Vec::new();
        }
        if visits.len() >= BASE_DEPTH_MAX || count >= PLACES_MAX {
            self.report_unread(too_many_references(&reference));
            return Vec::new();
        }
        chains.push(chain.clone());
        visits.push(visit);
        let positions = self.assembly.add(self.view, &place, loaded);
        let files = positions.iter().filter_map(|position| self.assembly.file(*position));
        let objects = files.flat_map(|file| &file.objects.objects);
        let allowed = objects.filter(|object| place.limits.granted(&AuthorRole::Platform, object).is_some());
        let references: Vec<_> = allowed.filter(|object| is_reference(object)).cloned().collect();
        references.into_iter().filter_map(|object| self.step(&object, (&visits, &chain))).collect()
    }

    /// The next step of an object that refers to a place.
    fn step(&mut self, object: &AnyObject, (visits, chain): (&Visits, &Chain)) -> Option<Step> {
        let from = (object.address(), chain.clone());
        self.known.entry(object.key()).or_default().push(from.clone());
        match object {
            AnyObject::BaseRepo(base) => {
                let (reference, chain) = (Reference::of_base_repo(base), chain.below(base));
                return Some(self.limited(Step { reference, visits: visits.clone(), chain, from, is_main: false }));
            }
            AnyObject::FluxGitRepository(found) => {
                let known = self.repositories.get(&found.name);
                if known.is_none_or(|(_, known)| chain.is_above(known)) {
                    self.repositories.insert(found.name.clone(), (Arc::clone(found), chain.clone()));
                }
            }
            AnyObject::FluxKustomization(found) => {
                let (object, visits, chain) = (Arc::clone(found), visits.clone(), chain.clone());
                self.waiting.push(Follower { object, visits, chain });
            }
            _ => {}
        }
        None
    }

    /// A step with the limits that apply to it: the limit of the environment does not apply to the main branch.
    fn limited(&self, step: Step) -> Step {
        let place = step.reference.place(&self.view.control_plane);
        let is_main = step.chain.has_environment() && place.is_ok_and(|place| main_branch::is_named(self.view, &place));
        let chain = if is_main { step.chain.without_environment() } else { step.chain };
        Step { chain, is_main, ..step }
    }

    /// The steps of Kustomizations whose `GitRepository` is found.
    fn flux_steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for Follower { object, visits, chain } in std::mem::take(&mut self.waiting) {
            match self.repositories.get(&*object.spec.repository) {
                Some((repository, of_repository)) => {
                    let (reference, below) = (Reference::of_flux(repository, &object), chain.and(of_repository));
                    let from = (object.address, chain);
                    steps.push(self.limited(Step { reference, visits, chain: below, from, is_main: false }));
                }
                None => self.waiting.push(Follower { object, visits, chain }),
            }
        }
        steps
    }

    fn report_waiting(&mut self) {
        for Follower { object, .. } in std::mem::take(&mut self.waiting) {
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

/// Whether an object refers to a place, or is a part of such a reference.
fn is_reference(object: &AnyObject) -> bool {
    matches!(object.kind(), Kind::BaseRepo | Kind::FluxGitRepository | Kind::FluxKustomization)
}

fn cycle(reference: &Reference, visits: &[Visit], visit: &Visit) -> Diagnostic {
    let cycle = visits.iter().skip_while(|passed| *passed != visit).chain([visit]).map(|visit| visit.shown.as_str());
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
