//! Statuses of the control plane's commits: what Kalypso made of them.

use std::collections::BTreeSet;

use git::load::ReadRole;
use git_host::error::HostError;
use git_host::status::{CommitStatus, ReportedStatus, StatusState};
use model::count::count;
use model::diagnostic::Diagnostic;
use model::git_id::GitId;
use model::name::EnvironmentName;

use super::{GitHosts, StatusSlot};
use crate::sources::loaded::Loaded;

/// The head of a branch.
#[derive(Clone, Copy)]
pub(crate) struct BranchHead<'a> {
    /// The repository.
    pub(crate) url: &'a str,
    /// The name of the branch.
    pub(crate) branch: &'a str,
    /// Its head.
    pub(crate) commit: GitId,
}

/// The status `kalypso/<environment>` of the control plane's commits. `description` says what was published, and `is_proposed` whether a part of it waits for its merge.
pub(crate) fn environment_status(
    environment: &EnvironmentName,
    diagnostics: &[Diagnostic],
    description: &str,
    is_proposed: bool,
) -> CommitStatus {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let state = match (errors, is_proposed) {
        (0, true) => StatusState::Pending,
        (0, false) => StatusState::Success,
        _ => StatusState::Failure,
    };
    let description = match errors {
        0 => description.to_owned(),
        _ => format!("{}; {description}", count(errors, "error")),
    };
    CommitStatus { context: format!("kalypso/{environment}"), state, description, target_url: None }
}

/// Sets a status of the control plane's commits, unless it was set before. Returns the errors.
pub(crate) fn set_statuses(hosts: &GitHosts, loaded: &Loaded, status: &CommitStatus) -> Vec<HostError> {
    let is_platform = |role: &ReadRole| matches!(role, ReadRole::Main | ReadRole::Environment | ReadRole::Base(_));
    let commits: BTreeSet<_> = loaded
        .reads
        .iter()
        .filter(|read| is_platform(&read.role))
        .map(|read| (read.url.as_str(), read.commit))
        .collect();
    commits.into_iter().filter_map(|(url, commit)| set_status(hosts, (url, commit), status).err()).collect()
}

/// Sets a status of a commit, unless it was set last. Without a host with commit statuses for the repository, does nothing.
///
/// # Errors
/// If the host refuses, fails or can't be reached.
pub(crate) fn set_status(
    hosts: &GitHosts,
    (url, commit): (&str, GitId),
    status: &CommitStatus,
) -> Result<(), HostError> {
    let Some((settings, repository)) = hosts.find(url) else { return Ok(()) };
    let slot = StatusSlot { repository, context: status.context.clone(), branch: None };
    if !settings.has_pull_requests() || !hosts.is_new_status(&slot, commit, status) {
        return Ok(());
    }
    let set = settings.host.set_status(&slot.repository, commit, status);
    if set.is_err() {
        hosts.forget_status(&slot);
    }
    set
}

/// Sets the status of the head of a branch, unless the host shows it already. `is_known`: what this process has set last is not asked for again. Without a host with
/// commit statuses for the repository, does nothing.
///
/// # Errors
/// If the host refuses, fails or can't be reached.
pub(crate) fn set_head_status(
    hosts: &GitHosts,
    BranchHead { url, branch, commit }: BranchHead<'_>,
    status: &CommitStatus,
    is_known: bool,
) -> Result<(), HostError> {
    let Some((settings, repository)) = hosts.find(url).filter(|(settings, _)| settings.has_pull_requests()) else {
        return Ok(());
    };
    let slot = StatusSlot { repository, context: status.context.clone(), branch: Some(branch.to_owned()) };
    if !hosts.is_new_status(&slot, commit, status) && is_known {
        return Ok(());
    }
    // Other replicas and programs set it too. Where another account contradicts, ours must be the last one.
    let set = match settings.host.commit_statuses(&slot.repository, commit) {
        Ok(shown) if is_shown(&shown, status) => Ok(()),
        _ => settings.host.set_status(&slot.repository, commit, status),
    };
    if set.is_err() {
        hosts.forget_status(&slot);
    }
    set
}

/// Whether a commit has a status, and no account reported another state with its context.
fn is_shown(shown: &[ReportedStatus], status: &CommitStatus) -> bool {
    let shown = || shown.iter().map(|found| &found.status).filter(|found| found.context == status.context);
    let is_same = |found: &CommitStatus| found.short_description() == status.short_description();
    shown().any(is_same) && shown().all(|found| found.state == status.state)
}
