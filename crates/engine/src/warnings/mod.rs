//! Warnings about objects that have no effect, or probably not the intended one.

pub(crate) mod clear_credential;
pub(crate) mod retyped_values;
pub(crate) mod rival;
pub mod shared_manifests;
pub(crate) mod source_of_another;
pub(crate) mod unassigned;
pub(crate) mod unassigned_values;
pub(crate) mod unread_manifests;
pub(crate) mod unused;
