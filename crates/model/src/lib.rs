//! The immutable values that all crates of Kalypso work on: names, labels, objects with their sources, diagnostics, fleets, trees.
//!
//! This crate does no I/O, and reads no clock and nothing of the machine.

// No I/O, clock, environment or randomness in this crate. The workspace's clippy.toml contains the bans, each with its reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type))]

pub mod code;
pub mod count;
pub mod credential;
pub mod decode;
pub mod diagnostic;
pub mod digest;
pub mod duration;
pub mod earlier_names;
pub mod excerpt;
pub mod expiry;
pub mod field_path;
pub mod fleet;
pub mod git_id;
pub mod kind;
pub mod label;
pub mod limits;
pub mod locate;
pub mod name;
pub mod network;
pub mod object;
pub mod object_key;
pub mod owners;
pub mod progress;
pub mod read;
pub mod rollout;
pub mod secret;
pub mod selector;
pub mod shape;
pub mod similar;
pub mod source;
pub mod tree;
pub mod yaml;
