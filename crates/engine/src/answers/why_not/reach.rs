//! Computes the effect of edits on all assignments, without compiling the edited fleet.
//!
//! Edits of labels change the places or targets that have a label; edits of policies change what they select. Both give new bitmaps of places and
//! targets for the affected policies. Places with the same policies before and after are counted together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::kind::Kind;
use model::object::SchedulingPolicy;
use model::object::deployment_target::WORKSPACE_LABEL;
use model::selector::{LabelSelector, Requirement};
use roaring::RoaringBitmap;

use super::edit::{EditAction, ObjectEdit, apply, apply_to_policy};
use crate::compile::Prepared;
use crate::schedule::mapping;
use crate::schedule::matching::{is_met_by_assigned, is_met_by_place};
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// The effect of a change on assignments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeReach {
    /// Added assignments that the question is about.
    pub answers: u64,
    /// Other added assignments.
    pub added: u64,
    /// Removed assignments.
    pub removed: u64,
    /// Other assignments that stay, and get other `ConfigMap`s or schemas.
    pub reconfigured: u64,
}

impl ChangeReach {
    /// The number of assignments that change and that the question is not about.
    pub fn others(&self) -> u64 {
        self.added + self.removed + self.reconfigured
    }
}

/// The assignments that a question is about: one place, one target, or one of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedIds {
    pub(super) place: Option<u32>,
    pub(super) target: Option<u32>,
}

/// The objects that a question is about.
#[derive(Clone, Copy)]
pub(super) struct AskedObjects<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) place: Option<(u32, &'a Place)>,
    pub(super) target: Option<(u32, &'a Target)>,
}

impl AskedObjects<'_> {
    pub(super) fn ids(&self) -> AskedIds {
        AskedIds { place: self.place.map(|(id, _)| id), target: self.target.map(|(id, _)| id) }
    }

    /// Whether the target is assigned to the place.
    pub(super) fn is_assigned(&self) -> bool {
        let ids = self.place.zip(self.target);
        ids.is_some_and(|((place, _), (target, _))| self.prepared.schedule.targets_on(place).contains(&target))
    }
}

/// A label that an edit sets or removes.
struct PlaceLabel {
    key: Arc<str>,
    value: Option<Arc<str>>,
    /// The places whose label changes.
    places: RoaringBitmap,
}

/// The changes that edits cause.
struct Hypothesis<'p> {
    prepared: &'p Prepared,
    place_labels: Vec<PlaceLabel>,
    targets: BTreeMap<u32, Target>,
    changed_targets: RoaringBitmap,
    /// The places and targets that changed policies select, by the number of the selection.
    selections: BTreeMap<u32, (RoaringBitmap, RoaringBitmap)>,
}

/// Places with the same policies before, and the same policies after the edits.
struct Cell {
    places: RoaringBitmap,
    /// The targets before and after.
    targets: [RoaringBitmap; 2],
}

/// The effect of edits, and whether they remove assignments that the question is about.
pub(super) struct Effect<'p> {
    pub(super) reach: ChangeReach,
    pub(super) loses_answers: bool,
    hypothesis: Hypothesis<'p>,
}

impl Effect<'_> {
    /// Whether the place or the target of a question meets a condition after the edits. Mappings can give and take other labels than the edited ones.
    pub(super) fn is_met(&self, asked: AskedObjects<'_>, (key, value): (&str, &str)) -> bool {
        let Hypothesis { place_labels, targets, .. } = &self.hypothesis;
        let of_place = asked.place.is_some_and(|(id, place)| {
            let is_edited = |label: &&PlaceLabel| *label.key == *key && label.places.contains(id);
            let edited = place_labels.iter().filter(|_| self.hypothesis.is_condition(id, key)).rfind(is_edited);
            edited.map_or_else(
                || is_met_by_place(key, value, place),
                |label| label.value.as_deref().is_some_and(|new| new == value),
            )
        });
        let of_target = |(id, target)| is_met_by_assigned(key, value, targets.get(&id).unwrap_or(target));
        of_place || asked.target.is_some_and(of_target)
    }
}

