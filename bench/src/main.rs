//! Measures Kalypso: whole processes with the measurements of the operating system, and parts of Kalypso inside this process. The time of single functions is measured in `benches/functions.rs`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program prints a table of figures")]

mod app;
mod assignments;
mod cold;
mod command;
mod commit;
mod floor;
mod hub;
mod incremental;
mod page;
mod process;
mod promotion;
mod queries;
mod report;
mod sample;
mod scale;
mod service;
mod warm;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::Parser;
use testkit::generator::{self, Size};

use cold::Memos;
use report::Row;

/// The seed of every measured fleet.
const SEED: u64 = 1;
/// The number of runs of measurements below a second. The best run counts.
const RUNS: usize = 5;

/// The same allocator as in `kalypso`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Kalypso. The program does not fail if a figure misses its bound. It shows the bound beside the figure.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// The benchmarks to run: `fleet`, `million`, `sets`, `nested`, `clusters`, `warm`, `memo`, `commit`, `incremental`, `command`, `queries`, `hub`,
    /// `hub-postgresql`, `storm`, `streams`, `web`, `service`, `promotion`, `app`. All if none is named. (`functions` is another program: `cargo xtask bench functions`.)
    names: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
    /// Write the fleet of a benchmark (`fleet`, `million`, `sets`, `nested` or `clusters`) into this directory, and measure nothing.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Measure the large fleets with this part of their cluster types or clusters, without bounds.
    #[arg(long, value_name = "PART", default_value_t = 1.0)]
    share: f64,
    /// Write the figures into the tables of this page too. All figures of a table must be from one run: run all benchmarks, `queries`, `hub hub-postgresql`, `service`, `promotion`, or `app`.
    #[arg(long, value_name = "FILE", conflicts_with = "share")]
    page: Option<PathBuf>,
    /// Compile the generated fleet in this directory, and print the time of each step.
    #[arg(long, hide = true, value_name = "DIR")]
    compile: Option<PathBuf>,
    /// Simulate this scenario in this process, and print what its decisions took.
    #[arg(long, hide = true, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    memos: Memos,
    /// Change the generated fleet in this directory, and print the time of each change.
    #[arg(long, hide = true, value_name = "DIR")]
    change: Option<PathBuf>,
    /// Run a hub on this database until standard input ends, and print its address first.
    #[arg(long, hide = true, value_name = "URL")]
    hub_server: Option<String>,
    /// Run a program, and print its resource usage.
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    measure: Vec<OsString>,
}

/// The options of all benchmarks.
struct Options {
    /// The part of a large fleet that is generated: above 0, at most 1.
    share: f64,
}

impl Options {
    /// This share of a number of cluster types or clusters, at least one.
    fn share_of(&self, count: usize) -> usize {
        ((count as f64 * self.share) as usize).max(1)
    }
}

/// A benchmark: its name, and the function that returns its rows.
type Benchmark = (&'static str, fn(&Options) -> Result<Vec<Row>>);

const BENCHMARKS: [Benchmark; 19] = [
    ("fleet", |_| assignments::fleet()),
    ("million", scale::million),
    ("sets", scale::sets),
    ("nested", scale::nested),
    ("clusters", scale::clusters),
    ("warm", warm::warm),
    ("memo", warm::memo),
    ("commit", commit::rows),
    ("incremental", |options| Ok(incremental::rows(options))),
    ("command", |_| command::rows()),
    ("queries", queries::rows),
    ("hub", hub::sqlite),
    ("hub-postgresql", hub::postgresql),
    ("storm", hub::storm),
    ("streams", hub::streams),
    ("web", hub::web),
    ("service", service::rows),
    ("promotion", promotion::rows),
    ("app", app::rows),
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(directory) = &arguments.compile {
        return cold::compile_and_exit(directory, &arguments.memos);
    }
    if let Some(file) = &arguments.scenario {
        return promotion::simulate_and_exit(file);
    }
    if let Some(url) = &arguments.hub_server {
        return hub::serve_and_exit(url);
    }
    if let [program, rest @ ..] = &arguments.measure[..] {
        println!("{}", process::run_measured(program, rest)?.to_json());
        return Ok(());
    }
    ensure!(arguments.share > 0.0 && arguments.share <= 1.0, "--share is above 0 and at most 1");
    let options = Options { share: arguments.share };
    if let Some(directory) = &arguments.change {
        return warm::change_and_exit(&options, directory);
    }
    if let Some(directory) = &arguments.write {
        return write(&arguments.names, &options, directory);
    }
    if arguments.page.is_some() && !arguments.names.is_empty() {
        let names: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
        ensure!(
            page::is_whole(&names, &BENCHMARKS.map(|(name, _)| name)),
            "a table of the page has to be measured whole"
        );
    }
    let (rows, failed) = measure(&arguments.names, &options)?;
    if let Some(page) = &arguments.page {
        page::update(page, &rows, &failed)?;
    }
    if arguments.json {
        println!("{}", report::json(&rows));
    } else {
        print!("{}", report::table(&rows));
    }
    ensure!(failed.is_empty(), "no figures of {}", failed.join(", "));
    Ok(())
}

/// The rows of the named benchmarks, or of all if none is named, and the names of those that failed. After a failure, the other benchmarks still run.
fn measure(names: &[String], options: &Options) -> Result<(Vec<Row>, Vec<&'static str>)> {
    let known = BENCHMARKS.map(|(name, _)| name);
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no benchmark {unknown:?}: there are {}", known.join(", "));
    }
    let is_selected = |name: &str| names.is_empty() || names.iter().any(|selected| selected == name);
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (name, benchmark) in BENCHMARKS.into_iter().filter(|(name, _)| is_selected(name)) {
        eprintln!("measuring {name} …");
        let row = |row: Row| if options.share < 1.0 { row.without_bound() } else { row };
        match benchmark(options) {
            Ok(measured) => rows.extend(measured.into_iter().map(|measured| row(measured).with_benchmark(name))),
            Err(error) => {
                eprintln!("{name} failed: {error:#}");
                failed.push(name);
            }
        }
    }
    Ok((rows, failed))
}

/// Writes the fleet that a benchmark measures into a directory.
fn write(names: &[String], options: &Options, directory: &Path) -> Result<()> {
    match names.first().map_or("fleet", String::as_str) {
        "fleet" => Ok(generator::write(directory, generator::fleet(Size::HUNDRED, SEED))?),
        "million" => scale::write_million(options, directory),
        "sets" => scale::write_sets(options, directory),
        "nested" => scale::write_nested(options, directory),
        "clusters" => scale::write_clusters(options, directory),
        other => bail!("{other:?} has no fleet to write: `fleet`, `million`, `sets`, `nested` and `clusters` have"),
    }
}
