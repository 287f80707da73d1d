//! Queries about a large fleet, each sent many times.

use std::time::Instant;

use anyhow::{Result, ensure};
use reqwest::Client;

use super::client::percentile;
use super::fleet::{self, Size};
use super::server::Hub;

/// How often each query is sent.
const REPEATS: i64 = 60;

/// The path of a query. It depends on the number of the request, so that the answers differ where possible.
type Path = fn(i64, Size) -> String;

/// The queries, each with its name.
const QUERIES: [(&str, Path); 7] = [
    ("summary of the environments", |_, _| "environments".to_owned()),
    ("targets of an environment", |_, _| "targets?environment=prod".to_owned()),
    ("rollout of a commit", |number, _| format!("rollouts/{}", fleet::commit(1 + number % 4))),
    ("comparison of two environments", |_, _| "compare?from=stage&to=prod".to_owned()),
    ("page of a host", |number, size| format!("deployments?host=host-{}", host(number, size))),
    ("history of a host", |number, size| format!("history?host=host-{}", host(number, size))),
    ("summary of the drift", |_, _| "drift".to_owned()),
];

/// A host for the request with this number: a different one for each number.
fn host(number: i64, size: Size) -> i64 {
    1 + (number * 7_919) % size.hosts
}

/// Sends each query and returns its 95th percentile, in milliseconds.
pub(crate) async fn measure(hub: &Hub, size: Size) -> Result<Vec<(&'static str, f64)>> {
    let client = Client::new();
    let mut answered = Vec::new();
    for (what, path) in QUERIES {
        let mut times = Vec::new();
        for number in 0..REPEATS {
            let url = format!("{}/api/v1/{}", hub.url, path(number, size));
            let start = Instant::now();
            let answer = client.get(&url).send().await?;
            let status = answer.status();
            let body = answer.bytes().await?;
            times.push(start.elapsed());
            ensure!(status.is_success(), "{url}: {status} {}", String::from_utf8_lossy(&body));
        }
        answered.push((what, percentile(times, 0.95)));
    }
    Ok(answered)
}
