//! Approvals of commits of the main branch: those of the authors of what moves do not count.

use engine::promotion::command::CommandKind;
use git_host::error::HostError;
use git_host::pull_request::NewPullRequest;

use crate::controller::{PULL_REQUEST, World};

/// Brings a value to the main branch by a merged pull request of an account.
fn merge_main(world: &mut World, value: &str, author: &str) {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {value}, labels: {{platform-config: \"true\"}}}}\ndata: {{A: {value}}}\n"
    );
    world.chain.company.propose_main(value, &format!("{value}.yaml"), &text);
    let (labels, reviewers) = Default::default();
    let (head, base) = (value.to_owned(), "main".to_owned());
    let new = NewPullRequest { head, base, title: value.to_owned(), body: String::new(), labels, reviewers };
    let number = world.chain.host.state().repository("acme/control-plane").unwrap().open(author, &new).unwrap();
    world.chain.merge(number);
}

fn gate(world: &World) -> String {
    let moving = world.status("stage").moving.unwrap();
    moving.gates.into_iter().find(|gate| gate.name == "people").unwrap().text
}

#[test]
fn no_author_of_any_commit_that_moves_approves_them() {
    let mut world = World::new(PULL_REQUEST, "    - name: people\n      approval: {count: 1}\n");
    world.settle();
    world.command(CommandKind::Skip { gate: "people".into() }, "the first one").unwrap();
    world.settle();
    let number = |world: &World| world.chain.pull_requests().last().unwrap().number;
    world.chain.merge(number(&world));
    world.settle();
    merge_main(&mut world, "first", "kai");
    merge_main(&mut world, "second", "lea");
    world.settle();
    assert_eq!(gate(&world), "0 of 1 approval");
    // Another process need not ask for the author of each commit again.
    world.restart();
    let down = HostError::Failed { call: "x".to_owned(), status: 502, message: "down".to_owned() };
    world.chain.host.fail_next("merged_pull_request", down, false);
    assert_eq!(gate(&world), "0 of 1 approval");
    let body = world.chain.pull_requests().last().unwrap().body.clone();
    let way = "\n→ `kalypso approve -e stage --gate people` (role `approver`), or a review of this pull request\n";
    assert!(body.contains(way), "{body}");
    // A step that writes nothing finds the pull request, too.
    let seen = world.look("stage").remove(0).moving.unwrap().waiting_for;
    let url = world.chain.pull_requests().last().unwrap().url.clone();
    assert!(seen.iter().any(|wait| wait.what == "people" && wait.url.as_ref() == Some(&url)), "{seen:?}");
    let number = number(&world);
    // The older of both commits moves along.
    world.chain.approve(number, "kai");
    world.chain.approve(number, "Lea");
    assert_eq!(gate(&world), "0 of 1 approval; not counted: kai (an author), lea (an author)");
    world.chain.approve(number, "bob");
    assert!(gate(&world).starts_with("1 of 1 approval (bob)"), "{}", gate(&world));
}
