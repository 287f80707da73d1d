//! The commands that the demo runs against its hub. They are the real commands, with arguments as users type them.

use clap::Parser as _;

use crate::arguments::{Arguments, Command, HubConnection, RolloutCommand};
use crate::terminal;

/// The commands, as users type them.
const QUESTIONS: [&str; 5] = [
    "kalypso status",
    "kalypso rollout status checkout",
    "kalypso deployments -e stage --workload checkout --status failed,silent",
    "kalypso compare dev prod --workload checkout --differing",
    "kalypso drift",
];

/// Runs all commands, and shows the history of a host.
pub(super) fn show(hub: &str, host: &str) -> anyhow::Result<()> {
    let history = format!("kalypso history --host {host} --limit 5");
    for question in QUESTIONS.into_iter().chain([history.as_str()]) {
        terminal::answer(&format!("\n$ {question}\n"))?;
        let mut arguments = Arguments::try_parse_from(question.split(' '))?;
        if let Some(connection) = connection(&mut arguments.command) {
            (connection.hub, connection.is_open) = (Some(hub.to_owned()), true);
        }
        super::super::run(&arguments)?;
    }
    Ok(())
}

/// The hub connection in the arguments of a command.
fn connection(command: &mut Command) -> Option<&mut HubConnection> {
    match command {
        Command::Status(options) => Some(&mut options.connection),
        Command::Deployments(options) => Some(&mut options.connection),
        Command::Compare(options) => Some(&mut options.connection),
        Command::History(options) => Some(&mut options.connection),
        Command::Drift(options) => Some(&mut options.connection),
        Command::Rollout(options) => match &mut options.command {
            RolloutCommand::Status(options) => Some(&mut options.connection),
            RolloutCommand::Wait(options) => Some(&mut options.connection),
            RolloutCommand::Advance(options) => Some(&mut options.connection),
            RolloutCommand::Restore(options) => Some(&mut options.connection),
            RolloutCommand::List(options) => Some(&mut options.connection),
        },
        _ => None,
    }
}
