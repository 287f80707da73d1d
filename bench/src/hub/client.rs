//! Clients that send reports as fast as the hub accepts them, or at a steady rate.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use ::hub_api::timestamp::Timestamp;
use anyhow::{Result, ensure};
use reqwest::{Client, StatusCode};
use tokio::task::JoinSet;

use super::fleet::{self, RECONCILERS, Size};
use super::server::Hub;

/// The number of reports in one request.
const BATCH: usize = 500;
/// The number of connections that send batches.
const SENDERS: u32 = 6;
/// The number of connections that send single reports. With so many connections, a report rarely waits for the answer to another one, as in production.
const SINGLE_SENDERS: u32 = 128;

/// Single reports are sent for this time before they are measured: databases plan a statement again the first few times.
const WARMING: Duration = Duration::from_secs(5);

/// Generates random hosts. The sequence is the same in every run.
struct Random(u64);

impl Random {
    fn new(sender: u32) -> Self {
        Self(u64::from(sender + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self, below: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as i64).rem_euclid(below)
    }
}

/// Writes one report as a line. The reconciler is random, and the report differs from all earlier ones.
fn line(text: &mut String, random: &mut Random, size: Size, number: i64) {
    let (host, reconciler) = (1 + random.next(size.hosts), random.next(RECONCILERS));
    let (repository, branch, path) = fleet::endpoint(host, reconciler);
    let status = if number % 50 == 0 { "failure" } else { "success" };
    let _ = writeln!(
        text,
        r#"{{"host":"host-{host}","reconciler":"reconciler-{reconciler}","type":"flux","place":{{"repository":"{repository}","branch":"{branch}","path":"{path}"}},"revision":"{branch}@sha1:{}","status":"{status}","message":"Applied revision {number}","observedAt":"{}"}}"#,
        fleet::commit(1 + number % 4),
        Timestamp::now(),
    );
}

/// Sends batches from several clients as fast as the hub accepts them. Returns the number of reports per second.
pub(crate) async fn batches(hub: &Hub, size: Size, duration: Duration) -> Result<f64> {
    let (client, number) = (Client::new(), Arc::new(AtomicI64::new(0)));
    let start = Instant::now();
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        let (client, number, url) = (client.clone(), Arc::clone(&number), format!("{}/api/v1/reports", hub.url));
        senders.spawn(async move {
            let mut random = Random::new(sender);
            let mut sent = 0;
            while start.elapsed() < duration {
                let mut body = String::with_capacity(BATCH * 400);
                (0..BATCH).for_each(|_| line(&mut body, &mut random, size, number.fetch_add(1, Ordering::Relaxed)));
                let answer = client.post(&url).header("content-type", "application/x-ndjson").body(body).send().await?;
                match answer.status() {
                    StatusCode::TOO_MANY_REQUESTS => tokio::time::sleep(Duration::from_millis(50)).await,
                    status => {
                        ensure!(status.is_success(), "the hub said {status}: {}", answer.text().await?);
                        sent += BATCH;
                    }
                }
            }
            Ok(sent)
        });
    }
    let mut sent = 0;
    while let Some(sender) = senders.join_next().await {
        sent += sender??;
    }
    Ok(sent as f64 / start.elapsed().as_secs_f64())
}

/// The measurements of single reports.
pub(crate) struct Single {
    pub(crate) per_second: f64,
    pub(crate) p99_ms: f64,
}

/// Sends single reports at a steady rate. The time of a report begins when it is due, so that a slow hub does not reduce the number of measurements.
pub(crate) async fn single(hub: &Hub, size: Size, (duration, rate): (Duration, u32)) -> Result<Single> {
    let client = Client::new();
    let url = format!("{}/api/v1/reports", hub.url);
    // Opens all connections before the measurement: each sends one report.
    at_once(|sender| post(client.clone(), url.clone(), (Random::new(sender), size))).await?;
    let start = Instant::now();
    let times = at_once(|sender| {
        let (client, url, mut random) = (client.clone(), url.clone(), Random::new(SINGLE_SENDERS + sender));
        async move {
            let mut times = Vec::new();
            for turn in 0.. {
                let due = start + Duration::from_secs_f64(f64::from(turn * SINGLE_SENDERS + sender) / f64::from(rate));
                if due.duration_since(start) > WARMING + duration {
                    break;
                }
                tokio::time::sleep_until(due.into()).await;
                random = post(client.clone(), url.clone(), (random, size)).await?;
                if due.duration_since(start) > WARMING {
                    times.push(due.elapsed());
                }
            }
            Ok(times)
        }
    });
    let times = times.await?.concat();
    let per_second = times.len() as f64 / start.elapsed().saturating_sub(WARMING).as_secs_f64();
    Ok(Single { per_second, p99_ms: percentile(times, 0.99) })
}

/// Sends one report.
async fn post(client: Client, url: String, (mut random, size): (Random, Size)) -> Result<Random> {
    let mut body = String::new();
    let number = random.next(i64::from(u32::MAX));
    line(&mut body, &mut random, size, number);
    let answer = client.post(&url).header("content-type", "application/json").body(body).send().await?;
    ensure!(answer.status().is_success(), "the hub said {}", answer.status());
    Ok(random)
}

/// Runs all senders of single reports at the same time. Returns their results.
async fn at_once<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
    sender: impl Fn(u32) -> F,
) -> Result<Vec<T>> {
    let mut senders = JoinSet::new();
    for number in 0..SINGLE_SENDERS {
        senders.spawn(sender(number));
    }
    senders.join_all().await.into_iter().collect()
}

/// The percentile `share` of the times, in milliseconds.
pub(crate) fn percentile(mut times: Vec<Duration>, share: f64) -> f64 {
    times.sort_unstable();
    let index = (times.len() as f64 * share) as usize;
    times.get(index.min(times.len().saturating_sub(1))).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
}
