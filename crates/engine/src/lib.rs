//! Every decision, pure: schedule, compose, validate, render, diff, explain, promote.

// No I/O, clock, environment or randomness in here: the bans, each with its reason, are in the workspace's clippy.toml.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

mod check;
pub mod compile;
pub mod compose;
mod container;
mod digest;
pub mod explain;
pub mod hold;
mod ids;
mod index;
mod invariant;
mod mapping;
mod matching;
pub mod memo;
mod merge;
pub mod output;
mod pair;
pub mod pin;
pub mod place;
pub mod plan;
mod prepare;
mod record;
pub mod render;
mod rival;
mod schedule;
pub mod schema;
mod scope;
pub mod sensitive;
pub mod settings;
pub mod target;
pub mod trace;
mod value;
mod whereabouts;
