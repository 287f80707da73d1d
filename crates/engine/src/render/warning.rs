//! Warnings about rendered files.

use std::num::NonZeroU64;
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::digest::Digest;

/// A warning about a rendered file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputWarning {
    pub(crate) diagnostic: Diagnostic,
    /// The key of the platform's value that it is about.
    pub(crate) value_key: Option<Arc<str>>,
}

/// Half of the digest of warnings. A fleet has few different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WarningsDigest(NonZeroU64);

impl WarningsDigest {
    pub(crate) fn of(digest: Digest) -> Self {
        let half = digest.as_bytes().first_chunk().copied().unwrap_or_default();
        Self(NonZeroU64::new(u64::from_le_bytes(half)).unwrap_or(NonZeroU64::MIN))
    }

    /// The digest as a number. 0 stands for no warnings.
    pub(crate) fn number(digest: Option<Self>) -> u64 {
        digest.map_or(0, |digest| digest.0.get())
    }

    /// The digest that [`Self::number`] returned as a number.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }
}
