//! All commands for the development of this workspace. `cargo xtask --help` lists them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "speaking to the developer is what this program is for")]

mod bench;
mod faults;
mod fuzz;
mod rust_source;
mod steps;
mod summary;
mod tidy;
mod tools;
mod uses;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Everything that is done to this workspace by command.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check and test of the project; exit with 1 if any of them failed.
    Test {
        /// Install what is missing, with sudo where that is needed. (Root and password-less sudo don't need this.)
        #[arg(long)]
        install: bool,
        /// Run only this step; may be given several times.
        #[arg(long, value_name = "STEP")]
        only: Vec<steps::Step>,
        /// Arguments for `cargo nextest run`.
        #[arg(last = true, value_name = "NEXTEST ARGS")]
        nextest: Vec<String>,
    },
    /// Check the laws that no compiler knows: dependencies between crates, sizes, bans, links.
    Tidy,
    /// Kill runs, race them and break their git servers in rounds that follow from a seed; exit with 1 if anything is stuck, lost or there twice.
    Faults(faults::Options),
    /// Run the benchmarks, in release mode.
    Bench {
        /// Arguments for the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Let the fuzz targets look for inputs that break something: under libFuzzer where there is a nightly toolchain, else changed seeds.
    Fuzz {
        /// How long each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// How many targets run at the same time.
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Change seeds on this toolchain, even if there is a nightly one.
        #[arg(long)]
        stable: bool,
        /// The targets; all if none is named.
        targets: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Test { install, only, nextest } => steps::run(&steps::Options { install, only, nextest }),
        Command::Tidy => tidy::run(),
        Command::Faults(options) => faults::run(&options),
        Command::Bench { arguments } => bench::run(&arguments),
        Command::Fuzz { seconds, jobs, stable, targets } => {
            fuzz::run(&fuzz::Options { seconds, jobs, targets, stable })
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
