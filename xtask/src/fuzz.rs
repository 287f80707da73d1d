//! Runs the fuzz targets for a chosen time.

use std::process::Command;
use std::sync::Mutex;
use std::{fs, thread};

use anyhow::{Context as _, Result, ensure};

use crate::summary::{Outcome, Summary};
use crate::tools::{self, Permission};
use crate::workspace;

/// The folder of the targets, with one file for each.
const TARGETS: &str = "fuzz/fuzz_targets";
/// The folder where libFuzzer stores interesting inputs.
const CORPUS: &str = "fuzz/corpus";
/// The tests that run the same targets on the stable toolchain, each with its package.
const STABLE_TESTS: &[(&str, &[&str])] = &[
    ("testkit", &["--test", "fuzz_seeded"]),
    ("hub", &["--test", "fuzz_seeded"]),
    ("engine", &["--test", "properties", "no_input_makes_it_panic"]),
];

/// The targets to run, and the time.
pub(crate) struct Options {
    /// The seconds for each target.
    pub(crate) seconds: u64,
    /// The number of targets that run at the same time.
    pub(crate) jobs: usize,
    /// The targets. All if empty.
    pub(crate) targets: Vec<String>,
    /// Whether to run the stable tests even if there is a nightly toolchain.
    pub(crate) stable: bool,
}

/// Runs targets with libFuzzer, which needs a nightly toolchain. Without one, runs the stable tests instead. Returns whether all passed.
///
/// # Errors
/// Returns an error if a target does not exist or cargo can't be started.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let all = names()?;
    for name in &options.targets {
        ensure!(all.contains(name), "there is no target `{name}`; there are {}", all.join(", "));
    }
    let chosen: Vec<_> =
        all.into_iter().filter(|name| options.targets.is_empty() || options.targets.contains(name)).collect();
    let reason = if options.stable { Some("--stable".to_owned()) } else { reason_against_libfuzzer() };
    if let Some(reason) = reason {
        println!("on the stable toolchain, with changed seeds instead of libFuzzer: {reason}");
        let seconds = options.seconds.to_string();
        return run_stable_tests(&[("KALYPSO_FUZZ_SECONDS", seconds.as_str())]);
    }
    let corpus = workspace::root().join(CORPUS);
    fs::create_dir_all(&corpus)?;
    ensure!(
        run_stable_tests(&[("KALYPSO_FUZZ_CORPUS", &corpus.display().to_string())])?,
        "the seeds could not be written"
    );
    ensure!(nightly().args(["build"]).status()?.success(), "the targets do not build");
    campaign(&chosen, options)
}

/// Runs targets with libFuzzer, several at a time.
fn campaign(names: &[String], options: &Options) -> Result<bool> {
    let (waiting, summary) = (Mutex::new(names.iter()), Mutex::new(Summary::default()));
    let work = || {
        loop {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.next());
            let Some(name) = next else { return Ok(()) };
            let start = std::time::Instant::now();
            let outcome = libfuzzer(name, options.seconds)?;
            if let Ok(mut summary) = summary.lock() {
                summary.add(name.clone(), outcome, start.elapsed());
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| anyhow::bail!("a worker panicked")))
    })?;
    let summary = summary.into_inner().ok().context("a worker panicked")?;
    println!("\n=== summary ===\n{summary}");
    Ok(summary.is_good())
}

fn libfuzzer(name: &str, seconds: u64) -> Result<Outcome> {
    let mut command = nightly();
    command.args(["run", name, &format!("{CORPUS}/{name}"), "--"]);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-dict={CORPUS}/{name}.dict"));
    command.args(["-max_len=4096", "-rss_limit_mb=2048", "-timeout=30", "-print_final_stats=1"]);
    Ok(command.status().with_context(|| format!("cannot start target {name}"))?.success().into())
}

/// The names of the targets, sorted.
fn names() -> Result<Vec<String>> {
    let entries = fs::read_dir(workspace::root().join(TARGETS)).with_context(|| format!("cannot read {TARGETS}"))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let stems = paths.iter().filter_map(|path| path.file_stem()?.to_str().map(str::to_owned));
    let mut names: Vec<_> = stems.collect();
    names.sort();
    Ok(names)
}

/// The reason why libFuzzer can't be used here. None if it can.
fn reason_against_libfuzzer() -> Option<String> {
    let has_nightly = Command::new("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    if !has_nightly.is_ok_and(|output| output.status.success()) {
        return Some("there is no nightly toolchain; `rustup toolchain install nightly` installs one".to_owned());
    }
    tools::require_cargo_tool(&tools::FUZZ, Permission::of_this_run(false)).err()
}

/// Runs the stable tests of the targets.
fn run_stable_tests(variables: &[(&str, &str)]) -> Result<bool> {
    let mut is_good = true;
    for (package, arguments) in STABLE_TESTS {
        let mut command = workspace::cargo();
        command.args(["test", "--locked", "--package", package]).args(*arguments).envs(variables.iter().copied());
        is_good &= command.status()?.success();
    }
    Ok(is_good)
}

/// `cargo fuzz` of the nightly toolchain.
fn nightly() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "fuzz"]).current_dir(workspace::root());
    // With these variables of the current cargo, the nightly cargo would use the current toolchain.
    for name in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTC", "RUSTDOC"] {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_built() {
        let manifest = fs::read_to_string(workspace::root().join("fuzz/Cargo.toml")).unwrap();
        let names = names().unwrap();
        assert!(names.len() >= 12, "{names:?}");
        for name in names {
            assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")), "{name}");
        }
    }
}
