//! Starts the tests with kills, races and server faults, with another seed or number of kills than in the normal tests.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::workspace;

/// The selection of rounds.
#[derive(Args)]
pub(crate) struct Options {
    /// The number of rounds for each transport. By default, enough rounds for 240 kills in total.
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// The number of kills for each transport. Runs as many rounds as needed.
    #[arg(long, value_name = "N", conflicts_with = "rounds")]
    kills: Option<u64>,
    /// The seed. It decides what happens in each round.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Test only this transport to the repositories.
    #[arg(long, value_name = "WAY")]
    only: Option<Way>,
}

/// A transport to repositories.
#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// Local paths on the same machine.
    Local,
    /// HTTP, with git's HTTP backend.
    Http,
    /// ssh, if `sshd` is installed.
    Ssh,
}

/// Runs the rounds. Returns whether all passed.
///
/// # Errors
/// Returns an error if cargo can't be started.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut command = workspace::cargo();
    command.args(["test", "--package", "kalypso", "--test", "faults", "--locked", "--"]);
    if let Some(way) = options.only.as_ref().and_then(ValueEnum::to_possible_value) {
        command.args(["--exact", &format!("tests::{}", way.get_name())]);
    }
    command.arg("--nocapture").env("KALYPSO_FAULTS_SEED", options.seed.to_string());
    for (name, number) in [("KALYPSO_FAULTS_ROUNDS", options.rounds), ("KALYPSO_FAULTS_KILLS", options.kills)] {
        if let Some(number) = number {
            command.env(name, number.to_string());
        }
    }
    Ok(command.status()?.success())
}
