//! The commands, one file each.

mod check;
mod completions;
mod demo;
mod explain;
mod man;
mod plan;
mod publish;
mod render;
mod schema;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::terminal;
use engine::compile::Compiled;

/// How many places there are: `12 cluster types and 3 clusters`.
fn places_text(compiled: &Compiled) -> String {
    let fleet = compiled.fleet();
    let cluster_types = terminal::count(fleet.cluster_types.len(), "cluster type");
    match fleet.clusters.len() {
        0 => cluster_types,
        clusters => format!("{cluster_types} and {}", terminal::count(clusters, "cluster")),
    }
}

/// Does what was asked for.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Demo(options) => demo::run(options),
        Command::Check(options) => check::run(options),
        Command::Render(options) => render::run(options),
        Command::Plan(options) => plan::run(options),
        Command::Publish(options) => publish::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Schema(options) => schema::run(options),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(options),
    }
}
