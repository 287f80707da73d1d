//! Pull requests are merged, by a request or automatically.

use git_host::hosts::memory::BranchRule;
use git_host::pull_request::{AutoMerge, Merge, MergeRefusal, MergeRequest, PullRequest, PullRequestState};
use git_host::status::{CommitStatus, StatusState};
use model::git_id::GitId;

use crate::world::World;

/// The state of a required check of `main`.
fn require_check(world: &World) {
    let rule = BranchRule { required_status: Some("ci/test".to_owned()), required_review: false };
    world.state.state().repository(&world.path()).unwrap().rules.insert("main".to_owned(), rule);
}

fn check_succeeds(world: &World, commit: GitId) {
    let status = CommitStatus {
        context: "ci/test".to_owned(),
        state: StatusState::Success,
        description: String::new(),
        target_url: None,
    };
    world.state.state().repository(&world.path()).unwrap().set_status(commit, status).unwrap();
}

fn request(pull_request: &PullRequest) -> MergeRequest {
    MergeRequest::new(pull_request.head_commit.unwrap())
}

/// The reason why a merge is refused.
fn refusal(world: &World, pull_request: &PullRequest) -> MergeRefusal {
    match world.client.merge(&world.repository, pull_request.number, &request(pull_request)).unwrap() {
        Merge::Refused { reason, message } => {
            assert!(!message.is_empty());
            reason
        }
        merged @ Merge::Merged { .. } => panic!("{merged:?}"),
    }
}

pub(crate) fn a_merge_is_done_once(world: &World) {
    let open = world.open();
    let first = world.client.merge(&world.repository, open.number, &request(&open)).unwrap();
    let head = world.state.state().repository(&world.path()).unwrap().head("main");
    assert_eq!(first, Merge::Merged { commit: head });
    assert_eq!(world.read(open.number).state, PullRequestState::Merged { commit: head });
    let second = world.client.merge(&world.repository, open.number, &request(&open)).unwrap();
    assert_eq!(second, first);
    assert_eq!(world.state.state().repository(&world.path()).unwrap().head("main"), head);
}

pub(crate) fn only_the_known_commit_is_merged(world: &World) {
    let open = world.open();
    world.branches.push("kalypso/dev");
    assert_eq!(refusal(world, &open), MergeRefusal::HeadMoved);
    let auto = world.client.set_auto_merge(&world.repository, open.number, &request(&open)).unwrap();
    assert!(matches!(auto, AutoMerge::NotAvailable(_)), "{auto:?}");
    assert!(world.read(open.number).is_open());
}

pub(crate) fn a_conflict_is_no_error(world: &World) {
    let open = world.open();
    world.branches.set_conflict("kalypso/dev", "main", true);
    assert_eq!(refusal(world, &open), MergeRefusal::Conflict);
    world.branches.set_conflict("kalypso/dev", "main", false);
    let merged = world.client.merge(&world.repository, open.number, &request(&open)).unwrap();
    assert!(matches!(merged, Merge::Merged { .. }), "{merged:?}");
}

pub(crate) fn a_protected_branch_is_no_error(world: &World) {
    let rule = BranchRule { required_status: None, required_review: true };
    world.state.state().repository(&world.path()).unwrap().rules.insert("main".to_owned(), rule);
    let open = world.open();
    assert_eq!(refusal(world, &open), MergeRefusal::Blocked);
    world.state.state().repository(&world.path()).unwrap().approve(open.number).unwrap();
    let merged = world.client.merge(&world.repository, open.number, &request(&open)).unwrap();
    assert!(matches!(merged, Merge::Merged { .. }), "{merged:?}");
}

pub(crate) fn closed_pull_requests_are_not_merged(world: &World) {
    let open = world.open();
    world.client.close(&world.repository, open.number).unwrap();
    assert_eq!(refusal(world, &open), MergeRefusal::Closed);
}

pub(crate) fn an_automatic_merge_waits_for_the_checks(world: &World) {
    require_check(world);
    let open = world.open();
    for _ in 0..2 {
        let auto = world.client.set_auto_merge(&world.repository, open.number, &request(&open)).unwrap();
        assert_eq!(auto, AutoMerge::Enabled);
    }
    assert!(world.read(open.number).is_open());
    check_succeeds(world, open.head_commit.unwrap());
    assert!(matches!(world.read(open.number).state, PullRequestState::Merged { commit: Some(_) }));
}

pub(crate) fn an_automatic_merge_is_done_when_nothing_is_missing(world: &World) {
    let open = world.open();
    let auto = world.client.set_auto_merge(&world.repository, open.number, &request(&open)).unwrap();
    // Azure DevOps completes in the background.
    assert!(matches!(auto, AutoMerge::Merged { commit: Some(_) } | AutoMerge::Enabled), "{auto:?}");
    assert!(matches!(world.read(open.number).state, PullRequestState::Merged { .. }));
}

pub(crate) fn an_automatic_merge_is_withdrawn(world: &World) {
    require_check(world);
    let open = world.open();
    world.client.cancel_auto_merge(&world.repository, open.number).unwrap();
    let auto = world.client.set_auto_merge(&world.repository, open.number, &request(&open)).unwrap();
    assert_eq!(auto, AutoMerge::Enabled);
    for _ in 0..2 {
        world.client.cancel_auto_merge(&world.repository, open.number).unwrap();
    }
    check_succeeds(world, open.head_commit.unwrap());
    assert!(world.read(open.number).is_open());
}

pub(crate) fn an_automatic_merge_may_be_not_available(world: &World) {
    require_check(world);
    world.state.state().repository(&world.path()).unwrap().allows_auto_merge = false;
    let open = world.open();
    let auto = world.client.set_auto_merge(&world.repository, open.number, &request(&open)).unwrap();
    assert!(matches!(&auto, AutoMerge::NotAvailable(message) if !message.is_empty()), "{auto:?}");
    assert!(world.read(open.number).is_open());
}
