//! Explains why a `ConfigMap` or a schema does not apply to an assignment.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::object::config_map::{AZURE_PREFIX, PLATFORM_CONFIG};
use model::object_key::ObjectKey;
use roaring::RoaringBitmap;

use super::change::{SuggestedChange, set_label};
use super::edit::{AssignmentSide, EditAction, ObjectEdit};
use super::label_source::{LABELS, SourcedLabel, label_of_place, label_of_target};
use super::reach::{AskedObjects, ChangeReach, Effect, effect};
use crate::compile::Prepared;
use crate::compose::container::{Conditions, Container};
use crate::schedule::matching::{APPLICATION, is_met_by_place, is_met_by_target};
use crate::schedule::target::Application;
use crate::warnings::unused;

/// The maximum number of keys of an `azure-app-config` map that are compared.
const PARTS_MAX: usize = 1000;

/// The kind of an object that applies to assignments by its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliedKind {
    /// A `ConfigMap`.
    ConfigMap,
    /// A `ConfigSchema`.
    Schema,
}

/// Whether an object applies to an assignment, and why.
#[derive(Debug)]
pub struct Applicability {
    /// The object.
    pub object: ObjectKey,
    /// The name in messages: the object, or one key of an `azure-app-config` map.
    pub name: String,
    /// The place of its conditions.
    pub origin: Origin,
    /// Its conditions.
    pub conditions: Vec<CheckedCondition>,
    /// The reason why it applies to nothing.
    pub excluded: Option<Exclusion>,
    /// The changes after which it would apply, the smallest first.
    pub changes: Vec<SuggestedChange>,
    /// The number of assignments that it applies to.
    pub assignments: u64,
}

/// A reason why an object applies to nothing.
#[derive(Debug)]
pub enum Exclusion {
    /// A `ConfigMap` without the label `platform-config: "true"`. Its value, if there is one.
    NotPlatformConfig(Option<Arc<str>>),
    /// A problem of the object.
    Problem(Diagnostic),
}

/// A condition of an object, compared with an assignment.
#[derive(Debug)]
pub struct CheckedCondition {
    /// The label's key.
    pub key: Arc<str>,
    /// The label's value.
    pub value: Arc<str>,
    /// The place of the condition.
    pub origin: Origin,
    /// The side that meets the condition. None if no side does.
    pub met_by: Option<AssignmentSide>,
    /// The labels of place and target with this key.
    pub labels: Vec<SourcedLabel>,
    /// The name with which the condition is compared, if it is a name and not a label.
    pub actual_name: Option<Arc<str>>,
    /// Advice for a condition that no place or target of the environment meets.
    pub advice: Option<String>,
    /// Whether the condition restricts the schema of an application to targets of this application.
    pub is_application: bool,
}

impl Applicability {
    /// Whether the object applies.
    pub fn applies(&self) -> bool {
        self.excluded.is_none() && self.unmet().next().is_none()
    }

    /// The conditions that are not met.
    pub fn unmet(&self) -> impl Iterator<Item = &CheckedCondition> {
        self.conditions.iter().filter(|condition| condition.met_by.is_none())
    }
}

/// An object with its conditions.
struct Candidate<'p> {
    object: ObjectKey,
    name: String,
    origin: Origin,
    conditions: &'p Conditions,
    condition_origin: Box<dyn Fn(&str) -> Origin + 'p>,
    problem: Option<Diagnostic>,
    has_labels: bool,
}

impl Candidate<'_> {
    fn pairs(&self) -> Vec<(Arc<str>, Arc<str>)> {
        self.conditions.iter().cloned().collect()
    }
}

