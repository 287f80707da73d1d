//! Why the branch with the states of an environment does not count: it was rewritten, or its head is not signed.

use std::fmt;

use model::git_id::GitId;
use model::name::EnvironmentName;

/// Why the branch with the states of an environment does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedStates {
    /// The environment.
    pub environment: EnvironmentName,
    /// The head of the branch. None: the branch does not exist.
    pub head: Option<GitId>,
    /// What is wrong with the head.
    pub defect: StatesDefect,
}

/// What is wrong with the head of a branch with states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatesDefect {
    /// It lacks a commit that counted before.
    Lacks {
        /// The missing commit.
        commit: GitId,
        /// Whether the newest publication names it. Otherwise, this process has read it at the head of the branch.
        is_published: bool,
    },
    /// No key of `promotion.state-keys` signed it for this environment.
    Unsigned {
        /// The newest commit before it that is signed. None: there is none.
        signed: Option<GitId>,
    },
}

/// Writes what happened to the branch, and what a person can do.
impl fmt::Display for UntrustedStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { environment, head, defect } = self;
        write!(f, "the branch `{}`, which records what was admitted into `{environment}`, ", branch_name(environment))?;
        let to = match (defect, head) {
            (StatesDefect::Lacks { commit, is_published }, head) => {
                match head {
                    None => write!(f, "does not exist any more. Its commit {commit}")?,
                    Some(head) => {
                        let head = head.short();
                        write!(f, "was rewritten: its head {head} does not contain commit {commit}, which")?;
                    }
                }
                let known = if *is_published { "is named by the newest publication" } else { "was its head before" };
                write!(f, " {known}")?;
                (!is_published).then_some(*commit)
            }
            (StatesDefect::Unsigned { signed }, head) => {
                let of = head.map_or_else(String::new, |head| format!(" {}", head.short()));
                write!(f, "has a head{of} that no key of `promotion.state-keys` signed for this environment")?;
                match signed {
                    Some(signed) => write!(f, ". The newest signed commit is {}", signed.short())?,
                    None => f.write_str(", nor the commits before it. If its states are right, sign them")?,
                }
                signed.or(*head)
            }
        };
        let to = to.map_or_else(String::new, |to| format!("--to {to} "));
        write!(
            f,
            ". Nothing is published and nothing moves until it is restored: `kalypso rollout restore -e {environment} {to}--reason TEXT`"
        )
    }
}

impl std::error::Error for UntrustedStates {}

/// The name of the branch.
pub fn branch_name(environment: &EnvironmentName) -> String {
    format!("kalypso-rollouts/{environment}")
}
