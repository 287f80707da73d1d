//! Errors with the advice for people, and what kind of errors they are.

use std::sync::Arc;

use delivery::error::{AdmissionError, DestinationError, ReadError};
use delivery::sources::loaded::Loaded;
use model::diagnostic::Diagnostic;
use model::similar;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request that can't be carried out.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Not all objects of the platform were read. The diagnostics of the environment are the reasons.
    #[error("environment `{}` could not be read", .0.fleet.environment)]
    Incomplete(Arc<Loaded>),
    /// Environments could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The place of a branch, or what is published there, could not be read.
    #[error(transparent)]
    Destination(#[from] DestinationError),
}

/// The kinds of failures. Programs translate them into an exit status, or into the status of an HTTP answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The request is wrong: its arguments, or the configuration.
    Usage,
    /// The request is refused, for a reason that the message gives.
    Refused,
    /// An external system, such as a repository or a file system, does not answer as it should.
    Outside,
}

/// An error with a message, and perhaps advice.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind of error it is.
    pub kind: FailureKind,
    /// What was attempted, on which object, and why it failed.
    pub message: String,
    /// What to do next.
    pub help: Option<String>,
}

impl Failure {
    /// An error of the user: the input or the arguments are invalid.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, message: message.into(), help: None }
    }

    /// An error of an external system, such as a repository or a file system.
    pub fn outside(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Outside, message: message.into(), help: None }
    }

    /// A request that is refused for a reason that the message gives.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, message: message.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the most similar one of the known names as advice, or other advice if none is similar.
    #[must_use]
    pub fn did_you_mean<'k>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'k str>,
        other: impl Into<String>,
    ) -> Self {
        match similar::nearest(name, known) {
            Some(nearest) => self.help(format!("did you mean `{nearest}`?")),
            None => self.help(other),
        }
    }

    /// A failure with the advice of a diagnostic.
    fn from_diagnostic(message: String, diagnostic: &Diagnostic) -> Self {
        let make = if diagnostic.code.is_outside() { Self::outside } else { Self::refused };
        Self { help: diagnostic.help.first().cloned(), ..make(message) }
    }
}

impl Error {
    /// The error as a failure. None if its kind is not known.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Self::Failure(failure) => Some(failure.clone()),
            Self::Incomplete(loaded) => {
                let make = if loaded.is_unreachable() { Failure::outside } else { Failure::refused };
                Some(make(self.to_string()))
            }
            Self::Read(error) => Some(error.into()),
            Self::Destination(error) => destination_failure(error),
        }
    }
}

impl From<&ReadError> for Failure {
    fn from(error: &ReadError) -> Self {
        let message = error.to_string();
        match error {
            ReadError::Directory(_) => Self::usage(message),
            ReadError::NoObjects { .. } => {
                Self::refused(message).help("is it the right folder? Only `*.yaml` and `*.yml` files are read")
            }
            ReadError::NoEnvironments { .. } => {
                Self::refused(message).help("put `Environment` objects into the folder `.environments` of that branch")
            }
            ReadError::Declarations(diagnostic) => Self::from_diagnostic(message, diagnostic),
            ReadError::Admission(AdmissionError::Unreadable { .. }) => Self::outside(message),
            ReadError::Admission(AdmissionError::Untrusted(_)) => Self::refused(message),
            ReadError::Moving { .. } => Self::outside(message).help("try again"),
        }
    }
}

/// The failure for an error of a destination. None if its kind is not known.
pub fn destination_failure(error: &DestinationError) -> Option<Failure> {
    let message = error.to_string();
    Some(match error {
        DestinationError::Url { .. } | DestinationError::Path { .. } => Failure::refused(message),
        DestinationError::NoGitOpsRepo { known, .. } if !known.is_empty() => Failure::refused(message),
        DestinationError::NoGitOpsRepo { .. } => Failure::refused(message)
            .help("add a `GitOpsRepo` to the environment; `kalypso schema GitOpsRepo` prints its fields"),
        DestinationError::Publish(error) => Failure::from_diagnostic(message, &error.diagnostic()),
        DestinationError::LeaseEnded(_) | DestinationError::Rollouts { .. } => Failure::outside(message),
        DestinationError::Open(_) | DestinationError::Directory => return None,
    })
}
