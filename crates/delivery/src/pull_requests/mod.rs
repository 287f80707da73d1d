//! Pull requests for proposed changes, with the issue and the commit statuses of an environment.
//!
//! All of it is level-triggered: each call compares the host with what should be there. A call that was interrupted is completed by the next one.

pub mod admission;
pub(crate) mod authorship;
mod body;
pub mod branch_protection;
pub mod change_proposal;
mod hosts;
mod issue;
mod proposal;
mod status;

pub(crate) use self::hosts::StatusSlot;
pub use self::hosts::{ConfiguredHost, GitHosts, LabelConfirmers};
pub(crate) use self::issue::{KnownProblems, report_problems};
pub use self::proposal::{LabelConfirmation, Proposal, ProposalOutcome, PullRequestLink};
pub(crate) use self::proposal::{
    ProposedChange, merges, prepare, removals_wait, report_foreign, settle, was_head_merged, was_merged, was_merged_as,
};
pub(crate) use self::status::{BranchHead, environment_status, set_head_status, set_status, set_statuses};
use git_host::error::HostError;
use git_host::sticky::Put;

/// The label of pull requests and issues.
pub const LABEL: &str = "kalypso";
/// The label of pull requests that change the promoted commit. Workflows of Microsoft's Kalypso look for it.
pub const PROMOTED_LABEL: &str = "promoted";
/// The label of pull requests that wait for a confirmation.
pub const NEEDS_CONFIRMATION_LABEL: &str = "needs-confirmation";
/// The begin of the label that confirms removals. The confirmation word follows.
pub const CONFIRMATION_LABEL: &str = "kalypso-confirm-";

/// What was reported about an environment, besides pull requests.
#[derive(Debug, Default)]
pub struct EnvironmentReport {
    /// The issue that lists what fails. None if no host of the environment's output has issues.
    pub issue: Option<Result<Put, HostError>>,
    /// The commit statuses that could not be set.
    pub failed_statuses: Vec<HostError>,
}
