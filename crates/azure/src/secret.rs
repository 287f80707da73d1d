//! A secret, which nothing shows.

use std::fmt;

/// Something that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// A secret, without the line's end that files have.
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
