//! Stores the order in which the heads of branches were seen. A cached commit is used only if this order proves that it is not older than the
//! published one.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use model::git_id::GitId;

use super::cache::Lock;
use crate::key::CacheKey;
use crate::limits::{JOURNAL_BYTES_MAX, SEEN_MAX};

/// The heads of the references of one repository, each at a successful request. The order of the lines counts; no clock is used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Journal {
    /// The heads with their references, oldest first.
    entries: Vec<(GitId, String)>,
}

/// A journal on disk. It is used while the repository can't be reached, so it is signed with the key.
#[derive(Clone, Copy)]
pub(super) struct JournalFile<'a> {
    pub(super) path: &'a Path,
    /// The URL of the repository.
    pub(super) url: &'a str,
    /// The key of the settings. None: no journal is read or written.
    pub(super) key: Option<&'a CacheKey>,
}

/// The purpose of the signature.
const PURPOSE: &str = "journal";

impl Journal {
    /// Reads the journal from a file. The result is empty if the file is missing, damaged, too large or not signed with the key.
    pub(super) fn read(file: &JournalFile<'_>) -> Self {
        let read = || -> io::Result<String> {
            let mut text = String::new();
            fs::File::open(file.path)?.take(JOURNAL_BYTES_MAX + 1).read_to_string(&mut text)?;
            Ok(text)
        };
        let text = read().unwrap_or_default();
        if text.len() as u64 > JOURNAL_BYTES_MAX {
            return Self::default();
        }
        Self::verified(&text, file).and_then(Self::parse).unwrap_or_default()
    }

    /// The text below the signature, if the signature is valid.
    fn verified<'t>(text: &'t str, file: &JournalFile<'_>) -> Option<&'t str> {
        let (signature, entries) = text.split_once('\n')?;
        let signature = data_encoding::HEXLOWER.decode(signature.as_bytes()).ok()?;
        file.key?.verify(PURPOSE, &[file.url.as_bytes(), entries.as_bytes()], &signature).then_some(entries)
    }

    /// Parses the entries. None if a line is malformed.
    fn parse(text: &str) -> Option<Self> {
        let entry = |line: &str| {
            let (id, reference) = line.split_once(' ')?;
            Some((GitId::from_hex(id)?, reference.to_owned()))
        };
        text.lines().map(entry).collect::<Option<_>>().map(|entries| Self { entries })
    }

    /// The heads of a reference, oldest first.
    pub(super) fn seen(&self, reference: &str) -> Vec<GitId> {
        self.entries.iter().filter(|(_, of)| of == reference).map(|(id, _)| *id).collect()
    }

    /// Adds a head of a reference. The caller must have held the lock since before the request to the repository, or must check that no entry was
    /// added since.
    ///
    /// # Errors
    /// If the file can't be written. Then it is unchanged.
    pub(super) fn append(file: &JournalFile<'_>, _lock: &Lock, (reference, id): (&str, GitId)) -> io::Result<()> {
        let Some(key) = file.key else { return Ok(()) };
        let mut journal = Self::read(file);
        journal.add(reference, id);
        let text: String = journal.entries.iter().map(|(id, reference)| format!("{id} {reference}\n")).collect();
        let signature = data_encoding::HEXLOWER.encode(&key.sign(PURPOSE, &[file.url.as_bytes(), text.as_bytes()]));
        // The lock excludes other writers.
        let unfinished = file.path.with_extension("seen.tmp");
        fs::write(&unfinished, format!("{signature}\n{text}"))?;
        fs::rename(unfinished, file.path)
    }

    fn add(&mut self, reference: &str, id: GitId) {
        let seen = self.seen(reference);
        if seen.last() == Some(&id) {
            return;
        }
        if seen.len() >= SEEN_MAX
            && let Some(oldest) = self.entries.iter().position(|(_, of)| of == reference)
        {
            self.entries.remove(oldest);
        }
        self.entries.push((id, reference.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> GitId {
        GitId::of_blob(number.to_string().as_bytes())
    }

    #[test]
    fn journal_keeps_the_order_up_to_a_limit() {
        let mut journal = Journal::default();
        for number in [1, 2, 2, 1] {
            journal.add("refs/heads/main", id(number));
            journal.add("refs/heads/dev", id(7));
        }
        assert_eq!(journal.seen("refs/heads/main"), [id(1), id(2), id(1)]);
        assert_eq!(journal.seen("refs/heads/dev"), [id(7)]);
        (0..SEEN_MAX).for_each(|number| journal.add("refs/heads/main", id(100 + number)));
        let seen = journal.seen("refs/heads/main");
        assert_eq!((seen.len(), seen[0], journal.seen("refs/heads/dev")), (SEEN_MAX, id(100), vec![id(7)]));
    }

    #[test]
    fn damaged_journal_is_ignored() {
        let good = format!("{} refs/heads/main\n", id(1));
        assert_eq!(Journal::parse(&good).unwrap().seen("refs/heads/main"), [id(1)]);
        assert_eq!(Journal::parse(&format!("{good}{good}nonsense\n")), None);
    }
}
