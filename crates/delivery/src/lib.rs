//! Reads an environment from its commits, compiles it with the results of earlier runs, and pushes its output to a branch.
//!
//! Callers choose the time, and show the results. This crate does not print, and does not read environment variables or the current directory. Refusals, lost
//! races and answers are values.

pub mod access;
pub mod branches;
pub mod codeowners;
pub mod error;
pub mod output;
pub mod promotion;
pub mod publication;
pub mod pull_requests;
pub mod reading;
pub mod sources;
pub mod states;
pub mod untrusted_states;
pub mod write_lease;
