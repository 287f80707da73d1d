//! What changes wait for, and what people can do about it.

use engine::promotion::command::CommandKind;
use hub_api::promotions::Wait;

use crate::controller::{PULL_REQUEST, World};

/// The wait of `stage` for this: its text, its command with the role for it, and its page on the git host.
fn wait(world: &World, what: &str) -> [String; 3] {
    let subject = world.status("stage");
    let waits = subject.moving.map_or(subject.waiting_for, |moving| moving.waiting_for);
    let found = waits.iter().find(|wait| wait.what == what);
    let Wait { text, command, role, url, .. } = found.unwrap_or_else(|| panic!("{waits:?}")).clone();
    [text, [command, role].into_iter().flatten().collect::<Vec<_>>().join(", "), url.unwrap_or_default()]
}

#[test]
fn a_wait_names_the_pull_request_and_the_command_that_end_it() {
    let world = World::new(PULL_REQUEST, "    - name: people\n      approval: {count: 1}\n");
    world.settle();
    let found = world.chain.pull_requests().pop().unwrap();
    let url = found.url.clone();
    assert!(url.ends_with(&format!("/{}", found.number)), "{url}");
    let approve = "kalypso approve -e stage --gate people, approver";
    assert_eq!(wait(&world, "people")[1..], [approve.to_owned(), url.clone()]);
    for account in ["ann", "bob"] {
        world.chain.approve(found.number, account);
    }
    world.settle();
    assert_eq!(wait(&world, "write"), ["pull request 1 is not merged yet".to_owned(), String::new(), url]);
}

#[test]
fn what_a_person_stopped_names_the_command_that_lets_it_move() {
    let world = World::new(PULL_REQUEST, "");
    world.settle();
    world.command(CommandKind::Hold, "inventory").unwrap();
    world.settle();
    assert_eq!(wait(&world, "hold")[1], "kalypso resume -e stage, operator");
    world.command(CommandKind::Resume, "").unwrap();
    world.command(CommandKind::Abort, "a fix follows").unwrap();
    world.settle();
    let [text, command, _] = wait(&world, "rejected");
    assert!(text.contains("was rejected: abort by"), "{text}");
    assert_eq!(command, "kalypso retry -e stage, operator");
}
