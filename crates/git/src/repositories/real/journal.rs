//! In which order the heads of branches were seen: what a copy remembers is used only if it is known to be newer than what was published.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use model::git_id::GitId;

use super::cache::Lock;
use crate::key::Key;
use crate::limits::{JOURNAL_BYTES_MAX, SEEN_MAX};

/// The heads that references of one repository were seen at, each when the repository itself said it. No clock is asked: the order is that of the lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Journal {
    /// Oldest first.
    entries: Vec<(GitId, String)>,
}

/// A journal on disk. It is believed while nobody can be asked, so only who has the key can write one.
#[derive(Clone, Copy)]
pub(super) struct JournalFile<'a> {
    pub(super) path: &'a Path,
    /// The repository that it is of.
    pub(super) url: &'a str,
    /// None if there is none: then there is no journal.
    pub(super) key: Option<&'a Key>,
}

/// What the signature of a journal is for.
const PURPOSE: &str = "journal";

impl Journal {
    /// The journal in a file. One that is missing, damaged, too large or not signed with the key says nothing.
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

    /// What is below the signature, if it is the right one.
    fn verified<'t>(text: &'t str, file: &JournalFile<'_>) -> Option<&'t str> {
        let (signature, entries) = text.split_once('\n')?;
        let signature = data_encoding::HEXLOWER.decode(signature.as_bytes()).ok()?;
        file.key?.has_signed(PURPOSE, &[file.url.as_bytes(), entries.as_bytes()], &signature).then_some(entries)
    }

    /// None if a line is not one of ours.
    fn parse(text: &str) -> Option<Self> {
        let entry = |line: &str| {
            let (id, reference) = line.split_once(' ')?;
            Some((GitId::from_hex(id)?, reference.to_owned()))
        };
        text.lines().map(entry).collect::<Option<_>>().map(|entries| Self { entries })
    }

    /// Where a reference was seen, oldest first.
    pub(super) fn seen(&self, reference: &str) -> Vec<GitId> {
        self.entries.iter().filter(|(_, of)| of == reference).map(|(id, _)| *id).collect()
    }

    /// Adds where a reference was seen just now. Whoever adds holds the lock since before the repository was asked, or looks that nothing was added meanwhile.
    ///
    /// # Errors
    /// If the file can't be written. It is then as it was.
    pub(super) fn append(file: &JournalFile<'_>, _lock: &Lock, (reference, id): (&str, GitId)) -> io::Result<()> {
        let Some(key) = file.key else { return Ok(()) };
        let mut journal = Self::read(file);
        journal.add(reference, id);
        let text: String = journal.entries.iter().map(|(id, reference)| format!("{id} {reference}\n")).collect();
        let signature = data_encoding::HEXLOWER.encode(&key.sign(PURPOSE, &[file.url.as_bytes(), text.as_bytes()]));
        // Nobody else writes while we hold the lock.
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
    fn a_journal_keeps_the_order_and_not_for_ever() {
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
    fn a_damaged_journal_says_nothing() {
        let good = format!("{} refs/heads/main\n", id(1));
        assert_eq!(Journal::parse(&good).unwrap().seen("refs/heads/main"), [id(1)]);
        assert_eq!(Journal::parse(&format!("{good}{good}nonsense\n")), None);
    }
}