/// Computes the effect of edits.
pub(super) fn effect<'p>(prepared: &'p Prepared, edits: &[ObjectEdit], asked: AskedIds) -> Effect<'p> {
    let hypothesis = Hypothesis::new(prepared, edits);
    let mut reach = ChangeReach::default();
    let mut loses_answers = false;
    let cells = hypothesis.cells();
    for Cell { places, targets: [before, after] } in &cells {
        let added = after - before;
        let of_question = places_of_question(places, asked.place) * targets_of_question(&added, asked.target);
        reach.answers += of_question;
        reach.added += places.len() * added.len() - of_question;
        let removed = before - after;
        reach.removed += places.len() * removed.len();
        loses_answers |= places_of_question(places, asked.place) * targets_of_question(&removed, asked.target) > 0;
    }
    reach.reconfigured = hypothesis.reconfigured(cells);
    Effect { reach, loses_answers, hypothesis }
}

fn places_of_question(places: &RoaringBitmap, asked: Option<u32>) -> u64 {
    asked.map_or(places.len(), |place| places.contains(place).into())
}

fn targets_of_question(targets: &RoaringBitmap, asked: Option<u32>) -> u64 {
    asked.map_or(targets.len(), |target| targets.contains(target).into())
}

impl<'p> Hypothesis<'p> {
    fn new(prepared: &'p Prepared, edits: &[ObjectEdit]) -> Self {
        let place_labels = edits.iter().filter_map(|edit| place_label(prepared, edit)).collect();
        let targets = changed_targets(prepared, edits);
        let changed_targets = targets.keys().copied().collect();
        let mut hypothesis = Self { prepared, place_labels, targets, changed_targets, selections: BTreeMap::new() };
        hypothesis.select(edits);
        hypothesis
    }

    /// Finds what each affected policy selects after the edits.
    fn select(&mut self, edits: &[ObjectEdit]) {
        for (number, selection) in (0..).zip(self.prepared.schedule.all_selections()) {
            let policy = &selection.policy;
            let of_policy = |edit: &&ObjectEdit| {
                edit.object.kind == Kind::SchedulingPolicy && edit.object.name == *policy.name.as_arc()
            };
            let mut spec = policy.spec.clone();
            let is_edited = edits.iter().filter(of_policy).map(|edit| apply_to_policy(&mut spec, edit)).count() > 0;
            let are_places_new = is_edited
                || spec
                    .cluster_types
                    .requirements
                    .iter()
                    .any(|requirement| self.place_labels.iter().any(|label| label.key == requirement.key));
            let places = if are_places_new { self.places(&spec.cluster_types) } else { selection.places.clone() };
            let targets = if is_edited { self.unchanged_targets(&spec) } else { selection.targets.clone() };
            let targets = self.with_changed_targets(targets, &spec);
            if places != selection.places || targets != selection.targets {
                self.selections.insert(number, (places, targets));
            }
        }
    }

    /// The places that a selector selects after the edits.
    fn places(&self, selector: &LabelSelector) -> RoaringBitmap {
        let index = &self.prepared.place_index;
        let mut selected = index.select(&LabelSelector::default());
        for requirement in &selector.requirements {
            let mut matching = index.matching(requirement);
            for PlaceLabel { key, value, places } in &self.place_labels {
                if *key == requirement.key {
                    let is_met = is_met(requirement, value.as_ref());
                    matching = if is_met { matching | places } else { matching - places };
                }
            }
            selected &= matching;
        }
        selected
    }

    /// The targets that a policy selects by the labels that they have now.
    fn unchanged_targets(&self, spec: &SchedulingPolicy) -> RoaringBitmap {
        let index = &self.prepared.target_index;
        let mut targets = index.select(&spec.targets);
        if !spec.workspace.is_empty() {
            targets &= index.with(WORKSPACE_LABEL, &spec.workspace);
        }
        targets
    }

    fn with_changed_targets(&self, mut targets: RoaringBitmap, spec: &SchedulingPolicy) -> RoaringBitmap {
        for (id, target) in &self.targets {
            let is_selected = (spec.workspace.is_empty() || *spec.workspace == *target.workspace())
                && spec.targets.matches(&target.labels);
            if is_selected {
                targets.insert(*id);
            } else {
                targets.remove(*id);
            }
        }
        targets
    }

