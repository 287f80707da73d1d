//! Fleets at full scale, cold: a million assignments, and a million clusters.

use std::path::Path;

use anyhow::Result;
use testkit::generator::clusters::{self, Clusters};
use testkit::generator::{self, Size};

use crate::cold::Cold;
use crate::report::Row;
use crate::{Options, RUNS, SEED, floor};

/// A million assignments, and what one of them costs compared with one of 10,000.
pub(crate) fn million(options: &Options) -> Result<Vec<Row>> {
    let size = million_size(options);
    let (large, small) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write_million(options, large.path())?;
    generator::write(small.path(), generator::fleet(Size::HUNDRED, SEED))?;
    let cold = compiled(large.path(), size.assignments())?;
    let of_hundred = Cold::measure(small.path(), RUNS)?;
    let cost = |cold: &Cold| cold.after_reading_s() / cold.assignments as f64;
    let growth = |cold: &Cold| (cost(cold) / cost(&of_hundred) - 1.0) * 100.0;
    let what = |what: &str| format!("{} assignments, {what}", size.assignments());
    let mut rows = vec![
        row(&cold, what("objects to tree: time"), "s", Cold::after_reading_s).at_most(20.0),
        row(&cold, what("files to tree: time"), "s", |cold| cold.usage.wall_s).at_most(25.0),
        row(&cold, what("files to tree: memory"), "MiB", |cold| cold.usage.memory_mib).at_most(3.0 * 1024.0),
        row(&cold, "  growth of an assignment's cost from 10,000".to_owned(), "%", growth).at_most(20.0),
    ];
    if let Ok(cold) = &cold {
        rows.extend(cold.details(floor::seconds_per_byte()?));
    }
    Ok(rows)
}

/// A million clusters with three targets each.
pub(crate) fn clusters(options: &Options) -> Result<Vec<Row>> {
    let size = clusters_size(options);
    let directory = tempfile::tempdir()?;
    write_clusters(options, directory.path())?;
    let cold = compiled(directory.path(), size.assignments())?;
    let what = |what: &str| format!("{} clusters × {} targets, {what}", size.clusters, size.targets);
    let mut rows = vec![
        row(&cold, what("files to tree: time"), "s", |cold| cold.usage.wall_s).at_most(45.0),
        row(&cold, what("files to tree: memory"), "MiB", |cold| cold.usage.memory_mib).at_most(6.0 * 1024.0),
    ];
    if let Ok(cold) = &cold {
        rows.extend(cold.details(floor::seconds_per_byte()?));
    }
    Ok(rows)
}

/// Writes the fleet that `million` compiles.
pub(crate) fn write_million(options: &Options, directory: &Path) -> Result<()> {
    Ok(generator::write(directory, generator::fleet(million_size(options), SEED))?)
}

/// Writes the fleet that `clusters` compiles.
pub(crate) fn write_clusters(options: &Options, directory: &Path) -> Result<()> {
    Ok(generator::write(directory, clusters::files(clusters_size(options), SEED))?)
}

fn million_size(options: &Options) -> Size {
    Size { cluster_types: options.share_of(Size::MILLION.cluster_types), ..Size::MILLION }
}

fn clusters_size(options: &Options) -> Clusters {
    Clusters { clusters: options.share_of(Clusters::MILLION.clusters), ..Clusters::MILLION }
}

/// The fleet in a directory, compiled once; or why not.
fn compiled(directory: &Path, assignments: usize) -> Result<Result<Cold, String>> {
    let cold = Cold::measure(directory, 1)?;
    if cold.assignments != assignments {
        return Ok(Err(format!("only {} of {assignments} assignments were compiled", cold.assignments)));
    }
    Ok(Ok(cold))
}

/// A figure of what was compiled, or why it was not.
fn row(cold: &Result<Cold, String>, what: String, unit: &'static str, figure: impl Fn(&Cold) -> f64) -> Row {
    match cold {
        Ok(cold) => Row::measured(what, figure(cold), unit),
        Err(why) => Row::skipped(what, unit, &**why),
    }
}
