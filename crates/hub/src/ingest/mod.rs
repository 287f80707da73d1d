//! Stores reports: many in one transaction, each exactly once, ordered by their timestamps.

mod batch;
pub(crate) mod history;
mod ids;
pub(crate) mod labels;
pub(crate) mod naming;
pub(crate) mod places;
mod queue;
mod registry;
pub(crate) mod report_places;
mod sink;
pub(crate) mod subjects;
mod submitted;
pub(crate) mod tally;
mod timeline;
mod work;
pub(crate) mod workloads;

pub use batch::Outcome;
pub use queue::{Ingest, Receipt, SubmitError};

#[cfg(test)]
mod tests;
