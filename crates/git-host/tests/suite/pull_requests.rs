//! Pull requests are opened, found, changed and closed.

use std::collections::BTreeSet;

use git_host::HostKind;
use git_host::error::HostError;
use git_host::issue::IssueLabel;
use git_host::pull_request::{
    NewPullRequest, PullRequestChanges, PullRequestQuery, PullRequestState, PullRequestStates, Reviewer,
};

use crate::world::{ACCOUNT, World, new};

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) fn pull_request_is_opened(world: &World) {
    let (labels, reviewers) = (names(&["kalypso", "promoted"]), vec![Reviewer::User("anna".to_owned())]);
    let opened = world.client.open(&world.repository, &NewPullRequest { labels, reviewers, ..new() }).unwrap();
    assert!(opened.is_new && opened.incomplete.is_empty(), "{opened:?}");
    let found = world.read(opened.pull_request.number);
    assert_eq!(found, opened.pull_request);
    assert_eq!((found.head.as_str(), found.base.as_str()), ("kalypso/dev", "main"));
    assert_eq!((found.title, found.body), (new().title, new().body));
    assert_eq!((found.labels, found.author.as_str()), (names(&["kalypso", "promoted"]), ACCOUNT));
    let head = world.state.state().repository(&world.path()).unwrap().head("kalypso/dev");
    assert!(head.is_some() && found.head_commit == head);
    assert!(found.state == PullRequestState::Open && !found.is_from_fork && !found.is_auto_merge);
    assert!(found.url.ends_with(&found.number.to_string()), "{}", found.url);
    assert_eq!(world.state.state().repository(&world.path()).unwrap().reviewers(found.number).unwrap().len(), 1);
}

pub(crate) fn open_pull_request_is_returned_instead_of_a_second(world: &World) {
    let first = world.open();
    let other = NewPullRequest { title: "another title".to_owned(), ..new() };
    let second = world.client.open(&world.repository, &other).unwrap();
    assert!(!second.is_new && second.pull_request == first, "{second:?}");
}

pub(crate) fn concurrent_threads_open_one_pull_request(world: &World) {
    let numbers: BTreeSet<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| world.open().number)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), world.found(&PullRequestQuery::default()));
    assert_eq!(world.found(&PullRequestQuery::default()).len(), 1);
}

pub(crate) fn a_superseded_change_keeps_its_number(world: &World) {
    let number = world.open().number;
    let commit = world.branches.push("kalypso/dev");
    let changes = PullRequestChanges {
        title: Some("dev: 4 assignments".to_owned()),
        body: Some("new plan".to_owned()),
        ..PullRequestChanges::default()
    };
    world.client.update(&world.repository, number, &changes).unwrap();
    let found = world.read(number);
    assert_eq!(
        (found.title.as_str(), found.body.as_str(), found.head_commit),
        ("dev: 4 assignments", "new plan", Some(commit))
    );
    assert_eq!(world.found(&PullRequestQuery::between("kalypso/dev", "main")), [number]);
}

pub(crate) fn missing_and_equal_branches_are_refused(world: &World) {
    for (head, base) in [("missing", "main"), ("kalypso/dev", "missing"), ("main", "main")] {
        let new = NewPullRequest { head: head.to_owned(), base: base.to_owned(), ..new() };
        let error = world.client.open(&world.repository, &new).unwrap_err();
        assert!(matches!(error.status(), Some(400 | 404 | 422)), "{error}");
        assert!(!error.is_temporary() && !error.may_be_done(), "{error}");
    }
    assert_eq!(world.found(&PullRequestQuery::default()), [0; 0]);
}

pub(crate) fn a_missing_label_is_created(world: &World) {
    let number = world.open().number;
    let changes = PullRequestChanges { add_labels: names(&["needs-confirmation"]), ..PullRequestChanges::default() };
    for _ in 0..2 {
        world.client.update(&world.repository, number, &changes).unwrap();
        assert_eq!(world.read(number).labels, names(&["needs-confirmation"]));
    }
    assert_eq!(world.state.state().repository(&world.path()).unwrap().labels.len(), 1);
}

pub(crate) fn labels_of_users_are_kept(world: &World) {
    let number = world.open().number;
    {
        let mut state = world.state.state();
        let repository = state.repository(&world.path()).unwrap();
        repository.ensure_labels(&names(&["urgent", "kalypso"]));
        let changes = PullRequestChanges { add_labels: names(&["urgent"]), ..PullRequestChanges::default() };
        repository.update(number, &changes).unwrap();
    }
    let add = PullRequestChanges { add_labels: names(&["kalypso"]), ..PullRequestChanges::default() };
    world.client.update(&world.repository, number, &add).unwrap();
    assert_eq!(world.read(number).labels, names(&["kalypso", "urgent"]));
    let remove = PullRequestChanges { remove_labels: names(&["kalypso", "absent"]), ..PullRequestChanges::default() };
    world.client.update(&world.repository, number, &remove).unwrap();
    assert_eq!(world.read(number).labels, names(&["urgent"]));
}

