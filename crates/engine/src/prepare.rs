//! What is needed once for all assignments: everything of a fleet read, expanded, parsed and put into an index.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic};
use model::fleet::named::Changed;
use model::fleet::{Fleet, Named};
use model::name::{DeploymentTargetName, PlaceName};
use model::object::{ClusterType, Spec};
use rayon::prelude::*;
use roaring::RoaringBitmap;

use crate::container::{Container, Containers};
use crate::ids::{ById, Ids};
use crate::index::LabelIndex;
use crate::matching::{Classes, Matcher, PairSet, Pairs};
use crate::pin::Pins;
use crate::place::Place;
use crate::render::{self, ParsedTemplates, TargetFields, Templates};
use crate::schedule::{Candidates, Schedule};
use crate::schema::{Schema, Schemas};
use crate::settings::{self, LongNames, MissingValues};
use crate::target::{Target, targets};

/// A fleet with everything in it prepared: values and schemas read, templates parsed, targets expanded, policies applied, labels in an
/// index. It can go on to a changed fleet, and does anew only what the change is about.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) fleet: Arc<Fleet>,
    place_ids: Ids,
    places: ById<Place>,
    place_index: LabelIndex,
    by_type: HashMap<Arc<str>, RoaringBitmap>,
    target_ids: Ids,
    targets: ById<PreparedTarget>,
    target_list: Vec<Arc<Target>>,
    target_index: LabelIndex,
    pub(crate) schedule: Schedule,
    pub(crate) containers: Containers,
    pub(crate) schemas: Schemas,
    templates: ParsedTemplates,
    by_cluster_type: HashMap<Arc<str>, Result<Arc<Templates>, Vec<Diagnostic>>>,
    pub(crate) pins: Pins,
    pub(crate) settings: Settings,
    matching: Matching,
    target_diagnostics: Vec<Diagnostic>,
    setting_diagnostics: Vec<Diagnostic>,
}

/// A target and what is made of it once.
#[derive(Debug)]
pub(crate) struct PreparedTarget {
    pub(crate) target: Arc<Target>,
    pub(crate) fields: TargetFields,
    /// Its position among all targets in the order of their folders.
    rank: u32,
}

/// What the `Environment` object switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    missing: MissingValues,
    pub(crate) long_names: LongNames,
}

/// Who asks for which labels, and what places and targets have of them.
#[derive(Debug, Default)]
struct Matching {
    pairs: Pairs,
    containers: Matcher,
    schemas: Matcher,
    place_classes: Classes<PairSet>,
    class_of_place: Vec<u32>,
    target_classes: Classes<PairSet>,
    class_of_target: Vec<u32>,
}

/// The number of a place without a class: there is no such place.
const NO_CLASS: u32 = u32::MAX;
/// Between what a target has and the schemas that it brings, in the key of its class.
const SCHEMAS_FOLLOW: u32 = u32::MAX;

/// What is different from before, as far as assignments can notice it.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// Places that are new or say something else.
    pub(crate) places: RoaringBitmap,
    /// Places that are gone.
    pub(crate) places_gone: RoaringBitmap,
    /// Targets that are new or say something else.
    pub(crate) targets: RoaringBitmap,
    /// Whether other targets may be on places than before.
    pub(crate) schedule: bool,
    /// Whether it may be other containers or schemas that match.
    pub(crate) matching: bool,
    /// The positions of containers that match the same as before, with other values.
    pub(crate) containers: Vec<u32>,
    /// Whether schemas, or what they mean, are different.
    pub(crate) schemas: bool,
    /// Cluster types whose templates are different.
    pub(crate) templates: BTreeSet<Arc<str>>,
    /// Whether everything may be different: settings, or what exists more than once.
    pub(crate) everything: bool,
}

impl Prepared {
    /// Prepares a fleet.
    pub fn new(fleet: &Arc<Fleet>) -> Self {
        let empty = Self::empty(Arc::clone(fleet));
        let mut prepared = empty;
        prepared.read(fleet, None);
        prepared
    }

    /// The fleet.
    pub fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// The deployment targets of the environment, by name.
    pub fn targets(&self) -> &[Arc<Target>] {
        &self.target_list
    }

    /// The names of the targets that are assigned to a place.
    pub fn targets_on(&self, place: &str) -> Vec<&DeploymentTargetName> {
        let Some(place) = self.place_ids.get(place).filter(|place| self.places.get(*place).is_some()) else {
            return Vec::new();
        };
        let assigned = self.schedule.targets_on(place).iter();
        assigned.filter_map(|target| Some(&self.targets.get(*target)?.target.name)).collect()
    }

