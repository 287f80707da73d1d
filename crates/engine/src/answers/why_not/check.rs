//! Compares the requirements of a policy with a place and a target.

use std::sync::Arc;

use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::locate::Locator;
use model::object::deployment_target::WORKSPACE_LABEL;
use model::object::scheduling_policy::{CLUSTER_TYPE_SELECTOR, TARGET_SELECTOR};
use model::object::{Object, SchedulingPolicy};
use model::selector::{LabelSelector, Operator, Requirement};

use super::edit::AssignmentSide;
use super::label_source::{SourcedLabel, label_of_place, label_of_target};
use crate::compile::Prepared;
use crate::schedule::index::LabelIndex;
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use crate::warnings::unused;

/// A condition of a policy, compared with the object that a question is about.
#[derive(Debug)]
pub struct CheckedRequirement {
    /// The condition.
    pub requirement: PolicyCondition,
    /// The field of the policy that contains it.
    pub path: FieldPath,
    /// Whether the object meets it. Without an object: whether any place or target meets it.
    pub is_met: bool,
    /// The label of the object with the same key. None if it has no such label, or without an object.
    pub label: Option<SourcedLabel>,
    /// Advice for a condition that no place or target of the environment meets.
    pub advice: Option<String>,
}

/// A condition of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyCondition {
    /// The workspace of the target.
    Workspace(Arc<str>),
    /// A requirement of a label selector.
    Label(Requirement),
}

impl std::fmt::Display for PolicyCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Workspace(workspace) => write!(f, "workspace {workspace}"),
            Self::Label(requirement) => requirement.fmt(f),
        }
    }
}

/// The conditions of a policy for one side of an assignment.
#[derive(Debug)]
pub struct CheckedSide {
    /// The conditions.
    pub checks: Vec<CheckedRequirement>,
    /// Whether the question is about an object of this side.
    pub is_asked: bool,
    /// The number of places or targets that the policy selects.
    pub selected: u64,
}

impl CheckedSide {
    /// The number of conditions that are not met. Without an object, 0 if the policy selects anything.
    pub fn missing(&self) -> usize {
        let unmet = self.unmet().count();
        match (self.is_asked, self.selected) {
            (true, _) => unmet,
            (false, 0) => unmet.max(1),
            (false, _) => 0,
        }
    }

    /// The conditions that are not met.
    pub fn unmet(&self) -> impl Iterator<Item = &CheckedRequirement> {
        self.checks.iter().filter(|check| !check.is_met)
    }
}

/// The number of conditions for a target that it does not meet.
pub(super) fn missing_of_target(policy: &SchedulingPolicy, target: &Target) -> usize {
    let workspace = !policy.workspace.is_empty() && *policy.workspace != *target.workspace();
    let labels = policy.targets.requirements.iter().filter(|requirement| !requirement.matches(&target.labels));
    usize::from(workspace) + labels.count()
}

/// The number of requirements for a place that it does not meet.
pub(super) fn missing_of_place(policy: &SchedulingPolicy, place: &Place) -> usize {
    policy.cluster_types.requirements.iter().filter(|requirement| !is_met_by_place(requirement, place)).count()
}

fn is_met_by_place(requirement: &Requirement, place: &Place) -> bool {
    LabelSelector { requirements: vec![requirement.clone()] }.matches_by(|key| place.label(key))
}

/// Compares policies with objects, and finds the fields of their requirements.
pub(super) struct Checker<'p> {
    prepared: &'p Prepared,
    locator: Locator<'p>,
}

impl<'p> Checker<'p> {
    pub(super) fn new(prepared: &'p Prepared, fleet: &'p Fleet) -> Self {
        Self { prepared, locator: Locator::new(fleet) }
    }

