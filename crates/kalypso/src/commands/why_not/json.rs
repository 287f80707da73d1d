//! The answer as JSON.

use engine::why_not::{
    Applicability, AssignmentSide, CheckedCondition, CheckedRequirement, CheckedSide, Exclusion, NearPolicy, Obstacle,
    SourcedLabel, Standing, ValueStanding, WhyNot,
};
use model::diagnostic::{Diagnostic, Origin};
use model::field_path::FieldPath;
use model::kind::Kind;
use model::locate::Locator;
use model::object_key::ObjectKey;
use serde_json::{Value as Json, json};

use super::{Answer, change};
use crate::places;

/// The answer for one environment.
pub(super) fn json(answer: &Answer<'_>) -> Json {
    let mut locator = Locator::new(answer.fleet);
    let locator = &mut locator;
    let WhyNot {
        place,
        assignments,
        policies,
        obstacles,
        near,
        nearest,
        all_policies,
        selecting_target,
        selecting_place,
        ..
    } = &answer.found;
    let applied = answer.applied.as_ref().map(|(_, parts)| parts);
    json!({
        "environment": answer.fleet.environment.as_str(),
        "clusterTypeOrCluster": answer.question.place,
        "clusterType": place.as_ref().map(|place| place.cluster_type.name.as_str()),
        "target": answer.question.target,
        "assignments": assignments,
        "assignedBy": policies.iter().map(model::name::PolicyName::as_str).collect::<Vec<_>>(),
        "problems": answer.problems.iter().map(problem_json).collect::<Vec<_>>(),
        "obstacles": obstacles.iter().map(|obstacle| obstacle_json(obstacle, locator)).collect::<Vec<_>>(),
        "otherEnvironments": answer.elsewhere,
        "nearestCount": nearest,
        "policyCount": all_policies,
        "policiesThatSelectTarget": selecting_target,
        "policiesThatSelectClusterType": selecting_place,
        "nearPolicies": near.iter().map(|policy| policy_json(policy, locator)).collect::<Vec<_>>(),
        "applied": applied.map(|parts| parts.iter().map(|part| part_json(part, locator)).collect::<Vec<_>>()),
        "value": answer.standing.as_ref().map(|value| value_json(value, locator)),
    })
}

fn problem_json(problem: &Diagnostic) -> Json {
    json!({"code": problem.code.to_string(), "severity": problem.severity.to_string(), "message": problem.message})
}

fn obstacle_json(obstacle: &Obstacle, locator: &mut Locator<'_>) -> Json {
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
    let place = origin.map(|origin| places::json(origin, locator));
    json!({"reason": reason, "name": name, "nearest": nearest.as_deref(), "place": place})
}

fn policy_json(policy: &NearPolicy, locator: &mut Locator<'_>) -> Json {
    let name = std::sync::Arc::clone(policy.policy.as_arc());
    let object = ObjectKey { kind: Kind::SchedulingPolicy, name, of: None };
    json!({
        "policy": policy.policy.as_str(),
        "place": places::json(&policy.origin, locator),
        "missing": policy.missing,
        "target": side_json(&policy.target, &object, locator),
        "clusterType": side_json(&policy.place, &object, locator),
        "changes": change::json(&policy.changes, locator),
        "problem": policy.problem.as_ref().map(problem_json),
    })
}

fn side_json(side: &CheckedSide, policy: &ObjectKey, locator: &mut Locator<'_>) -> Json {
    let check = |check: &CheckedRequirement| {
        json!({
            "requirement": check.requirement.to_string(),
            "met": check.is_met,
            "place": places::json(&Origin::field(policy, check.path.clone()), locator),
            "label": check.label.as_ref().map(|label| label_json(label, locator)),
            "advice": check.advice,
        })
    };
    let checks: Vec<_> = side.checks.iter().map(check).collect();
    json!({"selected": side.selected, "requirements": checks})
}

fn label_json(label: &SourcedLabel, locator: &mut Locator<'_>) -> Json {
    let SourcedLabel { key, value, object, registration, .. } = label;
    json!({
        "key": &**key,
        "value": &**value,
        "kind": object.kind.name(),
        "object": &*object.name,
        "place": places::json(&label.origin(), locator),
        "registration": registration.as_ref().map(model::name::RegistrationName::as_str),
    })
}

fn part_json(part: &Applicability, locator: &mut Locator<'_>) -> Json {
    let excluded = part.excluded.as_ref().map(|exclusion| match exclusion {
        Exclusion::NotPlatformConfig(_) => "it has no label platform-config with the value true".to_owned(),
        Exclusion::Problem(problem) => format!("{}: {}", problem.code, problem.message),
    });
    let conditions: Vec<_> = part.conditions.iter().map(|condition| condition_json(condition, locator)).collect();
    json!({
        "kind": part.object.kind.name(),
        "object": &*part.object.name,
        "name": part.name,
        "registration": part.object.of.as_ref().map(model::name::RegistrationName::as_str),
        "place": places::json(&part.origin, locator),
        "applies": part.applies(),
        "excluded": excluded,
        "conditions": conditions,
        "assignments": part.assignments,
        "changes": change::json(&part.changes, locator),
    })
}

fn condition_json(condition: &CheckedCondition, locator: &mut Locator<'_>) -> Json {
    let CheckedCondition { key, value, origin, met_by, labels, actual_name, advice, .. } = condition;
    let met_by = met_by.map(|side| if side == AssignmentSide::Place { "clusterType" } else { "target" });
    json!({
        "key": &**key,
        "value": &**value,
        "place": places::json(origin, locator),
        "met": met_by.is_some(),
        "metBy": met_by,
        "labels": labels.iter().map(|label| label_json(label, locator)).collect::<Vec<_>>(),
        "actualName": actual_name.as_deref(),
        "advice": advice,
    })
}

fn value_json(value: &ValueStanding, locator: &mut Locator<'_>) -> Json {
    let (standing, winner) = match &value.standing {
        Standing::Sets => ("sets", None),
        Standing::SetsPart => ("setsPart", None),
        Standing::Overridden(winner) => ("overridden", Some(winner)),
        Standing::WithoutKey => ("withoutKey", None),
    };
    let winner = winner.map(|winner| {
        let [own, other] = winner.priorities;
        json!({
            "configMap": winner.container.as_str(),
            "place": places::json(&winner.origin, locator),
            "priority": other,
            "ownPriority": own,
            "replaces": winner.replaces,
        })
    });
    let path: &FieldPath = &value.reason.path;
    json!({
        "key": path.to_string(),
        "standing": standing,
        "place": value.origin.as_ref().map(|origin| places::json(origin, locator)),
        "overriddenBy": winner,
    })
}
