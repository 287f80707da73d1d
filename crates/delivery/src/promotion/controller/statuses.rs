//! Evidence from commit statuses, where no hub is configured. Only the configured accounts of the git host count.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::promotion::evidence::Measured;
use git_host::status::{ReportedStatus, StatusState};
use model::git_id::GitId;

use super::commit_status;
use super::context::Context;

/// What the statuses of a commit of the main branch say about an environment that has published it. All of them must be successes. A success counts as one reconciler that applied the output.
///
/// # Errors
/// Why it is not known, in words.
pub(super) fn measured(
    context: &Context<'_>,
    (environment, commit): (&str, GitId),
    accounts: &BTreeSet<String>,
) -> Result<Measured, Arc<str>> {
    let found = context.hosts.and_then(|hosts| hosts.find(context.access.settings.repo.as_str()));
    let Some((settings, repository)) = found else {
        return Err("no hub is configured, and no git host of the control plane with statuses of commits".into());
    };
    let statuses = settings.host.commit_statuses(&repository, commit);
    let statuses = statuses.map_err(|error| Arc::from(format!("the statuses of the commit can't be read: {error}")))?;
    let name = commit_status::context(environment);
    let is_counted = |found: &&ReportedStatus| found.status.context == name && accounts.contains(&found.account);
    let mut answer = Err(format!("no trusted account reported a status `{name}` of the commit").into());
    for ReportedStatus { status, account } in statuses.iter().filter(is_counted) {
        if status.state != StatusState::Success {
            return Err(format!("`{account}` reported `{name}`: {}", status.description).into());
        }
        answer = Ok(Measured { places: 1, expected: 1, succeeded: 1, ..Measured::default() });
    }
    answer
}
