//! Starts the benchmark program.

use anyhow::Result;

use crate::workspace::{self, Workspace};

const PACKAGE: &str = "bench";

/// Runs the package `bench` with these arguments. Returns whether it succeeded.
///
/// # Errors
/// Returns an error if the workspace can't be read or cargo can't be started.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    if !Workspace::read()?.packages.iter().any(|package| package.name == PACKAGE) {
        eprintln!("There are no benchmarks yet: the workspace has no package `{PACKAGE}`. Nothing was measured.");
        return Ok(false);
    }
    let status =
        workspace::cargo().args(["run", "--profile", "dist", "--package", PACKAGE, "--"]).args(arguments).status()?;
    Ok(status.success())
}
