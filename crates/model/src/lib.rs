//! The immutable values that everything in Kalypso works on: names, labels, objects with their sources, diagnostics, fleets, trees.
//!
//! Nothing here does I/O, knows the time or the machine.

// No I/O, clock, environment or randomness in here: the bans, each with its reason, are in the workspace's clippy.toml.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod code;
pub mod count;
pub mod credential;
pub mod decode;
pub mod diagnostic;
pub mod digest;
pub mod expiry;
pub mod field_path;
pub mod fleet;
pub mod git_id;
pub mod kind;
pub mod label;
pub mod limits;
pub mod locate;
pub mod name;
pub mod object;
pub mod object_key;
pub mod progress;
pub mod read;
pub mod rollout;
pub mod selector;
pub mod shape;
pub mod similar;
pub mod source;
pub mod tree;
pub mod yaml;
