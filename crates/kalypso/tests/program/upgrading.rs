//! A platform of the version before admission that is upgraded in the middle of a rollout.
//!
//! The repositories in `fixtures/before-admission.bundle` were made by the program of commit `deddb41e`, the last one whose states do not say what is admitted. Its
//! service ran with a clock of May 2024 (`faketime -f -934d`), over the platform of [`crate::promotion_world`] with the promotions and workloads that are in the
//! fixture, and clusters reported each commit with `kalypso report`:
//!
//! ```text
//! kalypso skip -e prod WORKLOAD --gate released --reason first    for each workload, until prod had proved the first commit
//!     bakery names 1.1.0 for dev
//! kalypso abort -e prod bakery --reason 'burnt bread'             when 1.1.0 waited before prod
//!     bakery names 2.0.0 for dev
//! kalypso approve -e prod bakery                                  by ann only, so 2.0.0 has 1 of 2 approvals
//! kalypso hold -e prod cafe --reason 'waits for beans'
//!     a commit of main changes VALUE from first to second
//! kalypso approve -e prod                                         by ann and by bob
//! ```
//!
//! It was stopped when `shop` and `bakery` had the second commit in the ring `canary`, whose gate `released` waited. Then, in an empty repository:
//!
//! ```text
//! git fetch REPOSITORY.git '+refs/heads/*:refs/REPOSITORY/*'      for control-plane, gitops and bakery
//! git bundle create before-admission.bundle --all
//! ```

use std::fs;

use serde_json::Value as Json;
use testkit::objects;

use crate::company::{Company, Ran, git};
use crate::promotion_world::{ENVIRONMENTS, PROMOTIONS, World};

/// The branch with the states of `prod`.
const STATES: &str = "kalypso-rollouts/prod";

/// The repositories as the version before left them.
fn company() -> Company {
    let company = Company::empty();
    let bundle = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/fixtures/before-admission.bundle");
    for name in ["control-plane", "gitops", "bakery"] {
        let branches = format!("+refs/{name}/*:refs/heads/*");
        git(&company.repository(name), &["fetch", "--quiet", bundle, &branches]);
    }
    company
}

/// All files that clusters of an environment pull, with their ids.
fn published(company: &Company) -> [String; 3] {
    ENVIRONMENTS.map(|branch| git(&company.repository("gitops"), &["ls-tree", "-r", branch]))
}

/// The values of a workload at a cluster of `prod`.
fn values(world: &World, workload: &str, cluster: &str) -> String {
    world.company.file("gitops", "prod", &format!("{cluster}/{workload}-prod/platform-config.yaml"))
}

/// What `prod` has of this name: the release first, then what moves through the rings.
fn subjects(world: &World, name: &str) -> Vec<Json> {
    let graph = world.run("rollout status -e prod -o json").ends(0).json();
    let all = graph["environments"][0]["subjects"].as_array().unwrap();
    all.iter().filter(|subject| subject["subject"] == name).cloned().collect()
}

fn says_what_was_decided_before(world: &World) {
    let platform = world.platform("prod");
    let first = git(&world.company.repository("control-plane"), &["rev-parse", "main~1"]);
    let second = world.company.head("control-plane", "main").unwrap();
    assert_eq!([&platform["proved"]["revision"], &platform["at"]], [first.as_str(), second.as_str()], "{platform}");
    for workload in ["shop", "bakery"] {
        let moving = subjects(world, workload).pop().unwrap()["moving"].clone();
        assert_eq!([0, 1].map(|ring| &moving["rings"][ring]["released"]), [1, 0], "{workload}: {moving}");
    }
    let cafe = &subjects(world, "cafe")[0];
    assert_eq!([&cafe["hold"]["by"], &cafe["hold"]["reason"]], ["ann-smith", "waits for beans"], "{cafe}");
    let bakery = &subjects(world, "bakery")[0];
    assert_eq!([&bakery["proved"]["revision"], &bakery["at"]], ["1.0.0", "1.0.0"], "{bakery}");
    assert_eq!([&bakery["rejected"], &bakery["rejectedBecause"]], ["1.1.0", "abort by ann-smith: burnt bread"]);
    assert_eq!(bakery["moving"]["revision"], "2.0.0", "{bakery}");
    world.run("rollout status -e prod").ends(0).says(&["waiting  managers: 1 of 2 approvals (ann-smith)"]);
    world.run("check -e prod").ends(0).says(&["`gates` of the ring `canary` is read as `prove`", "nothing wrong"]);
}

/// The present service over the repositories. It has recorded what is admitted, and clusters have reported.
fn upgraded(company: Company) -> World {
    let world = World::start(company, None);
    let is_recorded = || world.company.files("control-plane", STATES).contains("admitted-promotion.yaml");
    let is_applied = || world.run("rollout status shop -e prod").out.contains("passed   compliant: 1 of 1");
    world.until("the admission and the reports of the canary", || is_recorded() && is_applied());
    world
}

/// A person lets a workload through to the ring after `canary`.
fn release(world: &World, workload: &str) {
    world.run(&format!("skip -e prod {workload} --gate released --reason tested")).ends(0);
}

/// Writes a value into `prod`, which two people approve.
fn write_value(world: &World) {
    let value = objects::config("urgent", "", "URGENT: now");
    world.company.change("control-plane@prod", "urgent.yaml", &value);
    let is_asked_for = || !subjects(world, "values").is_empty();
    world.until("the wait for approvals", is_asked_for);
    assert!(!values(world, "shop", "east").contains("URGENT"));
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod values", person)).ends(0);
    }
    world.until("the value in the canary", || values(world, "shop", "east").contains("URGENT"));
    assert!(!values(world, "shop", "west").contains("URGENT"));
}

