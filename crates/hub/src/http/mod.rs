//! The API over HTTP: one file for each group of routes.

mod audit;
mod caller;
mod events;
mod extract;
#[cfg(feature = "fuzz")]
mod fuzz;
mod health;
mod hosts;
mod layers;
pub mod metrics;
mod openapi;
mod otlp;
mod problem;
mod publications;
mod question_request;
mod questions;
mod reports;
mod rollout_metrics;
mod rules;
mod submission;
mod tokens;
mod watches;

use std::sync::Arc;

use axum::Router;
use hub_api::watches::WatchedBranches;
use tokio::sync::{Semaphore, watch};

use crate::authority::Authority;
use crate::configured::Configured;
use crate::events::Feed;
use crate::rules::Rule;
use crate::store::Database;
use crate::writer::Writer;
pub use caller::{Administrator, Manager, Reader};
#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;
pub use metrics::Metrics;
pub use openapi::description;
pub use problem::{Kind, ProblemResponse};

/// What the handlers of all routes share.
#[derive(Clone, Debug)]
pub struct App {
    /// Who is asking.
    pub authority: Authority,
    /// What is stored.
    pub database: Database,
    /// What is to be stored.
    pub ingest: Writer,
    /// For those who follow changes.
    pub feed: Feed,
    /// The watched branches.
    pub watches: Option<Arc<dyn WatchedBranches>>,
    /// The rules.
    pub rules: Configured<Rule>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    room: Arc<Semaphore>,
    is_stopping: Arc<watch::Sender<bool>>,
}

impl App {
    /// What handlers need, over one database.
    pub fn new(database: Database, ingest: Writer, authority: Authority) -> Self {
        let (room, is_stopping) = (submission::room(), Arc::default());
        let (feed, rules) = (Feed::new(database.clone()), Configured::default());
        Self {
            authority,
            database,
            ingest,
            feed,
            watches: None,
            rules,
            metrics: Arc::new(Metrics::new()),
            room,
            is_stopping,
        }
    }

    /// With watched branches.
    #[must_use]
    pub fn watching(self, watches: Arc<dyn WatchedBranches>) -> Self {
        Self { watches: Some(watches), ..self }
    }

    /// With rules.
    #[must_use]
    pub fn ruled(self, rules: Configured<Rule>) -> Self {
        Self { rules, ..self }
    }

    /// From now on `/readyz` says that no more requests should come, and streams end.
    pub fn stop(&self) {
        self.is_stopping.send_replace(true);
    }

    fn is_stopping(&self) -> bool {
        *self.is_stopping.borrow()
    }

    /// Waits until the hub is being stopped.
    async fn stopped(&self) {
        // It can't be closed: the sender is in the same hands.
        let _ = self.is_stopping.subscribe().wait_for(|is_stopping| *is_stopping).await;
    }
}

/// All routes.
pub fn router(app: App) -> Router {
    let (routes, description) = openapi::parts();
    let routes = routes
        .merge(openapi::route(&description))
        .fallback(layers::not_found)
        .method_not_allowed_fallback(layers::method_not_allowed)
        .with_state(app.clone())
        .merge(otlp::grpc(app.clone()));
    layers::around(routes, app)
}
