//! Renamed workloads and places in environments with rings: the folders under both names are one unit.

use delivery::states::rollout_store::{self, StoredStates};
use engine::promotion::command::CommandKind;
use model::git_id::GitId;
use testkit::company::{CONTROL_PLANE, GITOPS};

use crate::chain::name;
use crate::controller::{DIRECT, World};
use crate::rings::{ONE, OTHER, Ringed, release_ring};

const WORKLOAD: &str = "workloads/shop.yaml";

const RINGS: &str = "  rings: [{name: canary, names: [east]}, {name: rest}]\n";

/// A chain `dev`, `stage`, whose first commit went through the two rings of `stage`.
fn proved() -> World {
    let world = World::new(DIRECT, RINGS);
    world.settle();
    end_ring(&world, "shop");
    let stored = states(&world);
    assert!(stored.rollouts["shop"].as_ref().unwrap().state.stable.is_some());
    world
}

/// The place of the last ring has no reconcilers, so a person ends it.
fn end_ring(world: &World, workload: &str) {
    world.command_about(Some(workload), CommandKind::Skip { gate: "compliant".into() }, "no hosts").unwrap();
    world.settle();
}

fn states(world: &World) -> StoredStates {
    rollout_store::read(&world.chain.access, &name("stage")).unwrap()
}

/// Whether a place of `stage` has the folder of a target on the branch that clusters pull.
fn has(world: &World, place: &str, target: &str) -> bool {
    world.chain.company.read(GITOPS, "stage", &format!("{place}/{target}/reconciler.yaml")).is_some()
}

/// Makes steps, and checks after each that every place has the workload under exactly one of both names. Returns which of the places `east` and `west` have the new
/// one after each step, without repetitions.
fn walk(world: &World, [old, new]: [&str; 2]) -> Vec<[bool; 2]> {
    let mut found: Vec<[bool; 2]> = Vec::new();
    for _ in 0..10 {
        for environment in ["dev", "stage"] {
            world.step(environment);
            let places = ["east", "west"].map(|place| {
                let [has_old, has_new] = [old, new].map(|target| has(world, place, target));
                assert!(has_old != has_new, "{place}: {old} {has_old}, {new} {has_new}, after {found:?}");
                has_new
            });
            if found.last() != Some(&places) {
                found.push(places);
            }
        }
    }
    found
}

/// The workload with other metadata.
fn renamed(text: &str, metadata: &str) -> String {
    let before = "metadata:\n  name: shop\n";
    assert!(text.contains(before), "{text}");
    text.replace(before, &format!("metadata: {{{metadata}}}\n"))
}

fn rename(world: &mut World, metadata: &str) {
    let text = world.chain.company.read(CONTROL_PLANE, "main", WORKLOAD).unwrap();
    world.chain.company.write_main(WORKLOAD, &renamed(&text, metadata));
}

#[test]
fn a_workload_has_exactly_one_name_at_each_place_in_every_step() {
    let mut world = proved();
    rename(&mut world, "name: store, annotations: {names.kalypso.io/renamed-from: shop}");
    // One ring after the other.
    assert_eq!(walk(&world, ["shop-stage", "store-stage"]), [[false, false], [true, false], [true, true]]);
    // Its rollout has the new name.
    end_ring(&world, "store");
    let stored = states(&world);
    assert_eq!(stored.rollouts.keys().map(|name| &**name).collect::<Vec<_>>(), ["store"]);
    let rollout = stored.rollouts["store"].as_ref().unwrap();
    assert!(rollout.state.current.is_none() && rollout.state.stable.is_some());
}

/// A revision that was held when its workload got another name still has the folders under the earlier name.
#[test]
fn a_move_that_began_under_the_earlier_name_ends() {
    let mut world = World::new(DIRECT, RINGS);
    let workload = world.chain.company.read(CONTROL_PLANE, "main", WORKLOAD).unwrap();
    world.chain.company.remove_main(WORKLOAD);
    // On the branches of the environments, the rename is there before the move ends.
    let write = |world: &World, (name, commit): (&str, Option<GitId>), text: &str| {
        let mut files = testkit::chain::environment(name, commit);
        files.insert(WORKLOAD.to_owned(), text.to_owned());
        world.chain.company.write_environment(name, &files);
    };
    let head = world.chain.company.head("main");
    ["dev", "stage"].iter().for_each(|name| write(&world, (name, head), &workload));
    world.settle();
    end_ring(&world, "shop");
    world.chain.company.change_value("second");
    world.settle();
    assert!(states(&world).rollouts["shop"].as_ref().unwrap().state.current.is_some());
    // What is held is not replaced by a newer revision.
    world.command_about(Some("shop"), CommandKind::Hold, "wait").unwrap();
    let text = renamed(&workload, "name: store, annotations: {names.kalypso.io/renamed-from: shop}");
    write(&world, ("stage", world.chain.promoted("stage").commit), &text);
    world.settle();
    assert!(has(&world, "west", "shop-stage"));
    world.command_about(Some("store"), CommandKind::Resume, "go on").unwrap();
    end_ring(&world, "store");
    world.settle();
    // Then the rename moves.
    assert!(has(&world, "east", "store-stage"));
    end_ring(&world, "store");
    let rollout = states(&world).rollouts["store"].as_ref().unwrap().state.clone();
    assert!(rollout.current.is_none() && has(&world, "west", "store-stage"));
}

