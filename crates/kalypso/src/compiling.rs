//! Compiles environments with the results of earlier runs, and stores the names for shell completion.

use std::fs;
use std::sync::Arc;

use delivery::access::memo_file::MemoFile;
use delivery::output::compilation::KnownResults;
use delivery::sources::loaded::Loaded;
use engine::compile::{Compiled, FolderStore};
use model::progress::Progress;
use workbench::branch::EditComparison;
use workbench::change::EnvironmentChange;

use crate::folder_file::FolderFile;
use crate::progress::Watch;
use crate::{cache_key, configuration, names};

/// Compiles an environment. Results of earlier runs are used again.
pub(crate) fn compile(loaded: &Loaded, progress: &Progress) -> Compiled {
    begin(loaded, progress).0
}

/// Compiles an environment whose folders are all opened afterwards. Each folder is rendered once: folders for which there is no room in memory are
/// stored in a temporary file.
pub(crate) fn compile_to_open(loaded: &Loaded, progress: &Progress) -> Compiled {
    let store = folder_file(loaded).map(|file| Arc::new(file) as Arc<dyn FolderStore>);
    let mut known = KnownResults::new(file_of(loaded));
    let compiled = known.compile(loaded, progress, store);
    names::remember(loaded, &compiled);
    compiled
}

/// Compiles an environment with which other environments are compared. Its results are used again for those.
pub(crate) fn begin(loaded: &Loaded, progress: &Progress) -> (Compiled, KnownResults) {
    let mut known = KnownResults::new(file_of(loaded));
    let compiled = known.compile(loaded, progress, None);
    names::remember(loaded, &compiled);
    (compiled, known)
}

/// Compiles two states of an environment for a comparison. Parts that both states have in common are compiled once.
pub(crate) fn compile_both(earlier: &Loaded, later: &Loaded, progress: &Progress) -> [Compiled; 2] {
    KnownResults::new(file_of(later)).compile_both(earlier, later, progress)
}

/// Compiles and compares an environment before and after edits.
pub(crate) fn compare<'a>(change: &'a EnvironmentChange, watch: &Watch) -> anyhow::Result<EditComparison<'a>> {
    Ok(EditComparison::new(change, KnownResults::new(file_of(&change.new)), watch.progress())?)
}

/// A temporary file on the disk of the cache. None if there is no usable cache: then folders are rendered again.
fn folder_file(loaded: &Loaded) -> Option<FolderFile> {
    let cache = loaded.access.as_ref().map(|access| access.settings.git.cache.clone());
    let cache = cache.or_else(|| configuration::default_cache().ok())?;
    FolderFile::create(&git::trust::prepare_folder(&cache).ok()?).ok()
}

/// The file with the results of earlier runs. For a plain directory, it is in the user's cache.
fn file_of(loaded: &Loaded) -> Option<MemoFile> {
    let environment = &loaded.fleet.environment;
    if let Some(directory) = &loaded.directory {
        let directory = fs::canonicalize(directory).ok()?;
        let cache = configuration::default_cache().ok()?;
        let key = cache_key::for_cache(&cache, None).ok()?;
        return Some(MemoFile::new((&cache, key), directory.to_str()?, environment.as_str()));
    }
    Some(loaded.access.as_ref()?.settings.memo_file(environment))
}
