//! Finds the smallest changes that would make an assignment exist.

use std::sync::Arc;

use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::kind::Kind;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::{Object, SchedulingPolicy};
use model::object_key::ObjectKey;
use model::selector::{Operator, Requirement};

use super::check::{CheckedRequirement, CheckedSide, PolicyCondition};
use super::edit::{AssignmentSide, EditAction, ObjectEdit};
use super::label_source::{LABELS, SourcedLabel, own_labels};
use super::reach::{AskedObjects, ChangeReach, effect};
use crate::compile::Prepared;

/// The maximum number of changes for one policy.
const CHANGES_MAX: usize = 3;
/// The maximum number of values of a requirement that are tried as the value of a label.
const VALUES_MAX: usize = 3;
/// The maximum number of combinations of edits of one policy that are tried.
const TRIED_MAX: usize = 12;

/// A change that would make an assignment exist.
#[derive(Clone, Debug)]
pub struct SuggestedChange {
    /// The edits. All are necessary.
    pub edits: Vec<ObjectEdit>,
    /// The effect on assignments of the environment.
    pub reach: ChangeReach,
}

impl SuggestedChange {
    /// The places of the edits.
    pub fn origins(&self) -> impl Iterator<Item = Origin> {
        self.edits.iter().map(ObjectEdit::origin)
    }
}

/// Finds the changes with which a policy would make the assignment, the one with the smallest effect first.
pub(super) fn changes(
    asked: AskedObjects<'_>,
    policy: &Object<SchedulingPolicy>,
    [target, place]: [&CheckedSide; 2],
) -> Vec<SuggestedChange> {
    let is_hopeless = |side: &CheckedSide| !side.is_asked && side.selected == 0;
    if is_hopeless(target) || is_hopeless(place) {
        return Vec::new();
    }
    let of_target = alternatives(asked, (policy, AssignmentSide::Target), target);
    let of_place = alternatives(asked, (policy, AssignmentSide::Place), place);
    let combined = of_target.iter().flat_map(|one| of_place.iter().map(move |other| [&one[..], &other[..]].concat()));
    let tried = combined.filter(|edits| !edits.is_empty()).take(TRIED_MAX);
    smallest(asked, tried)
}

/// The changes among these that have the desired effect, the one with the fewest edits and the smallest effect first.
pub(super) fn smallest(asked: AskedObjects<'_>, all: impl Iterator<Item = Vec<ObjectEdit>>) -> Vec<SuggestedChange> {
    let with_reach =
        |edits: Vec<ObjectEdit>| SuggestedChange { reach: effect(asked.prepared, &edits, asked.ids()).reach, edits };
    let mut changes: Vec<_> = all.map(with_reach).filter(|change| change.reach.answers > 0).collect();
    changes.sort_by_key(|change| (change.edits.len(), change.reach.others()));
    changes.truncate(CHANGES_MAX);
    changes
}

/// The ways to meet all requirements of one side: by edits of the policy, or by edits of labels.
fn alternatives(
    asked: AskedObjects<'_>,
    (policy, side): (&Object<SchedulingPolicy>, AssignmentSide),
    checked: &CheckedSide,
) -> Vec<Vec<ObjectEdit>> {
    let unmet: Vec<_> = if checked.is_asked { checked.unmet().collect() } else { Vec::new() };
    if unmet.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    found.push(unmet.iter().map(|check| edit_of_policy(policy, side, check)).collect::<Vec<_>>());
    match &unmet[..] {
        [one] => found.extend(label_edits(asked, side, one).into_iter().map(|edit| vec![edit])),
        several => {
            let first = |check: &&CheckedRequirement| label_edits(asked, side, check).into_iter().next();
            found.extend(several.iter().map(first).collect::<Option<Vec<_>>>());
        }
    }
    found
}

/// The edit of a policy after which it no longer excludes the object.
fn edit_of_policy(policy: &Object<SchedulingPolicy>, side: AssignmentSide, check: &CheckedRequirement) -> ObjectEdit {
    let action = match &check.requirement {
        PolicyCondition::Workspace(before) => EditAction::SetWorkspace { before: Arc::clone(before), after: "".into() },
        PolicyCondition::Label(before) => {
            let value = check.label.as_ref().map(|label| &label.value);
            let before = before.clone();
            match loosened(&before, value) {
                Some(after) => EditAction::SetRequirement { side, before, after },
                None => EditAction::RemoveRequirement { side, before },
            }
        }
    };
    ObjectEdit { object: policy.key(), path: check.path.clone(), action, registration: None }
}

