//! A storm: for one minute, ten times as many reports as the hub can store.
//!
//! Clients wait only for the answer. If the hub refuses a batch, they send the next one at once. Afterwards, the database must contain every
//! acknowledged batch exactly once, and no refused batch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::hub::store::Database;
use ::hub_api::timestamp::Timestamp;
use anyhow::{Context as _, Result, bail, ensure};
use reqwest::{Client, RequestBuilder, StatusCode, header};
use tokio::task::JoinSet;

use super::client::{self, percentile};
use super::fleet::{self, RECONCILERS, Size};
use super::server::Hub;
use crate::report::Row;

/// The number of reports in one request.
const BATCH: u64 = 500;
/// The number of connections: many more than the hub allows to wait.
const SENDERS: u64 = 256;
/// The duration of the storm.
const STORM: Duration = Duration::from_mins(1);
/// How long the rate that the hub can store is measured.
const RATE_DURATION: Duration = Duration::from_secs(20);
/// The interval of the queries during the storm.
const QUERY_INTERVAL: Duration = Duration::from_millis(250);
/// The largest number of reconcilers: twenty batches, with each reconciler once.
const RECONCILERS_MAX: i64 = 20 * BATCH as i64;
/// The rate of the storm, in relation to the rate that the hub can store.
const OVERLOAD: f64 = 10.0;

/// The results of the batches of one sender.
#[derive(Default)]
struct Sent {
    acknowledged: Vec<u64>,
    turned_away: u64,
    /// The batches with an unknown result: there was no answer, or the hub answered with a timeout.
    unanswered: Vec<u64>,
    /// The number of refused batches whose answer had no hint when to retry.
    without_hint: u64,
}

/// Runs a storm on an empty database.
pub(crate) async fn run(name: &str, url: &str, size: Size) -> Result<Vec<Row>> {
    fleet::fill(url, size).await?;
    let hub = Hub::start(url)?;
    let rate = client::batches(&hub, size, RATE_DURATION).await?;
    let start = Instant::now();
    let pace = Pace { start, per_second: rate * OVERLOAD / BATCH as f64, next: AtomicU64::new(0) };
    let queries = tokio::spawn(send_queries(hub.url.clone(), start));
    let all = send_all(&hub, size, pace).await?;
    let seconds = start.elapsed().as_secs_f64();
    let times = queries.await??;
    let memory = hub.stop()?;
    let (lost, wrong) = lost_and_wrong(url, &all).await?;
    let offered = (all.acknowledged.len() as u64 + all.unanswered.len() as u64 + all.turned_away) * BATCH;
    Ok(vec![
        Row::measured(format!("{name}: reports in a storm of a minute"), offered as f64 / seconds, "/s"),
        Row::measured("  of the rate that is stored without one", offered as f64 / seconds / rate, "×"),
        Row::measured("  acknowledged", (all.acknowledged.len() as u64 * BATCH) as f64 / seconds, "/s"),
        Row::measured("  turned away", 100.0 * (all.turned_away * BATCH) as f64 / offered as f64, "%"),
        Row::measured(
            "  not answered in time",
            100.0 * (all.unanswered.len() as u64 * BATCH) as f64 / offered as f64,
            "%",
        ),
        Row::measured("  turned away without a hint when to come back", all.without_hint as f64, "").exactly(0.0),
        Row::measured("  batches acknowledged and lost", lost as f64, "").exactly(0.0),
        Row::measured("  batches stored twice, in part, or though turned away", wrong as f64, "").exactly(0.0),
        Row::measured("  of the questions meanwhile, 95 % are answered within", percentile(times, 0.95), "ms"),
        Row::measured("  memory", memory, "MiB").at_most(500.0),
    ])
}

/// Determines when the next batch is due.
struct Pace {
    start: Instant,
    per_second: f64,
    next: AtomicU64,
}

/// Sends on all connections until the end of the storm.
async fn send_all(hub: &Hub, size: Size, pace: Pace) -> Result<Sent> {
    let (client, url) = (Client::new(), format!("{}/api/v1/reports", hub.url));
    let (pace, reports) = (Arc::new(pace), Arc::new(Reports::new(size)));
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        senders.spawn(send(client.post(&url), Arc::clone(&reports), Arc::clone(&pace)));
    }
    let mut all = Sent::default();
    while let Some(sent) = senders.join_next().await {
        let sent = sent??;
        all.acknowledged.extend(sent.acknowledged);
        all.unanswered.extend(sent.unanswered);
        all.turned_away += sent.turned_away;
        all.without_hint += sent.without_hint;
    }
    Ok(all)
}