#[test]
fn an_upgrade_in_the_middle_of_a_rollout_publishes_nothing_and_forgets_no_decision() {
    let company = company();
    let before = published(&company);
    let world = upgraded(company);
    says_what_was_decided_before(&world);
    world.run("publish -e prod --direct").says(&["Nothing to do: gitops@prod is up to date"]);
    assert_eq!(published(&world.company), before);
}

#[test]
fn rollout_continues_through_the_rings_after_an_upgrade() {
    let world = upgraded(company());
    let second = world.company.head("control-plane", "main").unwrap();
    release(&world, "shop");
    world.until("the rest", || values(&world, "shop", "west").contains("second"));
    assert!(["east", "west"].iter().all(|cluster| values(&world, "cafe", cluster).contains("first")), "it is held");
    assert!(values(&world, "bakery", "west").contains("first"), "its canary waits");
    release(&world, "bakery");
    world.run("resume -e prod cafe").ends(0);
    world.until("the canary of what was held", || values(&world, "cafe", "east").contains("second"));
    assert!(values(&world, "cafe", "west").contains("first"));
    release(&world, "cafe");
    world.until("the proof in prod", || world.proves("prod", &second));
    assert!(["cafe", "bakery"].iter().all(|workload| values(&world, workload, "west").contains("second")));

    // One approval of the release was missing.
    Ran::new(&mut world.command("approve -e prod bakery", 1)).ends(0).says(&["bakery 2.0.0: approve for the gate"]);
    let tag = |cluster: &str| world.company.file("gitops", "prod", &format!("{cluster}/bakery-prod/reconciler.yaml"));
    world.until("the release in the canary", || tag("east").contains("2.0.0"));
    assert!(tag("west").contains("1.0.0"));

    write_value(&world);
    release(&world, "shop");
    world.until("the value in the rest", || values(&world, "shop", "west").contains("URGENT"));
}

#[test]
fn an_urgent_value_after_an_upgrade_passes_the_commit_that_is_half_way() {
    let world = upgraded(company());
    write_value(&world);
    release(&world, "shop");
    world.until("the value in the rest", || values(&world, "shop", "west").contains("URGENT"));
    let [east, west] = ["east", "west"].map(|cluster| values(&world, "shop", cluster));
    assert!(east.contains("second") && west.contains("first"), "{east}{west}");
}

/// A publication of `stage` by another version, which rendered the manifests of both clusters with another first line.
fn publish_as_another_version(company: &Company) {
    let clone = company.path("another-version");
    let folder = clone.to_str().unwrap();
    git(&company.path("."), &["clone", "--quiet", "--branch", "stage", "served/gitops.git", folder]);
    for cluster in ["east", "west"] {
        let path = clone.join(cluster).join("shop-stage/reconciler.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{OTHER_LINE}{text}")).unwrap();
    }
    let message = git(&clone, &["log", "-1", "--format=%B"]);
    let lines: Vec<_> = message.lines().filter(|line| !line.starts_with("Kalypso-Renderer:")).collect();
    let message = format!("{}\nKalypso-Renderer: 0.0.9-0123456789ab\n", lines.join("\n"));
    let person = ["-c", "user.name=Kalypso", "-c", "user.email=kalypso@example.com"];
    git(&clone, &[&person[..], &["commit", "--quiet", "--all", "-m", &message]].concat());
    git(&clone, &["push", "--quiet", "origin", "HEAD:stage"]);
}

const OTHER_LINE: &str = "# As another version renders it.\n";

#[test]
fn a_version_that_renders_other_bytes_waits_for_the_gates_of_commits() {
    let managers = "{name: managers, approval: {count: 1}, for: [main]}";
    let gates = "gates: [{name: compliant, compliant: {share: 100%}}]";
    let promotions = PROMOTIONS.replace(gates, &gates.replace(']', &format!(", {managers}]")));
    let world = World::with(None, &promotions);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in stage", || world.proves("stage", &first));
    publish_as_another_version(&world.company);
    let manifest =
        |cluster: &str| world.company.file("gitops", "stage", &format!("{cluster}/shop-stage/reconciler.yaml"));
    world.until("the new version before stage", || {
        world.run("rollout status -e stage").out.contains("kalypso/renderer")
    });
    world.run("rollout status -e stage").ends(0).says(&["managers: 0 of 2 approvals"]);
    let publish = world.run("publish -e stage").ends(1);
    publish.says(&["kalypso/renderer", "changes 2 folders", "`managers`"]);
    // A value waits for the version, which changes both folders.
    world.company.change("control-plane@stage", "own.yaml", &objects::config("own", "", "OWN: value"));
    world.run("check -e stage").ends(0).says(&["of kalypso/renderer waits before `stage`"]);
    assert!(["east", "west"].iter().all(|cluster| manifest(cluster).starts_with(OTHER_LINE)));
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e stage kalypso/renderer", person))
            .ends(0)
            .says(&["approve for the gate"]);
    }
    world.until("the new version in stage", || !manifest("east").starts_with(OTHER_LINE));
    assert!(!manifest("west").starts_with(OTHER_LINE));
    world.until("the value", || world.value("stage", "west").contains("OWN: value"));
    world.until("the proof of the version", || {
        let graph = world.run("rollout status -e stage -o json").ends(0).json();
        let subjects = graph["environments"][0]["subjects"].as_array().unwrap().clone();
        let renderer = subjects.into_iter().find(|subject| subject["subject"] == "kalypso/renderer");
        renderer.is_some_and(|found| found["proved"]["revision"].is_string() && found["moving"].is_null())
    });
    world.run("check -e stage").ends(0).says(&["nothing wrong"]);
}
