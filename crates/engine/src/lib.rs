//! The decisions of Kalypso, as pure functions: schedule, compose, validate, render, diff, explain, promote.

// This crate uses no I/O, clock, environment variables or randomness. The workspace's clippy.toml lists the bans and their reasons.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type))]

pub mod answers;
pub mod compile;
pub mod compose;
mod digest;
pub mod hold;
mod invariant;
pub mod layout;
pub mod masking;
pub mod output;
pub mod plan;
mod prepare;
pub mod promotion;
pub mod render;
pub mod schedule;
pub mod schema;
mod sensitive;
pub mod settings;
pub mod warnings;
