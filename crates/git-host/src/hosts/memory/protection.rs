//! The protection of branches on a host in memory, as each kind tells it.

use super::state::RepositoryState;
use crate::kind::HostKind;
use crate::protection::{BranchProtection, PushLimit, RequiredStatuses};

impl RepositoryState {
    /// The protection of a branch. None if the kind of host does not tell it of a branch that does not exist.
    pub fn protection(&self, branch: &str) -> Option<BranchProtection> {
        let rule = self.rules.get(branch);
        let exists = self.head(branch).is_some();
        let is_told = match self.kind {
            HostKind::GitHub => exists || rule.is_some(),
            HostKind::GitLab | HostKind::Gitea => exists,
            HostKind::AzureDevOps => true,
            HostKind::Git => false,
        };
        let pushes = match (rule, self.kind) {
            (Some(_), _) => PushLimit::Rule,
            (None, HostKind::AzureDevOps) => PushLimit::PermissionsAtMost,
            (None, _) => PushLimit::Nothing,
        };
        let context = rule.and_then(|rule| rule.required_status.clone());
        let required = match self.kind {
            HostKind::GitHub if !exists => RequiredStatuses::Unknown,
            HostKind::Gitea if context.is_some() => RequiredStatuses::Matching(context.into_iter().collect()),
            HostKind::GitHub | HostKind::Gitea => RequiredStatuses::Named(context.into_iter().collect()),
            HostKind::GitLab if self.requires_pipelines() => RequiredStatuses::All,
            HostKind::GitLab => RequiredStatuses::Named(Vec::new()),
            HostKind::AzureDevOps | HostKind::Git => RequiredStatuses::Unknown,
        };
        is_told.then_some(BranchProtection { pushes, required })
    }

    /// Whether a rule requires a status. GitLab has one setting for all branches.
    pub(crate) fn requires_pipelines(&self) -> bool {
        self.rules.values().any(|rule| rule.required_status.is_some())
    }
}
