//! Which contents of files are broken and hold nothing, so that none is found out twice.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;

use super::place::RawFile;
use crate::limits::BROKEN_KEPT_MAX;

/// The files that were found broken, and in which no object is understood, by path and content. It saves work, and decides nothing: what is not known is
/// found out.
#[derive(Debug, Default)]
pub struct BrokenFiles(Mutex<BTreeSet<(Box<str>, GitId)>>);

impl BrokenFiles {
    /// What [`Self::write`] has written. Lines that are none of its own say nothing.
    pub fn read(bytes: &[u8]) -> Self {
        let entry = |line: &str| {
            let (id, path) = line.split_once(' ')?;
            Some((path.into(), GitId::from_hex(id)?))
        };
        Self(Mutex::new(String::from_utf8_lossy(bytes).lines().filter_map(entry).collect()))
    }

    /// What is known, so that a later run need not find it out again. Of very many files, some.
    pub fn write(&self) -> Vec<u8> {
        let known = self.known();
        let lines = known.iter().take(BROKEN_KEPT_MAX).map(|(path, id)| format!("{id} {path}\n"));
        lines.collect::<String>().into_bytes()
    }

    /// How many files are known to be broken.
    pub fn len(&self) -> usize {
        self.known().len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known().is_empty()
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<(Box<str>, GitId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file is good or holds an object, which is found out by `try_it` if it is not known that it does not.
    pub(super) fn holds_something(&self, file: &RawFile, try_it: impl FnOnce() -> bool) -> bool {
        let key = (Box::from(&*file.path), file.id);
        if self.known().contains(&key) {
            return false;
        }
        let holds_something = try_it();
        if !holds_something {
            self.known().insert(key);
        }
        holds_something
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_is_known_in_a_later_run() {
        let id = GitId::of_blob(b"a: [");
        let written = format!("{id} configs/a b.yaml\n").into_bytes();
        let broken = BrokenFiles::read(&written);
        assert_eq!((broken.len(), broken.is_empty(), broken.write()), (1, false, written));
        assert!(BrokenFiles::read(b"nonsense\n\xff x\n").is_empty());
    }
}
