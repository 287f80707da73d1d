//! The sources of an environment: their commits, and the objects in them.

pub(crate) mod earlier_files;
pub mod found_sources;
pub mod heads;
pub mod loaded;
pub mod pinned_repositories;
pub mod shared_objects;
pub(crate) mod source_difference;
