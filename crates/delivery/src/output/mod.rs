//! The output of an environment at its destinations, as it would be published.

pub mod changes;
pub mod compilation;
pub mod gitops_destination;
pub mod held_assignments;
pub(crate) mod kept_folders;
pub(crate) mod left_outputs;
pub(crate) mod open_proposal;
pub(crate) mod owner_file;
pub mod planned;
pub mod refusal;
pub mod rings;
pub mod selection;
