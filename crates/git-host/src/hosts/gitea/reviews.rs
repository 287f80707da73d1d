//! The reviews of pull requests on Gitea and Forgejo.

use serde_json::json;

use super::json::CommentJson;
use super::{Gitea, get, patch, post};
use crate::error::HostError;
use crate::host::Reviews;
use crate::hosts::json::ReviewJson;
use crate::pull_request::Comment;
use crate::repository::HostRepository;
use crate::review::{self, ReviewApproval, ReviewVerdict};

impl Reviews for Gitea {
    fn approvals(&self, repository: &HostRepository, number: u64) -> Result<Vec<ReviewApproval>, HostError> {
        let head = self.read_pull_request(repository, number)?.into_pull_request().head_commit;
        let found: Vec<ReviewJson> =
            self.list_to_the_end(&get(repository, &["pulls", &number.to_string(), "reviews"]))?;
        Ok(review::approvals(found.into_iter().filter_map(|found| found.into_review(verdict)).collect(), head))
    }

    fn comments(&self, repository: &HostRepository, number: u64) -> Result<Vec<Comment>, HostError> {
        let account = self.account_or_none(repository)?;
        // This list has no pages.
        let found: Vec<CommentJson> = self.read(&get(repository, &["issues", &number.to_string(), "comments"]))?;
        Ok(found.into_iter().map(|comment| comment.into_comment(&account)).collect())
    }

    fn create_comment(&self, repository: &HostRepository, number: u64, body: &str) -> Result<Comment, HostError> {
        let account = self.account_or_none(repository)?;
        let call = post(repository, &["issues", &number.to_string(), "comments"], json!({ "body": body }));
        self.read(&call).map(|comment: CommentJson| comment.into_comment(&account))
    }

    fn update_comment(&self, repository: &HostRepository, _: u64, comment: &Comment) -> Result<(), HostError> {
        self.send(&patch(repository, &["issues", "comments", &comment.id.0], json!({ "body": comment.body }))).map(drop)
    }
}

/// The verdict of a review. None if it was not submitted yet.
fn verdict(review: &ReviewJson) -> Option<ReviewVerdict> {
    match review.state.as_str() {
        "APPROVED" | "REQUEST_CHANGES" if review.dismissed => Some(ReviewVerdict::Dismissed),
        "APPROVED" if review.stale => Some(ReviewVerdict::Dismissed),
        "APPROVED" => Some(ReviewVerdict::Approved),
        "REQUEST_CHANGES" => Some(ReviewVerdict::ChangesRequested),
        "COMMENT" => Some(ReviewVerdict::Commented),
        _ => None,
    }
}
