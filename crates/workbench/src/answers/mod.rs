//! The answers to questions about environments, as the JSON that every program gives. [`serde::Serialize`] writes them, and their schemas describe each
//! field.

pub mod all_environments;
pub mod branch_edit;
pub mod codeowners;
pub mod compare;
pub mod config_history;
pub mod contract;
pub mod describe;
pub mod explain;
pub mod new_environment;
pub mod plan;
pub mod publish;
pub mod releases;
pub mod rename;
pub mod render;
pub(crate) mod shown_files;
pub mod target_edit;
pub mod template_packs;
pub mod why_not;
