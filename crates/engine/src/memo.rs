//! What is known from earlier runs: results by the digests of their inputs, in a form that can be saved.

use std::collections::HashMap;
use std::sync::Arc;

use model::digest::Digest;
use model::git_id::GitId;
use rayon::prelude::*;
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
    /// Reads what [`Memo::write`] gave.
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

    /// What is known, in a form that [`Memo::read`] reads. There is no value and no text in it, only digests and ids.
    pub fn write(&self) -> Vec<u8> {
        let counts = [self.compositions.len(), self.checks.len(), self.renderings.len()];
        let mut writer = Writer::new(counts.iter().zip(ENTRY_BYTES).map(|(count, bytes)| count * bytes).sum());
        writer.table(&self.compositions, |values: Digest, bytes| bytes.extend_from_slice(values.as_bytes()));
        writer.table(&self.checks, |has_sensitive, bytes| bytes.push(u8::from(has_sensitive)));
        writer.table(&self.renderings, |Rendering { tree, is_wide }, bytes| {
            bytes.extend_from_slice(tree.as_bytes());
            bytes.push(u8::from(is_wide));
        });
        writer.finish()
    }

    /// Takes in everything that another one knows.
    pub fn extend(&mut self, other: Self) {
        self.compositions.extend(other.compositions);
        self.checks.extend(other.checks);
        self.renderings.extend(other.renderings);
        self.has_wide |= other.has_wide;
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

    pub(crate) fn set_values(&mut self, inputs: Digest, values: Digest) {
        self.compositions.insert(inputs, values);
    }

    pub(crate) fn set_checked(&mut self, validation: Digest, has_sensitive: bool) {
        self.checks.insert(validation, has_sensitive);
    }

    pub(crate) fn set_rendering(&mut self, inputs: Digest, rendering: Rendering) {
        self.has_wide |= rendering.is_wide;
        self.renderings.insert(inputs, rendering);
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
            self.set_rendering(key, Rendering { tree: GitId::from_bytes(*tree), is_wide: rest.first()? == &1 });
        }
        Some(())
    }
}

/// Writes a memo, table by table.
#[derive(Debug)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// One for so many bytes of entries.
    fn new(entries_bytes: usize) -> Self {
        let counts_bytes = ENTRY_BYTES.len() * size_of::<u64>();
        let mut bytes = Vec::with_capacity(MAGIC.len() + counts_bytes + entries_bytes + CHECK_SUM_BYTES);
        bytes.extend_from_slice(MAGIC);
        Self { bytes }
    }

    /// Writes a table in the order of its keys, so that what is known is always written alike.
    fn table<V: Copy + Send>(&mut self, entries: &HashMap<Digest, V>, value: impl Fn(V, &mut Vec<u8>)) {
        let mut entries: Vec<_> = entries.iter().map(|(key, value)| (*key, *value)).collect();
        entries.par_sort_unstable_by_key(|(key, _)| *key);
        self.bytes.extend_from_slice(&(entries.len() as u64).to_le_bytes());
        for (key, of_key) in entries {
            self.bytes.extend_from_slice(key.as_bytes());
            value(of_key, &mut self.bytes);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let sum = Sha256::digest(self.bytes.get(MAGIC.len()..).unwrap_or_default());
        self.bytes.extend_from_slice(&sum);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: u8) -> Digest {
        Digest::from_bytes([number; 16])
    }

    fn rendering(number: u8, is_wide: bool) -> Rendering {
        Rendering { tree: GitId::from_bytes([number; 20]), is_wide }
    }

    fn memo() -> Memo {
        let mut memo = Memo::default();
        memo.set_values(digest(1), digest(2));
        memo.set_checked(digest(3), true);
        memo.set_rendering(digest(6), rendering(7, true));
        memo.set_rendering(digest(4), rendering(5, false));
        memo
    }

    fn written() -> Vec<u8> {
        memo().write()
    }

    #[test]
    fn what_was_written_is_read() {
        let memo = Memo::read(&written()).unwrap();
        assert_eq!(memo.values(digest(1)), Some(digest(2)));
        assert!(memo.checked(digest(3)).unwrap().has_sensitive);
        assert_eq!((memo.len(), memo.rendering(digest(6))), (2, Some(rendering(7, true))));
        assert_eq!(memo.write(), written());
    }

    #[test]
    fn one_takes_in_what_another_knows() {
        let mut both = Memo::default();
        both.set_rendering(digest(8), rendering(9, false));
        both.extend(memo());
        assert_eq!((both.len(), both.rendering(digest(8))), (3, Some(rendering(9, false))));
        assert_eq!(both.values(digest(1)), Some(digest(2)));
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
