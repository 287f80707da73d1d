//! Reload of a part of the configuration while the hub runs. If the new configuration is not valid, the present one is kept.

use std::sync::Arc;

use crate::configured::Configured;
use crate::http::Metrics;
use crate::rules::Rule;
use crate::silence::heartbeats::Heartbeat;

/// The part of the configuration that can be reloaded.
#[derive(Debug)]
pub struct Reloading {
    /// The rules.
    pub rules: Vec<Rule>,
    /// The required heartbeats.
    pub heartbeats: Vec<Heartbeat>,
}

/// Replaces this part in a running hub.
#[derive(Debug)]
pub struct Reload {
    rules: Configured<Rule>,
    heartbeats: Configured<Heartbeat>,
    metrics: Arc<Metrics>,
    signals: Signals,
}

impl Reload {
    /// Handles signals from now on. Must be called on a tokio runtime.
    pub(crate) fn new(rules: Configured<Rule>, heartbeats: Configured<Heartbeat>, metrics: Arc<Metrics>) -> Self {
        metrics.configuration(true);
        Self { rules, heartbeats, metrics, signals: Signals::new() }
    }

    /// Waits for the signal to reload the configuration: SIGHUP. On systems without signals, it never returns.
    pub async fn requested(&mut self) {
        self.signals.next().await;
    }

    /// Applies a configuration that was read. If it could not be read, the present one is kept; the log and a metric show this.
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
        Self(signals.inspect_err(|error| tracing::warn!(%error, "SIGHUP can't be handled")).ok())
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
