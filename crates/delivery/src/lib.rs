//! Reads an environment from its commits, compiles it with the results of earlier runs, and pushes its output to a branch.
//!
//! Callers choose the time, and show the results. This crate does not print, and does not read environment variables or the current directory. Refusals, lost
//! races and answers are values.

pub mod access;
pub mod acknowledgement;
pub mod admission;
pub mod audit;
pub mod branch;
pub mod branch_protection;
pub mod change_proposal;
pub mod changes;
pub mod code_owners;
pub mod compilation;
pub mod controller;
mod earlier_files;
pub mod enforcement;
pub mod error;
pub mod expired_pins;
pub mod found_sources;
pub mod gitops_destination;
mod hand_edits;
pub mod heads;
pub mod held_assignments;
pub mod hub_publication;
mod kept_folders;
mod left_outputs;
pub mod loaded;
pub mod memo_file;
pub mod named_releases;
pub mod new_branches;
mod open_proposal;
mod owner_file;
pub mod pin_changes;
pub mod pinned_repositories;
pub mod planned;
pub mod promoted_commit;
pub mod publication_preview;
pub mod publish;
pub mod published_content;
pub mod pull_requests;
pub mod push;
pub mod reading;
pub mod refusal;
pub mod renderer;
pub mod rings;
pub mod rollout_position;
pub mod rollout_store;
pub mod selection;
pub mod shared_objects;
mod source_difference;
pub mod state_anchors;
pub mod state_branch;
mod state_file;
pub mod untrusted_states;
pub mod write_lease;
