//! The answer for programs.

use engine::answers::why_not::{
    Applicability, AssignmentSide, CheckedCondition, CheckedRequirement, CheckedSide, Exclusion, NearPolicy, Obstacle,
    SourcedLabel, Standing, ValueStanding, WhyNot,
};
use model::diagnostic::{Diagnostic, Origin};
use model::kind::Kind;
use model::locate::Locator;
use model::object_key::ObjectKey;
use serde::Serialize;
use utoipa::ToSchema;
use workbench::listing::position::SourcePosition;

use super::Answer;
use super::change::ChangeFields;

/// The answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhyNotFields {
    pub(super) answers: Vec<AnswerFields>,
}

/// The answer for one environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnswerFields {
    /// The environment; one answer for each environment, and for each meaning of a name.
    environment: String,
    /// The cluster type or cluster of the question; `null` if it is about all.
    cluster_type_or_cluster: Option<String>,
    /// Its cluster type; `null` if it does not exist.
    cluster_type: Option<String>,
    /// The deployment target of the question; `null` if it is about all.
    target: Option<String>,
    /// The number of assignments that exist.
    assignments: u64,
    /// The policies that make them.
    assigned_by: Vec<String>,
    problems: Vec<ProblemFields>,
    obstacles: Vec<ObstacleFields>,
    /// The environments that have the cluster type or cluster, if this one does not.
    other_environments: Vec<String>,
    /// The number of policies with as few unmet requirements as the first of `nearPolicies`.
    nearest_count: usize,
    /// The number of policies.
    policy_count: usize,
    /// The number of policies that select the target.
    policies_that_select_target: usize,
    /// The number of policies that select the cluster type or cluster.
    policies_that_select_cluster_type: usize,
    near_policies: Vec<NearPolicyFields>,
    /// The `ConfigMap` or schema of the question; `null` if there is none in the question.
    applied: Option<Vec<AppliedFields>>,
    /// The effect of the key of the question; `null` if there is no key in the question.
    value: Option<StandingFields>,
}

/// An error that stops an assignment.
#[derive(Serialize, ToSchema)]
struct ProblemFields {
    /// The code of an error that stops the assignment, if it exists.
    code: String,
    /// `error`.
    severity: String,
    /// The error.
    message: String,
}

/// Why something does not exist, or is not rendered.
#[derive(Serialize, ToSchema)]
struct ObstacleFields {
    /// Why the cluster type, cluster or target does not exist, or is not rendered: `unknownClusterTypeOrCluster`, `unknownClusterType`, `unknownTarget`, `otherEnvironment`, `unread`, `unreachable` or `problem`.
    reason: &'static str,
    /// The unknown name, the other environment, the unreadable object, the unreachable registration, or the problem.
    name: String,
    /// The most similar name that exists; may be `null`.
    nearest: Option<String>,
    /// Where the reason is; may be `null`.
    place: Option<SourcePosition>,
}

/// A policy that almost matches.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NearPolicyFields {
    /// One of the nearest policies, at most 5; none if the assignment exists.
    policy: String,
    /// Where it is defined.
    place: Option<SourcePosition>,
    /// The number of requirements that are not met.
    missing: usize,
    target: SideFields,
    cluster_type: SideFields,
    /// Changes with which the policy would make the assignment, the smallest first.
    changes: Vec<ChangeFields>,
    /// The `code`, `severity` and `message`, if the policy exists more than once; else `null`.
    #[schema(value_type = Option<Object>)]
    problem: Option<ProblemFields>,
}

/// What a policy requires of one side of an assignment.
#[derive(Serialize, ToSchema)]
struct SideFields {
    /// The number of deployment targets, or of cluster types and clusters, that it selects.
    selected: u64,
    requirements: Vec<RequirementFields>,
}

/// A requirement of a policy.
#[derive(Serialize, ToSchema)]
struct RequirementFields {
    /// A requirement.
    requirement: String,
    /// Whether it is met.
    met: bool,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// The label that the target, cluster type or cluster has; may be `null`.
    label: Option<LabelFields>,
    /// The nearest label, if nothing in the environment meets the requirement; may be `null`.
    advice: Option<String>,
}

/// A label of an object.
#[derive(Serialize, ToSchema)]
struct LabelFields {
    /// The key.
    key: String,
    /// The value.
    value: String,
    /// The kind of the object that sets it.
    kind: &'static str,
    /// The name of this object.
    object: String,
    /// Where it is set.
    place: Option<SourcePosition>,
    /// The registration whose repository contains this object; may be `null`.
    registration: Option<String>,
}

