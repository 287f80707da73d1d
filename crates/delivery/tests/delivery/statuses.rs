//! Commit statuses as evidence, where there is no hub.

use git_host::status::{CommitStatus, StatusState};
use model::git_id::GitId;

use crate::controller::{DIRECT, World};

/// A world without a hub, in which the statuses of `ci-bot` count.
fn world() -> World {
    let mut world = World::new(DIRECT, "");
    world.has_hub = false;
    world.status_accounts = ["ci-bot".to_owned()].into();
    // Both prove what they began with, and then the head of the main branch.
    for _ in 0..3 {
        world.settle();
        let at = world.at("dev");
        ["dev", "stage"].iter().for_each(|name| report(&world, "ci-bot", at, status(name, StatusState::Success)));
    }
    world.settle();
    assert_eq!(world.status("stage").moving, None);
    world
}

fn status(environment: &str, state: StatusState) -> CommitStatus {
    let context = format!("{environment} environment");
    CommitStatus { context, state, description: "as its tests say".to_owned(), target_url: None }
}

fn report(world: &World, account: &str, commit: GitId, status: CommitStatus) {
    let mut hosted = world.chain.host.state();
    hosted.repository("acme/control-plane").unwrap().set_status_as(account, commit, status).unwrap();
}

#[test]
fn a_success_of_an_account_that_counts_lets_a_published_commit_move_on() {
    let mut world = world();
    let second = world.chain.company.change_value("second");
    // A status of a commit that `dev` has not published yet is no evidence.
    report(&world, "ci-bot", second, status("dev", StatusState::Success));
    let first = world.at("stage");
    world.step("stage");
    assert_eq!(world.at("stage"), first);
    world.settle();
    assert_eq!(world.at("stage"), second);
}

#[test]
fn other_accounts_and_other_states_prove_nothing() {
    let mut world = world();
    let second = world.chain.company.change_value("second");
    report(&world, "mallory", second, status("dev", StatusState::Success));
    world.settle();
    let none =
        "the state of the fleet is not known: no trusted account reported a status `dev environment` of the commit";
    assert_eq!(world.waits("stage"), format!("compliant: {none}"));
    report(&world, "ci-bot", second, status("dev", StatusState::Failure));
    assert_eq!(
        world.waits("stage"),
        "compliant: the state of the fleet is not known: `ci-bot` reported `dev environment`: as its tests say"
    );
    // A success elsewhere says nothing about `dev`.
    report(&world, "ci-bot", second, status("stage", StatusState::Success));
    world.settle();
    assert_ne!(world.at("stage"), second);
    report(&world, "ci-bot", second, status("dev", StatusState::Success));
    world.settle();
    assert_eq!(world.at("stage"), second);
}

#[test]
fn hub_evidence_replaces_commit_statuses() {
    let mut world = world();
    world.has_hub = true;
    let second = world.chain.company.change_value("second");
    report(&world, "ci-bot", second, status("dev", StatusState::Success));
    world.report("dev", 2, 0);
    world.settle();
    assert_eq!(world.waits("stage"), "compliant: 2 of 3 reconcilers applied the change, 100% are needed");
}

#[test]
fn commit_waits_with_a_reason_without_a_hub() {
    let mut world = World::new(DIRECT, "");
    world.has_hub = false;
    world.chain.company.change_value("second");
    world.settle();
    assert!(world.waits("stage").contains("no hub is configured"), "{}", world.waits("stage"));
}
