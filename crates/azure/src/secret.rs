//! Secrets, which are never shown.

use std::fmt;

/// A secret that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Creates a secret. Removes spaces and the line end of a file.
    pub(crate) fn new(text: String) -> Self {
        Self(text.trim().to_owned())
    }

    /// The secret itself, for a request.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}
