//! Every decision, pure: schedule, compose, validate, render, diff, explain, promote.

// No I/O, clock, environment or randomness in here: the bans, each with its reason, are in the workspace's clippy.toml.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod compile;
pub mod compose;
mod container;
mod digest;
pub mod explain;
mod mapping;
mod merge;
pub mod output;
mod pair;
pub mod pin;
pub mod plan;
mod record;
pub mod render;
pub mod schedule;
pub mod schema;
pub mod sensitive;
pub mod settings;
mod shared;
pub mod target;
pub mod trace;
mod value;
