//! The metrics of the service, for Prometheus.

use std::sync::atomic::Ordering;
use std::time::Duration;

use git_host::calls::CallCounts;
use hub_api::promotions::{MovePhase, MoveStatus, PromotionStatus};
use hub_api::timestamp::Timestamp;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::results::SyncReport;

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 11] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
/// The last line of the format, which the hub's metrics have.
const END: &str = "# EOF\n";

/// The metrics of the service.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    syncs: Family<SyncLabels, Counter>,
    durations: Family<EnvironmentLabels, Histogram, fn() -> Histogram>,
    recomputed: Family<EnvironmentLabels, Counter>,
    errors: Family<EnvironmentLabels, Gauge>,
    failures: Family<EnvironmentLabels, Gauge>,
    leading: Family<EnvironmentLabels, Gauge>,
    environments: Gauge,
    waiting: Gauge,
    polls: Family<ResultLabels, Counter>,
    webhooks: Family<WebhookLabels, Counter>,
    moving: Family<EnvironmentLabels, Gauge>,
    stopped: Family<EnvironmentLabels, Gauge>,
    move_waiting: Family<EnvironmentLabels, Gauge>,
    rate_limit: Family<HostLabels, Gauge>,
    calls: Family<CallLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SyncLabels {
    environment: String,
    reason: String,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EnvironmentLabels {
    environment: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabels {
    kind: String,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    host: String,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HostLabels {
    host: String,
}

/// The result of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebhookResult {
    /// It was accepted.
    Success,
    /// It was accepted, but no environment depends on its repository.
    Unmatched,
    /// It was refused.
    Failure,
}

impl WebhookResult {
    fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Unmatched => "unmatched",
            Self::Failure => "failure",
        }
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let durations = Family::<EnvironmentLabels, Histogram, _>::new_with_constructor(
            (|| Histogram::new(BUCKETS)) as fn() -> Histogram,
        );
        let mut metrics = Self {
            registry: Registry::default(),
            syncs: Family::default(),
            durations,
            recomputed: Family::default(),
            errors: Family::default(),
            failures: Family::default(),
            leading: Family::default(),
            environments: Gauge::default(),
            waiting: Gauge::default(),
            polls: Family::default(),
            webhooks: Family::default(),
            moving: Family::default(),
            stopped: Family::default(),
            move_waiting: Family::default(),
            rate_limit: Family::default(),
            calls: Family::default(),
        };
        let mut registry = Registry::with_prefix("kalypso");
        registry.register("syncs", "Syncs by environment, reason and result", metrics.syncs.clone());
        let help = "How long syncs took";
        registry.register_with_unit("sync_duration", help, Unit::Seconds, metrics.durations.clone());
        let help = "Assignments that were computed again";
        registry.register("assignments_recomputed", help, metrics.recomputed.clone());
        registry.register("environment_errors", "Errors in the sources at the last sync", metrics.errors.clone());
        let help = "Syncs that failed since the last good one";
        registry.register("environment_failures", help, metrics.failures.clone());
        let help = "Whether this process leads the environment (1) or not (0)";
        registry.register("environment_leading", help, metrics.leading.clone());
        registry.register("environments", "Environments of the control plane", metrics.environments.clone());
        let help = "Environments with a change that is not synced yet";
        registry.register("environments_waiting", help, metrics.waiting.clone());
        registry.register("polls", "Polls of repositories by result", metrics.polls.clone());
        registry.register("webhooks", "Webhooks by kind of git host and result", metrics.webhooks.clone());
        let help = "Changes that move into the environment or through its rings";
        registry.register("promotion_moves", help, metrics.moving.clone());
        let help = "Moves of the environment that stopped or are rolled back";
        registry.register("promotion_moves_stopped", help, metrics.stopped.clone());
        let help = "How long the longest move of the environment has waited for the same reason";
        registry.register_with_unit("promotion_waiting", help, Unit::Seconds, metrics.move_waiting.clone());
        let help = "Requests that the git host still accepts";
        registry.register("git_host_rate_limit_remaining", help, metrics.rate_limit.clone());
        let help = "Calls of the API of git hosts by result";
        registry.register("git_host_calls", help, metrics.calls.clone());
        metrics.registry = registry;
        metrics
    }

    pub(crate) fn sync(&self, environment: &str, report: &SyncReport, took: Duration) {
        let labels = EnvironmentLabels { environment: environment.to_owned() };
        let (reason, result) = (report.result.reason.clone(), outcome(report.result.error.is_none()));
        self.syncs.get_or_create(&SyncLabels { environment: environment.to_owned(), reason, result }).inc();
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        self.recomputed.get_or_create(&labels).inc_by(report.result.recomputed as u64);
        self.errors.get_or_create(&labels).set(report.result.errors as i64);
    }

    /// Where the changes into an environment stand.
    pub(crate) fn promotion(&self, environment: &str, status: &PromotionStatus) {
        let labels = EnvironmentLabels { environment: environment.to_owned() };
        let moves: Vec<_> = status.subjects.iter().filter_map(|subject| subject.moving.as_ref()).collect();
        let is_stopped = |one: &&&MoveStatus| matches!(one.phase, MovePhase::Stopped | MovePhase::RollingBack);
        let now = Timestamp::now();
        let waits = moves.iter().filter_map(|one| one.waiting_for.first()?.since);
        let longest = waits.map(|since| now.since(since).as_secs()).max().unwrap_or(0);
        self.moving.get_or_create(&labels).set(moves.len() as i64);
        self.stopped.get_or_create(&labels).set(moves.iter().filter(is_stopped).count() as i64);
        self.move_waiting.get_or_create(&labels).set(i64::try_from(longest).unwrap_or(i64::MAX));
    }

    pub(crate) fn poll(&self, is_good: bool) {
        self.polls.get_or_create(&ResultLabels { result: outcome(is_good) }).inc();
    }

    pub(crate) fn webhook(&self, kind: &str, result: WebhookResult) {
        // The kind comes from outside: only known ones are a label.
        let kind = if kind.parse::<git_host::HostKind>().is_ok() { kind } else { "unknown" };
        let labels = WebhookLabels { kind: kind.to_owned(), result: result.as_str() };
        self.webhooks.get_or_create(&labels).inc();
    }

    pub(crate) fn environments(&self, number: usize) {
        self.environments.set(number as i64);
    }

    pub(crate) fn waiting(&self, number: usize) {
        self.waiting.set(number as i64);
    }

    pub(crate) fn failures(&self, environment: &str, number: u32) {
        self.failures.get_or_create(&EnvironmentLabels { environment: environment.to_owned() }).set(number.into());
    }

    /// Whether this process leads an environment. Otherwise, its errors and failures are those of another process.
    pub(crate) fn leading(&self, environment: &str, is_leading: bool) {
        let labels = EnvironmentLabels { environment: environment.to_owned() };
        if !is_leading {
            self.errors.remove(&labels);
            self.moving.remove(&labels);
            self.stopped.remove(&labels);
            self.move_waiting.remove(&labels);
            self.failures.remove(&labels);
        }
        self.leading.get_or_create(&labels).set(is_leading.into());
    }

    pub(crate) fn rate_limit(&self, host: &str, remaining: u64) {
        self.rate_limit.get_or_create(&HostLabels { host: host.to_owned() }).set(remaining as i64);
    }

    /// Sets the calls of a host's API so far.
    pub(crate) fn calls(&self, host: &str, counts: CallCounts) {
        let CallCounts { answered, refused, limited, failed } = counts;
        for (result, count) in [("success", answered), ("refused", refused), ("limited", limited), ("failure", failed)]
        {
            let labels = CallLabels { host: host.to_owned(), result };
            self.calls.get_or_create(&labels).inner().store(count, Ordering::Relaxed);
        }
    }

    /// All metrics, without the last line of the format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = text::encode(&mut text, &self.registry);
        text.strip_suffix(END).unwrap_or(&text).to_owned()
    }
}

fn outcome(is_good: bool) -> &'static str {
    if is_good { "success" } else { "failure" }
}
