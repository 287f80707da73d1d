//! Why an assignment does not exist, or why an object does not apply to it.

mod change;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::answers::why_not::{
    Applicability, AppliedKind, AssignmentSide, CheckedCondition, CheckedRequirement, CheckedSide, Exclusion,
    NearPolicy, Obstacle, SourcedLabel, Standing, ValueStanding, WhyNot,
};
use engine::compile::Prepared;
use hub_api::compiled::SourcePosition;
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::fleet::Fleet;
use model::kind::Kind;
use model::locate::Locator;
use model::name::{DeploymentTargetName, PlaceName};
use model::object_key::ObjectKey;
use serde::Serialize;
use utoipa::ToSchema;

use self::change::ChangeFields;
use crate::EnvironmentSource;

/// A question about one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhyNotQuestion {
    /// The cluster type or cluster. None: all of them.
    pub place: Option<String>,
    /// The deployment target. None: all of them.
    pub target: Option<String>,
    /// The object that should apply.
    pub object: Option<AppliedObject>,
    /// A key of the `ConfigMap`.
    pub key: Option<String>,
}

/// An object that applies to assignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedObject {
    /// Its kind.
    pub kind: AppliedKind,
    /// Its name.
    pub name: String,
}

/// The answer for one environment.
pub struct WhyNotAnswer<'l> {
    /// The fleet of the environment.
    pub fleet: &'l Fleet,
    /// The question.
    pub question: WhyNotQuestion,
    /// The answer of the engine.
    pub found: WhyNot,
    /// The errors that stop the assignment, if it exists.
    pub problems: Vec<Diagnostic>,
    /// The object that the question is about, with its parts.
    pub applied: Option<(AppliedObject, Vec<Applicability>)>,
    /// What becomes of the key that the question is about.
    pub standing: Option<ValueStanding>,
    /// The environments that have a place of this name, if this one has none.
    pub elsewhere: Vec<String>,
}

/// The answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhyNotFields {
    answers: Vec<AnswerFields>,
}

/// The answer for one environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AnswerFields {
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

impl WhyNotQuestion {
    /// The question about an assignment.
    pub fn of_assignment(id: &AssignmentId) -> Self {
        Self { place: Some(id.place.to_string()), target: Some(id.target.to_string()), ..Self::default() }
    }

    /// The assignment. None if the question is about one name only.
    pub fn assignment(&self) -> Option<AssignmentId> {
        let place = PlaceName::new(self.place.as_deref()?).ok()?;
        Some(AssignmentId { place, target: DeploymentTargetName::new(self.target.as_deref()?).ok()? })
    }
}

impl<'l> WhyNotAnswer<'l> {
    /// Answers a question.
    pub fn new(loaded: &'l Loaded, prepared: &Prepared, question: WhyNotQuestion) -> Self {
        let found = prepared.why_not(question.place.as_deref(), question.target.as_deref());
        let mut problems = Vec::new();
        let (mut applied, mut standing) = (None, None);
        if let Some(id) = question.assignment() {
            if found.assignments > 0 {
                problems = prepared.problems(&id).into_iter().filter(Diagnostic::is_error).collect();
            }
            applied = question.object.clone().map(|object| {
                let parts = prepared.why_not_applied(&id, (object.kind, &object.name));
                (object, parts)
            });
            let key = question.key.as_deref().zip(question.object.as_ref());
            let applies = applied.as_ref().is_some_and(|(_, parts)| parts.iter().any(Applicability::applies));
            standing = key.filter(|_| applies).and_then(|(key, object)| prepared.why_not_set(&id, (&object.name, key)));
        }
        Self { fleet: &loaded.fleet, question, found, problems, applied, standing, elsewhere: Vec::new() }
    }

    /// Whether everything is as desired: the assignment exists without errors, and the object applies.
    pub fn is_good(&self) -> bool {
        let applies = self.applied.as_ref().is_none_or(|(_, parts)| parts.iter().any(Applicability::applies));
        let sets =
            self.standing.as_ref().is_none_or(|value| matches!(value.standing, Standing::Sets | Standing::SetsPart));
        self.found.assignments > 0 && self.problems.is_empty() && !self.has_problem() && applies && sets
    }

    /// Whether a problem of the place or target stops everything.
    pub fn has_problem(&self) -> bool {
        let is_error = |obstacle: &Obstacle| matches!(obstacle, Obstacle::Problem(problem) if problem.is_error());
        self.found.obstacles.iter().any(is_error)
    }

    /// The unknown place of the question.
    pub fn unknown_place(&self) -> Option<&str> {
        self.found.obstacles.iter().find_map(|obstacle| match obstacle {
            Obstacle::UnknownPlace { name, .. } => Some(&**name),
            _ => None,
        })
    }

    /// Finds the other environments that have the unknown place. The answer is useful without them, so errors of reading them are ignored.
    pub fn find_elsewhere(&mut self, source: &EnvironmentSource) {
        let Some(name) = self.unknown_place() else { return };
        let Ok(others) = source.environments(None, ReadAt::Heads) else { return };
        let others = others.iter().filter(|other| other.fleet.environment != self.fleet.environment);
        let has_place = |fleet: &Fleet| fleet.cluster_types.contains_key(name) || fleet.clusters.contains_key(name);
        self.elsewhere =
            others.filter(|other| has_place(&other.fleet)).map(|other| other.fleet.environment.to_string()).collect();
    }
}

impl WhyNotFields {
    /// The answers, with positions in files.
    pub fn new(answers: &[WhyNotAnswer<'_>]) -> Self {
        Self { answers: answers.iter().map(AnswerFields::new).collect() }
    }
}

impl AnswerFields {
    fn new(answer: &WhyNotAnswer<'_>) -> Self {
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
