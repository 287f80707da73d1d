//! A part of the configuration that is replaced while the hub runs, or kept because the new one can't be used.

use std::sync::Arc;

use crate::configured::Configured;
use crate::heartbeats::Heartbeat;
use crate::http::Metrics;
use crate::rules::Rule;

/// What is replaced.
#[derive(Debug)]
pub struct Reloading {
    /// The rules.
    pub rules: Vec<Rule>,
    /// The heartbeats that are demanded.
    pub heartbeats: Vec<Heartbeat>,
}

/// Replaces it in a hub that runs.
#[derive(Debug)]
pub struct Reload {
    rules: Configured<Rule>,
    heartbeats: Configured<Heartbeat>,
    metrics: Arc<Metrics>,
    signals: Signals,
}

impl Reload {
    /// Takes signals from now on. To be called on a tokio runtime.
    pub(crate) fn new(rules: Configured<Rule>, heartbeats: Configured<Heartbeat>, metrics: Arc<Metrics>) -> Self {
        metrics.configuration(true);
        Self { rules, heartbeats, metrics, signals: Signals::new() }
    }

    /// Waits for the signal to read the configuration again: SIGHUP. On systems without signals it waits for ever.
    pub async fn requested(&mut self) {
        self.signals.next().await;
    }

    /// Takes what was read. If it can't be used, everything stays as it was; the log and a metric say so.
    pub fn take(&self, read: Result<Reloading, String>) {
        self.metrics.configuration(read.is_ok());
        match read {
            Ok(Reloading { rules, heartbeats }) => {
                tracing::info!(rules = rules.len(), heartbeats = heartbeats.len(), "the configuration was reloaded");
                self.rules.replace(rules);
                self.heartbeats.replace(heartbeats);
            }
            Err(error) => {
                let rules = self.rules.now().len();
                tracing::error!(
                    error,
                    rules,
                    "the configuration can't be reloaded: the rules and heartbeats stay as they were"
                );
            }
        }
    }
}

#[cfg(unix)]
#[derive(Debug)]
struct Signals(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn new() -> Self {
        let signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        Self(signals.inspect_err(|error| tracing::warn!(%error, "SIGHUP is not noticed")).ok())
    }

    async fn next(&mut self) {
        match &mut self.0 {
            Some(signals) => drop(signals.recv().await),
            None => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) {
        std::future::pending().await
    }
}
