//! A cache of files that several assignments share. Each file is rendered once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::digest::Digest;
use model::git_id::GitId;

use super::folder_cache::{FolderCache, FolderStore};
use super::{CheckedOutlines, WarningsDigest};

/// The number of locks. There are more locks than processors, so that threads seldom wait for the same one.
const PARTS: usize = 64;

/// The ids of rendered files, by the digests of their inputs.
#[derive(Debug)]
pub(crate) struct SharedFiles {
    parts: [Mutex<HashMap<Digest, Arc<OnceLock<CachedFile>>>>; PARTS],
    rendered: AtomicUsize,
    folders: FolderCache,
    checked_outlines: CheckedOutlines,
}

/// The cached result of rendering a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachedFile {
    /// The file has this git id. The digest is that of the warnings about it.
    File(GitId, Option<WarningsDigest>),
    /// There is no such file.
    NoFile,
    /// The file can't be rendered, or its template read unexpected data. It is rendered for each assignment.
    NotShared,
}

impl Default for SharedFiles {
    fn default() -> Self {
        Self::new(None)
    }
}

impl SharedFiles {
    /// An empty cache. The store gets the rendered folders that have no room in memory.
    pub(crate) fn new(store: Option<Arc<dyn FolderStore>>) -> Self {
        Self {
            parts: std::array::from_fn(|_| Mutex::default()),
            rendered: AtomicUsize::new(0),
            folders: FolderCache::new(store),
            checked_outlines: CheckedOutlines::default(),
        }
    }

    /// Returns the file with these inputs. Calls `render` if it is not in the cache.
    pub(crate) fn get(&self, inputs: Digest, render: impl FnOnce() -> CachedFile) -> CachedFile {
        let part = usize::from(inputs.as_bytes()[0]) % PARTS;
        let Some(part) = self.parts.get(part) else { return render() };
        let known = Arc::clone(part.lock().unwrap_or_else(PoisonError::into_inner).entry(inputs).or_default());
        *known.get_or_init(|| {
            self.rendered.fetch_add(1, Ordering::Relaxed);
            render()
        })
    }

    /// The rendered folders that are still in memory.
    pub(crate) fn folder_cache(&self) -> &FolderCache {
        &self.folders
    }

    /// The outlines of checked files.
    pub(crate) fn checked_outlines(&self) -> &CheckedOutlines {
        &self.checked_outlines
    }

    /// Returns the number of files rendered since the last call.
    pub(crate) fn take_rendered(&self) -> usize {
        self.rendered.swap(0, Ordering::Relaxed)
    }

    /// Clears the cache if it contains more than `files_max` files.
    pub(crate) fn bound(&mut self, files_max: usize) {
        let count = |part: &mut Mutex<HashMap<_, _>>| part.get_mut().unwrap_or_else(PoisonError::into_inner).len();
        if self.parts.iter_mut().map(count).sum::<usize>() > files_max {
            *self = Self::new(self.folders.store());
        }
    }
}
