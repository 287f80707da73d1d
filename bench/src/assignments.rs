//! The time for compiling a fleet of usual size.

use anyhow::Result;
use testkit::generator::{self, Size};

use crate::cold::{Cold, Memos};
use crate::report::{MIB, Row, grouped};
use crate::{RUNS, SEED, floor};

/// 10,000 assignments, from files on disk to the digest of the tree.
pub(crate) fn fleet() -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let files = generator::fleet(Size::HUNDRED, SEED);
    let input: usize = files.values().map(String::len).sum();
    generator::write(directory.path(), files)?;
    let cold = Cold::measure(directory.path(), &Memos::default(), RUNS)?;
    let what = |what: &str| format!("{} assignments, files to tree: {what}", grouped(cold.assignments));
    let mut rows = vec![
        Row::measured(what("time"), cold.usage.wall_s, "s").at_most(0.3),
        Row::measured(what("memory"), cold.usage.memory_mib, "MiB").at_most(300.0),
        Row::measured("  input", input as f64 / MIB, "MiB"),
    ];
    rows.extend(cold.details(floor::seconds_per_byte()?));
    Ok(rows)
}
