//! Fleets and hosts that don't exist, for tests, benchmarks, the demo.
//!
//! What only tests and benchmarks need is behind the feature `runner`, so that the program does not carry their libraries around.

pub mod argocd;
#[cfg(feature = "runner")]
pub mod corpus;
#[cfg(feature = "runner")]
pub mod directory;
#[cfg(feature = "runner")]
pub mod edits;
pub mod fleet;
#[cfg(feature = "runner")]
pub mod fuzz;
#[cfg(feature = "runner")]
pub mod generator;
#[cfg(feature = "runner")]
pub mod git_server;
#[cfg(feature = "runner")]
pub mod hub_program;
#[cfg(feature = "runner")]
pub mod incremental;
#[cfg(feature = "runner")]
pub mod mutation;
#[cfg(feature = "runner")]
pub mod postgres;
mod random;
#[cfg(feature = "runner")]
pub mod suite;
