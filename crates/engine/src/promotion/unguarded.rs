//! Releases that no gate guards: their text can get another content.

use std::collections::BTreeSet;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Fleet, RegisteredWorkload};
use model::object::release::{COMMIT, git_reference, is_at_commit, movable};
use model::object::workload::WorkloadTarget;
use model::object::{Object, Workload};

use super::graph::Graph;
use crate::compile::Prepared;
use crate::schedule::pin::Pin;
use crate::schedule::place::Place;
use crate::schedule::target::Target;

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
    let pins = fleet.release_pins.values().filter(|pin| is_at_commit(&pin.spec.manifests));
    let at_commit: BTreeSet<_> = pins.filter_map(|pin| pin.promoted_workload()).collect();
    let targets = |workload: &RegisteredWorkload| -> Vec<_> {
        let object = &workload.object;
        let own = object.spec.deployment_targets.iter().filter(|target| *target.spec.environment == *environment);
        own.filter_map(|target| unguarded(object, target)).collect()
    };
    fleet
        .workloads
        .values()
        .filter(moves)
        .filter(|workload| !at_commit.contains(workload.object.name.as_str()))
        .flat_map(targets)
        .collect()
}

/// Reports the releases at a commit that the templates of places do not print: there, the tag or branch alone says what is deployed.
pub fn without_commit(prepared: &Prepared) -> Vec<Diagnostic> {
    prepared.targets_by_id().filter_map(|target| unprinted(prepared, target)).collect()
}

fn unprinted(prepared: &Prepared, (id, target): (u32, &Target)) -> Option<Diagnostic> {
    let pins = prepared.pins.holding(|_| None, target);
    let has_commit = |pin: &&&Pin| pin.is_promoted() && is_at_commit(&pin.spec.manifests);
    let reference = pins.iter().find(has_commit).and_then(|_| git_reference(&target.manifests))?;
    let places = prepared.schedule.places_of(id);
    let places = places.iter().filter_map(|place| prepared.place(place));
    let is_blind = |place: &&Place| prepared.templates(place).is_ok_and(|templates| !templates.reads_manifest(COMMIT));
    let place = places.into_iter().find(is_blind)?;
    let message = format!(
        "no gate guards the release of `{}`: the templates of cluster type `{}` do not print the commit of its {} `{}`",
        target.name, place.cluster_type.name, reference.key, reference.name
    );
    let found = Diagnostic::warning(Code::ReleaseNotGuarded, message)
        .help("print `.Manifests.commit` where it is set: `{{ with .Manifests.commit }}commit: {{ . }}{{ end }}`")
        .about(&place.cluster_type.key());
    Some(found)
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
    if git_reference(&target.spec.manifests).is_none() {
        return Some(found);
    }
    Some(found.help(format!(
        "or let all environments share the {key}, and the templates print `.Manifests.commit`: Kalypso finds the commit"
    )))
}
