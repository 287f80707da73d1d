//! The decisions of Kalypso, as pure functions: schedule, compose, validate, render, diff, explain, promote.

// This crate uses no I/O, clock, environment variables or randomness. The workspace's clippy.toml lists the bans and their reasons.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod assignment_folders;
mod canary;
mod check;
mod clear_credential;
pub mod compile;
pub mod compose;
mod container;
pub mod contract;
mod credential_search;
mod digest;
pub mod explain;
pub mod hold;
mod ids;
mod index;
mod invariant;
pub mod inventory;
mod label_pairs;
pub mod layout;
mod mapping;
mod matching;
pub mod memo;
mod merge;
mod merged_values;
pub mod name_meaning;
pub mod output;
mod output_lines;
pub mod overview;
pub mod own_files;
pub mod pin;
pub mod place;
pub mod plan;
mod prepare;
pub mod promotion;
mod record;
mod redaction;
pub mod renames;
pub mod render;
mod retyped_values;
mod rival;
mod schedule;
pub mod schema;
pub mod sensitive;
pub mod settings;
mod settings_by_key;
pub mod shared_manifests;
mod source_of_another;
pub mod target;
pub mod trace;
mod unassigned;
mod unassigned_values;
mod unused;
mod value;
mod variant;
pub mod why_not;
