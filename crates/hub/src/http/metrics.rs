//! The metrics of the hub, for Prometheus. No label has values from outside of the hub, except the names of a limited number of environments.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::operations::{Routes, operations};
use super::rollout_metrics::RolloutMetrics;
use super::{App, Reader, health};
use crate::ingest::ReportOutcome;
use crate::rules::RuleMetrics;
use crate::writer::{SubmissionReceipt, SubmitError};

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The metrics of the hub.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    reports: Family<ReportLabels, Counter>,
    storing: Histogram,
    waiting: Gauge,
    database_up: Gauge<i64, AtomicI64>,
    /// The metrics of the rules. The rules update them.
    pub(crate) rules: RuleMetrics,
    configuration: Gauge,
    rollouts: RolloutMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReportLabels {
    source: &'static str,
    outcome: &'static str,
}

/// The route by which reports arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// `/api/v1/reports`.
    Generic,
    /// `/api/v1/reports/flux`.
    Flux,
    /// `/api/v1/reports/argocd`.
    Argocd,
    /// OTLP over HTTP or gRPC.
    Otlp,
}

impl Source {
    fn as_str(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Flux => "flux",
            Self::Argocd => "argocd",
            Self::Otlp => "otlp",
        }
    }
}

impl Metrics {
    /// New metrics: all counters are 0.
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("kalypso_hub");
        let durations = Family::<RouteLabels, Histogram, _>::new_with_constructor(
            (|| Histogram::new(BUCKETS)) as fn() -> Histogram,
        );
        let (requests, reports, waiting, database_up, rules, configuration) = Default::default();
        let rollouts = RolloutMetrics::default();
        let metrics = Self {
            requests,
            durations,
            reports,
            storing: Histogram::new(BUCKETS),
            waiting,
            database_up,
            rules,
            configuration,
            rollouts,
            registry: Registry::default(),
        };
        registry.register("requests", "Requests by route and HTTP status", metrics.requests.clone());
        let help = "How long requests took, by route";
        registry.register_with_unit("request_duration", help, Unit::Seconds, metrics.durations.clone());
        registry.register("reports", "Reports by source and result", metrics.reports.clone());
        let help =
            "How long it took from the arrival of reports until they were stored, transactions and waiting included";
        registry.register_with_unit("store_duration", help, Unit::Seconds, metrics.storing.clone());
        registry.register("reports_waiting", "Reports that wait to be stored", metrics.waiting.clone());
        registry.register("database_up", "Whether the database answers (1) or not (0)", metrics.database_up.clone());
        metrics.rules.register(&mut registry);
        let help = "Whether the configuration could be used when it was last read (1) or not, so that the one before is in effect (0)";
        metrics.configuration.set(1);
        registry.register("configuration_last_reload_successful", help, metrics.configuration.clone());
        metrics.rollouts.register(&mut registry);
        Self { registry, ..metrics }
    }

    pub(super) fn request(&self, route: &str, status: u16, duration: Duration) {
        self.requests.get_or_create(&RequestLabels { route: route.to_owned(), status }).inc();
        self.durations.get_or_create(&RouteLabels { route: route.to_owned() }).observe(duration.as_secs_f64());
    }

    pub(super) fn refused(&self, source: Source, count: usize) {
        self.count(source, "refused", count);
    }

    /// Adds the time that it took to store the reports of one request.
    pub(super) fn stored(&self, duration: Duration) {
        self.storing.observe(duration.as_secs_f64());
    }

    pub(super) fn submitted(&self, source: Source, count: usize, result: &Result<SubmissionReceipt, SubmitError>) {
        match result {
            Ok(receipt) => {
                let of = |outcome| receipt.outcomes.iter().filter(|other| **other == outcome).count();
                self.count(source, "stored", of(ReportOutcome::Stored));
                self.count(source, "confirmed", of(ReportOutcome::Confirmed));
                self.count(source, "repeated", of(ReportOutcome::Repeated));
                let is_apart = |outcome: &&ReportOutcome| matches!(outcome, ReportOutcome::Apart(_));
                self.count(source, "apart", receipt.outcomes.iter().filter(is_apart).count());
            }
            Err(SubmitError::Busy { .. }) => self.count(source, "busy", count),
            Err(_) => self.count(source, "failed", count),
        }
    }

    fn count(&self, source: Source, outcome: &'static str, count: usize) {
        if count > 0 {
            self.reports.get_or_create(&ReportLabels { source: source.as_str(), outcome }).inc_by(count as u64);
        }
    }

    /// Sets whether the configuration was valid when it was last read.
    pub(crate) fn configuration(&self, is_good: bool) {
        self.configuration.set(is_good.into());
    }

    /// All metrics in the format `OpenMetrics`.
    fn text(&self, waiting: usize, is_database_up: bool) -> String {
        self.waiting.set(waiting as i64);
        self.database_up.set(is_database_up.into());
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; metrics)
}

/// Metrics for Prometheus
///
/// In the format `OpenMetrics`. Prometheus sends the token if `authorization.credentials_file` names a file that contains it.
#[utoipa::path(get, path = "/metrics", tag = "Operation", responses((status = 200, description = "The metrics", body = str, content_type = "application/openmetrics-text")))]
async fn metrics(State(app): State<App>, _: Reader) -> Response {
    app.metrics.rollouts.refresh(&app.database).await;
    let mut text = app.metrics.text(app.ingest.waiting(), health::database_answers(&app).await);
    if let Some(service) = &app.service {
        text = service.metrics() + &text;
    }
    ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}
