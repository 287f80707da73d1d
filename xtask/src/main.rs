//! All commands for the development of this workspace. `cargo xtask --help` lists them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program prints its results for the developer")]

mod bench;
mod contracts;
mod faults;
mod fuzz;
mod image;
mod map;
mod properties;
mod rust_source;
mod steps;
mod summary;
mod tidy;
mod tools;
mod uses;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Commands for the development of this workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check and test of the project. Exit with 1 if any of them failed.
    Test {
        /// Install missing programs, with sudo if needed. (Not needed for root and with password-less sudo.)
        #[arg(long)]
        install: bool,
        /// Run only this step. Can be given several times.
        #[arg(long, value_name = "STEP")]
        only: Vec<steps::Step>,
        /// Run each test this many times, to find tests that fail only sometimes. Other steps run only if `--only` names them.
        #[arg(long, value_name = "N")]
        repeat: Option<u32>,
        /// Arguments for `cargo nextest run`.
        #[arg(last = true, value_name = "NEXTEST ARGS")]
        nextest: Vec<String>,
    },
    /// Check the laws that the compiler does not check: dependencies between crates, sizes, bans, links.
    Tidy,
    /// Run the tests that kill runs, let runs compete, and break their git servers, in rounds that depend on a seed. Exit with 1 if a run hangs, or if
    /// output is lost or duplicated.
    Faults(faults::Options),
    /// Run the named benchmarks, or all, in a build with the profile `dist`. `functions` measures single functions.
    Bench {
        /// Arguments for the benchmark program; after `functions`, parts of the names of functions.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Print the modules of a crate, or of all crates, with the purpose of each.
    Map {
        /// The crate. All if none is named.
        #[arg(value_name = "CRATE")]
        crate_name: Option<String>,
    },
    /// Build the container image with Podman, and run the service in it: as the image's user, without rights, with a read-only root, until an environment is
    /// synced. Needs root, `podman`, `runc` and a network. Compiling takes many minutes.
    Image(image::Options),
    /// Run each property test many times, with other inputs each time. Exit with 1 at the first failure.
    Properties {
        /// The number of runs of each test.
        #[arg(long, default_value_t = 20)]
        count: u32,
    },
    /// Run the fuzz targets to find inputs that break an invariant: with libFuzzer on a nightly toolchain, otherwise with mutated seeds.
    Fuzz {
        /// The time for each target, in seconds.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// The number of targets that run at the same time.
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Mutate seeds on this toolchain, even if there is a nightly one.
        #[arg(long)]
        stable: bool,
        /// The targets. All if none is named.
        targets: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Test { install, only, repeat, nextest } => {
            steps::run(&steps::Options { install, only, repeat, nextest })
        }
        Command::Tidy => tidy::run(),
        Command::Faults(options) => faults::run(&options),
        Command::Properties { count } => properties::run(count),
        Command::Map { crate_name } => map::run(crate_name.as_deref()).map(|()| true),
        Command::Image(options) => image::run(&options),
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
