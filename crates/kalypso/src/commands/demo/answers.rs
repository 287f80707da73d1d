//! What the demo asks its hub: the commands themselves run, with what anybody would type.

use clap::Parser as _;

use crate::arguments::{Arguments, Asking, Command, RolloutCommand};
use crate::terminal;

/// What is asked, as people type it.
const QUESTIONS: [&str; 5] = [
    "kalypso status",
    "kalypso rollout status checkout",
    "kalypso deployments -e stage --workload checkout --status failed,silent",
    "kalypso compare dev prod --workload checkout --differing",
    "kalypso drift",
];

/// Asks everything, and what happened on a host.
pub(super) fn show(hub: &str, host: &str) -> anyhow::Result<()> {
    let history = format!("kalypso history --host {host} --limit 5");
    for question in QUESTIONS.into_iter().chain([history.as_str()]) {
        terminal::answer(&format!("\n$ {question}\n"))?;
        let mut arguments = Arguments::try_parse_from(question.split(' '))?;
        if let Some(asking) = asking(&mut arguments.command) {
            (asking.hub, asking.is_open) = (Some(hub.to_owned()), true);
        }
        super::super::run(&arguments)?;
    }
    Ok(())
}

/// How a command asks.
fn asking(command: &mut Command) -> Option<&mut Asking> {
    match command {
        Command::Status(options) => Some(&mut options.asking),
        Command::Deployments(options) => Some(&mut options.asking),
        Command::Compare(options) => Some(&mut options.asking),
        Command::History(options) => Some(&mut options.asking),
        Command::Drift(options) => Some(&mut options.asking),
        Command::Rollout(options) => match &mut options.command {
            RolloutCommand::Status(options) => Some(&mut options.asking),
            RolloutCommand::Wait(options) => Some(&mut options.asking),
            RolloutCommand::List(options) => Some(&mut options.asking),
        },
        _ => None,
    }
}
