//! Starts the benchmarks, with the profile of the shipped program.

use anyhow::Result;

use crate::workspace;

/// The benchmarks of single functions: a program of their own.
const FUNCTIONS: &str = "functions";

/// Runs the named benchmarks, or all. Returns whether they succeeded.
///
/// # Errors
/// Returns an error if cargo can't be started.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if let Some((FUNCTIONS, filters)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return cargo(&["bench", "--bench", FUNCTIONS], filters);
    }
    let is_good = cargo(&["run"], arguments)?;
    Ok(is_good && (!arguments.is_empty() || cargo(&["bench", "--bench", FUNCTIONS], &[])?))
}

fn cargo(command: &[&str], arguments: &[String]) -> Result<bool> {
    let mut cargo = workspace::cargo();
    cargo.args(command).args(["--profile", "dist", "--package", "bench", "--"]).args(arguments);
    Ok(cargo.status()?.success())
}
