//! Answers to questions about assignments: why they exist or do not exist, and what they consist of.

pub mod contract;
pub mod explain;
pub mod inventory;
pub mod name_meaning;
pub(crate) mod output_lines;
pub mod overview;
pub mod why_not;
