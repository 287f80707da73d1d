//! Stores reports: many in one transaction, each exactly once, ordered by their timestamps.

mod apart;
pub(crate) mod assigned;
pub(crate) mod batch;
pub(crate) mod history;
pub(crate) mod ids;
pub(crate) mod labels;
pub(crate) mod naming;
pub(crate) mod places;
mod registered;
mod registry;
pub(crate) mod report_places;
pub(crate) mod retally;
mod silences;
pub(crate) mod speaker;
pub(crate) mod subjects;
pub(crate) mod submitted;
pub(crate) mod tally;
mod timeline;
mod waiting;
mod work;
pub(crate) mod workloads;

pub use batch::ReportOutcome;