    /// The places whose policies or labels change, or whose targets change their labels.
    fn affected_places(&self) -> RoaringBitmap {
        let schedule = &self.prepared.schedule;
        let mut affected = RoaringBitmap::new();
        for (number, (places, targets)) in &self.selections {
            let Some(before) = schedule.all_selections().get(*number as usize) else { continue };
            affected |= if *targets == before.targets { &before.places ^ places } else { &before.places | places };
        }
        self.place_labels.iter().for_each(|label| affected |= &label.places);
        self.targets.keys().for_each(|target| affected |= schedule.places_of(*target));
        affected
    }

    fn cells(&self) -> Vec<Cell> {
        let schedule = &self.prepared.schedule;
        let mut by_group: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        for place in self.affected_places() {
            by_group.entry(schedule.group_number(place)).or_default().insert(place);
        }
        // The numbers of the changed selections that select the places after the edits.
        let mut cells: Vec<(u32, RoaringBitmap, BTreeSet<u32>)> =
            by_group.into_iter().map(|(group, places)| (group, places, BTreeSet::new())).collect();
        for (number, (places, _)) in &self.selections {
            let split = |(group, cell, selections): (u32, RoaringBitmap, BTreeSet<u32>)| {
                let (inside, outside) = (&cell & places, cell - places);
                let with: BTreeSet<u32> = selections.iter().copied().chain([*number]).collect();
                [(group, inside, with), (group, outside, selections)]
            };
            cells = cells.into_iter().flat_map(split).filter(|(_, cell, _)| !cell.is_empty()).collect();
        }
        cells.into_iter().map(|(group, places, selections)| self.cell((group, places), &selections)).collect()
    }

    fn cell(&self, (group, places): (u32, RoaringBitmap), selections: &BTreeSet<u32>) -> Cell {
        let of_group = self.prepared.schedule.group(group);
        let before = of_group.map(|group| group.targets.iter().copied().collect()).unwrap_or_default();
        let unchanged = of_group.map_or(&[][..], |group| &group.selections);
        let unchanged = unchanged.iter().filter(|number| !self.selections.contains_key(*number));
        let all = self.prepared.schedule.all_selections();
        let unchanged = unchanged.filter_map(|number| all.get(*number as usize)).map(|selection| &selection.targets);
        let changed = selections.iter().filter_map(|number| self.selections.get(number)).map(|(_, targets)| targets);
        let after = unchanged.chain(changed).fold(RoaringBitmap::new(), |all, targets| all | targets);
        Cell { places, targets: [before, after] }
    }

    /// The number of assignments that stay and get other containers or schemas.
    fn reconfigured(&self, cells: Vec<Cell>) -> u64 {
        if self.place_labels.is_empty() && self.targets.is_empty() {
            return 0;
        }
        let prepared = self.prepared;
        let mut known: HashMap<[Vec<u32>; 4], bool> = HashMap::new();
        let mut count = 0;
        for Cell { places, targets: [before, after] } in cells {
            let target_keys = self.target_keys(before & after);
            for (class, changes, members) in self.place_classes(&places) {
                let old_place = prepared.key_of_place_class(class);
                let new_place = self.changed_place_key(old_place, &changes);
                for ([old_target, new_target], targets) in &target_keys {
                    if *old_place == *new_place && old_target == new_target {
                        continue;
                    }
                    let keys = [old_place.to_vec(), old_target.clone(), new_place.clone(), new_target.clone()];
                    let differs = |[old_place, old_target, new_place, new_target]: &[Vec<u32>; 4]| {
                        let (old_containers, old_schemas, _) = prepared.matching_keys(old_place, old_target);
                        let (new_containers, new_schemas, _) = prepared.matching_keys(new_place, new_target);
                        (old_containers, old_schemas) != (new_containers, new_schemas)
                    };
                    if *known.entry(keys).or_insert_with_key(differs) {
                        count += members * targets;
                    }
                }
            }
        }
        count
    }

    /// The class keys of targets before and after the edits, with the number of targets.
    fn target_keys(&self, targets: RoaringBitmap) -> Vec<([Vec<u32>; 2], u64)> {
        let prepared = self.prepared;
        let old = |class: u32| prepared.key_of_target_class(class).to_vec();
        let mut classes: BTreeMap<u32, u64> = BTreeMap::new();
        for target in &targets - &self.changed_targets {
            *classes.entry(prepared.class_of_target(target)).or_default() += 1;
        }
        let unchanged = classes.into_iter().map(|(class, count)| ([old(class), old(class)], count));
        let changed = self.targets.iter().filter(|(id, _)| targets.contains(**id));
        let changed =
            changed.map(|(id, target)| ([old(prepared.class_of_target(*id)), prepared.key_of_target(target)], 1));
        unchanged.chain(changed).collect()
    }

