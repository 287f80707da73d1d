//! Measures Kalypso: whole processes by the operating system's own accounting, and parts of it inside this process.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table of figures is what this program is for")]

mod assignments;
mod command;
mod process;
mod report;
mod sample;
mod templates;
mod yaml;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Parser;

use report::Row;

/// The one that `kalypso` has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Kalypso. No figure makes it fail: it says whether each one is as good as it should be.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// What to measure: `fleet`, `growth`, `command`, `templates`, `yaml`; everything if nothing is named.
    names: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
    /// Write the fleet that `fleet` compiles into this directory, to look at it, and measure nothing.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Compile the generated fleet in this directory, and say how long each step took.
    #[arg(long, hide = true, value_name = "DIR")]
    compile: Option<PathBuf>,
    /// Run a program, and say what it used.
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    measure: Vec<OsString>,
}

/// A benchmark: its name, and what makes its rows.
type Benchmark = (&'static str, fn() -> Result<Vec<Row>>);

const BENCHMARKS: [Benchmark; 5] = [
    ("fleet", assignments::fleet),
    ("growth", assignments::growth),
    ("command", command::rows),
    ("templates", templates::rows),
    ("yaml", yaml::rows),
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(directory) = &arguments.compile {
        println!("{}", assignments::compile_once(directory)?);
        return Ok(());
    }
    if let Some(directory) = &arguments.write {
        return assignments::write(directory);
    }
    if let [program, rest @ ..] = &arguments.measure[..] {
        println!("{}", process::run_measured(program, rest)?.to_json());
        return Ok(());
    }
    let known = BENCHMARKS.map(|(name, _)| name);
    if let Some(unknown) = arguments.names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no benchmark {unknown:?}: there are {}", known.join(", "));
    }
    let is_wanted = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|wanted| wanted == name);
    let mut rows = Vec::new();
    for (name, benchmark) in BENCHMARKS.into_iter().filter(|(name, _)| is_wanted(name)) {
        eprintln!("measuring {name} …");
        rows.extend(benchmark()?.into_iter().map(|row| row.of(name)));
    }
    if arguments.json {
        println!("{}", report::json(&rows));
    } else {
        print!("{}", report::table(&rows));
    }
    Ok(())
}
