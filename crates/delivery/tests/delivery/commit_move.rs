//! How a commit of the main branch is written into an environment.

use delivery::promotion::controller::commit_move::{
    APPROVAL_LABEL, CommitMove, CommitProposals, Moved, Proposed, write,
};
use delivery::states::promoted_commit::PromotedCommit;
use git_host::pull_request::PullRequestState;
use model::git_id::GitId;
use model::object::promotion::ChangeDelivery;

use testkit::chain::environment;

use crate::chain::{Chain, name};

/// Writes a commit into `prod`, and returns what was done.
fn write_into(chain: &Chain, to: GitId, delivery: ChangeDelivery) -> String {
    write_after(chain, &chain.promoted("prod"), (to, delivery))
}

/// Writes a commit into `prod`, whose branch was read earlier, and returns what was done.
fn write_after(chain: &Chain, promoted: &PromotedCommit, (to, delivery): (GitId, ChangeDelivery)) -> String {
    let environment = &name("prod");
    let title = &format!("Promote {} to prod", to.short());
    let change = CommitMove { environment, promoted, to, delivery, title, body: "Why.", seconds: 2_000 };
    match write(&chain.access, Some(&chain.hosts), &change).unwrap() {
        Moved::Written => "written".to_owned(),
        Moved::Proposed(Proposed { branch, pull_request }) => format!("{branch} {}", pull_request.unwrap().number),
        Moved::Declined(link) => format!("declined {}", link.number),
        Moved::LostRace => "lost".to_owned(),
    }
}

#[test]
fn a_direct_promotion_is_one_commit() {
    let mut chain = Chain::new(&["prod"]);
    let before = chain.company.head("prod");
    let to = chain.company.change_value("second");
    assert_eq!(write_into(&chain, to, ChangeDelivery::Direct), "written");
    assert_eq!(chain.company.promoted("prod"), Some(to.to_string()));
    let after = chain.company.head("prod");
    assert_ne!(after, before);
    assert_eq!(write_into(&chain, to, ChangeDelivery::Direct), "written");
    assert_eq!(chain.company.head("prod"), after);
}

#[test]
fn a_pull_request_follows_the_commit_that_is_promoted() {
    let mut chain = Chain::new(&["prod"]);
    let second = chain.company.change_value("second");
    for _ in 0..2 {
        assert_eq!(write_into(&chain, second, ChangeDelivery::PullRequest), "kalypso-promote/prod 1");
    }
    chain.label(1, APPROVAL_LABEL);
    write_into(&chain, second, ChangeDelivery::PullRequest);
    assert!(chain.pull_requests()[0].labels.contains(APPROVAL_LABEL));
    let third = chain.company.change_value("third");
    assert_eq!(write_into(&chain, third, ChangeDelivery::PullRequest), "kalypso-promote/prod 1");
    // The label approved the other commit.
    assert!(!chain.pull_requests()[0].labels.contains(APPROVAL_LABEL));
    assert_eq!(chain.pull_requests()[0].title, format!("Promote {} to prod", third.short()));
    chain.merge(1);
    assert_eq!(chain.promoted("prod").commit, Some(third));
    assert_eq!(write_into(&chain, third, ChangeDelivery::PullRequest), "written");
}

#[test]
fn a_pull_request_that_was_merged_in_the_meantime_is_not_opened_again() {
    let mut chain = Chain::new(&["prod"]);
    let second = chain.company.change_value("second");
    let read = chain.promoted("prod");
    let propose = |chain: &Chain| write_after(chain, &read, (second, ChangeDelivery::PullRequest));
    assert_eq!(propose(&chain), "kalypso-promote/prod 1");
    chain.merge(1);
    assert_eq!(propose(&chain), "lost");
    assert_eq!(chain.pull_requests().len(), 1);
    // If a person takes the merge back, the commit is proposed again.
    chain.company.write_environment("prod", &environment("prod", read.commit));
    assert_eq!(write_into(&chain, second, ChangeDelivery::PullRequest), "kalypso-promote/prod 2");
}

#[test]
fn a_closed_pull_request_is_an_answer_for_its_commit_only() {
    let mut chain = Chain::new(&["prod"]);
    let second = chain.company.change_value("second");
    write_into(&chain, second, ChangeDelivery::PullRequest);
    chain.close(1);
    assert_eq!(write_into(&chain, second, ChangeDelivery::PullRequest), "declined 1");
    let third = chain.company.change_value("third");
    assert_eq!(write_into(&chain, third, ChangeDelivery::PullRequest), "kalypso-promote/prod 2");
}

#[test]
fn a_commit_that_moves_no_longer_is_withdrawn() {
    let mut chain = Chain::new(&["prod"]);
    let second = chain.company.change_value("second");
    write_into(&chain, second, ChangeDelivery::PullRequest);
    let (hosts, environment) = (Some(&chain.hosts), &name("prod"));
    let withdraw = |keep| {
        let promoted = &chain.promoted("prod");
        CommitProposals { hosts, environment, promoted }.withdraw(&chain.access, keep).unwrap()
    };
    let again = || withdraw(None);
    assert!(!withdraw(Some(second)));
    assert!(again());
    assert_eq!(chain.company.head("kalypso-promote/prod"), None);
    assert_eq!(chain.pull_requests()[0].state, PullRequestState::Closed);
    assert!(!again());
    // Its closed pull request is no answer of a person.
    assert_eq!(write_into(&chain, second, ChangeDelivery::PullRequest), "kalypso-promote/prod 2");
}
