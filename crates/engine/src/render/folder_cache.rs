//! Folders that were just rendered: in memory while all of them together are small, then in the store of the caller.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;
use model::tree::{Blob, Tree};

/// The most bytes that stay in memory. Without a store, the folders of a larger fleet are rendered again when they are opened: memory does not grow
/// with the files.
const CACHED_BYTES_MAX: usize = 64 << 20;
/// Bytes that a folder or file takes beside its content, roughly.
const ENTRY_BYTES: usize = 200;

/// Stores rendered folders outside memory. A folder that the store can't keep is rendered again.
pub trait FolderStore: fmt::Debug + Send + Sync {
    /// Stores a folder. All its files have their bytes.
    fn put(&self, folder: &Tree);
    /// The folder with this id, with the bytes of its files. None if it is not stored.
    fn get(&self, id: GitId) -> Option<Tree>;
}

/// Rendered folders and files by their ids.
#[derive(Debug)]
pub(crate) struct FolderCache {
    bytes_max: usize,
    /// Whether there were too many bytes for memory.
    is_full: AtomicBool,
    cached: Mutex<CachedFolders>,
    /// Where folders go that have no room in memory.
    store: Option<Arc<dyn FolderStore>>,
}

#[derive(Debug, Default)]
struct CachedFolders {
    folders: HashMap<GitId, Tree>,
    /// Files that several assignments have.
    files: HashMap<GitId, Blob>,
    bytes: usize,
}

impl FolderCache {
    /// Folders that have no room in memory go to the store.
    pub(crate) fn new(store: Option<Arc<dyn FolderStore>>) -> Self {
        Self::of_size(CACHED_BYTES_MAX, store)
    }

    fn of_size(bytes_max: usize, store: Option<Arc<dyn FolderStore>>) -> Self {
        Self { bytes_max, is_full: AtomicBool::new(false), cached: Mutex::default(), store }
    }

    /// The store of the folders that have no room in memory.
    pub(crate) fn store(&self) -> Option<Arc<dyn FolderStore>> {
        self.store.clone()
    }

    /// Whether folders and files are still cached.
    pub(crate) fn is_open(&self) -> bool {
        self.has_room() || self.store.is_some()
    }

    fn has_room(&self) -> bool {
        !self.is_full.load(Ordering::Relaxed)
    }

    /// Adds a file that several assignments have. With a store, such files stay in memory: they are few, and each folder needs them.
    pub(crate) fn add_file(&self, file: &Blob) {
        if self.is_open() {
            let mut cached = self.cached();
            if cached.files.insert(file.id(), file.clone()).is_none() {
                cached.bytes += size(file);
            }
            self.bound(cached);
        }
    }

    /// A file that several assignments have.
    pub(crate) fn file(&self, id: GitId) -> Option<Blob> {
        self.cached().files.get(&id).cloned()
    }

    /// Adds a folder whose files are all in memory. `own_bytes` is what only this folder has.
    pub(crate) fn add_folder(&self, folder: &Tree, own_bytes: usize) {
        if self.has_room() {
            let mut cached = self.cached();
            if cached.folders.insert(folder.id(), folder.clone()).is_none() {
                cached.bytes += own_bytes + (1 + folder.len()) * ENTRY_BYTES;
            }
            self.bound(cached);
        } else if let Some(store) = &self.store {
            store.put(folder);
        }
    }

    /// The folder with this id, with the bytes of its files.
    pub(crate) fn folder(&self, id: GitId) -> Option<Tree> {
        let in_memory = self.cached().folders.get(&id).cloned();
        in_memory.or_else(|| self.store.as_ref()?.get(id))
    }

    /// Without a store, all folders are dropped when there are too many: some of them would save little. With one, those in memory stay there.
    fn bound(&self, mut cached: MutexGuard<'_, CachedFolders>) {
        if cached.bytes > self.bytes_max {
            self.is_full.store(true, Ordering::Relaxed);
            if self.store.is_none() {
                *cached = CachedFolders::default();
            }
        }
    }

    fn cached(&self) -> MutexGuard<'_, CachedFolders> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
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
        let cache = FolderCache::new(None);
        cache.add_folder(&folder("a"), 1);
        assert_eq!(cache.folder(folder("a").id()), Some(folder("a")));
        assert_eq!(cache.folder(folder("b").id()), None);
    }

    #[test]
    fn a_full_cache_is_cleared() {
        let cache = FolderCache::of_size(1_000, None);
        cache.add_folder(&folder("a"), 100);
        cache.add_folder(&folder("a"), 100);
        assert!(cache.folder(folder("a").id()).is_some());
        cache.add_folder(&folder("b"), 900);
        cache.add_folder(&folder("c"), 1);
        assert!(!cache.is_open() && ["a", "b", "c"].iter().all(|text| cache.folder(folder(text).id()).is_none()));
    }

    /// A store in memory.
    #[derive(Debug, Default)]
    struct Stored(Mutex<HashMap<GitId, Tree>>);

    impl FolderStore for Stored {
        fn put(&self, folder: &Tree) {
            self.0.lock().unwrap().insert(folder.id(), folder.clone());
        }

        fn get(&self, id: GitId) -> Option<Tree> {
            self.0.lock().unwrap().get(&id).cloned()
        }
    }

    #[test]
    fn folders_beyond_the_memory_limit_go_to_the_store() {
        let store = Arc::new(Stored::default());
        let cache = FolderCache::of_size(1_000, Some(store.clone()));
        let file = Blob::new(*b"shared");
        cache.add_folder(&folder("a"), 1_000);
        cache.add_folder(&folder("b"), 1);
        cache.add_file(&file);
        assert!(cache.is_open());
        assert_eq!(["a", "b"].map(|text| cache.folder(folder(text).id())), ["a", "b"].map(|text| Some(folder(text))));
        assert_eq!(cache.file(file.id()), Some(file));
        assert_eq!(store.0.lock().unwrap().keys().copied().collect::<Vec<_>>(), [folder("b").id()]);
    }
}
