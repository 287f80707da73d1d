//! Reviews of pull requests, and the approvals among them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::git_id::GitId;

/// An approval of a pull request by an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewApproval {
    /// The name of the account. On Azure DevOps, the id of an identity.
    pub account: String,
    /// When the account approved. None if the host does not say it, such as Azure DevOps.
    pub at: Option<Timestamp>,
    /// The commit that was approved: the head of the source branch. None on Azure DevOps and on GitLab before version 18, which do not say it. They withdraw
    /// approvals when the source branch moves, if the repository is configured so.
    pub commit: Option<GitId>,
}

/// The verdict of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// The change is approved.
    Approved,
    /// The change must change.
    ChangesRequested,
    /// A comment only. An earlier verdict of the account stays valid.
    Commented,
    /// The verdict was withdrawn.
    Dismissed,
}

/// A review of a pull request.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    pub(crate) account: String,
    pub(crate) verdict: ReviewVerdict,
    pub(crate) at: Option<Timestamp>,
    /// The head of the source branch at that time.
    pub(crate) commit: Option<GitId>,
}

/// The approvals among reviews, by account. Only the latest verdict of each account counts, and only if it is about the head of the source branch.
pub(crate) fn approvals(mut reviews: Vec<Review>, head: Option<GitId>) -> Vec<ReviewApproval> {
    // The order of the host stays among reviews of the same time.
    reviews.sort_by_key(|review| review.at);
    let verdicts = reviews.into_iter().filter(|review| review.verdict != ReviewVerdict::Commented);
    let latest: BTreeMap<String, Review> = verdicts.map(|review| (review.account.clone(), review)).collect();
    let approved = latest.into_values().filter(|review| review.verdict == ReviewVerdict::Approved);
    let current = approved.filter(|review| review.commit.is_some() && review.commit == head);
    current.map(|Review { account, at, commit, .. }| ReviewApproval { account, at, commit }).collect()
}

/// The time in a host's answer. None if there is none.
pub(crate) fn timestamp(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The accounts that approve the commit `b`, from reviews `account verdict commit second`.
    fn check(reviews: &[&str]) -> Vec<String> {
        let commit = |name: &str| GitId::of_object("commit", name.as_bytes());
        let review = |text: &&str| {
            let words: Vec<&str> = text.split(' ').collect();
            let verdict = match words[1] {
                "approves" => ReviewVerdict::Approved,
                "comments" => ReviewVerdict::Commented,
                "withdraws" => ReviewVerdict::Dismissed,
                _ => ReviewVerdict::ChangesRequested,
            };
            let at = words.get(3).map(|second| Timestamp::from_second(second.parse().unwrap()).unwrap());
            Review { account: words[0].to_owned(), verdict, at, commit: Some(commit(words[2])) }
        };
        let approvals = approvals(reviews.iter().map(review).collect(), Some(commit("b")));
        approvals.into_iter().map(|approval| approval.account).collect()
    }

    #[test]
    fn the_latest_verdict_of_each_account_counts() {
        assert_eq!(check(&["bo approves b", "ana approves b"]), ["ana", "bo"]);
        assert_eq!(check(&["ana approves b", "ana refuses b"]), [""; 0]);
        assert_eq!(check(&["ana refuses b", "ana approves b"]), ["ana"]);
        assert_eq!(check(&["ana approves b", "ana comments b"]), ["ana"]);
        assert_eq!(check(&["ana approves b", "ana withdraws b"]), [""; 0]);
    }

    #[test]
    fn an_approval_of_an_older_commit_does_not_count() {
        assert_eq!(check(&["ana approves a"]), [""; 0]);
        assert_eq!(check(&["ana approves b", "ana refuses a"]), [""; 0]);
    }

    #[test]
    fn latest_verdict_is_chosen_by_time() {
        assert_eq!(check(&["ana refuses b 2", "ana approves b 1"]), [""; 0]);
    }
}
