//! The answers to questions about environments, as the JSON that every program gives. [`serde::Serialize`] writes them, and their schemas describe each
//! field.

pub mod describe;
pub mod explain;
pub mod plan;
