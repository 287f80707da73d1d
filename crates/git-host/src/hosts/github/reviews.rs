//! The reviews of pull requests on GitHub.

use serde_json::json;

use super::json::CommentJson;
use super::{GitHub, path};
use crate::error::HostError;
use crate::host::Reviews;
use crate::hosts::json::ReviewJson;
use crate::pull_request::Comment;
use crate::repository::HostRepository;
use crate::review::{self, ReviewApproval, ReviewVerdict};
use crate::transport::Call;

impl Reviews for GitHub {
    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<ReviewApproval>, HostError> {
        let head = self.read_pull_request(repository, number)?.into_pull_request().head_commit;
        let call = Call::get(&path(repository, &["pulls", &number.to_string(), "reviews"]));
        let found: Vec<ReviewJson> = self.list(repository, &call)?;
        Ok(review::approvals(found.into_iter().filter_map(|found| found.into_review(verdict)).collect(), head))
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Call::get(&path(repository, &["issues", &number.to_string(), "comments"]));
        let found: Vec<CommentJson> = self.list(repository, &call)?;
        Ok(found.into_iter().map(|comment| comment.into_comment(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        let number = number.to_string();
        let call = Call::post(&path(repository, &["issues", &number, "comments"]), json!({ "body": body }));
        self.read(repository, call).map(|comment: CommentJson| comment.into_comment(&account))
    }

    fn update_comment(&self, repository: &HostRepository, _: u64, comment: &Comment) -> Result<(), HostError> {
        let call =
            Call::patch(&path(repository, &["issues", "comments", &comment.id.0]), json!({ "body": comment.body }));
        self.send(repository, call).map(drop)
    }
}

/// The verdict of a review. None if it was not submitted yet.
fn verdict(review: &ReviewJson) -> Option<ReviewVerdict> {
    match review.state.as_str() {
        "APPROVED" => Some(ReviewVerdict::Approved),
        "CHANGES_REQUESTED" => Some(ReviewVerdict::ChangesRequested),
        "DISMISSED" => Some(ReviewVerdict::Dismissed),
        "COMMENTED" => Some(ReviewVerdict::Commented),
        _ => None,
    }
}
