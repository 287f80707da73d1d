//! Measures the hub: the rate of reports, and the time of queries about a million hosts.

mod client;
mod fleet;
mod pages;
mod queries;
mod server;
mod storm;
mod streams;

use std::time::Duration;

use anyhow::Result;
use testkit::postgres::{self, PostgresServer};
use tokio::runtime::Runtime;

pub(crate) use self::client::percentile;
use self::fleet::Size;
use self::server::Hub;
pub(crate) use self::server::serve_and_exit;
use crate::Options;
use crate::report::Row;

/// 100,000 reconcilers, each with one row of history.
const SMALL: Size = Size { hosts: 33_334, history: 100_002 };
/// A million hosts with three reconcilers each, and ten million rows of history.
const MILLION: Size = Size { hosts: 1_000_000, history: 10_000_000 };
/// How long reports are sent.
const SUSTAINED: Duration = Duration::from_mins(2);
/// How long reports are sent if their rate is only compared.
const COMPARED: Duration = Duration::from_secs(40);
/// How long a hub with many hosts runs before the first query.
const STARTED: Duration = Duration::from_secs(30);
/// How long single reports are sent.
const SINGLE: Duration = Duration::from_secs(20);
/// The number of single reports per second.
const SINGLE_RATE: u32 = 3_000;

/// The bounds for a hub on one of the databases.
struct Bounds {
    name: &'static str,
    batches_per_second: f64,
}

/// Measures the hub on SQLite.
pub(crate) fn sqlite(options: &Options) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let url = |name: &str| Ok(format!("sqlite:{}", folder.path().join(name).display()));
    rows(options, &Bounds { name: "SQLite", batches_per_second: 20_000.0 }, url)
}

/// Measures the hub on PostgreSQL.
pub(crate) fn postgresql(options: &Options) -> Result<Vec<Row>> {
    let bounds = Bounds { name: "PostgreSQL", batches_per_second: 15_000.0 };
    on_postgres(|url| rows(options, &bounds, url))
}

/// Sends more reports than the hub can store, on both databases.
pub(crate) fn storm(options: &Options) -> Result<Vec<Row>> {
    let size = SMALL.share(options.share);
    on_both(|name, url| runtime()?.block_on(storm::run(name, url, size)))
}

/// Measures streams of events, on both databases.
pub(crate) fn streams(options: &Options) -> Result<Vec<Row>> {
    let size = SMALL.share(options.share);
    on_both(|name, url| runtime()?.block_on(streams::run(name, url, size)))
}

/// Measures the pages of a hub with a million hosts, on both databases.
pub(crate) fn web(options: &Options) -> Result<Vec<Row>> {
    let size = MILLION.share(options.share);
    on_both(|name, url| runtime()?.block_on(pages::run(name, url, size)))
}

fn on_both(measure: impl Fn(&str, &str) -> Result<Vec<Row>>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let mut rows = measure("SQLite", &format!("sqlite:{}", folder.path().join("hub.db").display()))?;
    rows.extend(on_postgres(|url| measure("PostgreSQL", &url("hub")?))?);
    Ok(rows)
}

/// Starts a PostgreSQL server with the configuration of its packages, apart from the memory. `measure` gets a function that makes a new database and
/// returns its URL.
fn on_postgres(measure: impl FnOnce(&mut dyn FnMut(&str) -> Result<String>) -> Result<Vec<Row>>) -> Result<Vec<Row>> {
    if let Err(why) = postgres::availability() {
        return Ok(vec![Row::skipped("the hub on PostgreSQL", "", why)]);
    }
    let server =
        PostgresServer::start_private(&["fsync=on", "full_page_writes=on", "shared_buffers=1GB", "max_wal_size=8GB"])?;
    let mut databases = Vec::new();
    let mut url = |_: &str| {
        databases.push(server.create_database()?);
        Ok(databases.last().map(testkit::postgres::PostgresDatabase::url).unwrap_or_default())
    };
    let rows = measure(&mut url);
    server.stop()?;
    rows
}

fn rows(options: &Options, bounds: &Bounds, mut url: impl FnMut(&str) -> Result<String>) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let (rate, mut rows) = runtime.block_on(small(options, bounds, &url("small.db")?))?;
    let more = runtime.block_on(million((options, rate), bounds, &url("million.db")?))?;
    rows.extend(more);
    Ok(rows)
}

fn runtime() -> Result<Runtime> {
    // The client uses plain HTTP, but can't be created without a TLS provider.
    ::hub_api::tls::install_provider();
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Measures the rate of batches and the time of single reports, in a small database.
async fn small(options: &Options, bounds: &Bounds, url: &str) -> Result<(f64, Vec<Row>)> {
    let size = SMALL.share(options.share);
    fleet::fill(url, size).await?;
    let hub = Hub::start(url)?;
    let single = client::single(&hub, size, (SINGLE, SINGLE_RATE)).await?;
    let rate = client::batches(&hub, size, SUSTAINED).await?;
    let memory = hub.stop()?;
    let rows = vec![
        Row::measured(format!("{}: reports in batches of 500, for two minutes", bounds.name), rate, "/s")
            .at_least(bounds.batches_per_second),
        Row::measured("  reports one by one", single.per_second, "/s").at_least(f64::from(SINGLE_RATE) * 0.99),
        Row::measured("  of these, 99 % are stored within", single.p99_ms, "ms").at_most(50.0),
        Row::measured("  memory", memory, "MiB").at_most(500.0),
    ];
    Ok((rate, rows))
}

/// Measures queries about a million hosts, and the rate of reports in that database.
async fn million((options, small): (&Options, f64), bounds: &Bounds, url: &str) -> Result<Vec<Row>> {
    let size = MILLION.share(options.share);
    fleet::fill(url, size).await?;
    let hub = Hub::start(url)?;
    // After its start, the hub first reads all hosts.
    tokio::time::sleep(STARTED).await;
    let mut rows = Vec::new();
    for (what, p95_ms) in queries::measure(&hub, size).await? {
        rows.push(Row::measured(format!("{}, {} hosts: {what}", bounds.name, size.hosts), p95_ms, "ms").at_most(100.0));
    }
    rows.push(Row::measured("  memory", hub.memory_mib()?, "MiB").at_most(500.0));
    let rate = client::batches(&hub, size, COMPARED).await?;
    let memory = hub.stop()?;
    rows.push(Row::measured(
        format!("{}: reports in batches of 500, with {} rows", bounds.name, size.history),
        rate,
        "/s",
    ));
    rows.push(Row::measured("  of the rate with 100,000 rows", 100.0 * rate / small, "%").at_least(70.0));
    rows.push(Row::measured("  memory", memory, "MiB").at_most(500.0));
    Ok(rows)
}
