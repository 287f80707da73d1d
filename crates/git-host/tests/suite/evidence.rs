//! What a host knows of a change: its approvals, its statuses, and its pull request.

use git_host::HostKind;
use git_host::pull_request::{MergeRequest, NewPullRequest, PullRequest};
use git_host::review::ReviewVerdict::{self, Approved, ChangesRequested, Commented, Dismissed};
use git_host::status::{CommitStatus, StatusState};
use model::git_id::GitId;

use crate::world::{ACCOUNT, World, new};

fn review(world: &World, number: u64, account: &str, verdict: ReviewVerdict) {
    world.state.state().repository(&world.path()).unwrap().review(account, number, verdict).unwrap();
}

/// The accounts that approve a pull request.
fn approvals(world: &World, number: u64) -> Vec<String> {
    let found = world.client.approvals(&world.repository, number).unwrap();
    found.into_iter().map(|approval| approval.account).collect()
}

pub(crate) fn the_latest_verdict_of_each_account_counts(world: &World) {
    let number = world.open().number;
    assert_eq!(approvals(world, number), [""; 0]);
    for (account, verdict) in [("bo", Approved), ("ana", Approved), ("ana", Commented), ("cy", ChangesRequested)] {
        review(world, number, account, verdict);
    }
    assert_eq!(approvals(world, number), ["ana", "bo"]);
    review(world, number, "ana", ChangesRequested);
    review(world, number, "bo", Dismissed);
    review(world, number, "cy", Approved);
    assert_eq!(approvals(world, number), ["cy"]);
    assert!(world.client.approvals(&world.repository, 99).unwrap_err().is_not_found());
}

pub(crate) fn an_approval_of_an_older_commit_does_not_count_where_it_is_known(world: &World) {
    let open = world.open();
    review(world, open.number, "ana", Approved);
    let names_commits = world.kind() != HostKind::AzureDevOps;
    let found = world.client.approvals(&world.repository, open.number).unwrap();
    assert_eq!(found[0].commit, open.head_commit.filter(|_| names_commits));
    world.branches.push("kalypso/dev");
    assert_eq!(approvals(world, open.number).is_empty(), names_commits);
    review(world, open.number, "ana", Approved);
    assert_eq!(approvals(world, open.number), ["ana"]);
}

pub(crate) fn a_withdrawal_on_a_later_page_counts(world: &World) {
    let number = world.open().number;
    review(world, number, "ana", Approved);
    (0..120).for_each(|_| review(world, number, "bo", Commented));
    review(world, number, "ana", Dismissed);
    assert_eq!(approvals(world, number), [""; 0]);
}

fn status(context: &str, state: StatusState) -> CommitStatus {
    CommitStatus { context: context.to_owned(), state, description: "3 assignments".to_owned(), target_url: None }
}

fn set_status(world: &World, account: &str, commit: GitId, status: CommitStatus) {
    world.state.state().repository(&world.path()).unwrap().set_status_as(account, commit, status).unwrap();
}

/// The statuses of a commit: context, account and state.
fn statuses(world: &World, commit: GitId) -> Vec<(String, String, StatusState)> {
    let found = world.client.commit_statuses(&world.repository, commit).unwrap();
    found.into_iter().map(|found| (found.status.context, found.account, found.status.state)).collect()
}

pub(crate) fn the_last_status_of_each_account_is_read(world: &World) {
    let commit = world.open().head_commit.unwrap();
    set_status(world, "bot", commit, status("proved/dev", StatusState::Failure));
    (0..120).for_each(|number| set_status(world, "ci", commit, status(&format!("ci/{number}"), StatusState::Pending)));
    set_status(world, "bot", commit, status("proved/dev", StatusState::Success));
    set_status(world, "mallory", commit, status("proved/dev", StatusState::Failure));
    let found = statuses(world, commit);
    assert_eq!(found.len(), 122);
    let proved = |account: &str, state| ("proved/dev".to_owned(), account.to_owned(), state);
    assert_eq!(found[120..], [proved("bot", StatusState::Success), proved("mallory", StatusState::Failure)]);
}

pub(crate) fn a_status_has_the_account_of_the_client(world: &World) {
    let commit = world.open().head_commit.unwrap();
    let (context, description) = ("kalypso/dev".to_owned(), "3 assignments".to_owned());
    let target_url = Some("https://kalypso.example/dev".to_owned());
    let status = CommitStatus { context, state: StatusState::Success, description, target_url };
    world.client.set_status(&world.repository, commit, &status).unwrap();
    let found = world.client.commit_statuses(&world.repository, commit).unwrap();
    assert!(found.len() == 1 && found[0].account == ACCOUNT && found[0].status == status, "{found:?}");
}

/// Merges a pull request, and returns the commit of the target branch.
fn merge(world: &World, open: &PullRequest) -> GitId {
    let request = MergeRequest::new(open.head_commit.unwrap());
    world.client.merge(&world.repository, open.number, &request).unwrap();
    world.state.state().repository(&world.path()).unwrap().head(&open.base).unwrap()
}

fn merged(world: &World, commit: GitId, base: &str) -> Option<u64> {
    let found = world.client.merged_pull_request(&world.repository, commit, base).unwrap();
    found.map(|found| found.number)
}

pub(crate) fn the_pull_request_of_a_commit_is_the_merged_one(world: &World) {
    let open = world.open();
    let head = open.head_commit.unwrap();
    assert_eq!(merged(world, head, "main"), None);
    let merge = merge(world, &open);
    assert_eq!((merged(world, merge, "main"), merged(world, merge, "release")), (Some(open.number), None));
    // Gitea knows the merges only.
    let expected = Some(open.number).filter(|_| world.kind() != HostKind::Gitea);
    assert_eq!(merged(world, head, "main"), expected);
    let author = world.client.merged_pull_request(&world.repository, merge, "main").unwrap().unwrap().author;
    assert_eq!(author, ACCOUNT);
}

pub(crate) fn a_pushed_commit_has_no_pull_request(world: &World) {
    let pushed = world.branches.push("main");
    assert_eq!(merged(world, pushed, "main"), None);
}

pub(crate) fn commit_belongs_to_its_first_merge_into_the_branch(world: &World) {
    let first = world.open();
    merge(world, &first);
    world.branches.reset("again", "kalypso/dev");
    let second = NewPullRequest { head: "again".to_owned(), ..new() };
    let second = world.client.open(&world.repository, &second).unwrap().pull_request;
    let merge = merge(world, &second);
    assert_eq!(merged(world, merge, "main"), Some(second.number));
    if world.kind() != HostKind::Gitea {
        assert_eq!(merged(world, first.head_commit.unwrap(), "main"), Some(first.number));
    }
}