/// A `ConfigMap` or a schema, or one key of an `azure-app-config` map.
#[derive(Serialize, ToSchema)]
struct AppliedFields {
    /// The kind of the object.
    kind: &'static str,
    /// Its name.
    object: String,
    /// The object in words, or one key of an `azure-app-config` map.
    name: String,
    /// The registration whose repository contains it; may be `null`.
    registration: Option<String>,
    /// Where its conditions are.
    place: Option<SourcePosition>,
    /// Whether it applies to the assignment.
    applies: bool,
    /// Why it applies to nothing; else `null`.
    excluded: Option<String>,
    conditions: Vec<ConditionFields>,
    /// The number of assignments that it applies to.
    assignments: u64,
    /// Changes after which it would apply, the smallest first.
    changes: Vec<ChangeFields>,
}

/// A label that an assignment must have.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ConditionFields {
    /// A label that the assignment must have.
    key: String,
    /// Its value.
    value: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// Whether it is met.
    met: bool,
    /// `clusterType` or `target`; `null` if it is not met.
    met_by: Option<&'static str>,
    /// The labels that they have.
    labels: Vec<LabelFields>,
    /// The name with which the condition is compared, if it is not a label.
    actual_name: Option<String>,
    /// The nearest label, if nothing in the environment has this one; may be `null`.
    advice: Option<String>,
}

/// The effect of a key of a `ConfigMap`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StandingFields {
    /// The key.
    key: String,
    /// `sets`, `setsPart`, `overridden` or `withoutKey`.
    standing: &'static str,
    /// Where the `ConfigMap` has the key; may be `null`.
    place: Option<SourcePosition>,
    /// The `ConfigMap` that overrides it; may be `null`.
    overridden_by: Option<OverridingFields>,
}

/// The `ConfigMap` that overrides a key of another one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OverridingFields {
    /// Its name.
    config_map: String,
    /// Where it has the key.
    place: Option<SourcePosition>,
    /// Its priority; `null` for a key of an `azure-app-config` map.
    priority: Option<i64>,
    /// The priority of the overridden one.
    own_priority: Option<i64>,
    /// Whether it replaces the value as a whole.
    replaces: bool,
}

impl AnswerFields {
    pub(super) fn new(answer: &Answer<'_>) -> Self {
        let mut locator = Locator::new(answer.fleet);
        let locator = &mut locator;
        let found: &WhyNot = &answer.found;
        let parts = answer.applied.as_ref().map(|(_, parts)| parts);
        Self {
            environment: answer.fleet.environment.to_string(),
            cluster_type_or_cluster: answer.question.place.clone(),
            cluster_type: found.place.as_ref().map(|place| place.cluster_type.name.to_string()),
            target: answer.question.target.clone(),
            assignments: found.assignments,
            assigned_by: found.policies.iter().map(ToString::to_string).collect(),
            problems: answer.problems.iter().map(ProblemFields::new).collect(),
            obstacles: found.obstacles.iter().map(|obstacle| ObstacleFields::new(obstacle, locator)).collect(),
            other_environments: answer.elsewhere.clone(),
            nearest_count: found.nearest,
            policy_count: found.all_policies,
            policies_that_select_target: found.selecting_target,
            policies_that_select_cluster_type: found.selecting_place,
            near_policies: found.near.iter().map(|policy| NearPolicyFields::new(policy, locator)).collect(),
            applied: parts.map(|parts| parts.iter().map(|part| AppliedFields::new(part, locator)).collect()),
            value: answer.standing.as_ref().map(|value| StandingFields::new(value, locator)),
        }
    }
}

impl ProblemFields {
    fn new(problem: &Diagnostic) -> Self {
        let Diagnostic { code, severity, message, .. } = problem;
        Self { code: code.to_string(), severity: severity.to_string(), message: message.clone() }
    }
}

impl ObstacleFields {
    fn new(obstacle: &Obstacle, locator: &mut Locator<'_>) -> Self {
        let (reason, name, nearest, origin) = match obstacle {
            Obstacle::UnknownPlace { name, nearest, .. } => {
                ("unknownClusterTypeOrCluster", name.to_string(), nearest.clone(), None)
            }
            Obstacle::UnknownClusterType { cluster_type, nearest, origin, .. } => {
                ("unknownClusterType", cluster_type.to_string(), nearest.clone(), Some(origin))
            }
            Obstacle::UnknownTarget { name, nearest, .. } => ("unknownTarget", name.to_string(), nearest.clone(), None),
            Obstacle::OtherEnvironment { environment, nearest, origin, .. } => {
                let nearest = nearest.as_ref().map(|name| name.as_str().into());
                ("otherEnvironment", environment.to_string(), nearest, Some(origin))
            }
            Obstacle::Unread { origin, object } => {
                ("unread", object.as_ref().map(ToString::to_string).unwrap_or_default(), None, Some(origin))
            }
            Obstacle::Unreachable { registration, origin } => {
                ("unreachable", registration.to_string(), None, Some(origin))
            }
            Obstacle::Problem(problem) => {
                let origin = problem.labels.first().map(|label| &label.origin);
                ("problem", format!("{}: {}", problem.code, problem.message), None, origin)
            }
        };
        let nearest = nearest.as_deref().map(str::to_owned);
        Self { reason, name, nearest, place: origin.and_then(|origin| SourcePosition::find(origin, locator)) }
    }
}

