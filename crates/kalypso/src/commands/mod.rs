//! The commands, one file for each.

mod check;
mod codeowners;
mod compare;
mod completions;
mod confirm;
mod demo;
mod deployments;
mod drift;
mod events;
mod explain;
mod history;
mod hub;
mod man;
mod plan;
mod publish;
mod render;
mod report;
mod rollout;
mod schema;
mod serve;
mod status;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;

/// Runs the command of the arguments.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Demo(options) => demo::run(options),
        Command::Check(options) => check::run(options),
        Command::Render(options) => render::run(options),
        Command::Plan(options) => plan::run(options),
        Command::Publish(options) => publish::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Status(options) => status::run(options),
        Command::Deployments(options) => deployments::run(options),
        Command::Rollout(options) => rollout::run(&options.command),
        Command::Compare(options) => compare::run(options),
        Command::History(options) => history::run(options),
        Command::Drift(options) => drift::run(options),
        Command::Events(options) => events::run(options),
        Command::Hub(options) => hub::run(options),
        Command::Serve(options) => serve::run(options),
        Command::Codeowners(options) => codeowners::run(options),
        Command::Confirm(options) => confirm::run(options),
        Command::Report(options) => report::run(options),
        Command::Schema(options) => schema::run(options),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(options),
    }
}
