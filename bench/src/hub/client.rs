//! Clients that send reports as fast as the hub takes them, or at a steady rate.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use ::hub::moment::Moment;
use anyhow::{Result, ensure};
use reqwest::{Client, StatusCode};
use tokio::task::JoinSet;

use super::fleet::{self, RECONCILERS, Size};
use super::server::Hub;

/// Reports in one request.
const BATCH: usize = 500;
/// Connections that send batches.
const SENDERS: u64 = 6;
/// Connections that send single reports: so many that a host hardly ever waits for the answer to another one, as hosts don't.
const SINGLE_SENDERS: u32 = 128;

/// Random hosts, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as i64).rem_euclid(below)
    }
}

/// One report as a line: of a random reconciler, and different from all before.
fn line(text: &mut String, random: &mut Random, size: Size, number: i64) {
    let (host, reconciler) = (1 + random.next(size.hosts), random.next(RECONCILERS));
    let (repository, branch, path) = fleet::endpoint(host, reconciler);
    let status = if number % 50 == 0 { "failure" } else { "success" };
    let _ = writeln!(
        text,
        r#"{{"host":"host-{host}","reconciler":"reconciler-{reconciler}","type":"flux","place":{{"repository":"{repository}","branch":"{branch}","path":"{path}"}},"revision":"{branch}@sha1:{}","status":"{status}","message":"Applied revision {number}","observedAt":"{}"}}"#,
        fleet::commit(1 + number % 4),
        Moment::now(),
    );
}

/// Batches from several clients, as fast as the hub takes them; reports a second.
pub(crate) async fn batches(hub: &Hub, size: Size, duration: Duration) -> Result<f64> {
    let (client, number) = (Client::new(), Arc::new(AtomicI64::new(0)));
    let start = Instant::now();
    let mut senders = JoinSet::new();
    for sender in 1..=SENDERS {
        let (client, number, url) = (client.clone(), Arc::clone(&number), format!("{}/api/v1/reports", hub.url));
        senders.spawn(async move {
            let mut random = Random(sender.wrapping_mul(0x9e37_79b9_7f4a_7c15));
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

/// What came of single reports.
pub(crate) struct Single {
    pub(crate) per_second: f64,
    pub(crate) p99_ms: f64,
}

/// Single reports at a steady rate. A report's time runs from when it was due, so that a hub that falls behind is not measured less often.
pub(crate) async fn single(hub: &Hub, size: Size, (duration, rate): (Duration, u32)) -> Result<Single> {
    let client = Client::new();
    let start = Instant::now();
    let mut senders = JoinSet::new();
    for sender in 0..SINGLE_SENDERS {
        let (client, url) = (client.clone(), format!("{}/api/v1/reports", hub.url));
        senders.spawn(async move {
            let mut random = Random(u64::from(sender + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut times = Vec::new();
            for turn in 0.. {
                let due = start + Duration::from_secs_f64(f64::from(turn * SINGLE_SENDERS + sender) / f64::from(rate));
                if due.duration_since(start) > duration {
                    break;
                }
                tokio::time::sleep_until(due.into()).await;
                let mut body = String::new();
                line(&mut body, &mut random, size, i64::from(turn) * 1_000 + i64::from(sender));
                let answer = client.post(&url).header("content-type", "application/json").body(body).send().await?;
                ensure!(answer.status().is_success(), "the hub said {}", answer.status());
                times.push(due.elapsed());
            }
            Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(sender) = senders.join_next().await {
        times.extend(sender??);
    }
    let per_second = times.len() as f64 / start.elapsed().as_secs_f64();
    Ok(Single { per_second, p99_ms: percentile(times, 0.99) })
}

/// The time within which this share of them lies, in milliseconds.
pub(crate) fn percentile(mut times: Vec<Duration>, share: f64) -> f64 {
    times.sort_unstable();
    let index = (times.len() as f64 * share) as usize;
    times.get(index.min(times.len().saturating_sub(1))).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
}
