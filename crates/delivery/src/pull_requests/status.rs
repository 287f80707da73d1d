//! Statuses of the control plane's commits: what Kalypso made of them.

use std::collections::BTreeSet;

use git::load::ReadRole;
use git_host::error::HostError;
use git_host::status::{CommitStatus, StatusState};
use model::count::count;
use model::diagnostic::Diagnostic;
use model::git_id::GitId;

use super::GitHosts;
use crate::loaded::Loaded;

/// Sets the status `kalypso/<environment>` of the control plane's commits, unless it was set before. Returns the errors.
pub(crate) fn set_statuses(
    hosts: &GitHosts,
    loaded: &Loaded,
    (diagnostics, description): (&[Diagnostic], &str),
    is_proposed: bool,
) -> Vec<HostError> {
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
    let context = format!("kalypso/{}", loaded.fleet.environment);
    let status = CommitStatus { context, state, description, target_url: None };
    let is_platform = |role: &ReadRole| matches!(role, ReadRole::Main | ReadRole::Environment | ReadRole::Base(_));
    let commits: BTreeSet<_> = loaded
        .reads
        .iter()
        .filter(|read| is_platform(&read.role))
        .map(|read| (read.url.as_str(), read.commit))
        .collect();
    commits.into_iter().filter_map(|(url, commit)| set_status(hosts, (url, commit), &status).err()).collect()
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
    if !settings.has_pull_requests() || !hosts.is_new_status(&repository, commit, status) {
        return Ok(());
    }
    let set = settings.host.set_status(&repository, commit, status);
    if set.is_err() {
        hosts.forget_status(&repository, &status.context);
    }
    set
}