#[test]
fn a_target_has_exactly_one_name_at_each_place_in_every_step() {
    let mut world = proved();
    let text = world.chain.company.read(CONTROL_PLANE, "main", WORKLOAD).unwrap();
    let text = renamed(&text, "name: shop, annotations: {names.kalypso.io/renamed-targets: live=stage}");
    assert!(text.contains("- name: stage\n"), "{text}");
    world.chain.company.write_main(WORKLOAD, &text.replace("- name: stage\n", "- name: live\n"));
    assert_eq!(walk(&world, ["shop-stage", "shop-live"]), [[false, false], [true, false], [true, true]]);
}

#[test]
fn failing_renamed_workload_keeps_folders_under_its_earlier_name() {
    let mut world = proved();
    let text = world.chain.company.read(CONTROL_PLANE, "main", WORKLOAD).unwrap();
    let schema = "  configSchemas: ['{\"required\": [\"MISSING\"]}']\n";
    world.chain.company.write_main(WORKLOAD, &(text + schema));
    rename(&mut world, "name: store, annotations: {names.kalypso.io/renamed-from: shop}");
    assert_eq!(walk(&world, ["shop-stage", "store-stage"]), [[false, false]]);
}

/// Renames a file with its object, whose earlier name is in an annotation.
fn rename_file(ringed: &mut Ringed, path: &str, (old, new): (&str, &str)) {
    let text = ringed.file(path).replace(old, new);
    let annotated = format!("name: {new}\n  annotations: {{names.kalypso.io/renamed-from: {old}}}\n");
    let text = text.replacen(&format!("name: {new}\n"), &annotated, 1);
    ringed.change(&[(path, None), (&path.replace(old, new), Some(&text))]);
}

/// The places that have folders of a workload.
fn places(ringed: &Ringed, workload: &str) -> Vec<String> {
    let paths = ringed.paths().into_iter().filter(|path| path.contains(&format!("/{workload}-")));
    let mut found: Vec<_> = paths.filter_map(|path| Some(path.split_once('/')?.0.to_owned())).collect();
    found.dedup();
    found
}

#[test]
fn a_move_that_began_under_the_earlier_name_goes_on() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    rename_file(&mut ringed, &format!("workloads/{ONE}.yaml"), (ONE, "store"));
    let outcome = ringed.publish();
    let rings = outcome.places[0].planned.rings.as_ref().unwrap();
    assert_eq!(rings.workloads().into_iter().collect::<Vec<_>>(), [OTHER.into(), "store".into()]);
    assert_eq!(rings.problems, []);
    ringed.check(ONE, ["v2", "v1"]);
    ringed.step(ONE, &mut rollout, |current| current.ring = 2);
    ringed.check(ONE, ["v2", "v2"]);
    ringed.check("store", ["", ""]);
}

#[test]
fn a_renamed_place_moves_in_one_step_for_each_workload() {
    let mut ringed = Ringed::new();
    let path = ringed.paths_of_sources().into_iter().find(|path| path.ends_with("ct-0000.yaml")).unwrap();
    rename_file(&mut ringed, &path, ("ct-0000", "ct-0009"));
    ringed.publish();
    assert_eq!(places(&ringed, ONE), ["ct-0000", "ct-0001"]);
    // The ring names the place by its earlier name.
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    assert_eq!(places(&ringed, ONE), ["ct-0001", "ct-0009"]);
    assert_eq!(places(&ringed, OTHER), ["ct-0000", "ct-0001"]);
    let (reason, since) = ("it failed".into(), "1970-01-01T00:00:00Z".parse().unwrap());
    ringed.step(ONE, &mut rollout, |current| {
        current.phase = engine::promotion::state::MoveStage::RollingBack { reason, since };
    });
    assert_eq!(places(&ringed, ONE), ["ct-0000", "ct-0001"]);
}
