//! Edits of the YAML files of control planes and applications, as pure functions from texts to texts.
//!
//! An edit keeps every byte outside of the edited range: comments, order, indentation, line ends. The result is read again, and refused if its
//! meaning is not exactly the intended one. So an edit that can't be done safely changes nothing.

// This crate uses no I/O, clock, environment variables or randomness. The workspace's clippy.toml lists the bans and their reasons.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type))]

pub mod additions;
pub mod branch_files;
pub mod clusters_csv;
pub mod config_restoration;
pub mod config_values;
pub mod documents;
pub mod edit;
mod emit;
pub mod field_changes;
pub mod file_edits;
pub mod label_advice;
mod lines;
mod meaning;
pub mod name_ranges;
pub mod new_object;
pub mod objects;
pub mod pins;
mod placement;
mod references;
pub mod removals;
pub mod renames;
pub mod scaffold;
mod scalar;
pub mod style;
pub mod targets;
pub mod value;