    /// The classes of places, each with the changed labels and the number of these places.
    fn place_classes(&self, places: &RoaringBitmap) -> Vec<(u32, Vec<usize>, u64)> {
        let mut classes: BTreeMap<(u32, Vec<usize>), u64> = BTreeMap::new();
        for place in places {
            let changes = (0..).zip(&self.place_labels).filter(|(_, label)| label.places.contains(place));
            let changes: Vec<usize> =
                changes.filter(|(_, label)| self.is_condition(place, &label.key)).map(|(at, _)| at).collect();
            *classes.entry((self.prepared.class_of_place(place), changes)).or_default() += 1;
        }
        classes.into_iter().map(|((class, changes), members)| (class, changes, members)).collect()
    }

    /// Whether a label of a place can be a condition. Some conditions compare names instead.
    fn is_condition(&self, place: u32, key: &str) -> bool {
        match key {
            "cluster-type" | "deployment-target" | "workload" => false,
            "cluster" => self.prepared.place(place).is_some_and(|place| place.cluster.is_none()),
            _ => true,
        }
    }

    fn changed_place_key(&self, key: &[u32], changes: &[usize]) -> Vec<u32> {
        let labels = changes.iter().filter_map(|at| self.place_labels.get(*at));
        labels.fold(key.to_vec(), |key, PlaceLabel { key: label, value, .. }| {
            self.prepared.key_with_label(&key, label, value.as_deref())
        })
    }
}

fn is_met(requirement: &Requirement, value: Option<&Arc<str>>) -> bool {
    LabelSelector { requirements: vec![requirement.clone()] }.matches_by(|_| value)
}

/// The label that an edit gives to places, or takes from them.
fn place_label(prepared: &Prepared, edit: &ObjectEdit) -> Option<PlaceLabel> {
    let (key, value) = match &edit.action {
        EditAction::SetLabel { key, value, .. } => (key, Some(Arc::clone(value))),
        EditAction::RemoveLabel { key, .. } => (key, None),
        _ => return None,
    };
    let places = match edit.object.kind {
        Kind::Cluster => prepared.place_id(&edit.object.name).into_iter().collect(),
        Kind::ClusterType => {
            let places = prepared.places_of_type(&edit.object.name);
            let has_own = |id: &u32| {
                let cluster = prepared.place(*id).and_then(|place| place.cluster.as_ref());
                cluster.is_some_and(|cluster| cluster.labels.get(key).is_some())
            };
            places.into_iter().filter(|id| !has_own(id)).collect()
        }
        _ => return None,
    };
    // Without its own label, a cluster has the label of its cluster type.
    let inherited = || {
        let cluster = prepared.fleet.clusters.get(&edit.object.name)?;
        prepared.fleet.cluster_types.get(&*cluster.spec.cluster_type)?.labels.get(key).cloned()
    };
    let value = if edit.object.kind == Kind::Cluster { value.or_else(inherited) } else { value };
    Some(PlaceLabel { key: Arc::clone(key), value, places })
}

/// The targets whose labels differ after the edits, with these labels.
fn changed_targets(prepared: &Prepared, edits: &[ObjectEdit]) -> BTreeMap<u32, Target> {
    const KINDS: [Kind; 4] = [Kind::Workload, Kind::DeploymentTarget, Kind::LabelMapping, Kind::WorkloadRegistration];
    let edits: Vec<_> = edits.iter().filter(|edit| KINDS.contains(&edit.object.kind)).collect();
    if edits.is_empty() {
        return BTreeMap::new();
    }
    let mut fleet = prepared.fleet.as_ref().clone();
    edits.iter().for_each(|edit| apply(&mut fleet, edit));
    let (targets, _) = mapping::targets(&fleet);
    let numbered = targets.into_iter().filter_map(|target| Some((prepared.target_id(target.name.as_str())?, target)));
    let differs =
        |(id, target): &(u32, Target)| prepared.target(*id).is_some_and(|before| before.target.labels != target.labels);
    numbered.filter(differs).collect()
}
