//! A file that does not exist yet.

/// A file that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// The path from the root of the branch.
    pub path: String,
    /// The content.
    pub text: String,
}

impl NewFile {
    /// A file with a path and a text.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}
