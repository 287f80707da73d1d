//! Publications: the output of an environment is written, and the hub gets it.

pub mod enforcement;
pub(crate) mod hand_edits;
pub mod hub_publication;
pub mod new_branches;
pub mod publication_preview;
pub mod publish;
pub mod published_content;
