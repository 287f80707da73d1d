//! The commands, one file for each.

mod add;
pub(crate) mod app;
mod approve;
mod audit;
mod bootstrap;
mod branch_edit;
mod check;
mod codeowners;
mod compare;
mod completions;
mod config;
mod confirm;
mod contract;
mod demo;
mod deployments;
mod describe;
mod drift;
mod events;
mod explain;
mod get;
mod history;
mod hub;
mod init;
mod man;
mod pin;
mod plan;
mod platform_edit;
pub(crate) mod promotion;
mod publish;
mod releases;
mod remove;
mod rename;
mod render;
pub(crate) mod report;
mod rollout;
mod schema;
mod serve;
mod set;
pub(crate) mod simulate;
mod status;
mod why_not;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::unread_changes::noted;

/// Runs the command of the arguments.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Demo(options) => demo::run(options),
        Command::Init(options) => init::run(options),
        Command::App(options) => app::run(options),
        Command::Check(options) => noted(options.branches(), || check::run(options)),
        Command::Render(options) => noted(options.branches(), || render::run(options)),
        Command::Plan(options) => noted(options.branches(), || plan::run(options)),
        Command::Publish(options) => noted(options.branches(), || publish::run(options)),
        Command::Get(options) => get::run(options),
        Command::Describe(options) => describe::run(options),
        Command::Explain(options) => noted(options.source.branches(true), || explain::run(options)),
        Command::Bootstrap(options) => bootstrap::run(options),
        Command::Contract(options) => contract::run(options),
        Command::WhyNot(options) => noted(options.source.branches(true), || why_not::run(options)),
        Command::Add(options) => add::run(options),
        Command::Set(options) => set::run(options),
        Command::Remove(options) => remove::run(options),
        Command::Rename(options) => rename::run(options),
        Command::Config(options) => config::run(options),
        Command::Pin(options) => pin::pin(options),
        Command::Unpin(options) => pin::unpin(options),
        Command::Releases(options) => releases::run(options),
        Command::Status(options) => status::run(options),
        Command::Deployments(options) => deployments::run(options),
        Command::Rollout(options) => rollout::run(&options.command),
        Command::Promote(options) => promotion::promote(options),
        Command::Approve(options) => approve::run(options),
        Command::Hold(options) => promotion::hold(options),
        Command::Resume(options) => promotion::resume(options),
        Command::Abort(options) => promotion::abort(options),
        Command::Retry(options) => promotion::retry(options),
        Command::Skip(options) => promotion::skip(options),
        Command::Rollback(options) => promotion::rollback(options),
        Command::Compare(options) => compare::run(options),
        Command::History(options) => history::run(options),
        Command::Audit(options) => audit::run(options),
        Command::Drift(options) => drift::run(options),
        Command::Events(options) => events::run(options),
        Command::Hub(options) => hub::run(options),
        Command::Serve(options) => serve::run(options),
        Command::Codeowners(options) => codeowners::run(options),
        Command::Confirm(options) => confirm::run(options),
        Command::Report(options) => report::run(options),
        Command::Simulate(options) => simulate::run(options),
        Command::Schema(options) => schema::run(options),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(options),
    }
}