pub(crate) fn author_of_a_label_is_known_or_reported_as_unknown(world: &World) {
    let number = world.open().number;
    let add = |account: &str| {
        let mut state = world.state.state();
        let repository = state.repository(&world.path()).unwrap();
        let add_labels = names(&["kalypso-confirm-1"]);
        repository.ensure_labels(&add_labels);
        let changes = PullRequestChanges { add_labels, ..PullRequestChanges::default() };
        repository.update_as(account, number, &changes).unwrap();
    };
    add("mallory");
    add("anna");
    let author = |label| world.client.label_author(&world.repository, number, label);
    if world.kind() == HostKind::AzureDevOps {
        assert!(matches!(author("x"), Err(HostError::NotSupported { .. })));
        return;
    }
    assert_eq!(author("kalypso-confirm-1").unwrap().as_deref(), Some("anna"));
    assert_eq!(author("kalypso-confirm-2").unwrap(), None);
    assert!(world.client.label_author(&world.repository, 99, "x").unwrap_err().is_not_found());
}

pub(crate) fn manually_closed_pull_request_is_detected(world: &World) {
    let number = world.open().number;
    world.state.state().repository(&world.path()).unwrap().close(number).unwrap();
    assert_eq!(world.read(number).state, PullRequestState::Closed);
    let open = PullRequestQuery::between("kalypso/dev", "main");
    assert_eq!(world.found(&open), [0; 0]);
    assert_eq!(world.found(&PullRequestQuery { states: PullRequestStates::All, ..open }), [number]);
    let again = world.open();
    assert!(again.number != number && again.is_open());
}

pub(crate) fn closing_is_idempotent(world: &World) {
    let number = world.open().number;
    for _ in 0..2 {
        world.client.close(&world.repository, number).unwrap();
        assert_eq!(world.read(number).state, PullRequestState::Closed);
    }
    let merged = world.open();
    world.state.state().repository(&world.path()).unwrap().merge(merged.number, merged.head_commit.unwrap()).unwrap();
    world.client.close(&world.repository, merged.number).unwrap();
    assert!(matches!(world.read(merged.number).state, PullRequestState::Merged { .. }));
}

pub(crate) fn a_deleted_branch_does_not_block_the_next_one(world: &World) {
    let number = world.open().number;
    world.branches.delete("kalypso/dev");
    let found = world.read(number);
    assert_eq!(found.head, "kalypso/dev");
    let closes = matches!(world.kind(), HostKind::GitHub | HostKind::Gitea);
    assert_eq!(found.is_open(), !closes);
    world.branches.push("kalypso/dev");
    let again = world.open();
    assert!(again.is_open() && (again.number == number) != closes, "{again:?}");
}

pub(crate) fn pull_requests_of_forks_are_never_taken_for_own_ones(world: &World) {
    let fork = world.state.state().repository(&world.path()).unwrap().open_from_fork("mallory", &new());
    let query = PullRequestQuery::between("kalypso/dev", "main");
    assert_eq!(world.found(&query), [0; 0]);
    let all = world.client.pull_requests(&world.repository, &PullRequestQuery::default()).unwrap();
    assert!(all.len() == 1 && all[0].is_from_fork && all[0].author == "mallory", "{all:?}");
    let own = world.open();
    assert!(own.number != fork && !own.is_from_fork);
    assert_eq!(world.found(&query), [own.number]);
}

pub(crate) fn all_pages_are_read(world: &World) {
    let heads: Vec<String> = (0..120).map(|number| format!("kalypso/env-{number}")).collect();
    for head in &heads {
        world.branches.push(head);
        let new = NewPullRequest { head: head.clone(), ..new() };
        world.state.state().repository(&world.path()).unwrap().open(ACCOUNT, &new).unwrap();
    }
    let found = world.found(&PullRequestQuery::default());
    assert_eq!(found, (1..=120).collect::<Vec<u64>>());
    assert_eq!(world.found(&PullRequestQuery { head: Some(heads[99].clone()), ..PullRequestQuery::default() }), [100]);
}

pub(crate) fn long_bodies_are_complete(world: &World) {
    let body = "ä".repeat(world.client.text_limits().body.min(4_000));
    world.client.open(&world.repository, &NewPullRequest { body: body.clone(), ..new() }).unwrap();
    let found = world.client.pull_requests(&world.repository, &PullRequestQuery::default()).unwrap();
    assert_eq!(found[0].body, body);
}

pub(crate) fn missing_objects_are_not_found(world: &World) {
    let error = world.client.pull_request(&world.repository, 99).unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("the token can't see it"), "{error}");
    assert!(world.client.close(&world.repository, 99).unwrap_err().is_not_found());
    assert!(world.client.create_comment(&world.repository, 99, "text").unwrap_err().is_not_found());
    let label = IssueLabel {
        name: "kalypso".to_owned(),
        color: "0e8a16".to_owned(),
        description: "Made by Kalypso".to_owned(),
    };
    world.client.ensure_label(&world.repository, &label).unwrap();
}
