//! `Text`, a Go string: immutable bytes that are usually, but not always, UTF-8.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A Go string. Cloning is cheap. Like in Go, nothing guarantees that it is valid UTF-8: `trunc` may cut a code point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<[u8]>);

impl Text {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, with every invalid byte sequence shown as U+FFFD.
    pub fn to_str(&self) -> Cow<'_, str> {
        // Checking first is much faster than looking for mistakes chunk by chunk.
        std::str::from_utf8(&self.0).map_or_else(|_| String::from_utf8_lossy(&self.0), Cow::Borrowed)
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether both are clones of one text.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether there is no byte in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.to_str(), f)
    }
}
