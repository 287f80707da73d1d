//! What all parts of a step use.

use std::sync::Arc;

use hub_api::evidence::PromotionEvents;
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;

use super::evidence::Evidence;
use super::people::KnownAuthors;
use super::plane::{KnownBranches, Plane};
use super::published::PublicationFacts;
use crate::access::RepositoryAccess;
use crate::publication::publish::Outcome;
use crate::pull_requests::GitHosts;
use crate::sources::source_difference::KnownDifferences;
use crate::write_lease::{LeaseEnded, WriteLease};

/// What all parts of a step use.
pub(super) struct Context<'a> {
    pub(super) access: &'a Arc<RepositoryAccess>,
    pub(super) environment: &'a EnvironmentName,
    pub(super) plane: &'a Plane<'a>,
    pub(super) hosts: Option<&'a GitHosts>,
    pub(super) evidence: Evidence<'a>,
    /// The history of the hub. None: there is none.
    pub(super) history: Option<&'a dyn PromotionEvents>,
    pub(super) lease: Option<&'a WriteLease>,
    /// The result of the publication right before.
    pub(super) published: Option<&'a PublicationFacts>,
    /// The same publication with its output.
    pub(super) output: Option<&'a Outcome>,
    /// Whether nothing may be written.
    pub(super) is_read_only: bool,
    /// Whether an earlier round of the step admitted something, which the publication right before does not have.
    pub(super) has_moved: bool,
    pub(super) now: Timestamp,
}

impl Context<'_> {
    /// Checks that a write may begin now.
    pub(super) fn check_lease(&self) -> Result<(), LeaseEnded> {
        self.lease.map_or(Ok(()), WriteLease::check)
    }
}

/// What later steps of the same process need not read again. It is never needed for a decision.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) branches: KnownBranches,
    pub(super) authors: KnownAuthors,
    pub(super) differences: KnownDifferences,
    /// The last commit of the branch with the states whose events were sent.
    pub(super) sent: Option<GitId>,
    /// The last commit of the environment's branch whose release pins were sent.
    pub(super) sent_pins: Option<GitId>,
}
