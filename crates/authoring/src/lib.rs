//! Writes the sources of a platform: the files of new repositories.
//!
//! This crate does no I/O: requests go in, paths and texts come out.

// No I/O, clock, environment or randomness in this crate. The workspace's clippy.toml contains the bans, each with its reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod scaffold;
