//! The time of short `kalypso` commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::report::Row;
use crate::sample::Sample;

const RUNS: usize = 20;

/// `kalypso --help`, and `kalypso check` of the sample control plane.
pub(crate) fn rows() -> Result<Vec<Row>> {
    let kalypso = build()?;
    let mut rows = vec![row(&kalypso, "kalypso --help", &["--help".into()], 10.0)?];
    let what = "kalypso check of the sample";
    match Sample::create()? {
        None => rows.push(Row::skipped(
            what,
            "ms",
            "the variable KALYPSO_CONFORMANCE names no folder with reference/sample",
        )),
        Some(sample) => {
            let directory = sample.directory();
            rows.push(row(&kalypso, &format!("{what}, a directory"), &directory, 100.0)?);
            rows.push(row(&kalypso, &format!("{what}, repositories, cached"), &sample.repositories(), 100.0)?);
        }
    }
    Ok(rows)
}

/// Builds the program that is measured, and returns its path.
pub(crate) fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--quiet", "--profile", "dist", "--package", "kalypso"]).status()?;
    ensure!(built.success(), "kalypso could not be built");
    let own = std::env::current_exe()?;
    Ok(own.parent().context("this program has no folder")?.join("kalypso"))
}

/// Measures a command. The first run only fills the caches. Status 1 means that the check found problems, and is accepted.
fn row(kalypso: &Path, what: &str, arguments: &[OsString], at_most_ms: f64) -> Result<Row> {
    let usage = process::fastest(kalypso.as_os_str(), arguments, RUNS)?;
    Ok(match usage.status {
        Some(0 | 1) if !usage.last_line.is_empty() => Row::measured(what, usage.wall_s * 1e3, "ms").at_most(at_most_ms),
        Some(status) => Row::skipped(what, "ms", format!("kalypso does not know this command (status {status})")),
        None => Row::skipped(what, "ms", "kalypso was ended by a signal"),
    })
}
