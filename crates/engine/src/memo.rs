//! What is known from earlier runs: results by the digests of their inputs, in a form that can be saved.

use std::collections::HashMap;
use std::sync::Arc;

use model::digest::Digest;
use model::git_id::GitId;
use sha2::{Digest as _, Sha256};

use crate::check::Checked;

/// What a file of this form begins with. The number is the version of the form, and of everything that results depend on beside their
/// inputs: it goes up with every change of what is composed, checked or rendered.
const MAGIC: &[u8; 16] = b"kalypso memo 001";
/// Bytes of the check sum at the end.
const CHECK_SUM_BYTES: usize = 32;
/// Bytes of an entry of each table: of compositions, checks and renderings.
const ENTRY_BYTES: [usize; 3] = [32, 17, 37];

/// Results of an earlier run. It only ever saves work: a result is taken where all its inputs are the same, and what is not known is made.
#[derive(Debug, Default)]
pub struct Memo {
    /// What the values are that were composed of these inputs.
    compositions: HashMap<Digest, Digest>,
    /// Checks that found nothing, with whether there are sensitive values.
    checks: HashMap<Digest, bool>,
    /// The folders that were rendered, by all inputs of their assignments.
    renderings: HashMap<Digest, Rendering>,
    has_wide: bool,
}

/// What is known about an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// The id of its folder.
    pub(crate) tree: GitId,
    /// Whether it read something that came out of the data: then it counts only by its inputs with all of the data among them.
    pub(crate) is_wide: bool,
}

/// Why a saved memo can't be used. It can be removed: everything is made anew then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoError {
    /// Another version of Kalypso has written it, or it is something else.
    #[error("it is not a memo of this version of Kalypso")]
    OtherVersion,
    /// It is not as it was written.
    #[error("it is damaged")]
    Damaged,
}

impl Memo {
    /// Reads what [`MemoWriter::finish`] gave.
    ///
    /// # Errors
    /// If it is not that.
    pub fn read(bytes: &[u8]) -> Result<Self, MemoError> {
        let body = bytes.strip_prefix(MAGIC).ok_or(MemoError::OtherVersion)?;
        let (body, sum) =
            body.split_at_checked(body.len().saturating_sub(CHECK_SUM_BYTES)).ok_or(MemoError::Damaged)?;
        if sum != Sha256::digest(body).as_slice() {
            return Err(MemoError::Damaged);
        }
        let mut memo = Self::default();
        let mut rest = body;
        for (table, entry_bytes) in ENTRY_BYTES.into_iter().enumerate() {
            let (count, after) = rest.split_first_chunk::<8>().ok_or(MemoError::Damaged)?;
            let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| MemoError::Damaged)?;
            let length = count.checked_mul(entry_bytes).ok_or(MemoError::Damaged)?;
            let (entries, after) = after.split_at_checked(length).ok_or(MemoError::Damaged)?;
            memo.reserve(table, count);
            for entry in entries.chunks_exact(entry_bytes) {
                memo.add(entry).ok_or(MemoError::Damaged)?;
            }
            rest = after;
        }
        if rest.is_empty() { Ok(memo) } else { Err(MemoError::Damaged) }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.renderings.is_empty()
    }

    /// Whether any assignment is among them that may have read all of its data.
    pub(crate) fn has_wide(&self) -> bool {
        self.has_wide
    }

    /// How many assignments are known.
    pub fn len(&self) -> usize {
        self.renderings.len()
    }

    /// What the values are that are composed of these inputs.
    pub(crate) fn values(&self, inputs: Digest) -> Option<Digest> {
        self.compositions.get(&inputs).copied()
    }

    /// What the schemas say.
    pub(crate) fn checked(&self, validation: Digest) -> Option<Arc<Checked>> {
        let has_sensitive = *self.checks.get(&validation)?;
        Some(Arc::new(Checked { diagnostics: Vec::new(), has_sensitive }))
    }

    /// What an assignment with these inputs gives.
    pub(crate) fn rendering(&self, inputs: Digest) -> Option<Rendering> {
        self.renderings.get(&inputs).copied()
    }

    fn reserve(&mut self, table: usize, count: usize) {
        match table {
            0 => self.compositions.reserve(count),
            1 => self.checks.reserve(count),
            _ => self.renderings.reserve(count),
        }
    }

    /// Adds an entry; which table it is of, its length tells.
    fn add(&mut self, entry: &[u8]) -> Option<()> {
        let (key, value) = entry.split_first_chunk::<16>()?;
        let key = Digest::from_bytes(*key);
        if let Ok(values) = <[u8; 16]>::try_from(value) {
            self.compositions.insert(key, Digest::from_bytes(values));
        } else if let [has_sensitive] = value {
            self.checks.insert(key, *has_sensitive != 0);
        } else {
            let (tree, rest) = value.split_first_chunk::<20>()?;
            let is_wide = rest.first()? == &1;
            self.has_wide |= is_wide;
            self.renderings.insert(key, Rendering { tree: GitId::from_bytes(*tree), is_wide });
        }
        Some(())
    }
}

