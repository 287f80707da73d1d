//! The pages: one file for each.

pub(crate) mod assignment;
pub(crate) mod assignments;
pub(crate) mod compare;
mod compiled;
pub(crate) mod contract;
pub(crate) mod deployments;
pub(crate) mod drift;
pub(crate) mod environment;
pub(crate) mod findings;
mod graph;
pub(crate) mod history;
pub(crate) mod host;
mod list;
pub(crate) mod overview;
pub(crate) mod rollout;
pub(crate) mod rollouts;
pub(crate) mod sign_in;
pub(crate) mod why_not;
