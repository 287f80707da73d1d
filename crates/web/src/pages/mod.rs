//! The pages: one file for each.

pub(crate) mod account;
pub(crate) mod assignment;
pub(crate) mod assignments;
mod attention;
pub(crate) mod audit;
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
pub(crate) mod overview;
pub(crate) mod place;
mod presence;
pub(crate) mod promotion;
pub(crate) mod rollout;
pub(crate) mod rollouts;
pub(crate) mod search;
pub(crate) mod sign_in;
pub(crate) mod targets;
pub(crate) mod views;
pub(crate) mod why_not;
pub(crate) mod workload;