impl Prepared {
    /// Explains why the objects with a name do not apply to an assignment: a `ConfigMap`, each key of an `azure-app-config` map, or the schemas of this name. Empty if there is no
    /// such object, or no such place or target.
    pub fn why_not_applied(&self, id: &AssignmentId, (kind, name): (AppliedKind, &str)) -> Vec<Applicability> {
        let place = self.place_id(id.place.as_str()).and_then(|id| Some((id, self.place(id)?)));
        let target = self.target_id(id.target.as_str()).and_then(|id| Some((id, &*self.target(id)?.target)));
        if place.is_none() || target.is_none() {
            return Vec::new();
        }
        let asked = AskedObjects { prepared: self, place, target };
        let candidates = match kind {
            AppliedKind::ConfigMap => self.containers_named(name),
            AppliedKind::Schema => self.schemas_named(name),
        };
        let mut found: Vec<_> = candidates.iter().map(|candidate| applicability(asked, candidate)).collect();
        found
            .extend(self.not_platform_config(name).filter(|_| kind == AppliedKind::ConfigMap && candidates.is_empty()));
        found
    }

    fn containers_named(&self, name: &str) -> Vec<Candidate<'_>> {
        let named = self.containers.list.iter().filter(|container| container.name.as_str() == name);
        let candidate = |container: &'_ Arc<Container>| {
            let is_azure = container.priority().is_none();
            let first = container.entries.first().filter(|_| is_azure);
            let path = FieldPath::from(LABELS);
            let labels = || Origin::field(&container.key(), path.clone());
            let key = |entry| container.origin(entry, model::diagnostic::FieldPart::Key);
            (first.map_or_else(labels, key), is_azure)
        };
        named
            .take(PARTS_MAX)
            .map(|container| {
                let (origin, is_azure) = candidate(container);
                Candidate {
                    object: container.key(),
                    name: container.display_name(),
                    origin,
                    conditions: &container.conditions,
                    condition_origin: Box::new(|label| container.condition_origin(label)),
                    problem: container.problem.clone(),
                    has_labels: !is_azure,
                }
            })
            .collect()
    }

    fn schemas_named(&self, name: &str) -> Vec<Candidate<'_>> {
        let named = self.schemas.labelled.iter().filter(|labelled| *labelled.schema.text.object.name == *name);
        named
            .map(|labelled| {
                let object = &labelled.schema.text.object;
                let labels = FieldPath::from(LABELS);
                Candidate {
                    object: object.clone(),
                    name: object.to_string(),
                    origin: Origin::field(object, labels.clone()),
                    conditions: &labelled.conditions,
                    condition_origin: Box::new(move |label| Origin::field(object, labels.key(label))),
                    problem: labelled.schema.compiled.as_ref().err().cloned(),
                    has_labels: true,
                }
            })
            .collect()
    }

    fn not_platform_config(&self, name: &str) -> Option<Applicability> {
        let object =
            self.fleet.config_maps.get(name).filter(|object| !object.name.as_str().starts_with(AZURE_PREFIX))?;
        let (key, label) = (object.key(), object.labels.get(PLATFORM_CONFIG));
        let path = FieldPath::from(LABELS).key(PLATFORM_CONFIG);
        Some(Applicability {
            name: key.to_string(),
            origin: Origin::field(&key, path),
            object: key,
            conditions: Vec::new(),
            excluded: Some(Exclusion::NotPlatformConfig(label.cloned())),
            changes: Vec::new(),
            assignments: 0,
        })
    }
}

fn applicability(asked: AskedObjects<'_>, candidate: &Candidate<'_>) -> Applicability {
    let conditions: Vec<_> =
        candidate.conditions.iter().map(|condition| checked(asked, candidate, condition)).collect();
    let count = matching(asked.prepared, &candidate.pairs());
    let mut answer = Applicability {
        object: candidate.object.clone(),
        name: candidate.name.clone(),
        origin: candidate.origin.clone(),
        conditions,
        excluded: candidate.problem.clone().map(Exclusion::Problem),
        changes: Vec::new(),
        assignments: count,
    };
    if answer.unmet().next().is_some() {
        answer.changes = changes(asked, candidate, &answer);
    }
    answer
}

