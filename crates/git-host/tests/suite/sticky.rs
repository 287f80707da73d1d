//! Comments, issues, labels and statuses that are written again and again.

use git_host::HostKind;
use git_host::host::Reviews as _;
use git_host::issue::{IssueLabel, NewIssue};
use git_host::marker::Marker;
use git_host::pull_request::Comment;
use git_host::status::{CommitStatus, StatusState};
use git_host::sticky::{Put, Sticky};

use crate::world::{ACCOUNT, World};

fn marker() -> Marker {
    Marker::new("kalypso plan dev").unwrap()
}

fn sticky<'a>(world: &'a World, marker: &'a Marker) -> Sticky<'a> {
    Sticky { host: &*world.client, repository: &world.repository, marker }
}

fn put(world: &World, number: u64, body: &str) -> Put {
    sticky(world, &marker()).put_comment(number, body).unwrap()
}

fn comments(world: &World, number: u64) -> Vec<String> {
    let comments = world.client.comments(&world.repository, number).unwrap();
    comments.into_iter().map(|comment| comment.body).collect()
}

pub(crate) fn one_comment_is_updated_in_place(world: &World) {
    let number = world.open().number;
    assert_eq!(put(world, number, "first"), Put::Created);
    assert_eq!(put(world, number, "first"), Put::Unchanged);
    assert_eq!(put(world, number, "second"), Put::Updated);
    assert_eq!(comments(world, number), ["second\n\n<!-- kalypso plan dev -->"]);
    sticky(world, &marker()).retract_comment(number, "No changes.").unwrap();
    assert_eq!(comments(world, number), ["No changes.\n\n<!-- kalypso plan dev -->"]);
}

pub(crate) fn comments_of_others_never_count(world: &World) {
    let number = world.open().number;
    let mallory = world.state.with_account("mallory");
    let body = marker().added_to("a trap");
    mallory.create_comment(&world.repository, number, &body).unwrap();
    assert_eq!(put(world, number, "first"), Put::Created);
    assert_eq!(put(world, number, "second"), Put::Updated);
    assert_eq!(comments(world, number), [body, "second\n\n<!-- kalypso plan dev -->".to_owned()]);
    let foreign = world.client.comments(&world.repository, number).unwrap().remove(0);
    assert!(!foreign.is_own && foreign.author == "mallory");
    let changed = Comment { body: "mine".to_owned(), ..foreign };
    let error = world.client.update_comment(&world.repository, number, &changed).unwrap_err();
    assert!(error.is_denied(), "{error}");
}

pub(crate) fn status_can_be_set_repeatedly(world: &World) {
    let commit = world.open().head_commit.unwrap();
    let states = [StatusState::Pending, StatusState::Pending, StatusState::Failure, StatusState::Success];
    for state in states {
        let status = CommitStatus {
            context: "kalypso/dev".to_owned(),
            state,
            description: "x".repeat(300),
            target_url: Some("https://kalypso.example/dev".to_owned()),
        };
        world.client.set_status(&world.repository, commit, &status).unwrap();
        let found = world.state.state().repository(&world.path()).unwrap().statuses(commit);
        let expected = CommitStatus { description: format!("{}…", "x".repeat(139)), ..status };
        assert_eq!(found, [expected]);
    }
    let missing = model::git_id::GitId::of_object("commit", b"missing");
    let status = CommitStatus {
        context: "a".to_owned(),
        state: StatusState::Error,
        description: String::new(),
        target_url: None,
    };
    assert!(world.client.set_status(&world.repository, missing, &status).unwrap_err().is_not_found());
}

fn issue(body: &str) -> NewIssue {
    NewIssue {
        title: "dev: 2 assignments fail".to_owned(),
        body: body.to_owned(),
        labels: ["kalypso".to_owned()].into(),
    }
}

fn put_issue(world: &World, body: &str) -> Put {
    sticky(world, &marker()).put_issue(&issue(body)).unwrap()
}

/// The issues: whether they are open, and their bodies without the marker.
fn issues(world: &World) -> Vec<(bool, String)> {
    let issues = world.state.state().repository(&world.path()).unwrap().issues("kalypso", ACCOUNT);
    let body = |body: &str| body.replace("\n\n<!-- kalypso plan dev -->", "");
    issues.into_iter().map(|issue| (issue.is_open, body(&issue.body))).collect()
}

pub(crate) fn one_issue_is_opened_updated_and_closed(world: &World) {
    // A pull request with the same label is not an issue.
    let labels = ["kalypso".to_owned()].into();
    let new = git_host::pull_request::NewPullRequest { labels, ..crate::world::new() };
    world.client.open(&world.repository, &new).unwrap();
    let puts = ["line 3", "line 3", "line 4"].map(|body| put_issue(world, body));
    assert_eq!(puts, [Put::Created, Put::Unchanged, Put::Updated]);
    assert_eq!(issues(world), [(true, "line 4".to_owned())]);
    for _ in 0..2 {
        sticky(world, &marker()).close_issue("kalypso").unwrap();
        assert_eq!(issues(world), [(false, "*Resolved.*\n\nline 4".to_owned())]);
    }
    assert_eq!(put_issue(world, "line 4"), Put::Updated);
    assert_eq!(issues(world), [(true, "line 4".to_owned())]);
}

pub(crate) fn an_issue_closed_by_hand_stays_closed_until_it_changes(world: &World) {
    put_issue(world, "line 3");
    let number = world.client.issues(&world.repository, "kalypso").unwrap()[0].number;
    let closed = git_host::issue::IssueChanges { is_open: Some(false), ..git_host::issue::IssueChanges::default() };
    world.state.state().repository(&world.path()).unwrap().update_issue(number, &closed).unwrap();
    assert_eq!(put_issue(world, "line 3"), Put::Unchanged);
    assert_eq!(issues(world), [(false, "line 3".to_owned())]);
    assert_eq!(put_issue(world, "line 4"), Put::Updated);
    assert_eq!(issues(world), [(true, "line 4".to_owned())]);
}

pub(crate) fn a_label_is_created_once(world: &World) {
    let label = IssueLabel {
        name: "kalypso".to_owned(),
        color: "0e8a16".to_owned(),
        description: "Made by Kalypso".to_owned(),
    };
    for _ in 0..2 {
        world.client.ensure_label(&world.repository, &label).unwrap();
    }
    // On Azure DevOps, a label exists by its use.
    let expected = if world.kind() == HostKind::AzureDevOps { Vec::new() } else { vec![label] };
    assert_eq!(world.state.state().repository(&world.path()).unwrap().labels, expected);
}

pub(crate) fn the_account_and_the_default_branch_are_known(world: &World) {
    assert_eq!(world.client.account(&world.repository).unwrap(), ACCOUNT);
    assert_eq!(world.client.default_branch(&world.repository).unwrap(), "main");
}
