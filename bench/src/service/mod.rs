//! Measures the service: from a push to a proposed change, its rest, and reads of its API. Git and the git host are real servers on loopback.

mod company;
mod idle;
mod program;
mod push;
mod reads;

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
