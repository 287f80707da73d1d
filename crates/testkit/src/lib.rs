//! Fleets and hosts that don't exist, for tests, benchmarks, the demo.

pub mod argocd;
pub mod corpus;
pub mod directory;
pub mod edits;
pub mod fuzz;
pub mod generator;
pub mod git_server;
pub mod incremental;
pub mod postgres;
mod random;
pub mod suite;
