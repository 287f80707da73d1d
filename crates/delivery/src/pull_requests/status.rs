//! Statuses of the control plane's commits: what Kalypso made of them.

use std::collections::BTreeSet;

use git::load::ReadRole;
use git_host::error::HostError;
use git_host::status::{CommitStatus, StatusState};
use model::count::count;
use model::diagnostic::Diagnostic;

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
    let mut errors = Vec::new();
    for (url, commit) in commits {
        let Some((settings, repository)) = hosts.find(url) else { continue };
        if !settings.has_pull_requests() || !hosts.is_new_status(&repository, commit, &status) {
            continue;
        }
        if let Err(error) = settings.host.set_status(&repository, commit, &status) {
            hosts.forget_status(&repository, &status.context);
            errors.push(error);
        }
    }
    errors
}
