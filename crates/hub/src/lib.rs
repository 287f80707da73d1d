//! Stores what is wanted and what is reported, and answers over HTTP.
//!
//! Reports of every kind become [`report::Report`]s; [`ingest`] puts them into the [`store`], where what is wanted is too. Times are UTC, in milliseconds.

pub mod audit;
pub mod authority;
pub mod azure;
pub mod backup;
pub mod client;
pub mod configured;
mod connections;
pub mod endpoint;
pub mod events;
pub mod export;
pub mod heartbeats;
pub mod hosts;
pub mod http;
pub mod import;
pub mod ingest;
pub mod inputs;
pub mod limits;
pub mod moment;
pub mod oidc;
pub mod questions;
pub mod reload;
pub mod report;
pub mod retention;
pub mod revision;
pub mod rules;
pub mod server;
pub mod signed_file;
pub mod silence;
pub mod store;
pub mod tls;
pub mod tokens;
pub mod wanted;
pub mod watch;
