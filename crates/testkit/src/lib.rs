//! Generated fleets, edits, servers and cases, for tests and benchmarks only.

pub mod chain;
pub mod company;
pub mod corpus;
pub mod directory;
pub mod edits;
pub mod fuzz;
pub mod generator;
pub mod git_server;
pub mod hub_program;
pub mod incremental;
pub mod keys;
pub mod mutation;
#[cfg(unix)]
pub mod nginx;
pub mod objects;
pub mod postgres;
pub mod programs;
pub mod registry_server;
#[cfg(unix)]
pub mod ssh_server;
pub mod suite;
pub mod yaml_json;
