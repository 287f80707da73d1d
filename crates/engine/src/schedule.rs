//! Scheduling: which deployment target goes to which cluster type, and which policies say so.

use std::collections::{BTreeMap, BTreeSet};

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::{ClusterTypeName, PolicyName};
use model::object::scheduling_policy::{CLUSTER_TYPE_SELECTOR, TARGET_SELECTOR};
use model::object::{AnyObject, ClusterType, Object, SchedulingPolicy};

use crate::target::Target;

/// What is scheduled.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// For each cluster type, the positions of its targets (in the list that was scheduled) with the policies that selected both.
    pub assignments: BTreeMap<ClusterTypeName, BTreeMap<usize, BTreeSet<PolicyName>>>,
    /// Policies that are not clear, because they exist more than once: what they select is not rendered.
    pub unclear: BTreeSet<PolicyName>,
    /// Policies that select nothing.
    pub diagnostics: Vec<Diagnostic>,
}

/// Applies every policy: the union of what they select, each pair once.
pub fn schedule(fleet: &Fleet, targets: &[Target]) -> Schedule {
    let mut schedule = Schedule::default();
    for policy in fleet.policies.values() {
        apply(fleet, targets, policy, &mut schedule);
    }
    for copy in fleet.duplicates.values().flatten() {
        if let AnyObject::SchedulingPolicy(policy) = copy {
            schedule.unclear.insert(policy.name.clone());
            apply(fleet, targets, policy, &mut schedule);
        }
    }
    schedule
}

/// Whether a policy selects a cluster type.
pub fn selects_cluster_type(policy: &SchedulingPolicy, cluster_type: &Object<ClusterType>) -> bool {
    policy.cluster_types.matches(&cluster_type.labels)
}

/// Whether a policy selects a target.
pub fn selects_target(policy: &SchedulingPolicy, target: &Target) -> bool {
    (policy.workspace.is_empty() || *policy.workspace == *target.workspace()) && policy.targets.matches(&target.labels)
}

fn apply(fleet: &Fleet, targets: &[Target], policy: &Object<SchedulingPolicy>, schedule: &mut Schedule) {
    let selected = |(index, target): (usize, &Target)| selects_target(&policy.spec, target).then_some(index);
    let selected: Vec<_> = targets.iter().enumerate().filter_map(selected).collect();
    let cluster_types =
        fleet.cluster_types.values().filter(|cluster_type| selects_cluster_type(&policy.spec, cluster_type));
    let mut any = false;
    for cluster_type in cluster_types {
        any = true;
        let assigned = schedule.assignments.entry(cluster_type.name.clone()).or_default();
        for target in &selected {
            assigned.entry(*target).or_default().insert(policy.name.clone());
        }
    }
    if !any {
        schedule.diagnostics.push(selects_nothing(fleet, policy, Code::NoClusterTypeSelected));
    }
    if selected.is_empty() {
        schedule.diagnostics.push(selects_nothing(fleet, policy, Code::NoTargetSelected));
    }
}

fn selects_nothing(fleet: &Fleet, policy: &Object<SchedulingPolicy>, code: Code) -> Diagnostic {
    let (what, selector) = match code {
        Code::NoClusterTypeSelected => ("cluster type", CLUSTER_TYPE_SELECTOR),
        _ => ("deployment target", TARGET_SELECTOR),
    };
    let key = policy.key();
    let message = format!("policy `{}` selects no {what} of {}", policy.name, fleet.environment);
    Diagnostic::warning(code, message).at(Origin::field(&key, FieldPath::from(selector)), "").about(&key)
}
