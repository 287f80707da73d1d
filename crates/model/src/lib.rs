//! Immutable values: names, labels, selectors, objects with their source places, diagnostics, the fleet, the tree.

// No I/O, clock, environment or randomness in here: the bans, each with its reason, are in the workspace's clippy.toml.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod yaml;
