//! Puts reports into the store: many at a time, each exactly once, in the order in which things happened.

pub(crate) mod batch;
pub(crate) mod history;
pub(crate) mod ids;
pub(crate) mod labels;
pub(crate) mod naming;
pub(crate) mod places;
mod registry;
pub(crate) mod report_places;
pub(crate) mod retally;
mod silences;
pub(crate) mod subjects;
pub(crate) mod submitted;
pub(crate) mod tally;
mod timeline;
mod work;
pub(crate) mod workloads;

pub use batch::Outcome;