/// The requirement that also accepts a label with this value. None if the requirement must be removed.
fn loosened(requirement: &Requirement, value: Option<&Arc<str>>) -> Option<Requirement> {
    let operator = match (&requirement.operator, value) {
        (Operator::In(values), Some(value)) => Operator::In(values.iter().chain([value]).map(Arc::clone).collect()),
        (Operator::NotIn(values), Some(value)) => {
            let others: Vec<_> = values.iter().filter(|other| *other != value).map(Arc::clone).collect();
            if others.is_empty() {
                return None;
            }
            Operator::NotIn(others)
        }
        _ => return None,
    };
    Some(Requirement { key: Arc::clone(&requirement.key), operator })
}

/// The edits of labels after which the object meets a requirement, one for each possible value.
fn label_edits(asked: AskedObjects<'_>, side: AssignmentSide, check: &CheckedRequirement) -> Vec<ObjectEdit> {
    let requirement = match &check.requirement {
        PolicyCondition::Workspace(workspace) => {
            return workspace_edit(asked, workspace).into_iter().collect();
        }
        PolicyCondition::Label(requirement) => requirement,
    };
    let values = match &requirement.operator {
        Operator::In(values) => values.iter().take(VALUES_MAX).map(|value| Some(Arc::clone(value))).collect(),
        Operator::Exists => vec![Some(value_for(asked.prepared, side, &requirement.key))],
        Operator::NotIn(_) | Operator::DoesNotExist => vec![None],
    };
    let edit = |value: Option<Arc<str>>| match value {
        Some(value) => set_label(asked, side, (&requirement.key, value)),
        None => check.label.as_ref().and_then(remove_label),
    };
    values.into_iter().filter_map(edit).collect()
}

/// A value for a label that only has to exist: a value that it has elsewhere.
fn value_for(prepared: &Prepared, side: AssignmentSide, key: &str) -> Arc<str> {
    let index = if side == AssignmentSide::Place { &prepared.place_index } else { &prepared.target_index };
    index.values(key).min().unwrap_or("true").into()
}

/// The edit that gives a place or target a label. None if it can't have it.
pub(super) fn set_label(
    asked: AskedObjects<'_>,
    side: AssignmentSide,
    (key, value): (&Arc<str>, Arc<str>),
) -> Option<ObjectEdit> {
    let set = |before: Option<&Arc<str>>| EditAction::SetLabel {
        key: Arc::clone(key),
        value: Arc::clone(&value),
        before: before.cloned(),
    };
    if side == AssignmentSide::Place {
        let (_, place) = asked.place?;
        let own = match &place.cluster {
            Some(cluster) => &cluster.labels,
            None => &place.cluster_type.labels,
        };
        let path = FieldPath::from(LABELS).key(Arc::clone(key));
        return Some(ObjectEdit { object: place.key(), path, action: set(own.get(key)), registration: None });
    }
    let (_, target) = asked.target?;
    let (object, registration) = (target.origin.0.clone(), target.registration.clone());
    if target.origin.0.kind == Kind::Workload {
        match &**key {
            WORKSPACE_LABEL => return workspace_edit(asked, &value),
            WORKLOAD_LABEL => return None,
            _ => {}
        }
    }
    // The labels of a workload override those of its targets. The labels of mappings do not.
    let is_of_workload = target.of_workload.contains(key);
    let own = (!target.mapped.contains_key(key)).then(|| target.labels.get(key)).flatten();
    let path = if is_of_workload { FieldPath::from(LABELS) } else { own_labels(target) };
    Some(ObjectEdit { object, path: path.key(Arc::clone(key)), action: set(own), registration })
}

fn remove_label(label: &SourcedLabel) -> Option<ObjectEdit> {
    let SourcedLabel { key, value, object, path, registration } = label;
    let is_fixed = object.kind == Kind::WorkloadRegistration || path == &FieldPath::from(["metadata", "name"]);
    let action = EditAction::RemoveLabel { key: Arc::clone(key), before: Arc::clone(value) };
    (!is_fixed).then(|| ObjectEdit {
        object: object.clone(),
        path: path.clone(),
        action,
        registration: registration.clone(),
    })
}

/// The edit that moves a target to another workspace: of its registration, or of its own label.
fn workspace_edit(asked: AskedObjects<'_>, workspace: &Arc<str>) -> Option<ObjectEdit> {
    let (_, target) = asked.target?;
    let before = Arc::from(target.workspace());
    if target.origin.0.kind != Kind::Workload {
        let action = EditAction::SetLabel {
            key: WORKSPACE_LABEL.into(),
            value: Arc::clone(workspace),
            before: target.labels.get(WORKSPACE_LABEL).cloned(),
        };
        let path = own_labels(target).key(WORKSPACE_LABEL);
        return Some(ObjectEdit { object: target.origin.0.clone(), path, action, registration: None });
    }
    let name = Arc::clone(target.registration.as_ref()?.as_arc());
    let object = ObjectKey { kind: Kind::WorkloadRegistration, name, of: None };
    let action = EditAction::SetWorkspace { before, after: Arc::clone(workspace) };
    Some(ObjectEdit { object, path: FieldPath::from(["spec", "workspace"]), action, registration: None })
}
