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

/// The warnings about a rendered file. Copies are cheap: files of assignments with the same values often have the same warnings.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileWarnings {
    all: Arc<[OutputWarning]>,
    digest: Option<WarningsDigest>,
}

impl FileWarnings {
    pub(crate) fn new(all: Vec<OutputWarning>) -> Self {
        Self { digest: WarningsDigest::from_warnings(&all), all: all.into() }
    }

    /// Adds these warnings before its own.
    pub(crate) fn after(self, mut first: Vec<OutputWarning>) -> Self {
        if first.is_empty() {
            return self;
        }
        first.extend(self.all.iter().cloned());
        Self::new(first)
    }

    pub(crate) fn all(&self) -> &[OutputWarning] {
        &self.all
    }

    /// None without warnings.
    pub(crate) fn digest(&self) -> Option<WarningsDigest> {
        self.digest
    }
}

/// A digest of warnings without the places of objects. Its last bit says whether one of them is about a value of the platform. A fleet has few different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WarningsDigest(NonZeroU64);

impl WarningsDigest {
    /// None without warnings.
    fn from_warnings(warnings: &[OutputWarning]) -> Option<Self> {
        let meanings = warnings.iter().map(|warning| {
            let Diagnostic { code, message, labels, .. } = &warning.diagnostic;
            (code, message, labels, &warning.value_key)
        });
        let is_about_values = warnings.iter().any(|warning| warning.value_key.is_some());
        (!warnings.is_empty()).then(|| Self::new(Digest::from_value(&meanings.collect::<Vec<_>>()), is_about_values))
    }

    /// The digest of the warnings about several files. None without warnings.
    pub(crate) fn of_files(files: &[Self]) -> Option<Self> {
        let is_about_values = files.iter().any(|file| file.is_about_values());
        (!files.is_empty()).then(|| Self::new(Digest::from_value(files), is_about_values))
    }

    fn new(digest: Digest, is_about_values: bool) -> Self {
        let half = u64::from_le_bytes(digest.as_bytes().first_chunk().copied().unwrap_or_default());
        // The second bit is always set, so the number is not 0.
        let number = half & !0b11 | 0b10 | u64::from(is_about_values);
        Self(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }

    /// Whether a warning is about a value of the platform. Assignments with equal digests may then have the value from different containers.
    pub(crate) fn is_about_values(self) -> bool {
        self.0.get() & 1 == 1
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
