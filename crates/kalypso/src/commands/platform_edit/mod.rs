//! Edits of a whole platform: environments and template packs.

pub(super) mod environment;
pub(super) mod removal;
pub(super) mod template;
