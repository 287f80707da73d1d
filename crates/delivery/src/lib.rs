//! From commits to a pushed branch: reads an environment, compiles it with what earlier runs found out, and publishes its output.
//!
//! Callers choose when, and show what came of it. Nothing here prints, reads environment variables or knows the current directory: refusals, lost races and answers
//! are values.

pub mod access;
pub mod acknowledgement;
pub mod branch;
pub mod compilation;
pub mod error;
pub mod expired_pins;
pub mod heads;
pub mod held_assignments;
pub mod hub_publication;
pub mod loaded;
pub mod memo_file;
mod owner_file;
pub mod pinned_repositories;
pub mod planned;
pub mod publish;
pub mod push;
pub mod reading;
pub mod refusal;
pub mod selection;
pub mod shared_objects;
