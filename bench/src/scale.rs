//! Fleets of full size, compiled without earlier results: a million assignments, and a million clusters.

use std::path::Path;

use anyhow::{Result, ensure};
use testkit::generator::clusters::{self, Clusters};
use testkit::generator::{self, Size};

use crate::cold::{Cold, Memos};
use crate::report::{Row, grouped};
use crate::{Options, RUNS, SEED, floor};

/// Fewer cluster types than [`Size::MILLION`], to measure how the cost of one assignment grows. The number of `ConfigMap`s and targets is the same,
/// so the number of different sets of values for each assignment is the same too.
const SMALL: Size = Size { cluster_types: 10, ..Size::MILLION };

/// A million assignments, and the cost of one of them compared with one of 10,000.
pub(crate) fn million(options: &Options) -> Result<Vec<Row>> {
    let size = million_size(options);
    let (large, small) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write_million(options, large.path())?;
    generator::write(small.path(), generator::million(SMALL, SEED))?;
    let cold = compiled(large.path(), size.assignments(), 1)?;
    let of_small = compiled(small.path(), SMALL.assignments(), RUNS)?;
    let cost_us = |cold: &Cold| cold.after_reading_s() / cold.assignments as f64 * 1e6;
    let growth = (cost_us(&cold) / cost_us(&of_small) - 1.0) * 100.0;
    let what = |what: &str| format!("{} assignments, {what}", grouped(size.assignments()));
    let one_of = |size: Size| format!("  an assignment among {}", grouped(size.assignments()));
    let mut rows = vec![
        Row::measured(what("objects to tree: time"), cold.after_reading_s(), "s").at_most(10.0),
        Row::measured(what("files to tree: time"), cold.usage.wall_s, "s").at_most(10.0),
        Row::measured(what("files to tree: memory"), cold.usage.memory_mib, "MiB").at_most(1.6 * 1024.0),
    ];
    rows.extend(cold.details(floor::seconds_per_byte()?));
    rows.push(Row::measured("growth of the cost of an assignment", growth, "%").at_most(20.0));
    rows.extend(
        [(SMALL, &of_small), (size, &cold)].map(|(size, cold)| Row::measured(one_of(size), cost_us(cold), "µs")),
    );
    Ok(rows)
}

/// A million assignments with more sets of values. Each assignment contains a hash of its values.
pub(crate) fn sets(options: &Options) -> Result<Vec<Row>> {
    let size = million_size(options);
    let directory = tempfile::tempdir()?;
    write_sets(options, directory.path())?;
    let cold = compiled(directory.path(), size.assignments(), 1)?;
    let what = |what: &str| format!("{} assignments with hashes of their values, {what}", grouped(size.assignments()));
    let mut rows = vec![
        Row::measured(what("files to tree: time"), cold.usage.wall_s, "s").at_most(15.0),
        Row::measured(what("files to tree: memory"), cold.usage.memory_mib, "MiB").at_most(1.6 * 1024.0),
    ];
    rows.extend(cold.details(floor::seconds_per_byte()?));
    Ok(rows)
}

/// A million assignments whose values are nested: texts of several lines, lists of maps and maps of maps.
pub(crate) fn nested(options: &Options) -> Result<Vec<Row>> {
    let size = million_size(options);
    let directory = tempfile::tempdir()?;
    write_nested(options, directory.path())?;
    let cold = compiled(directory.path(), size.assignments(), 1)?;
    let what = |what: &str| format!("{} assignments with nested values, {what}", grouped(size.assignments()));
    let mut rows = vec![
        Row::measured(what("files to tree: time"), cold.usage.wall_s, "s").at_most(15.0),
        Row::measured(what("files to tree: memory"), cold.usage.memory_mib, "MiB").at_most(1.5 * 1024.0),
    ];
    rows.extend(cold.details(floor::seconds_per_byte()?));
    Ok(rows)
}

/// A million clusters with three targets each.
pub(crate) fn clusters(options: &Options) -> Result<Vec<Row>> {
    let size = clusters_size(options);
    let directory = tempfile::tempdir()?;
    write_clusters(options, directory.path())?;
    let cold = compiled(directory.path(), size.assignments(), 1)?;
    let what = |what: &str| format!("{} clusters × {} targets, {what}", grouped(size.clusters), size.targets);
    let mut rows = vec![
        Row::measured(what("files to tree: time"), cold.usage.wall_s, "s").at_most(45.0),
        Row::measured(what("files to tree: memory"), cold.usage.memory_mib, "MiB").at_most(6.0 * 1024.0),
    ];
    rows.extend(cold.details(floor::seconds_per_byte()?));
    Ok(rows)
}

/// Writes the fleet of the benchmark `million`.
pub(crate) fn write_million(options: &Options, directory: &Path) -> Result<()> {
    Ok(generator::write(directory, generator::million(million_size(options), SEED))?)
}

/// Writes the fleet of the benchmark `sets`.
pub(crate) fn write_sets(options: &Options, directory: &Path) -> Result<()> {
    Ok(generator::write(directory, generator::sets(million_size(options), SEED))?)
}

/// Writes the fleet of the benchmark `nested`.
pub(crate) fn write_nested(options: &Options, directory: &Path) -> Result<()> {
    Ok(generator::write(directory, generator::nested(million_size(options), SEED))?)
}

/// Writes the fleet of the benchmark `clusters`.
pub(crate) fn write_clusters(options: &Options, directory: &Path) -> Result<()> {
    Ok(generator::write(directory, clusters::files(clusters_size(options), SEED))?)
}

/// The size of the fleets of `million`, `sets` and `nested`.
pub(crate) fn million_size(options: &Options) -> Size {
    Size { cluster_types: options.share_of(Size::MILLION.cluster_types), ..Size::MILLION }
}

/// The size of the fleet of `clusters`.
pub(crate) fn clusters_size(options: &Options) -> Clusters {
    Clusters { clusters: options.share_of(Clusters::MILLION.clusters), ..Clusters::MILLION }
}

/// Compiles the fleet in a directory. Returns an error unless all assignments were compiled.
fn compiled(directory: &Path, assignments: usize, runs: usize) -> Result<Cold> {
    let cold = Cold::measure(directory, &Memos::default(), runs)?;
    ensure!(cold.assignments == assignments, "only {} of {assignments} assignments were compiled", cold.assignments);
    Ok(cold)
}
