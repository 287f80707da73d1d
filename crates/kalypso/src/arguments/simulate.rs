//! The command line of `simulate`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Run a scenario of promotions in virtual time, and print its events
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso simulate --example > scenario.yaml           a scenario to start with
  kalypso simulate scenario.yaml                       its story: what moves, why it waits, who decides
  kalypso simulate scenario.yaml --quiet               only whether the expectations are met
  kalypso simulate --random --walks 100 --steps 200    random faults, changes and decisions, with rules that must hold

Nothing outside is read or changed. The same scenario and seed give the same story.
The status is 1 if an expectation is not met, or if a random walk breaks a rule.")]
pub(crate) struct Simulate {
    /// The scenario
    #[arg(value_name = "FILE", required_unless_present_any = ["random", "example"], conflicts_with_all = ["random", "example"])]
    pub(crate) file: Option<PathBuf>,
    /// The seed of the random numbers [default: that of the scenario, or 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How long the scenario lasts, such as `3d` [default: three days after its last event]
    #[arg(long, value_name = "DURATION", value_parser = model::duration::parse, conflicts_with = "random")]
    pub(crate) until: Option<std::time::Duration>,
    /// Show only the expectations
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Make random walks instead
    #[arg(long)]
    pub(crate) random: bool,
    /// The number of random walks
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random")]
    pub(crate) walks: u64,
    /// The number of steps of a random walk
    #[arg(long, value_name = "N", default_value_t = 200, requires = "random")]
    pub(crate) steps: usize,
    /// Print a scenario to start with
    #[arg(long, conflicts_with_all = ["random", "seed", "until", "quiet"])]
    pub(crate) example: bool,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
