//! `kalypso app`: the side of the application teams.

mod check;
mod deploy;
mod diff;
mod explain;
mod reading;
mod render;

use crate::arguments::{App, AppCommand};
use crate::exit::Exit;

pub(super) fn run(options: &App) -> anyhow::Result<Exit> {
    match &options.command {
        AppCommand::Render(options) => render::run(options),
        AppCommand::Check(options) => check::run(options),
        AppCommand::Explain(options) => explain::run(options),
        AppCommand::Diff(options) => diff::run(options),
        AppCommand::Deploy(options) => deploy::run(options),
    }
}
