//! Compares claims about changes with fleets to which they are applied.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::fleet::Fleet;
use model::name::{DeploymentTargetName, PlaceName};
use proptest::prelude::*;
use testkit::edits::FleetEdits;
use testkit::generator::ENVIRONMENT;

use super::edit::apply;
use super::*;

/// A small fleet after some random edits. It may contain errors.
fn fleet(seed: u64, edits: usize) -> Arc<Fleet> {
    let mut sequence = FleetEdits::new(seed);
    sequence.by_ref().take(edits).for_each(drop);
    let texts = sequence.files().iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
    Arc::new(testkit::directory::fleet_of(texts, ENVIRONMENT).unwrap().0)
}

/// The assignments of a fleet, found policy by policy, without an index.
fn assignments(prepared: &Prepared) -> BTreeSet<(u32, u32)> {
    let mut found = BTreeSet::new();
    for selection in prepared.schedule.all_selections() {
        let spec = &selection.policy.spec;
        for (place_id, place) in prepared.places().filter(|(_, place)| missing_of_place(spec, place) == 0) {
            let targets = prepared.targets().iter().filter(|target| missing_of_target(spec, target) == 0);
            let ids = targets.filter_map(|target| prepared.target_id(target.name.as_str()));
            found.extend(ids.map(|target| (place_id, target)));
            assert!(spec.cluster_types.matches(&place.labels()));
        }
    }
    found
}

/// The names of the containers and schemas of an assignment.
fn inputs(prepared: &Prepared, (place, target): (u32, u32)) -> Vec<String> {
    let (containers, schemas) = prepared.inputs_of(place, target);
    let containers = containers.iter().map(|container| container.display_name());
    containers.chain(schemas.iter().map(|schema| format!("{} {}", schema.text.object, schema.text.path))).collect()
}

fn id(prepared: &Prepared, (place, target): (u32, u32)) -> AssignmentId {
    prepared.assignment_id(place, target).unwrap()
}

/// Compares the claimed effect of a change with a new preparation of the edited fleet.
fn check_change(prepared: &Prepared, asked: (Option<u32>, Option<u32>), change: &SuggestedChange) -> Prepared {
    let mut edited = Fleet::clone(prepared.fleet());
    change.edits.iter().for_each(|edit| apply(&mut edited, edit));
    let after = Prepared::new(&Arc::new(edited));
    let named = |prepared: &Prepared| -> BTreeSet<AssignmentId> {
        assignments(prepared).into_iter().map(|ids| id(prepared, ids)).collect()
    };
    let (old, new) = (named(prepared), named(&after));
    let numbers = |prepared: &Prepared, id: &AssignmentId| {
        (prepared.place_id(id.place.as_str()).unwrap(), prepared.target_id(id.target.as_str()).unwrap())
    };
    let is_asked = |id: &&AssignmentId| {
        let (place, target) = numbers(prepared, id);
        asked.0.is_none_or(|asked| asked == place) && asked.1.is_none_or(|asked| asked == target)
    };
    let is_reconfigured = |id: &&AssignmentId| {
        let is_own = asked.0.is_some() && asked.1.is_some() && is_asked(id);
        !is_own && inputs(prepared, numbers(prepared, id)) != inputs(&after, numbers(&after, id))
    };
    let added: Vec<_> = new.difference(&old).collect();
    let answers = added.iter().copied().filter(is_asked).count();
    let expected = ChangeReach {
        // An assignment that exists gets an object that did not apply to it.
        answers: if old.iter().any(|id| is_asked(&id)) { 1 } else { answers as u64 },
        added: (added.len() - answers) as u64,
        removed: old.difference(&new).count() as u64,
        reconfigured: old.intersection(&new).filter(is_reconfigured).count() as u64,
    };
    assert_eq!(change.reach, expected, "{:?}", change.edits);
    assert!(expected.answers == 0 || new.iter().any(|id| is_asked(&id)), "{:?}", change.edits);
    after
}

/// Checks the answers about some places and targets of a fleet.
fn check(seed: u64, edits: usize, picks: &[[prop::sample::Index; 3]]) {
    let fleet = fleet(seed, edits);
    let prepared = Prepared::new(&fleet);
    let places: Vec<_> = prepared.places().map(|(id, place)| (id, place.clone())).collect();
    if places.is_empty() || prepared.targets().is_empty() {
        return;
    }
    let all = assignments(&prepared);
    for [place, target, object] in picks {
        let (place_id, place) = &places[place.index(places.len())];
        let target = &prepared.targets()[target.index(prepared.targets().len())];
        let target_id = prepared.target_id(target.name.as_str()).unwrap();
        let answer = prepared.why_not(Some(place.name().as_str()), Some(target.name.as_str()));
        assert_eq!(answer.assignments == 1, all.contains(&(*place_id, target_id)));
        for near in &answer.near {
            assert!(near.missing > 0, "{near:?}");
            for change in &near.changes {
                check_change(&prepared, (Some(*place_id), Some(target_id)), change);
                assert_eq!(change.reach.answers, 1);
            }
        }
        check_alone(&prepared, place, target);
        check_applied(&prepared, (*place_id, target_id), *object);
    }
}

