//! Removes the leftovers of a killed git from a copy: locks without a holder, and unfinished files.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::path::Path;

/// Removes leftovers. The caller holds the lock of the copy, so no other git runs in it: a git of an earlier run would still hold the lock.
///
/// Errors are ignored. If a leftover stays, the next git that needs the file reports it.
pub(super) fn remove(git_dir: &Path) {
    remove_below(git_dir, Location::Root);
}

/// The number of packs in a repository.
pub(super) fn packs(git_dir: &Path) -> usize {
    let entries = fs::read_dir(git_dir.join("objects/pack"));
    let is_pack = |entry: &DirEntry| entry.path().extension().is_some_and(|extension| extension == "pack");
    entries.map_or(0, |entries| entries.flatten().filter(is_pack).count())
}

/// The location of a file in a repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Location {
    Root,
    /// Below `refs`. Every file there that is not a lock is a reference, whatever its name is.
    References,
    Objects,
    Packs,
    Elsewhere,
}

fn remove_below(folder: &Path, location: Location) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && location == Location::Objects && is_temporary(&name) {
            let _ = fs::remove_dir_all(path);
        } else if is_folder {
            remove_below(&path, location.below(&name));
        } else if is_leftover(&path, &name, location) {
            let _ = fs::remove_file(path);
        }
    }
}

impl Location {
    /// The location of the entries in a folder with this name.
    fn below(self, name: &OsStr) -> Self {
        match (self, name.to_str()) {
            (Self::Root, Some("refs")) => Self::References,
            (Self::Root, Some("objects")) => Self::Objects,
            (Self::Root, _) => Self::Elsewhere,
            (Self::Objects, Some("pack")) => Self::Packs,
            (other, _) => other,
        }
    }
}

fn is_leftover(path: &Path, name: &OsStr, location: Location) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    match location {
        _ if extension == Some("lock") => true,
        Location::Root => name == "gc.pid" || name == "packed-refs.new" || is_temporary_shallow(name),
        Location::Objects => is_temporary(name),
        // A fetch keeps its pack until its references are written. Git ignores a pack without an index.
        Location::Packs => {
            let is_unknown = extension == Some("pack") && !path.with_extension("idx").exists();
            is_temporary(name) || extension == Some("keep") || is_unknown
        }
        Location::References | Location::Elsewhere => false,
    }
}

fn is_temporary(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| ["tmp_", ".tmp-", "incoming-"].iter().any(|prefix| name.starts_with(prefix)))
}

/// Whether a file lists the commits at which the history is cut during one fetch.
fn is_temporary_shallow(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("shallow_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates files in a folder, removes leftovers, and checks which files are left.
    fn check(files: &[&str], kept: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        remove(folder.path());
        let left: Vec<_> = files.iter().copied().filter(|file| folder.path().join(file).exists()).collect();
        assert_eq!(left, kept);
    }

    #[test]
    fn lock_files_are_removed_everywhere() {
        let locks = [
            "HEAD.lock",
            "config.lock",
            "index.lock",
            "shallow.lock",
            "packed-refs.lock",
            "refs/kalypso/heads/a/b.lock",
            "refs/kalypso/commits/4fb8c440e19eca604bbdc14dbba63e5fb98b2c52.lock",
            "reftable/tables.list.lock",
            "worktrees/a/index.lock",
            "worktrees/a/HEAD.lock",
            "objects/maintenance.lock",
            "objects/info/commit-graph.lock",
            "objects/info/alternates.lock",
            "gc.pid.lock",
            "objects/info/commit-graphs/commit-graph-chain.lock",
            "objects/pack/multi-pack-index.lock",
            "logs/HEAD.lock",
            "gc.pid",
            "packed-refs.new",
        ];
        check(&locks, &[]);
    }

    #[test]
    fn unfinished_files_are_removed() {
        let unfinished = [
            "objects/ab/tmp_obj_123",
            "shallow_Ab12Cd",
            "objects/pack/tmp_pack_kalypso",
            "objects/pack/tmp_idx_Ab12Cd",
            "objects/info/tmp_graph_Ab12Cd",
            "objects/pack/.tmp-12-pack-34.idx",
            "objects/pack/pack-1.keep",
            "objects/pack/pack-2.pack",
            "objects/tmp_objdir-incoming-1/pack/x",
            "objects/incoming-1/x",
        ];
        check(&unfinished, &[]);
    }

    #[test]
    fn other_files_stay() {
        let files = [
            "HEAD",
            "config",
            "packed-refs",
            "shallow",
            "refs/kalypso/heads/tmp_x",
            "refs/kalypso/heads/gc.pid",
            "objects/ab/cdef",
            "objects/info/alternates",
            "objects/pack/pack-1.pack",
            "objects/pack/pack-1.idx",
        ];
        check(&files, &files);
    }
}
