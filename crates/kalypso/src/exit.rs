//! The exit status and the errors of the program.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use delivery::controller::command::CommandError;
use delivery::error::{AdmissionError, DestinationError, ReadError};
use model::diagnostic::Diagnostic;

use crate::visible::message;

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success, or no change.
    Good,
    /// Problems were found.
    Problems,
    /// Changes are pending.
    Pending,
    /// A time limit was reached.
    Late,
    /// Something else is desired in the meantime.
    Superseded,
    /// Invalid usage.
    Usage,
    /// An external system could not be reached.
    Unreachable,
    /// A bug in Kalypso.
    Bug,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// All exit statuses, for the reference.
    pub(crate) const ALL: &[Self] = &[
        Self::Good,
        Self::Problems,
        Self::Pending,
        Self::Late,
        Self::Superseded,
        Self::Usage,
        Self::Unreachable,
        Self::Bug,
        Self::Interrupted,
    ];

    /// The description for the reference.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Good => "good, or no change; warnings do not change it, unless `--strict` is given",
            Self::Problems => "problems were found, or the command was refused; it takes precedence over 2",
            Self::Pending => "changes are pending (`plan`), or wait for gates (`rollout advance`)",
            Self::Late => "not done in time (`wait`)",
            Self::Superseded => "superseded: another version is now desired (`wait`)",
            Self::Usage => "wrong usage: arguments or the configuration file",
            Self::Unreachable => "something outside could not be reached: a repository, a folder",
            Self::Bug => "a bug of Kalypso's own",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Problems => 1,
            Self::Pending => 2,
            Self::Late => 3,
            Self::Superseded => 4,
            Self::Usage => 64,
            Self::Unreachable => 69,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// The exit status of two parts of a command: the more severe one.
    pub(crate) fn and(self, other: Self) -> Self {
        let severity = |exit| match exit {
            Self::Good => 0,
            Self::Pending => 1,
            Self::Superseded => 2,
            Self::Late => 3,
            Self::Problems => 4,
            Self::Usage => 5,
            Self::Unreachable => 6,
            Self::Bug => 7,
            Self::Interrupted => 8,
        };
        if severity(other) > severity(self) { other } else { self }
    }

    /// `Problems` if `problems` is set, else `self`.
    pub(crate) fn unless(self, problems: bool) -> Self {
        if problems { Self::Problems } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// An error with the exit status of the program.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Failure {
    /// An error of the user: the input or the arguments are invalid.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), help: None }
    }

    /// An error of an external system, such as a repository or a file system.
    pub(crate) fn outside(message: impl Into<String>) -> Self {
        Self { exit: Exit::Unreachable, message: message.into(), help: None }
    }

    /// A request that is refused for a reason that the message gives.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { exit: Exit::Problems, message: message.into(), help: None }
    }

    /// Adds advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Prints an error of the arguments, or the help text that was requested.
pub(crate) fn of_arguments(error: &clap::Error) -> Exit {
    let is_asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_asked_for {
        let _ = error.print();
    } else {
        // The message repeats the arguments, which may contain a URL with a token.
        let _ = write!(anstream::stderr(), "{}", message(&error.render().to_string()));
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Good,
        _ => Exit::Usage,
    }
}

/// Prints an error.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    let failure = failure(error);
    if is_closed_pipe(error) {
        return Exit::Good;
    }
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "error: {}", message(&format!("{error:#}")));
    if let Some(help) = failure.as_ref().and_then(|failure| failure.help.as_ref()) {
        let _ = writeln!(stderr, "  = help: {}", message(help));
    }
    status(error)
}

/// The exit status for an error.
pub(crate) fn status(error: &anyhow::Error) -> Exit {
    failure(error).map_or(Exit::Unreachable, |failure| failure.exit)
}

/// The failure in an error, or the failure for an error of a known type. None for other errors.
fn failure(error: &anyhow::Error) -> Option<Failure> {
    let failure = error.downcast_ref::<Failure>().cloned();
    let failure = failure.or_else(|| error.downcast_ref().map(of_reading));
    failure.or_else(|| error.downcast_ref().and_then(of_destination))
}

fn of_reading(error: &ReadError) -> Failure {
    let message = error.to_string();
    match error {
        ReadError::Directory(_) => Failure::usage(message),
        ReadError::NoObjects { .. } => {
            Failure::refused(message).help("is it the right folder? Only `*.yaml` and `*.yml` files are read")
        }
        ReadError::NoEnvironments { .. } => {
            Failure::refused(message).help("put `Environment` objects into the folder `.environments` of that branch")
        }
        ReadError::Declarations(diagnostic) => of_diagnostic(message, diagnostic),
        ReadError::Admission(AdmissionError::Unreadable { .. }) => Failure::outside(message),
        ReadError::Admission(AdmissionError::Untrusted(_)) => Failure::refused(message),
        ReadError::Moving { .. } => Failure::outside(message).help("try again"),
    }
}

/// The failure for an error of a destination. None if it has no exit status of its own.
pub(crate) fn of_destination(error: &DestinationError) -> Option<Failure> {
    let message = error.to_string();
    Some(match error {
        DestinationError::Url { .. } | DestinationError::Path { .. } => Failure::refused(message),
        DestinationError::NoGitOpsRepo { known, .. } if !known.is_empty() => Failure::refused(message),
        DestinationError::NoGitOpsRepo { .. } => Failure::refused(message)
            .help("add a `GitOpsRepo` to the environment; `kalypso schema GitOpsRepo` prints its fields"),
        DestinationError::Publish(error) => of_diagnostic(message, &error.diagnostic()),
        DestinationError::LeaseEnded(_) | DestinationError::Rollouts { .. } => Failure::outside(message),
        DestinationError::Open(_) | DestinationError::Directory => return None,
    })
}

/// The failure for a decision about a promotion that is not stored.
pub(crate) fn refusal(error: CommandError) -> Failure {
    match error {
        CommandError::Store(store) if store.needs_person() => Failure::refused(store.to_string()),
        CommandError::Repository(_) | CommandError::Store(_) | CommandError::LostRaces(_) => {
            Failure::outside(error.to_string())
        }
        _ => Failure::refused(error.to_string()),
    }
}

/// A failure with the advice of a diagnostic.
fn of_diagnostic(message: String, diagnostic: &Diagnostic) -> Failure {
    let make = if diagnostic.code.is_outside() { Failure::outside } else { Failure::refused };
    Failure { help: diagnostic.help.first().cloned(), ..make(message) }
}

/// Prints that the program has a bug. The panic message is already printed.
pub(crate) fn of_bug() -> Exit {
    let _ = writeln!(
        anstream::stderr(),
        "error: this is a mistake in Kalypso, not in your input. Please report it with the lines above."
    );
    Exit::Bug
}

/// Whether the reader of the output closed the pipe (`kalypso … | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