/// Writes a memo, table by table.
#[derive(Debug)]
pub(crate) struct MemoWriter {
    bytes: Vec<u8>,
    count_at: usize,
    count: u64,
}

impl MemoWriter {
    /// One for so many assignments.
    pub(crate) fn new(assignments: usize) -> Self {
        let [.., rendering] = ENTRY_BYTES;
        let mut bytes = Vec::with_capacity(assignments * rendering + 1024);
        bytes.extend_from_slice(MAGIC);
        let mut writer = Self { bytes, count_at: 0, count: 0 };
        writer.begin();
        writer
    }

    pub(crate) fn composition(&mut self, inputs: Digest, values: Digest) {
        self.entry(inputs, values.as_bytes(), &[]);
    }

    pub(crate) fn check(&mut self, validation: Digest, has_sensitive: bool) {
        self.entry(validation, &[u8::from(has_sensitive)], &[]);
    }

    pub(crate) fn rendering(&mut self, inputs: Digest, Rendering { tree, is_wide }: Rendering) {
        self.entry(inputs, tree.as_bytes(), &[u8::from(is_wide)]);
    }

    /// Goes on to the next table.
    pub(crate) fn next_table(&mut self) {
        self.end();
        self.begin();
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.end();
        let sum = Sha256::digest(self.bytes.get(MAGIC.len()..).unwrap_or_default());
        self.bytes.extend_from_slice(&sum);
        self.bytes
    }

    fn entry(&mut self, key: Digest, value: &[u8], more: &[u8]) {
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(more);
        self.count += 1;
    }

    fn begin(&mut self) {
        (self.count_at, self.count) = (self.bytes.len(), 0);
        self.bytes.extend_from_slice(&[0; 8]);
    }

    fn end(&mut self) {
        if let Some(place) = self.bytes.get_mut(self.count_at..self.count_at + 8) {
            place.copy_from_slice(&self.count.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let digest = |number: u8| Digest::from_bytes([number; 16]);
        let mut writer = MemoWriter::new(2);
        writer.composition(digest(1), digest(2));
        writer.next_table();
        writer.check(digest(3), true);
        writer.next_table();
        writer.rendering(digest(4), Rendering { tree: GitId::from_bytes([5; 20]), is_wide: false });
        writer.rendering(digest(6), Rendering { tree: GitId::from_bytes([7; 20]), is_wide: true });
        writer.finish()
    }

    #[test]
    fn what_was_written_is_read() {
        let memo = Memo::read(&written()).unwrap();
        let digest = |number: u8| Digest::from_bytes([number; 16]);
        assert_eq!(memo.values(digest(1)), Some(digest(2)));
        assert!(memo.checked(digest(3)).unwrap().has_sensitive);
        let known = Rendering { tree: GitId::from_bytes([7; 20]), is_wide: true };
        assert_eq!((memo.len(), memo.rendering(digest(6))), (2, Some(known)));
    }

    #[test]
    fn what_is_damaged_anywhere_is_refused() {
        let whole = written();
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 1;
            assert!(Memo::read(&damaged).is_err(), "byte {position}");
            assert!(Memo::read(&whole[..position]).is_err(), "cut at {position}");
        }
        assert_eq!(Memo::read(b"something else").err(), Some(MemoError::OtherVersion));
    }
}
