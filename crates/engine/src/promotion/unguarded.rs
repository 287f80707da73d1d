//! Releases that no gate guards: their text can get another content.

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Fleet, RegisteredWorkload};
use model::object::release::movable;
use model::object::workload::WorkloadTarget;
use model::object::{Object, Workload};

use super::graph::Graph;

/// Reports the releases of an environment that promotions move from it although they can get another content.
pub fn diagnostics(graph: &Graph, fleet: &Fleet) -> Vec<Diagnostic> {
    let environment = fleet.environment.as_str();
    let steps = graph.order().iter().filter_map(|name| graph.step(name.as_str()));
    let promotions =
        steps.map(|step| &step.promotion).filter(|found| found.from.iter().any(|from| **from == *environment));
    let selectors: Vec<_> = promotions.filter_map(|promotion| promotion.select.workloads.as_ref()).collect();
    let moves = |workload: &&RegisteredWorkload| {
        let registration = workload.registration.as_ref().and_then(|name| fleet.registrations.get(name.as_str()));
        registration.is_some_and(|object| {
            // A pull request copies the manifests of a commit.
            !object.moves_by_pull_request() && selectors.iter().any(|selector| selector.matches(&object.labels))
        })
    };
    let targets = |workload: &RegisteredWorkload| -> Vec<_> {
        let object = &workload.object;
        let own = object.spec.deployment_targets.iter().filter(|target| *target.spec.environment == *environment);
        own.filter_map(|target| unguarded(object, target)).collect()
    };
    fleet.workloads.values().filter(moves).flat_map(targets).collect()
}

fn unguarded(workload: &Object<Workload>, target: &WorkloadTarget) -> Option<Diagnostic> {
    let (key, version) = movable(&target.spec.manifests)?;
    let message = format!(
        "no gate guards the release of `{}-{}`: its {key} `{version}` can get another content later",
        workload.name, target.name
    );
    let path = FieldPath::from(["spec", "deploymentTargets"]).index(target.position).key("manifests").key(key);
    let found = Diagnostic::warning(Code::ReleaseNotGuarded, message)
        .at(Origin::At(workload.address, path), "promotions move this text")
        .help("name a `commit`, a `digest`, or the tag of one version")
        .about(&workload.key());
    Some(found)
}
