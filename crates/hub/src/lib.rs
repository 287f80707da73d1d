//! The hub: it stores the desired state and the reports of reconcilers, and answers queries over HTTP.
//!
//! [`report_formats`] converts the reports of each format to [`hub_api::report::Report`]; [`ingest`] writes them to the [`store`], which also has the desired state.
//! Times are UTC, in milliseconds.
//!
//! # What a report costs, and who shares the database
//!
//! - **A report writes little**: a row at the end of the history, and a narrow row of `reconciler_state`, whose only index is that of its id. A small table (`attention`)
//!   lists reconcilers that need attention. The others are found through their place.
//! - **A report reads little**: the state. Ids of reconcilers never change, so the hub caches them by name (`ingest::ids`), and fills the cache at startup. The state
//!   contains the place, and a digest of the reconciler's own data (`Report::profile`). If a report has the same digest and place, the rows of reconciler and host are not
//!   read. A change of these rows removes the digest; a retirement does too.
//! - **Readers of changes** read them by id, from their last position to the last settled change. PostgreSQL assigns ids in a different order than transactions commit. So
//!   the hub waits for all transactions that were running when the last of these ids was assigned. This is correct because a transaction locks rows before it takes an id,
//!   and therefore has a transaction id. The hub stores no state for a reader.
//! - **Replicas** share PostgreSQL. They store reports in parallel, and lock rows in one order (hosts, reconcilers, states, tallies). A transaction that changes the desired
//!   state, or which reconcilers count, runs alone for a short time (`store::Turn`, an advisory lock). So no report is stored against an old desired state. Remaining
//!   conflicts are retried.

pub mod authentication;
pub mod configured;
pub mod count_history;
pub mod desired;
pub mod http;
pub mod ingest;
pub mod limits;
pub mod management;
pub mod promotions;
pub mod questions;
pub mod report_formats;
pub mod rules;
pub mod server;
pub mod silence;
pub mod store;
pub mod writer;
