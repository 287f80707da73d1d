//! The API over HTTP: one file for each group of routes.

mod audit;
mod caller;
mod compiled;
mod cookies;
mod events;
mod extract;
mod forged_requests;
#[cfg(feature = "fuzz")]
mod fuzz;
mod health;
mod hosts;
mod layers;
pub mod metrics;
mod openapi;
mod operations;
mod otlp;
mod problem;
mod promotion_events;
mod promotions;
mod publications;
mod question_request;
mod questions;
mod reports;
mod return_path;
mod rollout_metrics;
mod rules;
mod sessions;
mod sign_in;
mod submission;
mod syncs;
mod tokens;
mod views;
mod watches;

use std::sync::Arc;

use axum::Router;
use hub_api::compiled::CompiledEnvironments;
use hub_api::promotions::PromotionService;
use hub_api::syncs::SyncService;
use hub_api::watches::WatchedBranches;
use tokio::sync::{Semaphore, watch};

use crate::authentication::authority::Authority;
use crate::authentication::sign_in::WrongSignIns;
use crate::configured::Configured;
use crate::questions::events::Feed;
use crate::rules::Rule;
use crate::store::Database;
use crate::writer::Writer;
pub use caller::{Administrator, Manager, Reader};
#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;
pub use metrics::Metrics;
pub use openapi::DESCRIPTION;
pub use problem::{ProblemResponse, ProblemType};

/// The state that the handlers of all routes share.
#[derive(Clone, Debug)]
pub struct App {
    /// Authenticates callers.
    pub authority: Authority,
    /// The hub's database.
    pub database: Database,
    /// Stores reports and publications.
    pub ingest: Writer,
    /// The feed for clients that follow changes.
    pub feed: Feed,
    /// The watched branches; none if the hub watches no branch.
    pub watches: Option<Arc<dyn WatchedBranches>>,
    /// The service that syncs environments; none if the process is only a hub.
    pub service: Option<Arc<dyn SyncService>>,
    /// The service that moves changes through environments; none if the process is only a hub.
    pub promotions: Option<Arc<dyn PromotionService>>,
    /// The program that compiles environments; none if the process is only a hub.
    pub compiled: Option<Arc<dyn CompiledEnvironments>>,
    /// The rules of the configuration.
    pub rules: Configured<Rule>,
    /// The metrics of the hub.
    pub metrics: Arc<Metrics>,
    room: Arc<Semaphore>,
    webhook_room: Arc<Semaphore>,
    wrong_sign_ins: Arc<WrongSignIns>,
    compiled_room: Arc<Semaphore>,
    is_stopping: Arc<watch::Sender<bool>>,
}

impl App {
    /// The state for handlers of one database, without watched branches and without rules.
    pub fn new(database: Database, ingest: Writer, authority: Authority) -> Self {
        let (room, is_stopping) = (submission::room(), Arc::default());
        let (feed, rules) = (Feed::new(database.clone()), Configured::default());
        Self {
            authority,
            database,
            ingest,
            feed,
            watches: None,
            service: None,
            promotions: None,
            compiled: None,
            rules,
            metrics: Arc::new(Metrics::new()),
            room,
            webhook_room: syncs::room(),
            wrong_sign_ins: Arc::default(),
            compiled_room: compiled::room(),
            is_stopping,
        }
    }

    /// Sets the watched branches.
    #[must_use]
    pub fn watching(self, watches: Arc<dyn WatchedBranches>) -> Self {
        Self { watches: Some(watches), ..self }
    }

    /// Sets the service that syncs environments.
    #[must_use]
    pub fn serving(self, service: Arc<dyn SyncService>) -> Self {
        Self { service: Some(service), ..self }
    }

    /// Sets the service that moves changes through environments.
    #[must_use]
    pub fn promoting(self, promotions: Arc<dyn PromotionService>) -> Self {
        Self { promotions: Some(promotions), ..self }
    }

    /// Sets the program that compiles environments.
    #[must_use]
    pub fn compiling(self, compiled: Arc<dyn CompiledEnvironments>) -> Self {
        Self { compiled: Some(compiled), ..self }
    }

    /// Sets the rules.
    #[must_use]
    pub fn ruled(self, rules: Configured<Rule>) -> Self {
        Self { rules, ..self }
    }

    /// Begins the shutdown: `/readyz` answers 503 from now on, and streams end.
    pub fn stop(&self) {
        self.is_stopping.send_replace(true);
    }

    fn is_stopping(&self) -> bool {
        *self.is_stopping.borrow()
    }

    /// Waits until the hub is being stopped.
    async fn stopped(&self) {
        // The channel can't be closed: `self` owns the sender.
        let _ = self.is_stopping.subscribe().wait_for(|is_stopping| *is_stopping).await;
    }
}

/// Adds pages for people to the routes of the API, which may answer from compiled environments.
pub type Pages = fn(api: Router, compiles: bool) -> Router;

/// All routes: those of the API, and those of pages.
pub fn router(app: App, pages: Option<Pages>) -> Router {
    let api = openapi::routes()
        .into_router()
        .merge(openapi::route())
        .merge(syncs::webhooks())
        .merge(sign_in::of_browsers())
        .fallback(layers::not_found)
        .method_not_allowed_fallback(layers::method_not_allowed)
        .with_state(app.clone())
        .merge(otlp::grpc(app.clone()));
    let routes = match pages {
        Some(pages) => pages(api, app.compiled.is_some()),
        None => api,
    };
    layers::around(routes, app)
}
