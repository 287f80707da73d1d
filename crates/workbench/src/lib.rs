//! What programs for people share: reads a control plane in any of its states, answers questions about it, edits its branches, and compares environments
//! before and after.
//!
//! Command line, pages and editors call this crate. It has no arguments and no screen: it returns values, and errors with advice. Its caller decides how
//! they are shown, and where settings come from.

pub mod answers;
pub mod branch;
pub mod change;
pub mod checkout_paths;
mod commit_range;
pub mod compiled;
pub mod config_versions;
pub mod contained_files;
pub mod diagnostics;
pub mod edited_repositories;
pub mod environment_addition;
mod error;
pub mod held_assignments;
pub mod joint_rename;
pub mod listing;
mod patch;
pub mod platform;
pub mod process_lock;
pub mod releases;
pub mod source;
pub mod states;
pub mod visible;
pub mod working_trees;

pub use self::error::{Error, Failure, FailureKind, destination_failure};
pub use self::source::EnvironmentSource;
