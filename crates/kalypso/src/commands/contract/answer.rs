//! Contracts as JSON.

use engine::contract::{
    Advice, Ask, AskedValue, GivenValue, PlaceCount, UnassignedTarget, UnmetLabel, WorkloadContract, WrongValue,
};
use model::diagnostic::AssignmentId;
use model::locate::Locator;
use serde_json::{Value as Json, json};

use super::{Counts, Shown};
use crate::places;

pub(super) fn json(shown: &mut [Shown<'_>]) -> Json {
    let environments: Vec<_> = shown.iter_mut().map(environment).collect();
    json!({ "environments": environments })
}

fn environment(shown: &mut Shown<'_>) -> Json {
    let (contract, locator) = (shown.contract, &mut shown.locator);
    json!({
        "environment": shown.environment,
        "workloads": contract.workloads.iter().map(|workload| of_workload(workload, locator)).collect::<Vec<_>>(),
        "unused": contract.unused.iter().map(|value| given(value, locator)).collect::<Vec<_>>(),
        "unusedCount": contract.unused_count,
    })
}

fn of_workload(workload: &WorkloadContract, locator: &mut Locator<'_>) -> Json {
    let Counts { asked, given: everywhere, missing, wrong } = Counts::of(workload);
    json!({
        "workload": &*workload.workload,
        "workspace": &*workload.workspace,
        "registration": workload.registration.as_ref().map(model::name::RegistrationName::as_str),
        "targets": workload.targets,
        "isAssigned": !workload.is_hypothetical,
        "assignments": workload.assignments,
        "places": place_count(workload.places),
        "counts": {"asked": asked, "given": everywhere, "missing": missing, "wrong": wrong},
        "values": workload.values.iter().map(|asked| value(asked, locator)).collect::<Vec<_>>(),
        "notAskedFor": workload.unasked.iter().map(|value| given(value, locator)).collect::<Vec<_>>(),
        "unassigned": workload.unassigned.iter().map(unassigned).collect::<Vec<_>>(),
        "unusableSchemas": workload.unusable_schemas.iter().map(|origin| json!({"place": places::json(origin, locator)})).collect::<Vec<_>>(),
        "notChecked": workload.unchecked,
    })
}

fn place_count(count: PlaceCount) -> Json {
    json!({"clusterTypes": count.cluster_types, "clusters": count.clusters})
}

fn value(value: &AskedValue, locator: &mut Locator<'_>) -> Json {
    let missing = value.missing.as_ref().map(|missing| {
        json!({
            "assignments": missing.assignments,
            "isEnforced": missing.is_enforced,
            "places": place_count(missing.places),
            "examples": examples(&missing.examples),
        })
    });
    json!({
        "key": &*value.key,
        "isRequired": value.is_required,
        "isSensitive": value.is_sensitive,
        "asks": value.asks.iter().map(|asked| ask(asked, locator)).collect::<Vec<_>>(),
        "asked": {"assignments": value.asked, "places": place_count(value.asked_places)},
        "given": {"assignments": value.given, "places": place_count(value.given_places)},
        "missing": missing,
        "wrong": value.wrong.iter().map(|found| wrong(found, locator)).collect::<Vec<_>>(),
        "givenBy": value.givers.iter().map(|giver| given(giver, locator)).collect::<Vec<_>>(),
        "givenByMore": value.more_givers,
        "advice": value.advice.iter().map(|found| advice(found, locator)).collect::<Vec<_>>(),
    })
}

fn ask(ask: &Ask, locator: &mut Locator<'_>) -> Json {
    json!({
        "place": places::json(&ask.origin, locator),
        "isRequired": ask.is_required,
        "demands": ask.requirements,
        "default": ask.default,
        "description": ask.description,
        "places": place_count(ask.places),
    })
}

fn wrong(wrong: &WrongValue, locator: &mut Locator<'_>) -> Json {
    json!({
        "message": wrong.message,
        "isEnforced": wrong.is_enforced,
        "place": wrong.origin.as_ref().map(|origin| places::json(origin, locator)),
        "requiredBy": {"place": places::json(&wrong.schema, locator)},
        "assignments": wrong.assignments,
        "examples": examples(&wrong.examples),
    })
}

fn given(given: &GivenValue, locator: &mut Locator<'_>) -> Json {
    json!({
        "key": &*given.key,
        "container": given.container,
        "conditions": given.conditions,
        "place": places::json(&given.origin, locator),
        "value": given.shown,
        "places": place_count(given.places),
        "more": given.more,
    })
}

fn advice(advice: &Advice, locator: &mut Locator<'_>) -> Json {
    match advice {
        Advice::Spelling { key, container, origin } => json!({
            "similarKey": &**key,
            "container": container,
            "place": places::json(origin, locator),
        }),
        Advice::Elsewhere { container, origin, assignment, unmet } => json!({
            "container": container,
            "place": places::json(origin, locator),
            "assignment": assignment,
            "unmet": unmet.iter().map(|label| unmet_label(label, locator)).collect::<Vec<_>>(),
        }),
    }
}

fn unmet_label(label: &UnmetLabel, locator: &mut Locator<'_>) -> Json {
    json!({
        "label": &*label.key,
        "value": &*label.value,
        "actual": label.actual.as_deref(),
        "isNear": label.is_near,
        "place": places::json(&label.origin, locator),
    })
}

fn unassigned(target: &UnassignedTarget) -> Json {
    let missing = target.missing.iter().map(|(key, places)| json!({"key": &**key, "places": place_count(*places)}));
    json!({
        "target": &*target.name,
        "missing": missing.collect::<Vec<_>>(),
        "places": place_count(target.places),
    })
}

fn examples(examples: &[AssignmentId]) -> Vec<String> {
    examples.iter().map(ToString::to_string).collect()
}