    /// Goes on to another fleet of the same environment.
    pub(crate) fn update(&mut self, fleet: &Arc<Fleet>) -> Delta {
        let before = std::mem::replace(&mut self.fleet, Arc::clone(fleet));
        self.read(fleet, Some(&before))
    }

    /// What is to be said about objects, whatever assignments there are.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.target_diagnostics.clone();
        diagnostics.extend(self.schedule.diagnostics.iter().cloned());
        diagnostics.extend(self.pins.idle(&self.place_index, &self.target_index));
        diagnostics.extend(self.containers.diagnostics.iter().cloned());
        diagnostics.extend(self.setting_diagnostics.iter().cloned());
        // What is broken is said even where it stops no assignment. Where it does, the two are put together.
        diagnostics.extend(self.containers.list.iter().filter_map(|container| container.problem.clone()));
        diagnostics.extend(self.schemas.problems());
        diagnostics.extend(self.templates.values().filter_map(|template| template.problem()));
        // A checkout of one branch has cluster types without the templates, which are on another.
        if !self.templates.is_empty() {
            let by_name: BTreeMap<_, _> = self.by_cluster_type.iter().collect();
            diagnostics.extend(by_name.into_values().filter_map(|found| found.as_ref().err()).flatten().cloned());
        }
        diagnostics
    }

    pub(crate) fn place_id(&self, name: &str) -> Option<u32> {
        self.place_ids.get(name).filter(|id| self.places.get(*id).is_some())
    }

    pub(crate) fn target_id(&self, name: &str) -> Option<u32> {
        self.target_ids.get(name).filter(|id| self.targets.get(*id).is_some())
    }

    /// The name of the assignment of a place and a target, also of those that are gone.
    pub(crate) fn assignment_id(&self, place: u32, target: u32) -> Option<AssignmentId> {
        let place = PlaceName::new(Arc::clone(self.place_ids.name(place)?)).ok()?;
        let target = DeploymentTargetName::new(Arc::clone(self.target_ids.name(target)?)).ok()?;
        Some(AssignmentId { place, target })
    }

    pub(crate) fn place(&self, id: u32) -> Option<&Place> {
        self.places.get(id)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, &Place)> {
        self.places.iter()
    }

    pub(crate) fn target(&self, id: u32) -> Option<&PreparedTarget> {
        self.targets.get(id)
    }

    /// The templates of a place, or why there are none.
    pub(crate) fn templates(&self, place: &Place) -> Result<&Arc<Templates>, &[Diagnostic]> {
        match self.by_cluster_type.get(place.cluster_type.name.as_arc()) {
            Some(Ok(templates)) => Ok(templates),
            Some(Err(problems)) => Err(problems),
            None => Err(&[]),
        }
    }

    /// The class of a place and that of a target: what has the same classes matches the same containers and schemas.
    pub(crate) fn class_of_place(&self, place: u32) -> u32 {
        self.matching.class_of_place.get(place as usize).copied().unwrap_or(NO_CLASS)
    }

    pub(crate) fn class_of_target(&self, target: u32) -> u32 {
        self.matching.class_of_target.get(target as usize).copied().unwrap_or(NO_CLASS)
    }

    /// The positions of the containers, and the ids of the schemas, that are for assignments of these classes; and how many were looked at.
    pub(crate) fn matching(&self, place_class: u32, target_class: u32) -> (Vec<u32>, Vec<u32>, usize) {
        let Matching { containers, schemas, place_classes, target_classes, .. } = &self.matching;
        let place = place_classes.get(place_class).map_or(&[][..], |pairs| pairs);
        let target = target_classes.get(target_class).map_or(&[][..], |key| key);
        let (target, own) = match target.iter().position(|pair| *pair == SCHEMAS_FOLLOW) {
            Some(end) => (&target[..end], &target[end + 1..]),
            None => (target, &[][..]),
        };
        let (containers, looked_at) = containers.matching(place, target);
        let (mut schemas, more) = schemas.matching(place, target);
        schemas.extend(own);
        (containers, schemas, looked_at + more)
    }

    /// The containers of an assignment, in the order in which they are merged, and its schemas.
    pub(crate) fn inputs_of(&self, place: u32, target: u32) -> (Vec<Arc<Container>>, Vec<&Schema>) {
        let (containers, schemas, _) = self.matching(self.class_of_place(place), self.class_of_target(target));
        let containers = self.containers_at(&containers);
        (containers, schemas.iter().filter_map(|id| self.schemas.get(*id)).collect())
    }

    pub(crate) fn containers_at(&self, positions: &[u32]) -> Vec<Arc<Container>> {
        positions.iter().filter_map(|position| self.containers.list.get(*position as usize)).map(Arc::clone).collect()
    }

    fn empty(fleet: Arc<Fleet>) -> Self {
        Self {
            fleet,
            place_ids: Ids::default(),
            places: ById::default(),
            place_index: LabelIndex::default(),
            by_type: HashMap::new(),
            target_ids: Ids::default(),
            targets: ById::default(),
            target_list: Vec::new(),
            target_index: LabelIndex::default(),
            schedule: Schedule::default(),
            containers: Containers::default(),
            schemas: Schemas::default(),
            templates: BTreeMap::new(),
            by_cluster_type: HashMap::new(),
            pins: Pins::default(),
            settings: Settings::default(),
            matching: Matching::default(),
            target_diagnostics: Vec::new(),
            setting_diagnostics: Vec::new(),
        }
    }

    /// Reads a fleet; what is as in the fleet `before` is left as it is.
    fn read(&mut self, fleet: &Fleet, before: Option<&Fleet>) -> Delta {
        // What is said of objects that exist more than once names their places, and those may have changed.
        let has_copies = !fleet.duplicates.is_empty() || before.is_some_and(|before| !before.duplicates.is_empty());
        let is_other = before.is_none_or(|before| before.environment != fleet.environment);
        let mut delta = Delta { everything: has_copies || is_other, ..Delta::default() };
        let known = before.filter(|_| !delta.everything);
        self.read_settings(fleet, &mut delta);
        self.read_places(fleet, known, &mut delta);
        self.read_targets(fleet, known, &mut delta);
        let policies = known.is_none_or(|before| differ(&before.policies, &fleet.policies));
        if policies
            || !delta.places.is_empty()
            || !delta.places_gone.is_empty()
            || !delta.targets.is_empty()
            || delta.schedule
        {
            self.read_policies(fleet);
            delta.schedule = true;
        }
        let containers = self.read_containers(fleet, known, &mut delta);
        let schemas = known.is_none_or(|before| differ(&before.config_schemas, &fleet.config_schemas));
        delta.schemas |= schemas || delta.everything;
        if delta.schemas {
            let targets = self.target_list.iter().map(|target| &**target);
            self.schemas = Schemas::compile(fleet, targets, self.settings.missing, &self.schemas);
        }
        self.read_templates(fleet, known, &mut delta);
        if known.is_none_or(|before| differ(&before.release_pins, &fleet.release_pins)) {
            let before = std::mem::replace(&mut self.pins, Pins::new(fleet));
            delta.everything |= before.digest() != self.pins.digest();
        }
        self.match_labels(containers || delta.schemas, &mut delta);
        delta
    }

    fn read_settings(&mut self, fleet: &Fleet, delta: &mut Delta) {
        self.setting_diagnostics.clear();
        let settings = environment_settings(fleet, &mut self.setting_diagnostics);
        delta.everything |= settings != self.settings;
        self.settings = settings;
    }

    fn read_places(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) {
        let mut changed: BTreeSet<Arc<str>> = BTreeSet::new();
        match before {
            None => {
                changed.extend(fleet.cluster_types.keys().map(|name| Arc::clone(name.as_arc())));
                changed.extend(fleet.clusters.keys().map(|name| Arc::clone(name.as_arc())));
                changed.extend(self.places.iter().map(|(_, place)| Arc::clone(place.name_text())));
            }
            Some(before) => {
                for cluster_type in differences(&before.cluster_types, &fleet.cluster_types) {
                    // Its clusters have its labels and templates.
                    let clusters = self.by_type.get(cluster_type.as_arc()).into_iter().flatten();
                    let clusters = clusters.filter_map(|id| self.places.get(id));
                    changed.extend(clusters.map(|place| Arc::clone(place.name_text())));
                    if before.cluster_types.contains_key(cluster_type) {
                        changed.insert(Arc::clone(cluster_type.as_arc()));
                        continue;
                    }
                    let waiting =
                        fleet.clusters.values().filter(|cluster| cluster.spec.cluster_type == *cluster_type.as_arc());
                    changed.extend(waiting.map(|cluster| Arc::clone(cluster.name.as_arc())));
                    changed.insert(Arc::clone(cluster_type.as_arc()));
                }
                changed.extend(differences(&before.clusters, &fleet.clusters).map(|name| Arc::clone(name.as_arc())));
            }
        }
        for name in changed {
            self.read_place(fleet, &name, delta);
        }
    }

    fn read_place(&mut self, fleet: &Fleet, name: &Arc<str>, delta: &mut Delta) {
        let place = Place::find(fleet, name);
        if place.is_none() && self.place_ids.get(name).is_none() {
            return;
        }
        let id = self.place_ids.of(name);
        let old = self.places.remove(id);
        if let (Some(old), Some(place)) = (&old, &place)
            && old.is_same(place)
        {
            self.places.set(id, place.clone());
            return;
        }
        if let Some(old) = &old {
            self.place_index.remove(id, old.labels_iter());
            if let Some(of_type) = self.by_type.get_mut(old.cluster_type.name.as_arc()) {
                of_type.remove(id);
            }
            delta.places_gone.insert(id);
        }
        if let Some(place) = place {
            self.place_index.insert(id, place.labels_iter());
            if place.cluster.is_some() {
                self.by_type.entry(Arc::clone(place.cluster_type.name.as_arc())).or_default().insert(id);
            }
            self.places.set(id, place);
            delta.places_gone.remove(id);
            delta.places.insert(id);
        }
    }

    fn read_targets(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) {
        let is_same = before.is_some_and(|before| {
            !differ(&before.deployment_targets, &fleet.deployment_targets)
                && !differ(&before.label_mappings, &fleet.label_mappings)
                && before.workloads.len() == fleet.workloads.len()
                && before.workloads.iter().zip(fleet.workloads.iter()).all(|((_, one), (_, other))| {
                    one.object.digest == other.object.digest
                        && one.registration == other.registration
                        && one.workspace == other.workspace
                })
        });
        if is_same {
            return;
        }
        let (list, diagnostics) = targets(fleet);
        self.target_diagnostics = diagnostics;
        let mut gone: BTreeSet<u32> = self.targets.iter().map(|(id, _)| id).collect();
        self.target_list = list.into_iter().map(Arc::new).collect();
        let mut in_order: Vec<_> = self.target_list.iter().map(Arc::clone).collect();
        in_order.sort_by(|one, other| folder_order(one.name.as_str()).cmp(folder_order(other.name.as_str())));
        for (rank, target) in in_order.into_iter().enumerate() {
            let id = self.target_ids.of(target.name.as_arc());
            gone.remove(&id);
            self.read_target(id, rank as u32, target, delta);
        }
        for id in gone {
            if let Some(old) = self.targets.remove(id) {
                self.target_index.remove(id, old.target.labels.iter());
                delta.schemas |= !old.target.schemas.is_empty();
            }
            delta.schedule = true;
        }
    }

    fn read_target(&mut self, id: u32, rank: u32, target: Arc<Target>, delta: &mut Delta) {
        if let Some(known) = self.targets.get_mut(id)
            && known.target.is_same(&target)
        {
            if known.target.problem != target.problem {
                delta.targets.insert(id);
            }
            (known.rank, known.target) = (rank, target);
            return;
        }
        let old = self.targets.remove(id);
        if let Some(old) = &old {
            self.target_index.remove(id, old.target.labels.iter());
        }
        delta.schemas |= old.map_or(!target.schemas.is_empty(), |old| old.target.schemas != target.schemas);
        self.target_index.insert(id, target.labels.iter());
        self.targets.set(id, PreparedTarget { fields: TargetFields::of(&target), target, rank });
        delta.targets.insert(id);
    }

    fn read_policies(&mut self, fleet: &Fleet) {
        let rank = |target| self.targets.get(target).map_or(0, |target| target.rank);
        let candidates = Candidates { fleet, places: &self.place_index, targets: &self.target_index, rank: &rank };
        self.schedule = Schedule::of(&candidates, &self.schedule);
    }

    /// Reads the containers. Whether their order, or what they match, is different.
    fn read_containers(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) -> bool {
        if before.is_some_and(|before| !differ(&before.config_maps, &fleet.config_maps)) {
            return false;
        }
        let old = std::mem::take(&mut self.containers);
        self.containers = Containers::of(fleet, &old);
        let pairs = || old.list.iter().zip(&self.containers.list);
        let is_in_place =
            old.list.len() == self.containers.list.len() && pairs().all(|(old, new)| old.is_of_same_place(new));
        if !is_in_place {
            return true;
        }
        let differs = |(old, new): &(&Arc<Container>, &Arc<Container>)| {
            !Arc::ptr_eq(old, new) && (old.digest != new.digest || old.problem != new.problem)
        };
        let changed = pairs().enumerate().filter(|(_, pair)| differs(pair));
        delta.containers = changed.map(|(position, _)| position as u32).collect();
        false
    }

    fn read_templates(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) {
        let is_same = before.is_some_and(|before| {
            !differ(&before.templates, &fleet.templates) && !differ(&before.cluster_types, &fleet.cluster_types)
        });
        if is_same {
            return;
        }
        self.templates = render::parse(fleet, &self.templates);
        let find = |object: &Arc<model::object::Object<ClusterType>>| {
            (Arc::clone(object.name.as_arc()), Templates::find(&self.templates, object).map(Arc::new))
        };
        let found: HashMap<_, _> = fleet.cluster_types.values().map(find).collect();
        let before = std::mem::replace(&mut self.by_cluster_type, found);
        for (name, found) in &self.by_cluster_type {
            let is_same = match (before.get(name), found) {
                (Some(Ok(old)), Ok(new)) => old.is_same(new),
                (Some(Err(old)), Err(new)) => old == new,
                _ => false,
            };
            if !is_same {
                delta.templates.insert(Arc::clone(name));
            }
        }
    }

    /// Finds out what places and targets have of what containers and schemas ask for.
    fn match_labels(&mut self, asked_changed: bool, delta: &mut Delta) {
        let Matching { pairs, containers, schemas, .. } = &mut self.matching;
        let all = asked_changed || delta.everything;
        if all {
            *containers = Matcher::new(pairs, self.containers.list.iter().map(|container| &container.conditions));
            *schemas = Matcher::new(pairs, self.schemas.labelled.iter().map(|labelled| &labelled.conditions));
            self.matching.place_classes = Classes::default();
            self.matching.target_classes = Classes::default();
            delta.matching = true;
        }
        self.classify_places(all, delta);
        if all || !delta.targets.is_empty() {
            self.classify_targets();
        }
    }

    fn classify_places(&mut self, all: bool, delta: &Delta) {
        let classified = |(id, place): (u32, &Place)| {
            let mut found = Vec::new();
            self.matching.pairs.of_place(place, &mut found);
            (id, found)
        };
        let found: Vec<_> = if all {
            let places: Vec<_> = self.places.iter().collect();
            places.into_par_iter().map(classified).collect()
        } else {
            delta.places.iter().filter_map(|id| Some(classified((id, self.places.get(id)?)))).collect()
        };
        let Matching { place_classes, class_of_place, .. } = &mut self.matching;
        for (id, pairs) in found {
            if class_of_place.len() <= id as usize {
                class_of_place.resize(id as usize + 1, NO_CLASS);
            }
            let class = place_classes.of(pairs.as_slice());
            if let Some(slot) = class_of_place.get_mut(id as usize) {
                *slot = class;
            }
        }
    }

    fn classify_targets(&mut self) {
        let mut key = Vec::new();
        for (id, prepared) in self.targets.iter() {
            let Matching { pairs, target_classes, class_of_target, .. } = &mut self.matching;
            pairs.of_target(&prepared.target, &mut key);
            if !prepared.target.schemas.is_empty() {
                key.push(SCHEMAS_FOLLOW);
                key.extend(self.schemas.ids_of_target(&prepared.target));
            }
            if class_of_target.len() <= id as usize {
                class_of_target.resize(id as usize + 1, NO_CLASS);
            }
            let class = target_classes.of(key.as_slice());
            if let Some(slot) = class_of_target.get_mut(id as usize) {
                *slot = class;
            }
        }
    }
}

/// What a folder's name is sorted by in a tree: git acts as if it ended with a slash.
pub(crate) fn folder_order(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().chain([b'/'])
}

/// The names of objects that are on one side only, or say something else than on the other.
fn differences<'m, S: Spec>(before: &'m Named<S>, after: &'m Named<S>) -> impl Iterator<Item = &'m S::Name> {
    let name = |(old, new): Changed<'m, S>| new.or(old).map(|object| &object.name);
    after.changes(before).into_iter().filter_map(name)
}

fn differ<S: Spec>(before: &Named<S>, after: &Named<S>) -> bool {
    !after.changes(before).is_empty()
}

fn environment_settings(fleet: &Fleet, diagnostics: &mut Vec<Diagnostic>) -> Settings {
    let Some(declaration) = &fleet.declaration else { return Settings::default() };
    let key = declaration.key();
    let missing = settings::missing_values(&key, &declaration.annotations);
    let long = settings::long_names(&key, &declaration.annotations);
    let missing = missing.map_err(|diagnostic| diagnostics.push(diagnostic)).unwrap_or_default().unwrap_or_default();
    let long_names = long.map_err(|diagnostic| diagnostics.push(diagnostic)).unwrap_or_default().unwrap_or_default();
    Settings { missing, long_names }
}
