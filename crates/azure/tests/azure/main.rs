//! Polling of Azure, against a small one that keeps to the documented contracts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod cloud;
mod polling;
mod rows;
mod tokens;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use azure::{AzureOptions, AzureSource, HostNames, Pause, PollProblem, Polled, Poller};
use futures_util::FutureExt as _;
use hub_api::timestamp::Timestamp;
use serde_json::{Value, json};

use cloud::Cloud;

/// A source that asks subscriptions of tenant `t1` with the secret of `app`.
fn options(cloud: &Cloud, subscriptions: &[&str]) -> Value {
    json!({
        "tenant": "t1", "subscriptions": subscriptions, "management": cloud.url, "login": cloud.url,
        "credential": {"kind": "client-secret", "client-id": "app", "secret-env": "AZURE_SECRET"},
    })
}

fn source(options: Value) -> AzureSource {
    let environment = |name: &str| (name == "AZURE_SECRET").then(|| cloud::SECRET.to_owned());
    serde_json::from_value::<AzureOptions>(options).unwrap().resolve(Path::new("/"), environment).unwrap()
}

/// A poller that notes how long it waits instead of waiting.
struct Asking {
    poller: Poller,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl Asking {
    fn new(source: AzureSource) -> Self {
        Self::with_hosts(source, &HostNames::default())
    }

    fn with_hosts(source: AzureSource, hosts: &HostNames) -> Self {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&waits);
        let pause: Pause = Arc::new(move |wait| {
            noted.lock().unwrap().push(wait);
            std::future::ready(()).boxed()
        });
        Self { poller: Poller::with_pause(source, hosts.clone(), pause).unwrap(), waits }
    }

    async fn poll(&mut self, now: &str) -> Polled {
        self.poller.poll(now.parse::<Timestamp>().unwrap()).await
    }

    /// Seconds of each wait until now.
    fn waits(&self) -> Vec<u64> {
        std::mem::take(&mut *self.waits.lock().unwrap()).iter().map(Duration::as_secs).collect()
    }
}

const NOW: &str = "2026-11-21T13:45:00Z";

/// `host reconciler status time` of each report.
fn lines(polled: &Polled) -> Vec<String> {
    let line = |report: &hub_api::report::Report| {
        format!("{} {} {} {}", report.host, report.reconciler, report.status, report.observed_on)
    };
    polled.reports.iter().map(line).collect()
}

fn messages(polled: &Polled) -> Vec<String> {
    let line = |problem: &PollProblem| format!("{}: {}", problem.subject, problem.message);
    polled.problems.iter().map(line).collect()
}
