//! Stores the desired state and what reconcilers report, and answers over HTTP.
//!
//! Reports of every format become [`hub_api::report::Report`]s; [`ingest`] puts them into the [`store`], beside the desired state. Times are UTC, in milliseconds.

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
pub mod limits;
pub mod observed;
pub mod oidc;
pub mod questions;
pub mod reload;
pub mod retention;
pub mod rules;
pub mod server;
pub mod silence;
pub mod store;
pub mod tls;
pub mod tokens;
pub mod writer;
