//! Folders that were just rendered, for those who open them soon: kept as long as all of them together are small.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;
use model::tree::{Blob, Tree};

/// The most bytes that are kept. A fleet that has more is opened by rendering again: its memory does not grow with its files.
const KEPT_BYTES_MAX: usize = 64 << 20;
/// Bytes that a folder or file takes beside its content, roughly.
const ENTRY_BYTES: usize = 200;

/// Rendered folders and files by their ids.
#[derive(Debug)]
pub(crate) struct KeptFolders {
    bytes_max: usize,
    /// There were too many bytes: nothing is kept any more.
    is_over: AtomicBool,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    folders: HashMap<GitId, Tree>,
    /// Files that several assignments have.
    files: HashMap<GitId, Blob>,
    bytes: usize,
}

impl Default for KeptFolders {
    fn default() -> Self {
        Self::of_size(KEPT_BYTES_MAX)
    }
}

impl KeptFolders {
    fn of_size(bytes_max: usize) -> Self {
        Self { bytes_max, is_over: AtomicBool::new(false), kept: Mutex::default() }
    }

    /// Whether folders and files are still kept.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Keeps a file that several assignments have.
    pub(crate) fn keep_file(&self, file: &Blob) {
        if self.is_open() {
            let mut kept = self.kept();
            if kept.files.insert(file.id(), file.clone()).is_none() {
                kept.bytes += size(file);
            }
            self.bound(kept);
        }
    }

    /// A file that several assignments have.
    pub(crate) fn file(&self, id: GitId) -> Option<Blob> {
        self.kept().files.get(&id).cloned()
    }

    /// Keeps a folder all of whose files are at hand. `own_bytes` is what only this folder has.
    pub(crate) fn keep_folder(&self, folder: &Tree, own_bytes: usize) {
        if self.is_open() {
            let mut kept = self.kept();
            if kept.folders.insert(folder.id(), folder.clone()).is_none() {
                kept.bytes += own_bytes + (1 + folder.len()) * ENTRY_BYTES;
            }
            self.bound(kept);
        }
    }

    /// The folder with this id, with the bytes of its files.
    pub(crate) fn folder(&self, id: GitId) -> Option<Tree> {
        self.kept().folders.get(&id).cloned()
    }

    fn bound(&self, mut kept: MutexGuard<'_, Kept>) {
        if kept.bytes > self.bytes_max {
            self.is_over.store(true, Ordering::Relaxed);
            *kept = Kept::default();
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(file: &Blob) -> usize {
    ENTRY_BYTES + file.bytes().map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use model::tree::{Child, Entry};

    use super::*;

    fn folder(text: &str) -> Tree {
        Tree::from_children([("a.yaml".into(), Child::File(Entry::file(text.as_bytes())))])
    }

    #[test]
    fn a_folder_is_found_by_its_id() {
        let kept = KeptFolders::default();
        kept.keep_folder(&folder("a"), 1);
        assert_eq!(kept.folder(folder("a").id()), Some(folder("a")));
        assert_eq!(kept.folder(folder("b").id()), None);
    }

    #[test]
    fn nothing_is_kept_of_what_is_too_large() {
        let kept = KeptFolders::of_size(1_000);
        kept.keep_folder(&folder("a"), 100);
        kept.keep_folder(&folder("a"), 100);
        assert!(kept.folder(folder("a").id()).is_some());
        kept.keep_folder(&folder("b"), 900);
        kept.keep_folder(&folder("c"), 1);
        assert!(!kept.is_open() && ["a", "b", "c"].iter().all(|text| kept.folder(folder(text).id()).is_none()));
    }
}
