//! Digests of values. Two values with the same digest are equal, so work on them is done once.
//!
//! A digest is the first half of a SHA-256. Many teams write inputs, so different inputs must not get the same digest even if an author tries to cause it.
//! Processors have instructions for SHA-256. So it is the fastest cryptographic digest for inputs of a few hundred bytes.

use std::fmt;
use std::hash::{Hash, Hasher};

use sha2::{Digest as _, Sha256};

/// The digest of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest of `value`, by its [`Hash`].
    ///
    /// The [`Hash`] must write different bytes for different values, as derived ones do. The digest is the same in every process of one build.
    pub fn from_value(value: &(impl Hash + ?Sized)) -> Self {
        let mut builder = DigestBuilder::default();
        value.hash(&mut builder);
        builder.finish()
    }

    /// The digest with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the digest of a sequence of values. Each is added with its length, so two different sequences never give the same bytes.
///
/// It is also a [`Hasher`], so it takes every value that implements [`Hash`]. Numbers have the same width and byte order on every machine.
#[derive(Clone, Default)]
pub struct DigestBuilder(Sha256);

impl DigestBuilder {
    /// An empty sequence. `purpose` names what the digests are used for: digests with different purposes are different.
    pub fn new(purpose: &str) -> Self {
        let mut builder = Self::default();
        builder.text(purpose);
        builder
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
        self
    }

    /// Adds a number, such as the length of a list before its items.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.update(number.to_le_bytes());
        self
    }

    /// Adds a digest, in place of the values that it was computed from.
    pub fn digest(&mut self, digest: Digest) -> &mut Self {
        self.0.update(digest.0);
        self
    }

    /// Adds a value by its [`Hash`].
    pub fn value(&mut self, value: &(impl Hash + ?Sized)) -> &mut Self {
        value.hash(self);
        self
    }

    /// The digest of all added values.
    pub fn finish(self) -> Digest {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0.finalize()[..16]);
        Digest(bytes)
    }
}

impl fmt::Debug for DigestBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestBuilder")
    }
}

impl Hasher for DigestBuilder {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn write_u16(&mut self, number: u16) {
        self.0.update(number.to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.0.update(number.to_le_bytes());
    }

    fn write_u64(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn write_u128(&mut self, number: u128) {
        self.0.update(number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_i16(&mut self, number: i16) {
        self.0.update(number.to_le_bytes());
    }

    fn write_i32(&mut self, number: i32) {
        self.0.update(number.to_le_bytes());
    }

    fn write_i64(&mut self, number: i64) {
        self.0.update(number.to_le_bytes());
    }

    fn write_i128(&mut self, number: i128) {
        self.0.update(number.to_le_bytes());
    }

    fn write_isize(&mut self, number: isize) {
        self.write_i64(number as i64);
    }

    /// The first eight bytes of the digest, as a number.
    fn finish(&self) -> u64 {
        let Digest(bytes) = self.clone().finish();
        bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Digest {
        let mut builder = DigestBuilder::new("texts");
        for text in texts {
            builder.text(text);
        }
        builder.finish()
    }

    #[test]
    fn different_groupings_have_different_digests() {
        let all = [texts(&["ab", "c"]), texts(&["a", "bc"]), texts(&["abc"]), texts(&["abc", ""]), texts(&[])];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_ne!(Digest::from_value(&("ab", "c")), Digest::from_value(&("a", "bc")));
        assert_ne!(Digest::from_value(&vec![vec![1], vec![]]), Digest::from_value(&vec![vec![], vec![1]]));
    }

    #[test]
    fn a_digest_is_the_same_in_every_process() {
        assert_eq!(Digest::from_value(&(Some("a"), -1_isize, 2_usize)).to_string(), "c42c21ce66410b7de4c3b0d1251010d8");
    }
}
