//! The time of commands that answer questions about a fleet of full size, as whole processes: from files on disk to the printed answer.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use testkit::generator::ENVIRONMENT;

use crate::report::{Row, grouped};
use crate::{Options, command, process, scale};

/// The best of this many runs counts.
const RUNS: usize = 3;
/// The bound of each answer about a million assignments, in seconds.
const AT_MOST_S: f64 = 2.0;

/// The commands that are measured with a million assignments, without the fleet and the environment.
const OF_MILLION: &[&str] = &[
    "get cluster-types",
    "get workloads -o wide",
    "get targets -o json",
    "get policies",
    "get configs -o json",
    "get schemas",
    "get assignments",
    "get assignments --limit 1000 --after ct-0500/a -o json",
    "get assignments --on ct-0042",
    "get assignments --of app-0007 -l region=region-3",
    "get values --key LOG_LEVEL",
    "get values --key SETTING_07",
    "get values --key DATABASE --of app-0007",
    "describe cluster-type/ct-0042",
    "describe workload/app-0007",
    "describe config/config-00042",
    "describe policy/functional",
    "explain ct-0042",
    "explain app-0007",
    "why-not ct-0042/app-0007-functional",
    "contract",
    "contract app-0007",
    "contract --cluster-type ct-0042",
];

/// Commands as in [`OF_MILLION`], with the exit status 1: an object does not apply, or values are missing.
const WITH_PROBLEMS_OF_MILLION: &[&str] = &["why-not ct-0042/app-0007-functional config/config-00042"];

/// The commands that are measured with a million clusters. Reading their objects takes most of the time.
const OF_CLUSTERS: &[&str] = &["get clusters", "get assignments --on edge-0000042", "get values --key REPLICAS"];

/// The answers about a million assignments with the results of an earlier run, and some about a million clusters.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let kalypso = command::build()?;
    let million = Fleet::new(kalypso.clone(), |directory| scale::write_million(options, directory))?;
    million.run("render --digest", 0)?;
    let count = grouped(scale::million_size(options).assignments());
    let mut rows = Vec::new();
    let queries = OF_MILLION.iter().map(|query| (query, 0));
    for (query, status) in queries.chain(WITH_PROBLEMS_OF_MILLION.iter().map(|query| (query, 1))) {
        let seconds = million.run(query, status)?;
        rows.push(Row::measured(format!("{count} assignments, kalypso {query}"), seconds, "s").at_most(AT_MOST_S));
    }
    drop(million);
    let clusters = Fleet::new(kalypso, |directory| scale::write_clusters(options, directory))?;
    for query in OF_CLUSTERS {
        let what = format!("{} clusters, kalypso {query}", grouped(scale::clusters_size(options).clusters));
        rows.push(Row::measured(what, clusters.run(query, 0)?, "s"));
    }
    Ok(rows)
}

/// A fleet on disk, with a cache of its own.
struct Fleet {
    kalypso: PathBuf,
    directory: tempfile::TempDir,
    cache: tempfile::TempDir,
}

impl Fleet {
    fn new(kalypso: PathBuf, write: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let (directory, cache) = (tempfile::tempdir()?, tempfile::tempdir()?);
        write(directory.path())?;
        Ok(Self { kalypso, directory, cache })
    }

    /// The seconds that a command takes. It must end with this exit status.
    fn run(&self, query: &str, status: i32) -> Result<f64> {
        let mut cache = OsString::from("KALYPSO_CACHE_DIR=");
        cache.push(self.cache.path());
        let mut arguments = vec![cache, self.kalypso.clone().into_os_string()];
        arguments.extend(query.split(' ').map(OsString::from));
        arguments.extend(["--from".into(), self.directory.path().into(), "-e".into(), ENVIRONMENT.into()]);
        let usage = process::fastest(OsStr::new("env"), &arguments, RUNS)?;
        ensure!(usage.status == Some(status), "kalypso {query} ended with {:?}: {}", usage.status, usage.last_line);
        Ok(usage.wall_s)
    }
}