    /// The conditions of a policy for a target. Without a target: for any.
    pub(super) fn target(
        &mut self,
        policy: &Object<SchedulingPolicy>,
        target: Option<&Target>,
    ) -> Vec<CheckedRequirement> {
        let prepared = self.prepared;
        let index = &prepared.target_index;
        let paths = self.paths(policy, AssignmentSide::Target);
        let workspace = (!policy.spec.workspace.is_empty()).then(|| {
            let workspace = &policy.spec.workspace;
            let is_met = target
                .map_or_else(|| index.has(WORKSPACE_LABEL, workspace), |target| *target.workspace() == **workspace);
            CheckedRequirement {
                requirement: PolicyCondition::Workspace(Arc::clone(workspace)),
                path: FieldPath::from(TARGET_SELECTOR).key("workspace"),
                is_met,
                label: target.and_then(|target| label_of_target(target, WORKSPACE_LABEL)),
                advice: if is_met { None } else { unused::nearest(prepared, WORKSPACE_LABEL, workspace) },
            }
        });
        let labels = policy.spec.targets.requirements.iter().zip(paths).map(|(requirement, path)| {
            let is_met = target
                .map_or_else(|| !index.matching(requirement).is_empty(), |target| requirement.matches(&target.labels));
            let label = target.and_then(|target| label_of_target(target, &requirement.key));
            let advice = if is_met { None } else { unmet_advice(prepared, requirement, index) };
            CheckedRequirement { requirement: PolicyCondition::Label(requirement.clone()), path, is_met, label, advice }
        });
        workspace.into_iter().chain(labels).collect()
    }

    /// The requirements of a policy for a place. Without a place: for any.
    pub(super) fn place(
        &mut self,
        policy: &Object<SchedulingPolicy>,
        place: Option<&Place>,
    ) -> Vec<CheckedRequirement> {
        let prepared = self.prepared;
        let index = &prepared.place_index;
        let paths = self.paths(policy, AssignmentSide::Place);
        let labels = policy.spec.cluster_types.requirements.iter().zip(paths).map(|(requirement, path)| {
            let is_met = place
                .map_or_else(|| !index.matching(requirement).is_empty(), |place| is_met_by_place(requirement, place));
            let label = place.and_then(|place| label_of_place(place, &requirement.key));
            let advice = if is_met { None } else { unmet_advice(prepared, requirement, index) };
            CheckedRequirement { requirement: PolicyCondition::Label(requirement.clone()), path, is_met, label, advice }
        });
        labels.collect()
    }

    /// The fields of the requirements of a selector: those of `matchLabels` come first, sorted by key.
    fn paths(&mut self, policy: &Object<SchedulingPolicy>, side: AssignmentSide) -> Vec<FieldPath> {
        let (field, selector) = match side {
            AssignmentSide::Target => (TARGET_SELECTOR, &policy.spec.targets),
            AssignmentSide::Place => (CLUSTER_TYPE_SELECTOR, &policy.spec.cluster_types),
        };
        let field = FieldPath::from(field).key("labelSelector");
        let labels = self.locator.entries(&policy.key(), &field.key("matchLabels"));
        let path = |(position, requirement): (usize, &Requirement)| match position.checked_sub(labels) {
            None => field.key("matchLabels").key(Arc::clone(&requirement.key)),
            Some(expression) => field.key("matchExpressions").index(expression),
        };
        selector.requirements.iter().enumerate().map(path).collect()
    }
}

/// The nearest label to one that nothing in the environment has. `index` has the labels of the places, or of the targets.
fn unmet_advice(prepared: &Prepared, requirement: &Requirement, index: &LabelIndex) -> Option<String> {
    let Operator::In(values) = &requirement.operator else { return None };
    let value = values.first().filter(|_| index.matching(requirement).is_empty())?;
    unused::nearest(prepared, &requirement.key, value)
}

/// The place of the specification of a policy.
pub(super) fn origin_of(policy: &Object<SchedulingPolicy>) -> Origin {
    Origin::field(&policy.key(), FieldPath::from(["spec"]))
}
