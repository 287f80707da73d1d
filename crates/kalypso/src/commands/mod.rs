//! The commands, one file for each.

mod check;
mod compare;
mod completions;
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
mod status;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::terminal;

/// The number of places: `12 cluster types and 3 clusters`.
fn places_text(cluster_types: usize, clusters: usize) -> String {
    let (types_text, clusters_text) =
        (terminal::count(cluster_types, "cluster type"), terminal::count(clusters, "cluster"));
    match (cluster_types, clusters) {
        (_, 0) => types_text,
        (0, _) => clusters_text,
        _ => format!("{types_text} and {clusters_text}"),
    }
}

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
        Command::Report(options) => report::run(options),
        Command::Schema(options) => schema::run(options),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(options),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn places_have_their_words() {
        let check = |cluster_types, clusters, text| assert_eq!(super::places_text(cluster_types, clusters), text);
        check(0, 0, "0 cluster types");
        check(12, 0, "12 cluster types");
        check(0, 1, "1 cluster");
        check(1, 1_000_000, "1 cluster type and 1,000,000 clusters");
    }
}
