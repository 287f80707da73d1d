//! Go's text/template with sprig 2.22.0 for Rust: parse once, render many times, errors with positions, bounded.
//!
//! Knows nothing of Kalypso's kinds.

// No I/O, clock, environment or randomness in here: the bans, each with its reason, are in the workspace's clippy.toml.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod fuel;
pub mod function;
pub mod heap;
mod kalypso;
pub mod semver;
pub mod text;
pub mod time;
pub mod value;
pub mod yaml;
