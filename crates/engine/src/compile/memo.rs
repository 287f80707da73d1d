//! A cache of results of earlier runs, by the digests of their inputs. It can be saved.

use std::collections::HashMap;
use std::sync::Arc;

use model::digest::Digest;
use model::git_id::GitId;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::render::WarningsDigest;
use crate::schema::validate::Checked;

/// The first bytes of a saved memo. The number is the version of the format, and of all code that results depend on. It must be increased
/// with every change to composition, checks or rendering.
const MAGIC: &[u8; 16] = b"kalypso memo 004";
/// The size of the check sum at the end, in bytes.
const CHECK_SUM_BYTES: usize = 32;
/// The size of an entry of each table, in bytes: compositions, checks, renderings.
const ENTRY_BYTES: [usize; 3] = [32, 17, 45];

/// Results of earlier runs. A memo saves work and never changes results: a result is used only if all its inputs are equal.
#[derive(Debug, Default)]
pub struct Memo {
    /// The digests of composed values, by the digests of their inputs.
    compositions: HashMap<Digest, Digest>,
    /// Checks without findings: whether there are sensitive values, by the digest of the inputs.
    checks: HashMap<Digest, bool>,
    /// The rendered folders, by the digest of all inputs of their assignments.
    renderings: HashMap<Digest, Rendering>,
    has_wide: bool,
}

/// The rendered folder of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// The git id of the folder.
    pub(crate) tree: GitId,
    /// Whether a template may have read all data of the assignment. The result is then valid only for a digest of inputs that includes all data.
    pub(crate) is_wide: bool,
    /// The digest of the warnings about its files.
    pub(crate) warnings: Option<WarningsDigest>,
}

/// The reason why a saved memo can't be used. The file can be deleted; all results are then computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoError {
    /// Another version of Kalypso wrote the file, or it is not a memo.
    #[error("it is not a memo of this version of Kalypso")]
    OtherVersion,
    /// The file is truncated or changed.
    #[error("it is damaged")]
    Damaged,
}

impl Memo {
    /// Reads the bytes that [`Memo::write`] returned.
    ///
    /// # Errors
    /// [`MemoError::OtherVersion`] if the bytes do not begin like a memo of this version. [`MemoError::Damaged`] if the check sum or a length is wrong.
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

    /// Writes the memo in the format that [`Memo::read`] reads. The bytes contain only digests and ids, no values or texts.
    pub fn write(&self) -> Vec<u8> {
        let counts = [self.compositions.len(), self.checks.len(), self.renderings.len()];
        let mut writer = Writer::new(counts.iter().zip(ENTRY_BYTES).map(|(count, bytes)| count * bytes).sum());
        writer.table(&self.compositions, |values: Digest, bytes| bytes.extend_from_slice(values.as_bytes()));
        writer.table(&self.checks, |has_sensitive, bytes| bytes.push(u8::from(has_sensitive)));
        writer.table(&self.renderings, |Rendering { tree, is_wide, warnings }, bytes| {
            bytes.extend_from_slice(tree.as_bytes());
            bytes.push(u8::from(is_wide));
            bytes.extend_from_slice(&WarningsDigest::number(warnings).to_le_bytes());
        });
        writer.finish()
    }

    /// Adds all results of another memo.
    pub fn extend(&mut self, other: Self) {
        self.compositions.extend(other.compositions);
        self.checks.extend(other.checks);
        self.renderings.extend(other.renderings);
        self.has_wide |= other.has_wide;
    }

    /// Whether the memo contains no rendered assignment.
    pub fn is_empty(&self) -> bool {
        self.renderings.is_empty()
    }

    /// Whether any rendered assignment may have read all of its data.
    pub(crate) fn has_wide(&self) -> bool {
        self.has_wide
    }

    /// The number of rendered assignments.
    pub fn len(&self) -> usize {
        self.renderings.len()
    }

    /// The digest of the values that are composed from these inputs.
    pub(crate) fn values(&self, inputs: Digest) -> Option<Digest> {
        self.compositions.get(&inputs).copied()
    }

    /// The result of a check without findings, by the digest of its inputs.
    pub(crate) fn checked(&self, validation: Digest) -> Option<Arc<Checked>> {
        let has_sensitive = *self.checks.get(&validation)?;
        Some(Arc::new(Checked { diagnostics: Vec::new(), has_sensitive }))
    }

    /// The rendered folder of an assignment with these inputs.
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

    /// Adds an entry to the table that has entries of this length. None if the entry is too short.
    fn add(&mut self, entry: &[u8]) -> Option<()> {
        let (key, value) = entry.split_first_chunk::<16>()?;
        let key = Digest::from_bytes(*key);
        if let Ok(values) = <[u8; 16]>::try_from(value) {
            self.compositions.insert(key, Digest::from_bytes(values));
        } else if let [has_sensitive] = value {
            self.checks.insert(key, *has_sensitive != 0);
        } else {
            let (tree, rest) = value.split_first_chunk::<20>()?;
            let (is_wide, warnings) = rest.split_first()?;
            let warnings = WarningsDigest::from_number(u64::from_le_bytes(warnings.try_into().ok()?));
            self.set_rendering(key, Rendering { tree: GitId::from_bytes(*tree), is_wide: is_wide == &1, warnings });
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
    /// Creates a writer with capacity for this number of bytes of entries.
    fn new(entries_bytes: usize) -> Self {
        let counts_bytes = ENTRY_BYTES.len() * size_of::<u64>();
        let mut bytes = Vec::with_capacity(MAGIC.len() + counts_bytes + entries_bytes + CHECK_SUM_BYTES);
        bytes.extend_from_slice(MAGIC);
        Self { bytes }
    }

    /// Writes a table in the order of its keys, so that the bytes are deterministic.
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
        let warnings = WarningsDigest::from_number(u64::from(number % 2));
        Rendering { tree: GitId::from_bytes([number; 20]), is_wide, warnings }
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
    fn a_written_memo_is_read() {
        let memo = Memo::read(&written()).unwrap();
        assert_eq!(memo.values(digest(1)), Some(digest(2)));
        assert!(memo.checked(digest(3)).unwrap().has_sensitive);
        assert_eq!((memo.len(), memo.rendering(digest(6))), (2, Some(rendering(7, true))));
        assert_eq!(memo.write(), written());
    }

    #[test]
    fn a_memo_is_extended_by_another() {
        let mut both = Memo::default();
        both.set_rendering(digest(8), rendering(9, false));
        both.extend(memo());
        assert_eq!((both.len(), both.rendering(digest(8))), (3, Some(rendering(9, false))));
        assert_eq!(both.values(digest(1)), Some(digest(2)));
    }

    #[test]
    fn a_damaged_memo_is_refused() {
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
