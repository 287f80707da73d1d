//! Runs the checks and tests of the project, one after another.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use anyhow::{Context as _, Result};
use clap::ValueEnum;

use crate::summary::{Outcome, Summary};
use crate::tools::{self, Permission};
use crate::{contracts, tidy, workspace};

/// The options of a run.
pub(crate) struct Options {
    /// Whether to install missing programs even if that asks for a password.
    pub(crate) install: bool,
    /// The steps to run. All if empty.
    pub(crate) only: Vec<Step>,
    /// The number of runs of each test, to find tests that fail only sometimes. One if none. If it is given, all steps but the tests run only if they are named.
    pub(crate) repeat: Option<u32>,
    /// Arguments for nextest.
    pub(crate) nextest: Vec<String>,
}

impl Options {
    /// Whether a step is selected.
    fn selects(&self, step: Step) -> bool {
        let is_named = self.only.contains(&step);
        let runs_unnamed = self.only.is_empty() && (self.repeat.is_none() || step == Step::Tests);
        is_named || runs_unnamed
    }

    /// The arguments of nextest.
    fn test_arguments(&self) -> Vec<String> {
        let repeated = self.repeat.into_iter().flat_map(|count| ["--stress-count".to_owned(), count.to_string()]);
        repeated.chain(self.nextest.iter().cloned()).collect()
    }
}

/// A step, in the order in which steps run. The tests are last, so that their summary is at the end of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// The system packages that tests need.
    Packages,
    /// Formatting, with rustfmt.
    Format,
    /// Lints, with clippy.
    Clippy,
    /// The laws of this workspace.
    Tidy,
    /// Dependencies: bans, licences, sources.
    Deny,
    /// The documentation, with private items.
    Docs,
    /// The examples in the documentation.
    Doctests,
    /// All other tests.
    Tests,
}

/// Runs the steps, and continues after a failure. Returns whether all steps passed that ran.
///
/// # Errors
/// Returns an error if a program of the Rust toolchain can't be started.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let permission = Permission::of_this_run(options.install);
    let mut summary = Summary::default();
    for step in Step::value_variants() {
        if !options.selects(*step) {
            continue;
        }
        println!("\n=== {} ===", step.name());
        let start = Instant::now();
        let outcome = step.run(options, permission)?;
        if let Outcome::Skipped(_) = &outcome {
            println!("{outcome}");
        }
        summary.add(step.name(), outcome, start.elapsed());
    }
    println!("\n=== summary ===\n{summary}");
    Ok(summary.is_good())
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn run(self, options: &Options, permission: Permission) -> Result<Outcome> {
        match self {
            Self::Packages => Ok(or_skip(tools::require_system_packages(permission))),
            Self::Format => cargo(&["fmt", "--all", "--check"]),
            Self::Tidy => Ok(tidy::run()?.into()),
            Self::Clippy => cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
            Self::Deny => deny(permission),
            Self::Docs => docs(),
            Self::Doctests => cargo(&["test", "--doc", "--workspace", "--locked", "--quiet"]),
            Self::Tests => tests(&options.test_arguments(), permission),
        }
    }
}

fn deny(permission: Permission) -> Result<Outcome> {
    if let Err(reason) = tools::require_cargo_tool(&tools::DENY, permission) {
        return Ok(Outcome::Skipped(reason));
    }
    // cargo-deny also checks crates for other platforms, which no build has fetched.
    if cargo(&["fetch", "--locked", "--quiet"])? == Outcome::Failed {
        return Ok(Outcome::Skipped("the crates that it looks at cannot be fetched".to_owned()));
    }
    let mut arguments = vec!["deny", "--locked", "--offline", "check", "--hide-inclusion-graph"];
    arguments.extend(["bans", "licenses", "sources"]);
    let has_database = has_advisory_database();
    if has_database {
        arguments.push("advisories");
    }
    match cargo(&arguments)? {
        Outcome::Passed(_) if !has_database => {
            Ok(Outcome::Passed("without advisories: no database here, `cargo deny fetch` gets it".to_owned()))
        }
        outcome => Ok(outcome),
    }
}

