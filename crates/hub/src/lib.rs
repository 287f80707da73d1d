//! Stores what is wanted and what is reported, and answers over HTTP.
//!
//! Reports of every kind become [`report::Report`]s; [`ingest`] puts them into the [`store`], where what is wanted is too. Times are UTC, in milliseconds.

pub mod backup;
pub mod endpoint;
pub mod export;
pub mod ingest;
pub mod inputs;
pub mod limits;
pub mod moment;
pub mod questions;
pub mod report;
pub mod retention;
pub mod revision;
pub mod silence;
pub mod store;
pub mod wanted;
pub mod watch;
