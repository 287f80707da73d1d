//! `Text`, a Go string: immutable bytes, usually in UTF-8.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::taint::Taint;

/// A Go string. Cloning is cheap. As in Go, the bytes can be invalid UTF-8: `trunc` can cut a code point.
///
/// Texts are equal if their bytes are equal. Their taint does not matter.
#[derive(Clone)]
pub struct Text {
    bytes: Arc<[u8]>,
    taint: Taint,
}

impl Text {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The taint: whether the text comes from an untrusted source.
    pub fn taint(&self) -> Taint {
        self.taint
    }

    /// The text with at least this taint.
    #[must_use]
    pub fn tainted(self, taint: Taint) -> Self {
        Self { taint: self.taint.max(taint), ..self }
    }

    /// The text, with U+FFFD in the place of every invalid byte sequence.
    pub fn to_str(&self) -> Cow<'_, str> {
        // A check first is much faster than a search for errors chunk by chunk.
        std::str::from_utf8(&self.bytes).map_or_else(|_| String::from_utf8_lossy(&self.bytes), Cow::Borrowed)
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the text has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl From<Arc<[u8]>> for Text {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self { bytes, taint: Taint::None }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Arc::<[u8]>::from(text.as_bytes()).into()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Arc::<[u8]>::from(text.into_bytes()).into()
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Arc::<[u8]>::from(bytes).into()
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Arc::<[u8]>::from(bytes).into()
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
