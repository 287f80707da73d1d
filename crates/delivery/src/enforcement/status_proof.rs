//! Commit statuses as proofs: those that configured accounts of the git host reported.

use std::fmt;

use git_host::status::{ReportedStatus, StatusState};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::Promotion;

use super::proof::{Answer, Proof};
use crate::access::RepositoryAccess;
use crate::pull_requests::GitHosts;

/// Proofs by the statuses of the commit with the context `<environment> environment`, as the controller and the workflows of Microsoft's Kalypso set them.
pub struct StatusProof<'a> {
    /// The control plane.
    pub access: &'a RepositoryAccess,
    /// The git hosts.
    pub hosts: &'a GitHosts,
    /// Whether the statuses of an account count.
    pub is_reporter: &'a dyn Fn(&str) -> bool,
}

impl fmt::Debug for StatusProof<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StatusProof")
    }
}

impl Proof for StatusProof<'_> {
    fn proved(&self, environment: &EnvironmentName, commit: GitId, _: &Promotion) -> Answer {
        let Some((settings, repository)) = self.hosts.find(self.access.settings.repo.as_str()) else {
            return Answer::Unknown("no git host is configured for the control plane".to_owned());
        };
        let context = format!("{environment} environment");
        match settings.host.commit_statuses(&repository, commit) {
            Ok(statuses) => {
                let is_counted =
                    |found: &&ReportedStatus| found.status.context == context && (self.is_reporter)(&found.account);
                by_statuses(&context, statuses.iter().filter(is_counted))
            }
            Err(error) => Answer::Unknown(format!("the statuses of the commit can't be read: {error}")),
        }
    }
}

/// All statuses must be successes.
fn by_statuses<'s>(context: &str, statuses: impl Iterator<Item = &'s ReportedStatus>) -> Answer {
    let mut answer = Answer::Unknown(format!("no account that counts reported a status `{context}` of the commit"));
    for ReportedStatus { status, account } in statuses {
        match status.state {
            StatusState::Success => answer = Answer::Proved,
            StatusState::Pending | StatusState::Failure | StatusState::Error => {
                return Answer::NotProved(format!("`{account}` reported `{context}`: {}", status.description));
            }
        }
    }
    answer
}