/// Sends batches when they are due, until the end of the storm.
async fn send(post: RequestBuilder, reports: Arc<Reports>, pace: Arc<Pace>) -> Result<Sent> {
    let post = post.header("content-type", "application/x-ndjson");
    let mut sent = Sent::default();
    while pace.start.elapsed() < STORM {
        let number = pace.next.fetch_add(1, Ordering::Relaxed);
        let due = pace.start + Duration::from_secs_f64(number as f64 / pace.per_second);
        tokio::time::sleep_until(due.into()).await;
        let post = post.try_clone().context("the request can't be sent again")?;
        // Without an answer, the result is unknown. A real client would send the batch again.
        let Ok(answer) = post.body(reports.batch(number)).send().await else {
            sent.unanswered.push(number);
            continue;
        };
        let (status, has_hint) = (answer.status(), answer.headers().contains_key(header::RETRY_AFTER));
        // Reads the body to its end, so that the connection can be used again.
        let body = answer.bytes().await?;
        match status {
            StatusCode::OK => sent.acknowledged.push(number),
            StatusCode::TOO_MANY_REQUESTS => sent.turned_away += 1,
            StatusCode::SERVICE_UNAVAILABLE => sent.unanswered.push(number),
            _ => bail!("the hub said {status}: {}", String::from_utf8_lossy(&body)),
        }
        sent.without_hint += u64::from(status != StatusCode::OK && !has_hint);
    }
    Ok(sent)
}

/// Sends the queries that users send in such a situation, until the end of the storm. Returns the time of each answer.
async fn send_queries(url: String, start: Instant) -> Result<Vec<Duration>> {
    let client = Client::new();
    let mut times = Vec::new();
    while start.elapsed() < STORM {
        for question in ["environments", "targets?environment=prod", "deployments?host=host-1", "drift"] {
            let sent_at = Instant::now();
            let answer = client.get(format!("{url}/api/v1/{question}")).send().await?;
            let status = answer.status();
            answer.bytes().await?;
            ensure!(status.is_success(), "{question}: {status}");
            times.push(sent_at.elapsed());
        }
        tokio::time::sleep(QUERY_INTERVAL).await;
    }
    Ok(times)
}

/// The parts of reports that are the same in each batch. Making them for each batch would take processor time from the hub.
struct Reports {
    /// The timestamp of the first batch.
    start: i64,
    /// For each reconciler, the text of its report before the number of the batch.
    heads: Vec<String>,
}

impl Reports {
    fn new(size: Size) -> Self {
        let head = |number: i64| {
            let (host, reconciler) = (1 + number / RECONCILERS % size.hosts, number % RECONCILERS);
            let (repository, branch, path) = fleet::endpoint(host, reconciler);
            format!(
                r#"{{"host":"host-{host}","reconciler":"reconciler-{reconciler}","type":"flux","place":{{"repository":"{repository}","branch":"{branch}","path":"{path}"}},"revision":"{branch}@sha1:{}","status":"success","message":"storm "#,
                fleet::commit(1 + number % 4)
            )
        };
        let count = (size.hosts * RECONCILERS).min(RECONCILERS_MAX);
        Self { start: Timestamp::now().millis(), heads: (0..count).map(head).collect() }
    }

    /// A batch with one report from each of its reconcilers. The timestamp is one millisecond after that of the batch before.
    fn batch(&self, number: u64) -> String {
        let at = Timestamp::from_millis(self.start + number as i64);
        let mut body = String::with_capacity(BATCH as usize * 420);
        let first = (number * BATCH) as usize % self.heads.len();
        for head in self.heads.iter().cycle().skip(first).take(BATCH as usize) {
            let _ = writeln!(body, "{head}{number}\",\"observedAt\":\"{at}\"}}");
        }
        body
    }
}

/// The number of acknowledged batches that are missing, and the number of stored batches that are refused, incomplete or duplicate.
async fn lost_and_wrong(url: &str, sent: &Sent) -> Result<(usize, usize)> {
    let database = Database::open(&url.parse()?).await?;
    let sql = "select status_message, count(*), count(distinct reconciler_id) from deployment \
               where status_message like 'storm %' group by status_message";
    let mut stored = BTreeMap::new();
    for (message, reports, reconcilers) in database.query::<(String, i64, i64)>(sql, Vec::new()).await? {
        let number: u64 = message.strip_prefix("storm ").context("a report has no number")?.parse()?;
        stored.insert(number, (reports as u64, reconcilers as u64));
    }
    database.close().await;
    let lost = sent.acknowledged.iter().filter(|number| !stored.contains_key(number)).count();
    let allowed: BTreeSet<_> = sent.acknowledged.iter().chain(&sent.unanswered).collect();
    let wrong = stored.iter().filter(|(number, counts)| **counts != (BATCH, BATCH) || !allowed.contains(number));
    Ok((lost, wrong.count()))
}
