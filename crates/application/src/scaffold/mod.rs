//! The files and repositories of a new application, from answers and from what exists already.
//!
//! [`found`] reads the folder, [`answers`] completes what a person gives, and [`plan`] says which files and branches there must be. [`branches`] adds those
//! of other repositories. Nothing of it replaces a file.

pub mod answers;
pub mod branches;
mod configuration;
pub mod found;
pub mod plan;
pub mod source;
mod source_files;
#[cfg(test)]
mod tests;