fn check_alone(prepared: &Prepared, place: &Place, target: &Target) {
    let target_id = prepared.target_id(target.name.as_str()).unwrap();
    let of_target = prepared.why_not(None, Some(target.name.as_str()));
    let changes = of_target.near.iter().flat_map(|near| &near.changes);
    changes.for_each(|change| drop(check_change(prepared, (None, Some(target_id)), change)));
    let of_place = prepared.why_not(Some(place.name().as_str()), None);
    let changes = of_place.near.iter().flat_map(|near| &near.changes);
    changes.for_each(|change| drop(check_change(prepared, (prepared.place_id(place.name_text()), None), change)));
}

/// Checks the answers about one of the containers and schemas.
fn check_applied(prepared: &Prepared, (place, target): (u32, u32), object: prop::sample::Index) {
    let all = assignments(prepared);
    let found = inputs(prepared, (place, target));
    let names = prepared.containers.list.iter().map(|container| (AppliedKind::ConfigMap, container.name.as_arc()));
    let schemas =
        prepared.schemas.labelled.iter().map(|labelled| (AppliedKind::Schema, &labelled.schema.text.object.name));
    let objects: Vec<_> = names.chain(schemas).collect();
    let Some((kind, name)) = objects.get(object.index(objects.len().max(1))) else { return };
    for answer in prepared.why_not_applied(&id(prepared, (place, target)), (*kind, name)) {
        // The text of a schema has the path of a field behind the name.
        let is_name = |input: &String| input.split(" spec").next() == Some(&*answer.name);
        assert_eq!(answer.unmet().next().is_none(), found.iter().any(is_name), "{answer:?}");
        let applied = all.iter().filter(|ids| inputs(prepared, **ids).iter().any(is_name));
        assert_eq!(answer.assignments, applied.count() as u64, "{answer:?}");
        for change in &answer.changes {
            let after = check_change(prepared, (Some(place), Some(target)), change);
            let parts = after.why_not_applied(&id(prepared, (place, target)), (*kind, name));
            let applies = |part: &Applicability| part.name == answer.name && part.unmet().next().is_none();
            assert!(parts.iter().any(applies), "{change:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn suggested_changes_have_the_claimed_effect(
        seed in 0_u64..1000,
        edits in 0_usize..30,
        picks in proptest::collection::vec(any::<[prop::sample::Index; 3]>(), 2),
    ) {
        check(seed, edits, &picks);
    }
}

#[test]
fn unknown_names_have_the_nearest_ones() {
    let prepared = Prepared::new(&fleet(1, 0));
    let place = prepared.places().next().map(|(_, place)| place.name()).unwrap();
    let wrong = PlaceName::new(format!("{place}x")).unwrap();
    let answer = prepared.why_not(Some(wrong.as_str()), Some("no-such-target-at-all"));
    assert!(answer.is_unknown() && answer.near.is_empty());
    let [Obstacle::UnknownPlace { nearest, .. }, Obstacle::UnknownTarget { nearest: None, .. }] = &answer.obstacles[..]
    else {
        panic!("{:?}", answer.obstacles)
    };
    assert_eq!(nearest.as_deref(), Some(place.as_str()));
    assert!(DeploymentTargetName::new("no-such-target-at-all").is_ok());
}

/// A mapping gives `late` to targets of team `a`. A target that moves to team `b` loses it.
#[test]
fn change_restores_labels_removed_by_its_first_edit() {
    let object = |kind: &str, (name, labels): (&str, &str), spec: &str| {
        let group = match kind {
            "ConfigMap" => "v1",
            "LabelMapping" => "fleet.kalypso.io/v1alpha1",
            _ => "scheduler.kalypso.io/v1alpha1",
        };
        let metadata = format!("metadata: {{name: {name}, labels: {{{labels}}}}}");
        (format!("{kind}.yaml"), format!("apiVersion: {group}\nkind: {kind}\n{metadata}\n{spec}\n").into_bytes())
    };
    let manifests = "manifests: {repo: https://git.example/x, branch: main, path: .}";
    let any = "{labelSelector: {matchExpressions: [{key: any, operator: Exists}]}}";
    let files = vec![
        object(
            "ClusterType",
            ("east", "any: x"),
            "spec: {reconciler: flux, namespaceService: default, configType: configmap}",
        ),
        object(
            "DeploymentTarget",
            ("shop", "any: x, team: a"),
            &format!("spec: {{environment: {ENVIRONMENT}, {manifests}}}"),
        ),
        object(
            "SchedulingPolicy",
            ("all", ""),
            &format!("spec: {{deploymentTargetSelector: {any}, clusterTypeSelector: {any}}}"),
        ),
        object("LabelMapping", ("late", ""), "spec: {from: {team: a}, add: {ring: late}}"),
        object("ConfigMap", ("both", "platform-config: 'true', team: b, ring: late"), "data: {A: x}"),
    ];
    let fleet = Arc::new(testkit::directory::fleet_of(files, ENVIRONMENT).unwrap().0);
    let prepared = Prepared::new(&fleet);
    let ids = (prepared.place_id("east").unwrap(), prepared.target_id("shop").unwrap());
    let answers = prepared.why_not_applied(&id(&prepared, ids), (AppliedKind::ConfigMap, "both"));
    let edited = |change: &SuggestedChange| -> Vec<_> {
        change.edits.iter().map(|edit| format!("{} {}", edit.object, edit.path)).collect()
    };
    let of_target = ["DeploymentTarget `shop` metadata.labels.team", "DeploymentTarget `shop` metadata.labels.ring"];
    assert_eq!(
        answers[0].changes.iter().map(edited).collect::<Vec<_>>(),
        [&["ConfigMap `both` metadata.labels.team"][..], &of_target]
    );
}
