//! Edits of objects that would change an assignment.

use std::sync::Arc;

use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::kind::Kind;
use model::label::Labels;
use model::name::RegistrationName;
use model::object::workload::WorkloadTarget;
use model::object::{Object, SchedulingPolicy, Spec};
use model::object_key::ObjectKey;
use model::selector::{LabelSelector, Requirement};

use super::label_source::LABELS;

/// A side of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssignmentSide {
    /// The deployment target.
    Target,
    /// The place: a cluster type or a cluster.
    Place,
}

/// An edit of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEdit {
    /// The object to edit.
    pub object: ObjectKey,
    /// The field to edit. If it does not exist yet, its nearest parent is the place to add it.
    pub path: FieldPath,
    /// The change of the field.
    pub action: EditAction,
    /// The registration whose repository contains the object. None for objects of the platform team.
    pub registration: Option<RegistrationName>,
}

/// The change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditAction {
    /// Adds a label, or changes its value.
    SetLabel {
        /// The label's key.
        key: Arc<str>,
        /// The new value.
        value: Arc<str>,
        /// The value that this object gives it now. None if it does not have the label.
        before: Option<Arc<str>>,
    },
    /// Removes a label.
    RemoveLabel {
        /// The label's key.
        key: Arc<str>,
        /// The value that this object gives it now.
        before: Arc<str>,
    },
    /// Changes a requirement of a policy.
    SetRequirement {
        /// The selector.
        side: AssignmentSide,
        /// The requirement now.
        before: Requirement,
        /// The new requirement.
        after: Requirement,
    },
    /// Removes a requirement of a policy.
    RemoveRequirement {
        /// The selector.
        side: AssignmentSide,
        /// The requirement now.
        before: Requirement,
    },
    /// Changes the workspace of a policy or a registration. Empty: any workspace, or none.
    SetWorkspace {
        /// The workspace now.
        before: Arc<str>,
        /// The new workspace.
        after: Arc<str>,
    },
}

impl ObjectEdit {
    /// The place of the field, or of its nearest parent that exists.
    pub fn origin(&self) -> Origin {
        Origin::field(&self.object, self.path.clone())
    }
}

/// Applies an edit to the objects of a fleet. The digests of the changed objects do not change, so the result can't be compared with another fleet.
pub(super) fn apply(fleet: &mut Fleet, edit: &ObjectEdit) {
    let name = &edit.object.name;
    match edit.object.kind {
        Kind::SchedulingPolicy => replace(fleet.policies.get(name), |policy| apply_to_policy(&mut policy.spec, edit))
            .map(|changed| drop(fleet.policies.insert(changed))),
        Kind::Cluster => with_labels(fleet.clusters.get(name), edit).map(|new| drop(fleet.clusters.insert(new))),
        Kind::ClusterType => {
            with_labels(fleet.cluster_types.get(name), edit).map(|new| drop(fleet.cluster_types.insert(new)))
        }
        Kind::ConfigMap => {
            with_labels(fleet.config_maps.get(name), edit).map(|new| drop(fleet.config_maps.insert(new)))
        }
        Kind::ConfigSchema => match &edit.object.of {
            None => with_labels(fleet.config_schemas.get(name), edit).map(|new| drop(fleet.config_schemas.insert(new))),
            Some(registration) => Arc::make_mut(&mut fleet.application_schemas)
                .get_mut(registration)
                .and_then(|schemas| with_labels(schemas.get(name), edit).map(|new| drop(schemas.insert(new)))),
        },
        Kind::DeploymentTarget => {
            with_labels(fleet.deployment_targets.get(name), edit).map(|new| drop(fleet.deployment_targets.insert(new)))
        }
        Kind::LabelMapping => {
            replace(fleet.label_mappings.get(name), |mapping| apply_to_labels(&mut mapping.spec.add, &edit.action))
                .map(|changed| drop(fleet.label_mappings.insert(changed)))
        }
        Kind::Workload => Arc::make_mut(&mut fleet.workloads).get_mut(&**name).map(|workload| {
            let changed = replace(Some(&workload.object), |object| {
                if edit.path.is_at_or_below(&FieldPath::from(LABELS)) {
                    return apply_to_labels(&mut object.labels, &edit.action);
                }
                let targets = object.spec.deployment_targets.iter_mut();
                targets.filter(|target| edit.path.is_at_or_below(&path_of(target))).for_each(|target| {
                    apply_to_labels(&mut target.labels, &edit.action);
                });
            });
            workload.object = changed.unwrap_or_else(|| Arc::clone(&workload.object));
        }),
        Kind::WorkloadRegistration => apply_to_registration(fleet, edit),
        _ => None,
    };
}

fn path_of(target: &WorkloadTarget) -> FieldPath {
    FieldPath::from(["spec", "deploymentTargets"]).index(target.position)
}

/// A changed copy of an object.
fn replace<S: Spec + Clone>(
    object: Option<&Arc<Object<S>>>,
    change: impl FnOnce(&mut Object<S>),
) -> Option<Arc<Object<S>>>
where
    S::Name: Clone,
{
    let mut object = Object::clone(object?);
    change(&mut object);
    Some(Arc::new(object))
}

fn with_labels<S: Spec + Clone>(object: Option<&Arc<Object<S>>>, edit: &ObjectEdit) -> Option<Arc<Object<S>>>
where
    S::Name: Clone,
{
    replace(object, |object| apply_to_labels(&mut object.labels, &edit.action))
}

fn apply_to_labels(labels: &mut Labels, action: &EditAction) {
    match action {
        EditAction::SetLabel { key, value, .. } => labels.set(Arc::clone(key), Arc::clone(value)),
        EditAction::RemoveLabel { key, .. } => {
            let others = labels.iter().filter(|(other, _)| *other != key);
            *labels = others.map(|(key, value)| (Arc::clone(key), Arc::clone(value))).collect();
        }
        _ => {}
    }
}

/// Applies an edit to the specification of a policy.
pub(super) fn apply_to_policy(policy: &mut SchedulingPolicy, edit: &ObjectEdit) {
    let mut selector = |side: &AssignmentSide, before: &Requirement, after: Option<&Requirement>| {
        let LabelSelector { requirements } =
            if *side == AssignmentSide::Target { &mut policy.targets } else { &mut policy.cluster_types };
        let Some(position) = requirements.iter().position(|requirement| requirement == before) else { return };
        match after {
            Some(after) => requirements.splice(position..=position, [after.clone()]).for_each(drop),
            None => drop(requirements.remove(position)),
        }
    };
    match &edit.action {
        EditAction::SetRequirement { side, before, after } => selector(side, before, Some(after)),
        EditAction::RemoveRequirement { side, before } => selector(side, before, None),
        EditAction::SetWorkspace { after, .. } => policy.workspace = Arc::clone(after),
        EditAction::SetLabel { .. } | EditAction::RemoveLabel { .. } => {}
    }
}

fn apply_to_registration(fleet: &mut Fleet, edit: &ObjectEdit) -> Option<()> {
    let EditAction::SetWorkspace { after, .. } = &edit.action else { return None };
    let changed = replace(fleet.registrations.get(&edit.object.name), |registration| {
        registration.spec.workspace = Arc::clone(after);
    })?;
    let name = changed.name.clone();
    fleet.registrations.insert(changed);
    let workloads = Arc::make_mut(&mut fleet.workloads).values_mut();
    for workload in workloads.filter(|workload| workload.registration.as_ref() == Some(&name)) {
        workload.workspace = Arc::clone(after);
    }
    Some(())
}
