//! Overviews of a place, a deployment target or a workload, as JSON.

use engine::overview::{Assignments, PlaceOverview, TargetOverview, WorkloadOverview};
use engine::why_not::SourcedLabel;
use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::locate::Locator;
use model::name::{ConfigMapName, DeploymentTargetName, PlaceName, RegistrationName};
use serde_json::{Value as Json, json};

use crate::places;

/// The overviews of a name, one for each of its meanings.
pub(super) fn json(
    (environment, name): (&str, &str),
    (place, target, workload): (&Option<PlaceOverview>, &Option<TargetOverview>, &Option<WorkloadOverview>),
    locator: &mut Locator<'_>,
) -> Json {
    json!({
        "environment": environment,
        "name": name,
        "clusterTypeOrCluster": place.as_ref().map(|place| place_json(place, locator)),
        "deploymentTarget": target.as_ref().map(|target| target_json(target, locator)),
        "workload": workload.as_ref().map(|workload| workload_json(workload, locator)),
    })
}

fn place_json(overview: &PlaceOverview, locator: &mut Locator<'_>) -> Json {
    let PlaceOverview { place, labels, clusters, targets, assignments } = overview;
    let spec = &place.cluster_type.spec;
    let mut json = assignments_json(assignments, locator);
    json["clusterType"] = place.cluster_type.name.as_str().into();
    json["cluster"] = place.cluster.as_ref().map(|cluster| cluster.name.as_str()).into();
    json["place"] = places::json(&Origin::field(&place.key(), FieldPath::default()), locator);
    json["clusters"] = (*clusters).into();
    json["templates"] = json!([&*spec.reconciler, &*spec.namespace_service, &*spec.config_type]);
    json["labels"] = labels_json(labels, locator);
    json["assignments"] = targets.len().into();
    json["targets"] = targets.iter().map(DeploymentTargetName::as_str).collect();
    json
}

fn target_json(overview: &TargetOverview, locator: &mut Locator<'_>) -> Json {
    let TargetOverview { target, labels, counts: [types, clusters], places: names, assignments } = overview;
    let (object, path) = &target.origin;
    let mut json = assignments_json(assignments, locator);
    json["target"] = target.name.as_str().into();
    json["workload"] = target.workload().into();
    json["workspace"] = target.workspace().into();
    json["registration"] = target.registration.as_ref().map(RegistrationName::as_str).into();
    json["place"] = places::json(&Origin::field(object, path.clone()), locator);
    json["labels"] = labels_json(labels, locator);
    json["assignments"] = (types + clusters).into();
    json["clusterTypeCount"] = (*types).into();
    json["clusterCount"] = (*clusters).into();
    json["places"] = names.iter().map(PlaceName::as_str).collect();
    json
}

fn workload_json(overview: &WorkloadOverview, locator: &mut Locator<'_>) -> Json {
    let WorkloadOverview { name, origin, registration, workspace, targets, elsewhere, problem } = overview;
    let target = |(name, places): &(_, u64)| json!({"target": ToString::to_string(name), "assignments": places});
    let elsewhere = elsewhere.iter().map(|(name, count)| json!({"environment": &**name, "targets": count}));
    json!({
        "workload": name.as_str(),
        "workspace": &**workspace,
        "registration": registration.as_ref().map(RegistrationName::as_str),
        "place": origin.as_ref().map(|origin| places::json(origin, locator)),
        "targets": targets.iter().map(|(name, places)| target(&(name, *places))).collect::<Vec<_>>(),
        "otherEnvironments": elsewhere.collect::<Vec<_>>(),
        "problem": problem.as_ref().map(|problem| json!({"code": problem.code.to_string(), "message": problem.message})),
    })
}

fn labels_json(labels: &[SourcedLabel], locator: &mut Locator<'_>) -> Json {
    let label = |label: &SourcedLabel| {
        json!({
            "key": &*label.key,
            "value": &*label.value,
            "kind": label.object.kind.name(),
            "object": &*label.object.name,
            "place": places::json(&label.origin(), locator),
        })
    };
    labels.iter().map(label).collect()
}

fn assignments_json(assignments: &Assignments, locator: &mut Locator<'_>) -> Json {
    let Assignments { policies, config_maps, schemas, differing, problems, checked } = assignments;
    let policies = policies.iter().map(|share| {
        json!({
            "policy": share.policy.as_str(),
            "assignments": share.assignments,
            "place": places::json(&share.origin, locator),
        })
    });
    let problems = problems.iter().map(|problem| {
        json!({
            "code": problem.code.to_string(),
            "message": problem.message,
            "assignments": problem.assignments.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    json!({
        "policies": policies.collect::<Vec<_>>(),
        "configMaps": config_maps.iter().map(ConfigMapName::as_str).collect::<Vec<_>>(),
        "schemas": schemas.iter().map(|object| json!({"kind": object.kind.name(), "name": &*object.name})).collect::<Vec<_>>(),
        "differingValues": differing.iter().map(|(path, count)| json!({"key": path.to_string(), "values": count})).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
        "checkedAssignments": checked,
    })
}
