//! Measures the service: from a push to a proposed change, its rest, and reads of its API. Git and the git host are real servers on loopback.

mod company;
mod idle;
mod program;
mod push;
mod reads;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::Options;
use crate::report::Row;

/// How long a benchmark waits for the service. Only a broken service needs so long.
const PATIENCE: Duration = Duration::from_mins(10);

/// All figures of the service.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let kalypso = crate::command::build()?;
    let mut rows = push::rows(&kalypso, options)?;
    rows.extend(idle::rows(&kalypso, options)?);
    Ok(rows)
}

/// Waits until something is found. Asks again after each pause.
fn eventually<T>(what: &str, pause: Duration, mut find: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = find()? {
            return Ok(found);
        }
        if start.elapsed() > PATIENCE {
            bail!("{what} did not happen within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(pause);
    }
}

/// Runs git in a folder. Returns its output without the last line break.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = std::process::Command::new("git").arg("-C").arg(folder).args(arguments).output()?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