fn checked(
    asked: AskedObjects<'_>,
    candidate: &Candidate<'_>,
    (key, value): &(Arc<str>, Arc<str>),
) -> CheckedCondition {
    let (place, target) = (asked.place.map(|(_, place)| place), asked.target.map(|(_, target)| target));
    let is_application = **key == *APPLICATION;
    let application = || target.and_then(|target| target.application.as_ref()).map(Application::as_condition);
    let of_target = || {
        if is_application {
            application().as_ref() == Some(value)
        } else {
            target.is_some_and(|target| is_met_by_target(key, value, target))
        }
    };
    let of_place = !is_application && place.is_some_and(|place| is_met_by_place(key, value, place));
    let met_by = if of_place { Some(AssignmentSide::Place) } else { of_target().then_some(AssignmentSide::Target) };
    let actual_name = match &**key {
        "cluster-type" => place.map(|place| Arc::clone(place.cluster_type.name.as_arc())),
        "cluster" => place.and_then(|place| place.cluster.as_ref()).map(|cluster| Arc::clone(cluster.name.as_arc())),
        "deployment-target" => target.map(|target| Arc::clone(target.name.as_arc())),
        "workload" => target.map(|target| Arc::from(target.workload())),
        APPLICATION => application(),
        _ => None,
    };
    let is_name =
        matches!(&**key, "cluster-type" | "deployment-target" | "workload" | APPLICATION) || actual_name.is_some();
    let labels = if is_name {
        [None, None]
    } else {
        [place.and_then(|place| label_of_place(place, key)), target.and_then(|target| label_of_target(target, key))]
    };
    let (of_places, of_targets) = unused::sides(asked.prepared, key, value);
    let is_met_by_none = of_places.is_empty() && of_targets.is_empty();
    CheckedCondition {
        key: Arc::clone(key),
        value: Arc::clone(value),
        origin: if is_application { candidate.origin.clone() } else { (candidate.condition_origin)(key) },
        met_by,
        labels: labels.into_iter().flatten().collect(),
        actual_name,
        advice: if is_met_by_none { unused::nearest(asked.prepared, key, value) } else { None },
        is_application,
    }
}

/// The changes after which an object applies: of its own labels, or of labels of the place or target.
fn changes(asked: AskedObjects<'_>, candidate: &Candidate<'_>, answer: &Applicability) -> Vec<SuggestedChange> {
    let unmet: Vec<_> = answer.unmet().collect();
    let mut found: Vec<_> = of_object(asked, candidate, &unmet).into_iter().collect();
    // Labels can't replace names.
    if unmet.iter().all(|condition| condition.actual_name.is_none() && !condition.is_application) {
        found.extend(of_labels(asked, answer, &unmet));
    }
    found.sort_by_key(|change| (change.edits.len(), change.reach.others()));
    found
}

/// The change of the labels of place and target. None if they can't have these labels, or if policies would no longer make the assignment.
fn of_labels(asked: AskedObjects<'_>, answer: &Applicability, unmet: &[&CheckedCondition]) -> Option<SuggestedChange> {
    let mut edits: Vec<ObjectEdit> = Vec::new();
    let mut missing = unmet.to_vec();
    // An edited label can take another one, which a mapping gave for it. Each round adds an edit, so the rounds end.
    let effect = loop {
        for condition in missing {
            let edit = label_edit(asked, condition).filter(|edit| !edits.contains(edit))?;
            edits.push(edit);
        }
        let effect = effect(asked.prepared, &edits, asked.ids());
        missing = answer.conditions.iter().filter(|it| !effect.is_met(asked, (&it.key, &it.value))).collect();
        if missing.is_empty() {
            break effect;
        }
    };
    let Effect { reach, loses_answers, .. } = effect;
    // The assignment itself gets other values.
    let reach = if asked.is_assigned() {
        ChangeReach { answers: 1, reconfigured: reach.reconfigured.saturating_sub(1), ..reach }
    } else {
        reach
    };
    (!loses_answers).then_some(SuggestedChange { edits, reach })
}

/// The edit of the place or target that meets a condition: of the side on which the label occurs in the fleet.
fn label_edit(asked: AskedObjects<'_>, condition: &CheckedCondition) -> Option<ObjectEdit> {
    let prepared = asked.prepared;
    let is_of_places = prepared.place_index.values(&condition.key).next().is_some();
    let is_of_targets = prepared.target_index.values(&condition.key).next().is_some();
    let side = if is_of_targets && !is_of_places { AssignmentSide::Target } else { AssignmentSide::Place };
    set_label(asked, side, (&condition.key, Arc::clone(&condition.value)))
}

