//! Sensitive values: finds them in all output, and replaces them by a digest wherever values are displayed.
//!
//! All text that depends on a sensitive value is hidden, not only text that is equal to it: an uppercase, encoded, cut or counted form is as
//! secret as the value.

mod rendered;
mod source_files;
pub(crate) mod variant;

pub use self::rendered::{HIDDEN, Lines, ShownFiles, plain};
pub use self::source_files::hidden_in;
