//! Errors of reading an environment and of delivering its output.

use std::path::PathBuf;

use git::load::DirectoryError;
use git::publish::PublishError;
use git::{RepositoryUrl, UrlError};
use model::count::named;
use model::diagnostic::Diagnostic;
use model::name::EnvironmentName;
use model::tree::OpenError;

use crate::untrusted_states::UntrustedStates;
use crate::write_lease::LeaseEnded;

/// The reason why no environment can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The directory can't be read.
    #[error("{0}")]
    Directory(DirectoryError),
    /// The files of the directory contain no object.
    #[error("`{}` holds no objects of Kalypso", path.display())]
    NoObjects {
        /// The directory.
        path: PathBuf,
    },
    /// The control plane declares no environment.
    #[error("`{url}` has no environments on branch `{branch}`")]
    NoEnvironments {
        /// The control plane's repository.
        url: RepositoryUrl,
        /// Its main branch.
        branch: String,
    },
    /// The control plane's `Environment` objects can't be read.
    #[error("{}", coded(.0))]
    Declarations(Box<Diagnostic>),
    /// It is not known what was admitted into the environment.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// The branches of the control plane moved during every attempt to read them at one snapshot.
    #[error("the branches of environment `{environment}` moved again and again while they were read")]
    Moving {
        /// The environment.
        environment: EnvironmentName,
    },
}

/// The reason why output can't be compared with its destination, or can't be pushed to it.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    /// The URL of a GitOps repository is not allowed.
    #[error("the GitOps repository `{repository}` can't be used: {error}")]
    Url {
        /// The URL, without a credential.
        repository: String,
        /// The reason.
        error: UrlError,
    },
    /// The path of a `GitOpsRepo` leads out of its repository.
    #[error("GitOpsRepo `{name}` has the path `{path}`, which leads out of the repository")]
    Path {
        /// The object's name.
        name: String,
        /// The path.
        path: String,
    },
    /// The environment has no `GitOpsRepo`, or none with this name.
    #[error("{}", no_gitops_repo(.environment, .name.as_deref(), .known))]
    NoGitOpsRepo {
        /// The environment.
        environment: EnvironmentName,
        /// The requested name, if there is one.
        name: Option<String>,
        /// The names that it has, for display.
        known: Vec<String>,
    },
    /// A branch can't be read or pushed.
    #[error("{}", coded(&.0.diagnostic()))]
    Publish(PublishError),
    /// A folder can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The states of the rollouts can't be read, so it is not known which places may change.
    #[error("the states of the rollouts can't be read: {reason}")]
    Rollouts {
        /// The reason.
        reason: String,
    },
    /// Another replica may lead the environment now.
    #[error(transparent)]
    LeaseEnded(#[from] LeaseEnded),
    /// The environment was read from a plain directory. Its output can't be published.
    #[error("a plain directory can't be published")]
    Directory,
}

impl From<PublishError> for DestinationError {
    fn from(error: PublishError) -> Self {
        Self::Publish(error)
    }
}

/// The code and message of a diagnostic, in one line.
fn coded(diagnostic: &Diagnostic) -> String {
    format!("[{}] {}", diagnostic.code, diagnostic.message)
}

fn no_gitops_repo(environment: &EnvironmentName, name: Option<&str>, known: &[String]) -> String {
    match name {
        Some(name) if !known.is_empty() => format!("{environment} has no GitOpsRepo `{name}`, it has {}", named(known)),
        Some(name) => format!("{environment} has no GitOpsRepo `{name}`"),
        None => format!("{environment} has no GitOpsRepo: its output has no destination"),
    }
}

/// The reason why it is not known what was admitted. Nothing is published then.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// The states can't be read.
    #[error("it is not known what was admitted into `{environment}`: {reason}")]
    Unreadable {
        /// The environment.
        environment: EnvironmentName,
        /// The reason.
        reason: String,
    },
    /// The branch with the states lacks a commit that counted before.
    #[error(transparent)]
    Untrusted(#[from] UntrustedStates),
}
