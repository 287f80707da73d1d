//! What changes wait for, and what people can do about it.

use delivery::promotion::controller::StepOutcome;
use engine::promotion::command::CommandKind;
use git::RepositoryUrl;
use git_host::HostError;
use hub_api::promotions::Wait;
use testkit::company::CONTROL_PLANE;

use crate::controller::{DIRECT, PULL_REQUEST, World};

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

/// What a step for `stage` could not write, and the wait for it.
fn refused(outcome: &StepOutcome) -> (Vec<String>, Option<Wait>) {
    let subject = outcome.status.as_ref().unwrap().subjects[0].clone();
    let waits = subject.moving.map_or(subject.waiting_for, |moving| moving.waiting_for);
    (outcome.refused.clone(), waits.into_iter().find(|wait| wait.what == "write"))
}

#[test]
fn refused_writes_are_shown_with_the_reason_and_retried() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    let second = world.chain.company.change_value("second");
    let protect = |reason| {
        let url = RepositoryUrl::from_object(CONTROL_PLANE).unwrap();
        world.chain.company.repositories.protect(&url, "stage", reason);
    };
    protect(Some("GH006: Protected branch update failed"));
    world.settle();
    for _ in 0..2 {
        let outcome = world.step("stage");
        let (found, wait) = refused(&outcome);
        assert!(outcome.is_moving && found[0].contains("GH006: Protected branch"), "{found:?}");
        assert_eq!((wait.unwrap().text, found.len()), (found[0].clone(), 1));
    }
    protect(None);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, second.to_string());
    assert_eq!(refused(&world.step("stage")).0, [""; 0]);
}

#[test]
fn refused_pull_requests_are_shown_with_the_reason_and_retried() {
    // Also a pull request for reviews, which waits for its gate.
    for gates in ["", "    - name: people\n      approval: {count: 1}\n"] {
        let world = World::new(PULL_REQUEST, gates);
        (0..4).for_each(|_| drop(world.step("dev")));
        let message = "Resource not accessible by personal access token".to_owned();
        let error = HostError::Refused { call: "POST /pulls".to_owned(), status: 403, message };
        world.chain.host.fail_next("open", error, false);
        let (found, wait) = refused(&world.step("stage"));
        assert!(found[0].contains("403: Resource not accessible"), "{gates}: {found:?}");
        assert_eq!(wait.unwrap().text, found[0]);
        assert_eq!(refused(&world.step("stage")).0, [""; 0]);
        assert_eq!(world.chain.pull_requests().len(), 1);
    }
}

#[test]
fn stopped_changes_name_the_command_to_continue() {
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
