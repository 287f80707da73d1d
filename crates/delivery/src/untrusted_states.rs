//! Why the branch with the states of an environment does not count.

use std::fmt;

use model::git_id::GitId;
use model::name::EnvironmentName;

/// Why the branch with the states of an environment does not count: it lacks a commit that counted before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedStates {
    /// The environment.
    pub environment: EnvironmentName,
    /// The missing commit.
    pub missing: GitId,
    /// Whether the newest publication names it. Otherwise, this process has read it at the head of the branch.
    pub is_published: bool,
    /// The head of the branch. None: the branch does not exist.
    pub head: Option<GitId>,
}

/// Writes what happened to the branch, and what a person can do.
impl fmt::Display for UntrustedStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { environment, missing, .. } = self;
        let (branch, to) =
            (branch_name(environment), if self.is_published { String::new() } else { format!("--to {missing} ") });
        write!(f, "the branch `{branch}`, which records what was admitted into `{environment}`, ")?;
        match self.head {
            None => write!(f, "does not exist any more. Its commit {missing}")?,
            Some(head) => {
                write!(f, "was rewritten: its head {} does not contain commit {missing}, which", head.short())?;
            }
        }
        let known = if self.is_published { "is named by the newest publication" } else { "was its head before" };
        write!(
            f,
            " {known}. Nothing is published and nothing moves until it is restored: `kalypso rollout restore -e {environment} {to}--reason TEXT`"
        )
    }
}

impl std::error::Error for UntrustedStates {}

/// The name of the branch.
pub fn branch_name(environment: &EnvironmentName) -> String {
    format!("kalypso-rollouts/{environment}")
}
