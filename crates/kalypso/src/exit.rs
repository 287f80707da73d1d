//! The exit status and the errors of the program.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use delivery::error::ReadError;
use delivery::promotion::controller::command::CommandError;
use workbench::FailureKind;
pub(crate) use workbench::{Failure, destination_failure};

use crate::reporting;
use workbench::visible::message;

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

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage => Self::Usage,
            FailureKind::Refused => Self::Problems,
            FailureKind::Outside => Self::Unreachable,
        }
    }
}

/// A failure because a time limit was reached.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct LateError(pub(crate) String);

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
    // If standard error is closed, there is no other place for this output.
    let _ = reporting::reasons_to_stderr(error);
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "error: {}", message(&format!("{error:#}")));
    if let Some(help) = failure.as_ref().and_then(|failure| failure.help.as_ref()) {
        let _ = writeln!(stderr, "  = help: {}", message(help));
    }
    status(error)
}

/// The exit status for an error.
pub(crate) fn status(error: &anyhow::Error) -> Exit {
    if error.is::<LateError>() {
        return Exit::Late;
    }
    failure(error).map_or(Exit::Unreachable, |failure| failure.kind.into())
}

/// The failure in an error, or the failure for an error of a known type. None for other errors.
fn failure(error: &anyhow::Error) -> Option<Failure> {
    let failure = error.downcast_ref::<Failure>().cloned();
    let failure = failure.or_else(|| error.downcast_ref::<workbench::Error>().and_then(workbench::Error::failure));
    let failure = failure.or_else(|| error.downcast_ref::<ReadError>().map(Failure::from));
    failure.or_else(|| error.downcast_ref().and_then(destination_failure))
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
