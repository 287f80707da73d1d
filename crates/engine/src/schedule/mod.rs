//! Scheduling: assigns deployment targets to places by policies.

pub(crate) mod index;
pub(crate) mod label_pairs;
pub(crate) mod mapping;
pub(crate) mod matching;
pub mod pin;
pub mod place;
pub(crate) mod policy;
pub mod target;

pub(crate) use self::policy::{Block, Candidates, Schedule, Selection};
