//! How fast the assignments of a fleet of ordinary size are made, and how the cost grows.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use engine::compile::Compiled;
use model::fleet::Fleet;
use testkit::generator::{self, ENVIRONMENT, Size};

use crate::cold::Cold;
use crate::report::{MIB, Row};
use crate::{RUNS, SEED, floor};

/// 10,000 assignments, from files on disk to the digest of the tree.
pub(crate) fn fleet() -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let files = generator::fleet(Size::HUNDRED, SEED);
    let input: usize = files.values().map(String::len).sum();
    generator::write(directory.path(), files)?;
    let cold = Cold::measure(directory.path(), RUNS)?;
    let count = cold.assignments;
    let mut rows = vec![
        Row::measured(format!("{count} assignments, files to tree: time"), cold.usage.wall_s, "s").at_most(0.3),
        Row::measured(format!("{count} assignments, files to tree: memory"), cold.usage.memory_mib, "MiB")
            .at_most(300.0),
        Row::measured(format!("{count} assignments, files to tree: processor time"), cold.usage.cpu_s, "s"),
        Row::measured("  input", input as f64 / MIB, "MiB"),
    ];
    rows.extend(cold.details(floor::seconds_per_byte()?));
    Ok(rows)
}

/// What an assignment costs in a fleet of 1,000 and in one of 10,000, from parsed objects.
pub(crate) fn growth() -> Result<Vec<Row>> {
    let small = Size { cluster_types: 32, targets: 32, ..Size::HUNDRED };
    let [small, large] = [small, Size::HUNDRED].map(|size| {
        let files = generator::fleet(size, SEED).into_iter().map(|(path, text)| (path, text.into_bytes()));
        let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
        let fleet = Arc::new(fleet);
        let cost = |_| compile_s(&fleet) / size.assignments() as f64;
        anyhow::Ok((size.assignments(), (0..2 * RUNS).map(cost).fold(f64::INFINITY, f64::min)))
    });
    let (small, large) = (small?, large?);
    let row = |(count, cost): (usize, f64)| {
        Row::measured(format!("an assignment among {count}, objects to tree"), cost * 1e6, "µs")
    };
    let growth = Row::measured("  growth of its cost", (large.1 / small.1 - 1.0) * 100.0, "%").at_most(20.0);
    Ok(vec![row(small), row(large), growth])
}

/// The seconds that the tree of a fleet takes.
fn compile_s(fleet: &Arc<Fleet>) -> f64 {
    let start = Instant::now();
    std::hint::black_box(Compiled::new(fleet).tree().id());
    start.elapsed().as_secs_f64()
}
