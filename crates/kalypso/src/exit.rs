//! How the program ends.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use delivery::error::{DestinationError, ReadError};
use model::diagnostic::Diagnostic;

use crate::visible::message;

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Good, or no change.
    Good,
    /// Problems were found.
    Problems,
    /// Changes are pending.
    Pending,
    /// Not done in time.
    Late,
    /// Something else is desired by now.
    Superseded,
    /// Wrong usage.
    Usage,
    /// Something outside could not be reached.
    Unreachable,
    /// A bug of our own.
    Bug,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// All of them, for the reference.
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

    /// What it means, for the reference.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Good => "good, or no change; warnings do not change it, unless `--strict` is given",
            Self::Problems => "problems were found, or the command was refused; it takes precedence over 2",
            Self::Pending => "changes are pending (`plan` only)",
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

    /// Problems if there are any, else this.
    pub(crate) fn unless(self, problems: bool) -> Self {
        if problems { Self::Problems } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// An error that says how the program ends.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Failure {
    /// The person who runs the program said something impossible.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), help: None }
    }

    /// Something outside does not work: a repository, a file system.
    pub(crate) fn outside(message: impl Into<String>) -> Self {
        Self { exit: Exit::Unreachable, message: message.into(), help: None }
    }

    /// What was asked for is not done, for a good reason.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { exit: Exit::Problems, message: message.into(), help: None }
    }

    /// With advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Says what was wrong with the arguments, or prints the help that was asked for.
pub(crate) fn of_arguments(error: &clap::Error) -> Exit {
    let is_asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_asked_for {
        let _ = error.print();
    } else {
        // It repeats what was typed, which may be a URL with a token in it.
        let _ = write!(anstream::stderr(), "{}", message(&error.render().to_string()));
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Good,
        _ => Exit::Usage,
    }
}

/// Says what went wrong.
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
    failure.map_or(Exit::Unreachable, |failure| failure.exit)
}

/// The failure that an error is, or means; none if it says nothing about how the program ends.
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
        ReadError::Moving { .. } => Failure::outside(message).help("try again"),
    }
}

fn of_destination(error: &DestinationError) -> Option<Failure> {
    let message = error.to_string();
    Some(match error {
        DestinationError::Url { .. } | DestinationError::Path { .. } => Failure::refused(message),
        DestinationError::NoGitOpsRepo { .. } => Failure::refused(message)
            .help("add a `GitOpsRepo` to the environment; `kalypso schema GitOpsRepo` prints its fields"),
        DestinationError::Publish(error) => of_diagnostic(message, &error.diagnostic()),
        DestinationError::Open(_) | DestinationError::Directory => return None,
    })
}

/// A failure with the advice of a diagnostic.
fn of_diagnostic(message: String, diagnostic: &Diagnostic) -> Failure {
    let make = if diagnostic.code.is_outside() { Failure::outside } else { Failure::refused };
    Failure { help: diagnostic.help.first().cloned(), ..make(message) }
}

/// Says that the program has a mistake. What it was is on the screen already.
pub(crate) fn of_bug() -> Exit {
    let _ = writeln!(
        anstream::stderr(),
        "error: this is a mistake in Kalypso, not in your input. Please report it with the lines above."
    );
    Exit::Bug
}

/// Whether whoever read our output has had enough of it (`kalypso … | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
