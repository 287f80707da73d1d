//! The log on standard error, and traces for OpenTelemetry.

use std::io::IsTerminal as _;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;

use crate::arguments::{LogFormat, LogLevel};
use crate::exit::Failure;

/// The crates whose messages are logged. Libraries log too much, and SQL statements with their values.
const LOGGED: [&str; 5] = ["azure", "hub", "kalypso", "service", "watch"];
/// The crates whose spans are traced.
const TRACED: [&str; 6] = ["delivery", "git", "git_host", "hub", "service", "watch"];
/// The variables of OpenTelemetry that name the collector. Without one of them, no trace is sent.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// The log and the traces of a running program.
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Starts to log, and to send traces if a variable of OpenTelemetry names a collector.
    ///
    /// # Errors
    /// If the collector can't be used.
    pub(crate) fn start(level: LogLevel, format: LogFormat) -> Result<Self, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let is_disabled = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let is_wanted = !is_disabled && ENDPOINTS.iter().any(|name| variable(name).is_some());
        let provider = if is_wanted { Some(provider(variable("OTEL_SERVICE_NAME"))?) } else { None };
        let traces = provider.as_ref().map(|provider| {
            let targets = TRACED.map(|name| (name, LevelFilter::INFO)).into_iter().collect::<Targets>();
            tracing_opentelemetry::layer().with_tracer(provider.tracer("kalypso")).with_filter(targets)
        });
        let subscriber = tracing_subscriber::registry().with(lines(level, format)).with(traces);
        let _ = tracing::subscriber::set_global_default(subscriber);
        Ok(Self(provider))
    }

    /// Sends the traces that are not sent yet. A collector that does not answer is not waited for.
    pub(crate) fn stop(self) {
        if let Some(Err(error)) = self.0.map(|provider| provider.shutdown()) {
            tracing::warn!(%error, "not all traces could be sent");
        }
    }
}

/// Sends spans by OTLP over HTTP. Address, headers, limits and sampling are those of OpenTelemetry's variables.
fn provider(name: Option<String>) -> Result<SdkTracerProvider, Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        let message = format!("traces can't be sent: {error}");
        Failure::usage(message).help(format!("see the variable {} or {}", ENDPOINTS[0], ENDPOINTS[1]))
    };
    // It fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build();
    let exporter = exporter.map_err(|error| wrong(&error))?;
    let resource = Resource::builder().with_service_name(name.unwrap_or_else(|| "kalypso".to_owned())).build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

fn is_event(metadata: &Metadata<'_>) -> bool {
    metadata.is_event()
}

/// The log on standard error.
fn lines<S>(level: LogLevel, format: LogFormat) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let level = match level {
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let filter = LOGGED.map(|name| (name, level)).into_iter().collect::<Targets>();
    // Spans are for traces: lines name what they are about themselves.
    let filter = tracing_subscriber::filter::FilterExt::and(filter, tracing_subscriber::filter::filter_fn(is_event));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let lines = match format {
        LogFormat::Human => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    lines.with_filter(filter)
}
