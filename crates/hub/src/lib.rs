//! The hub: it stores the desired state and the reports of reconcilers, and answers queries over HTTP.
//!
//! Reports of each format are converted to [`hub_api::report::Report`]; [`ingest`] writes them to the [`store`], which also has the desired state.
//! Times are UTC, in milliseconds.

pub mod apart;
pub mod audit;
pub mod authority;
pub mod backup;
pub mod configured;
mod connections;
pub mod desired;
pub mod events;
pub mod export;
pub mod heartbeats;
pub mod hosts;
pub mod http;
pub mod import;
pub mod ingest;
pub mod inputs;
pub mod leases;
pub mod limits;
pub mod local_promotions;
pub mod observed;
pub mod oidc;
pub mod promotions;
pub mod publications;
pub mod questions;
pub mod reload;
pub mod retention;
pub mod rules;
pub mod server;
pub mod shared_manifests;
pub mod silence;
mod speaker;
pub mod store;
pub mod tls;
pub mod tokens;
pub mod writer;