impl NearPolicyFields {
    fn new(policy: &NearPolicy, locator: &mut Locator<'_>) -> Self {
        let name = std::sync::Arc::clone(policy.policy.as_arc());
        let object = ObjectKey { kind: Kind::SchedulingPolicy, name, of: None };
        Self {
            policy: policy.policy.to_string(),
            place: SourcePosition::find(&policy.origin, locator),
            missing: policy.missing,
            target: SideFields::new(&policy.target, &object, locator),
            cluster_type: SideFields::new(&policy.place, &object, locator),
            changes: ChangeFields::all(&policy.changes, locator),
            problem: policy.problem.as_ref().map(ProblemFields::new),
        }
    }
}

impl SideFields {
    fn new(side: &CheckedSide, policy: &ObjectKey, locator: &mut Locator<'_>) -> Self {
        let check = |check: &CheckedRequirement| RequirementFields {
            requirement: check.requirement.to_string(),
            met: check.is_met,
            place: SourcePosition::find(&Origin::field(policy, check.path.clone()), locator),
            label: check.label.as_ref().map(|label| LabelFields::new(label, locator)),
            advice: check.advice.clone(),
        };
        Self { selected: side.selected, requirements: side.checks.iter().map(check).collect() }
    }
}

impl LabelFields {
    fn new(label: &SourcedLabel, locator: &mut Locator<'_>) -> Self {
        Self {
            key: label.key.to_string(),
            value: label.value.to_string(),
            kind: label.object.kind.name(),
            object: label.object.name.to_string(),
            place: SourcePosition::find(&label.origin(), locator),
            registration: label.registration.as_ref().map(ToString::to_string),
        }
    }
}

impl AppliedFields {
    fn new(part: &Applicability, locator: &mut Locator<'_>) -> Self {
        let excluded = part.excluded.as_ref().map(|exclusion| match exclusion {
            Exclusion::NotPlatformConfig(_) => "it has no label platform-config with the value true".to_owned(),
            Exclusion::Problem(problem) => format!("{}: {}", problem.code, problem.message),
        });
        let conditions = part.conditions.iter().map(|condition| ConditionFields::new(condition, locator)).collect();
        Self {
            kind: part.object.kind.name(),
            object: part.object.name.to_string(),
            name: part.name.clone(),
            registration: part.object.of.as_ref().map(ToString::to_string),
            place: SourcePosition::find(&part.origin, locator),
            applies: part.applies(),
            excluded,
            conditions,
            assignments: part.assignments,
            changes: ChangeFields::all(&part.changes, locator),
        }
    }
}

impl ConditionFields {
    fn new(condition: &CheckedCondition, locator: &mut Locator<'_>) -> Self {
        let CheckedCondition { key, value, origin, met_by, labels, actual_name, advice, .. } = condition;
        let met_by = met_by.map(|side| if side == AssignmentSide::Place { "clusterType" } else { "target" });
        Self {
            key: key.to_string(),
            value: value.to_string(),
            place: SourcePosition::find(origin, locator),
            met: met_by.is_some(),
            met_by,
            labels: labels.iter().map(|label| LabelFields::new(label, locator)).collect(),
            actual_name: actual_name.as_deref().map(str::to_owned),
            advice: advice.clone(),
        }
    }
}

impl StandingFields {
    fn new(value: &ValueStanding, locator: &mut Locator<'_>) -> Self {
        let (standing, winner) = match &value.standing {
            Standing::Sets => ("sets", None),
            Standing::SetsPart => ("setsPart", None),
            Standing::Overridden(winner) => ("overridden", Some(winner)),
            Standing::WithoutKey => ("withoutKey", None),
        };
        let overridden_by = winner.map(|winner| {
            let [own_priority, priority] = winner.priorities;
            OverridingFields {
                config_map: winner.container.to_string(),
                place: SourcePosition::find(&winner.origin, locator),
                priority,
                own_priority,
                replaces: winner.replaces,
            }
        });
        let place = value.origin.as_ref().and_then(|origin| SourcePosition::find(origin, locator));
        Self { key: value.reason.path.to_string(), standing, place, overridden_by }
    }
}
