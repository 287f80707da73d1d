//! Why an assignment does not exist, or why an object does not apply to it.

mod change;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::answers::why_not::{
    Applicability, AppliedKind, AssignmentSide, CheckedCondition, CheckedRequirement, CheckedSide, Exclusion,
    NearPolicy, Obstacle, SourcedLabel, Standing, ValueStanding, WhyNot,
};
use engine::compile::Prepared;
use hub_api::compiled::{
    SourcePosition, WhyNotApplied, WhyNotCondition, WhyNotEnvironment, WhyNotFields, WhyNotLabel, WhyNotObstacle,
    WhyNotOverride, WhyNotPolicy, WhyNotProblem, WhyNotRequirement, WhyNotSide, WhyNotStanding,
};
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::fleet::Fleet;
use model::kind::Kind;
use model::locate::Locator;
use model::name::{DeploymentTargetName, PlaceName};
use model::object_key::ObjectKey;

use self::change::change_fields;
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

impl AppliedObject {
    /// The object that a word names: `configmap/west-us`. None if the word is something else.
    pub fn parse(word: &str) -> Option<Self> {
        let (kind, name) = word.split_once('/')?;
        let kind = match kind.to_ascii_lowercase().replace('-', "").as_str() {
            "configmap" | "configmaps" | "config" | "configs" | "cm" => AppliedKind::ConfigMap,
            "schema" | "schemas" | "configschema" | "configschemas" => AppliedKind::Schema,
            _ => return None,
        };
        Some(Self { kind, name: name.to_owned() })
    }
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

/// The answers, with positions in files.
pub fn why_not_fields(answers: &[WhyNotAnswer<'_>]) -> WhyNotFields {
    WhyNotFields { answers: answers.iter().map(answer_fields).collect() }
}

fn answer_fields(answer: &WhyNotAnswer<'_>) -> WhyNotEnvironment {
    let mut locator = Locator::new(answer.fleet);
    let locator = &mut locator;
    let found: &WhyNot = &answer.found;
    let parts = answer.applied.as_ref().map(|(_, parts)| parts);
    WhyNotEnvironment {
        environment: answer.fleet.environment.to_string(),
        cluster_type_or_cluster: answer.question.place.clone(),
        cluster_type: found.place.as_ref().map(|place| place.cluster_type.name.to_string()),
        target: answer.question.target.clone(),
        assignments: found.assignments,
        assigned_by: found.policies.iter().map(ToString::to_string).collect(),
        problems: answer.problems.iter().map(problem_fields).collect(),
        obstacles: found.obstacles.iter().map(|obstacle| obstacle_fields(obstacle, locator)).collect(),
        other_environments: answer.elsewhere.clone(),
        nearest_count: found.nearest,
        policy_count: found.all_policies,
        policies_that_select_target: found.selecting_target,
        policies_that_select_cluster_type: found.selecting_place,
        near_policies: found.near.iter().map(|policy| policy_fields(policy, locator)).collect(),
        applied: parts.map(|parts| parts.iter().map(|part| applied_fields(part, locator)).collect()),
        value: answer.standing.as_ref().map(|value| standing_fields(value, locator)),
    }
}

fn problem_fields(problem: &Diagnostic) -> WhyNotProblem {
    let Diagnostic { code, severity, message, .. } = problem;
    WhyNotProblem { code: code.to_string(), severity: severity.to_string(), message: message.clone() }
}

fn obstacle_fields(obstacle: &Obstacle, locator: &mut Locator<'_>) -> WhyNotObstacle {
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
        Obstacle::Unreachable { registration, origin } => ("unreachable", registration.to_string(), None, Some(origin)),
        Obstacle::Problem(problem) => {
            let origin = problem.labels.first().map(|label| &label.origin);
            ("problem", format!("{}: {}", problem.code, problem.message), None, origin)
        }
    };
    let nearest = nearest.as_deref().map(str::to_owned);
    WhyNotObstacle {
        reason: reason.to_owned(),
        name,
        nearest,
        place: origin.and_then(|origin| SourcePosition::find(origin, locator)),
    }
}

fn policy_fields(policy: &NearPolicy, locator: &mut Locator<'_>) -> WhyNotPolicy {
    let name = std::sync::Arc::clone(policy.policy.as_arc());
    let object = ObjectKey { kind: Kind::SchedulingPolicy, name, of: None };
    WhyNotPolicy {
        policy: policy.policy.to_string(),
        place: SourcePosition::find(&policy.origin, locator),
        missing: policy.missing,
        target: side_fields(&policy.target, &object, locator),
        cluster_type: side_fields(&policy.place, &object, locator),
        changes: change_fields(&policy.changes, locator),
        problem: policy.problem.as_ref().map(problem_fields),
    }
}

fn side_fields(side: &CheckedSide, policy: &ObjectKey, locator: &mut Locator<'_>) -> WhyNotSide {
    let check = |check: &CheckedRequirement| WhyNotRequirement {
        requirement: check.requirement.to_string(),
        met: check.is_met,
        place: SourcePosition::find(&Origin::field(policy, check.path.clone()), locator),
        label: check.label.as_ref().map(|label| label_fields(label, locator)),
        advice: check.advice.clone(),
    };
    WhyNotSide { selected: side.selected, requirements: side.checks.iter().map(check).collect() }
}

fn label_fields(label: &SourcedLabel, locator: &mut Locator<'_>) -> WhyNotLabel {
    WhyNotLabel {
        key: label.key.to_string(),
        value: label.value.to_string(),
        kind: label.object.kind.name().to_owned(),
        object: label.object.name.to_string(),
        place: SourcePosition::find(&label.origin(), locator),
        registration: label.registration.as_ref().map(ToString::to_string),
    }
}

fn applied_fields(part: &Applicability, locator: &mut Locator<'_>) -> WhyNotApplied {
    let excluded = part.excluded.as_ref().map(|exclusion| match exclusion {
        Exclusion::NotPlatformConfig(_) => "it has no label platform-config with the value true".to_owned(),
        Exclusion::Problem(problem) => format!("{}: {}", problem.code, problem.message),
    });
    let conditions = part.conditions.iter().map(|condition| condition_fields(condition, locator)).collect();
    WhyNotApplied {
        kind: part.object.kind.name().to_owned(),
        object: part.object.name.to_string(),
        name: part.name.clone(),
        registration: part.object.of.as_ref().map(ToString::to_string),
        place: SourcePosition::find(&part.origin, locator),
        applies: part.applies(),
        excluded,
        conditions,
        assignments: part.assignments,
        changes: change_fields(&part.changes, locator),
    }
}

fn condition_fields(condition: &CheckedCondition, locator: &mut Locator<'_>) -> WhyNotCondition {
    let CheckedCondition { key, value, origin, met_by, labels, actual_name, advice, .. } = condition;
    let met_by = met_by.map(|side| if side == AssignmentSide::Place { "clusterType" } else { "target" });
    WhyNotCondition {
        key: key.to_string(),
        value: value.to_string(),
        place: SourcePosition::find(origin, locator),
        met: met_by.is_some(),
        met_by: met_by.map(str::to_owned),
        labels: labels.iter().map(|label| label_fields(label, locator)).collect(),
        actual_name: actual_name.as_deref().map(str::to_owned),
        advice: advice.clone(),
    }
}

fn standing_fields(value: &ValueStanding, locator: &mut Locator<'_>) -> WhyNotStanding {
    let (standing, winner) = match &value.standing {
        Standing::Sets => ("sets", None),
        Standing::SetsPart => ("setsPart", None),
        Standing::Overridden(winner) => ("overridden", Some(winner)),
        Standing::WithoutKey => ("withoutKey", None),
    };
    let overridden_by = winner.map(|winner| {
        let [own_priority, priority] = winner.priorities;
        WhyNotOverride {
            config_map: winner.container.to_string(),
            place: SourcePosition::find(&winner.origin, locator),
            priority,
            own_priority,
            replaces: winner.replaces,
        }
    });
    let place = value.origin.as_ref().and_then(|origin| SourcePosition::find(origin, locator));
    WhyNotStanding { key: value.reason.path.to_string(), standing: standing.to_owned(), place, overridden_by }
}
