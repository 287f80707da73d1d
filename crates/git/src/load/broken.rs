//! Caches which file versions are broken and contain no objects, so that they are not parsed again.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;

use super::place::RawFile;
use crate::limits::BROKEN_KEPT_MAX;

/// File versions that are broken and contain no object, by path and blob id. This cache only saves time: a version that is missing in it is parsed
/// again.
#[derive(Debug, Default)]
pub struct BrokenFiles(Mutex<BTreeSet<(Box<str>, GitId)>>);

impl BrokenFiles {
    /// Parses the output of [`Self::write`]. Other lines are ignored.
    pub fn read(bytes: &[u8]) -> Self {
        let entry = |line: &str| {
            let (id, path) = line.split_once(' ')?;
            Some((path.into(), GitId::from_hex(id)?))
        };
        Self(Mutex::new(String::from_utf8_lossy(bytes).lines().filter_map(entry).collect()))
    }

    /// The entries as text, for a later run. At most 10,000 are written.
    pub fn write(&self) -> Vec<u8> {
        let known = self.known();
        let lines = known.iter().take(BROKEN_KEPT_MAX).map(|(path, id)| format!("{id} {path}\n"));
        lines.collect::<String>().into_bytes()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.known().len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.known().is_empty()
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<(Box<str>, GitId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file is good or contains an object. `parse` parses the file; it is called only if the file has no entry.
    pub(super) fn is_usable(&self, file: &RawFile, parse: impl FnOnce() -> bool) -> bool {
        let key = (Box::from(&*file.path), file.id);
        if self.known().contains(&key) {
            return false;
        }
        let is_usable = parse();
        if !is_usable {
            self.known().insert(key);
        }
        is_usable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_files_are_remembered_in_later_runs() {
        let id = GitId::of_blob(b"a: [");
        let written = format!("{id} configs/a b.yaml\n").into_bytes();
        let broken = BrokenFiles::read(&written);
        assert_eq!((broken.len(), broken.is_empty(), broken.write()), (1, false, written));
        assert!(BrokenFiles::read(b"nonsense\n\xff x\n").is_empty());
    }
}