/// The change of the object's own labels. None if its conditions are not labels.
fn of_object(
    asked: AskedObjects<'_>,
    candidate: &Candidate<'_>,
    unmet: &[&CheckedCondition],
) -> Option<SuggestedChange> {
    if !candidate.has_labels || unmet.iter().any(|condition| condition.is_application) {
        return None;
    }
    let before = candidate.pairs();
    let mut after: BTreeMap<_, _> = before.iter().cloned().collect();
    let mut edits = Vec::new();
    for CheckedCondition { key, value, labels, actual_name, .. } in unmet {
        let actual = actual_name.clone().or_else(|| labels.first().map(|label| Arc::clone(&label.value)));
        let action = if let Some(actual) = actual {
            after.insert(Arc::clone(key), Arc::clone(&actual));
            EditAction::SetLabel { key: Arc::clone(key), value: actual, before: Some(Arc::clone(value)) }
        } else {
            after.remove(key);
            EditAction::RemoveLabel { key: Arc::clone(key), before: Arc::clone(value) }
        };
        let path = FieldPath::from(LABELS).key(Arc::clone(key));
        let registration = candidate.object.of.clone();
        edits.push(ObjectEdit { object: candidate.object.clone(), path, action, registration });
    }
    let after: Vec<_> = after.into_iter().collect();
    let both: Vec<_> = before.iter().chain(&after).cloned().collect();
    let (of_before, of_after) = (matching(asked.prepared, &before), matching(asked.prepared, &after));
    let stay = matching(asked.prepared, &both);
    let is_assigned = u64::from(asked.is_assigned());
    let reconfigured = (of_before - stay) + (of_after - stay) - is_assigned;
    Some(SuggestedChange { edits, reach: ChangeReach { answers: is_assigned, reconfigured, ..ChangeReach::default() } })
}

/// The number of assignments that meet all conditions.
fn matching(prepared: &Prepared, conditions: &[(Arc<str>, Arc<str>)]) -> u64 {
    // Places that meet the same conditions, with the targets that meet the others. None: all targets.
    let mut cells: Vec<(RoaringBitmap, Option<RoaringBitmap>)> =
        vec![(prepared.place_index.select(&model::selector::LabelSelector::default()), None)];
    for (key, value) in conditions {
        let (of_places, of_targets) = unused::sides(prepared, key, value);
        let split = |(places, targets): (RoaringBitmap, Option<RoaringBitmap>)| {
            let (inside, outside) = (&places & &of_places, places - &of_places);
            let others = targets.as_ref().map_or_else(|| of_targets.clone(), |targets| targets & &of_targets);
            [(inside, targets), (outside, Some(others))]
        };
        let is_possible = |(places, targets): &(RoaringBitmap, Option<RoaringBitmap>)| {
            !places.is_empty() && targets.as_ref().is_none_or(|targets| !targets.is_empty())
        };
        cells = cells.into_iter().flat_map(split).filter(is_possible).collect();
    }
    cells.iter().map(|(places, targets)| assignments(prepared, places, targets.as_ref())).sum()
}

/// The number of assignments of these targets on these places.
fn assignments(prepared: &Prepared, places: &RoaringBitmap, targets: Option<&RoaringBitmap>) -> u64 {
    let mut by_group: BTreeMap<u32, u64> = BTreeMap::new();
    for place in places {
        *by_group.entry(prepared.schedule.group_number(place)).or_default() += 1;
    }
    let of_group = |(group, places): (u32, u64)| {
        let all = prepared.schedule.group(group).map_or(&[][..], |group| &group.targets);
        let count = all.iter().filter(|target| targets.is_none_or(|targets| targets.contains(**target))).count();
        count as u64 * places
    };
    by_group.into_iter().map(of_group).sum()
}