/// Whether cargo-deny's copy of the advisory database is on this machine. The check must not depend on the network.
fn has_advisory_database() -> bool {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    home.is_some_and(|home| holds_advisories(&home.join("advisory-dbs")))
}

/// Whether the folder of all databases contains a clone with advisories. A failed fetch leaves only a lock file or an empty clone there.
fn holds_advisories(databases: &Path) -> bool {
    let entries = fs::read_dir(databases).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.path().join("crates").is_dir())
}

fn docs() -> Result<Outcome> {
    let mut command = workspace::cargo();
    command.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"]);
    status(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests(arguments: &[String], permission: Permission) -> Result<Outcome> {
    let Err(reason) = tools::require_cargo_tool(&tools::NEXTEST, permission) else {
        let mut command = workspace::cargo();
        for (variable, package) in contracts::ALL {
            match package.folder(variable) {
                Ok(folder) => drop(command.env(variable, folder)),
                Err(reason) => println!("skipped: the download of {}: {reason}", package.name),
            }
        }
        return status(command.args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]).args(arguments));
    };
    if !arguments.is_empty() {
        return Ok(Outcome::Skipped(reason));
    }
    // `cargo test` is slower and its output is harder to read, but a run without tests would be useless.
    match cargo(&["test", "--workspace", "--locked", "--no-fail-fast", "--lib", "--bins", "--tests"])? {
        Outcome::Passed(_) => Ok(Outcome::Passed(format!("with `cargo test`: {reason}"))),
        outcome => Ok(outcome),
    }
}

fn cargo(arguments: &[&str]) -> Result<Outcome> {
    status(workspace::cargo().args(arguments))
}

fn status(command: &mut Command) -> Result<Outcome> {
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    Ok(status.success().into())
}

fn or_skip(required: Result<(), String>) -> Outcome {
    required.map_or_else(Outcome::Skipped, |()| true.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tools_skip_a_step() {
        assert_eq!(or_skip(Ok(())), Outcome::Passed(String::new()));
        assert_eq!(or_skip(Err("no git".to_owned())), Outcome::Skipped("no git".to_owned()));
    }

    #[test]
    fn a_program_that_fails_fails_its_step() {
        assert_eq!(status(&mut Command::new("false")).unwrap(), Outcome::Failed);
        assert_eq!(status(&mut Command::new("true")).unwrap(), Outcome::Passed(String::new()));
        assert!(status(&mut Command::new("no-such-program")).is_err());
    }

    #[test]
    fn incomplete_advisory_database_is_not_used() {
        let databases = tempfile::tempdir().unwrap();
        assert!(!holds_advisories(&databases.path().join("missing")));
        fs::write(databases.path().join("db.lock"), "").unwrap();
        fs::create_dir(databases.path().join("advisory-db-1")).unwrap();
        assert!(!holds_advisories(databases.path()));
        fs::create_dir(databases.path().join("advisory-db-1/crates")).unwrap();
        assert!(holds_advisories(databases.path()));
    }

    #[test]
    fn repetition_selects_the_tests_and_the_named_steps() {
        let options = |only: &[Step], repeat| Options {
            install: false,
            only: only.to_vec(),
            repeat,
            nextest: vec!["engine".to_owned()],
        };
        let selected = |options: &Options| {
            let steps = Step::value_variants().iter().copied();
            steps.filter(|step| options.selects(*step)).collect::<Vec<_>>()
        };
        assert_eq!(selected(&options(&[], None)), Step::value_variants());
        assert_eq!(selected(&options(&[], Some(20))), [Step::Tests]);
        assert_eq!(selected(&options(&[Step::Tidy], Some(20))), [Step::Tidy]);
        assert_eq!(options(&[], Some(20)).test_arguments(), ["--stress-count", "20", "engine"]);
        assert_eq!(options(&[], None).test_arguments(), ["engine"]);
    }

    #[test]
    fn tests_are_the_last_step() {
        assert_eq!(Step::value_variants().last(), Some(&Step::Tests));
    }
}
