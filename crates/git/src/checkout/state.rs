//! The content of a working tree, as changes on top of a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use model::git_id::GitId;
use model::tree::name_text;
use rayon::prelude::*;

use super::listing::{list, os_path};
use super::{Checkout, CheckoutError};
use crate::edits::{Edit, Edits};
use crate::limits::{FILE_BYTES_MAX, FOLDER_DEPTH_MAX};
use crate::repositories::{Commit, EntryKind, Repositories, RepositoryError};
use crate::settings::Settings;
use crate::walk::is_relevant;

/// The content of a working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkingState {
    /// The files that differ from the commit in any byte. Only files that are read, and files that exclude others.
    pub edits: Edits,
    /// The paths of the files that differ from the commit, sorted. Git may convert line endings, so other line endings are no difference here.
    pub changed: Vec<Arc<str>>,
    /// The paths of a merge that need a decision, sorted. They are of any kind of file.
    pub unmerged: Vec<Arc<str>>,
}

/// The files of a commit by path, with their kinds and ids.
type Files = BTreeMap<Arc<str>, (EntryKind, GitId)>;

/// A failed read of a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The working tree can't be read.
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    /// The commit can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// Compares a working tree with a commit, which may be another one than the commit that is checked out. New files count, ignored ones do not.
///
/// # Errors
/// If the working tree or the commit can't be read.
pub fn working_state(
    settings: &Settings,
    checkout: &Checkout,
    (repositories, commit): (&dyn Repositories, &Commit),
) -> Result<WorkingState, StateError> {
    let listing = list(settings, checkout)?;
    let before = files_of(repositories, commit)?;
    let relevant = |names: &[Vec<u8>]| {
        let names = names.iter().map(|name| (Arc::<str>::from(name_text(name)), name.clone()));
        names.filter(|(path, _)| is_relevant(path)).collect::<BTreeMap<_, _>>()
    };
    let present = relevant(&[listing.present, listing.unmerged.clone()].concat());
    let found: Vec<_> = present.into_par_iter().map(|(path, name)| Ok((path, read(checkout, &name)?))).collect();
    let found = found.into_iter().collect::<Result<BTreeMap<_, _>, CheckoutError>>()?;
    let skipped: BTreeSet<_> = relevant(&listing.skipped).into_keys().collect();
    let mut state = WorkingState::default();
    let mut edits = BTreeMap::new();
    for (path, content) in &found {
        let Some(edit) = edit(before.get(path), content.as_ref()) else { continue };
        if !is_same_text((repositories, commit), before.get(path), &edit)? {
            state.changed.push(Arc::clone(path));
        }
        edits.insert(Arc::clone(path), edit);
    }
    let is_gone = |path: &&Arc<str>| !found.contains_key(*path) && !skipped.contains(*path);
    for path in before.keys().filter(is_gone) {
        state.changed.push(Arc::clone(path));
        edits.insert(Arc::clone(path), Edit::Removed);
    }
    state.edits = edits.into_iter().collect();
    state.changed.sort();
    state.unmerged = listing.unmerged.iter().map(|name| name_text(name).into()).collect();
    Ok(state)
}

/// A file of a working tree.
enum Content {
    File(Arc<[u8]>, GitId),
    /// A symbolic link, with the id that git gives its target.
    Link(GitId),
}

/// Reads a file. None if it does not exist, or if it is a folder, such as that of a submodule.
fn read(checkout: &Checkout, name: &[u8]) -> Result<Option<Content>, CheckoutError> {
    let path = checkout.root().join(os_path(name));
    let failed = |error: io::Error| CheckoutError::File { path: path.clone(), reason: error.to_string() };
    let metadata = match fs::symlink_metadata(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        metadata => metadata.map_err(failed)?,
    };
    if metadata.is_symlink() {
        let target = fs::read_link(&path).map_err(failed)?;
        return Ok(Some(Content::Link(GitId::of_blob(target.as_os_str().as_encoded_bytes()))));
    }
    if !metadata.is_file() || is_below_link(checkout.root(), name) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // One more byte than allowed shows that the file is too large.
    let read = File::open(&path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(failed)?;
    let id = GitId::of_blob(&bytes);
    Ok(Some(Content::File(bytes.into(), id)))
}

/// Whether a folder above a file was replaced by a symbolic link: then git sees the file as deleted.
fn is_below_link(root: &Path, name: &[u8]) -> bool {
    let path = os_path(name);
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    above.into_iter().any(|above| fs::symlink_metadata(root.join(above)).is_ok_and(|found| found.is_symlink()))
}

/// The edit that leads from a file of the commit to a file of the working tree. None if both are the same.
fn edit(before: Option<&(EntryKind, GitId)>, content: Option<&Content>) -> Option<Edit> {
    match (before, content) {
        (Some((EntryKind::Submodule, _)) | None, None) => None,
        (Some(_), None) => Some(Edit::Removed),
        (Some((EntryKind::File, id)), Some(Content::File(_, now))) if id == now => None,
        (Some((EntryKind::Link, id)), Some(Content::Link(now))) if id == now => None,
        (_, Some(Content::File(bytes, id))) => Some(Edit::Content(*id, Arc::clone(bytes))),
        (_, Some(Content::Link(id))) => Some(Edit::Link(*id)),
    }
}

/// Whether an edit changes nothing except line endings.
fn is_same_text(
    (repositories, commit): (&dyn Repositories, &Commit),
    before: Option<&(EntryKind, GitId)>,
    edit: &Edit,
) -> Result<bool, RepositoryError> {
    let (Some((EntryKind::File, id)), Edit::Content(_, bytes)) = (before, edit) else { return Ok(false) };
    if !bytes.contains(&b'\r') {
        return Ok(false);
    }
    let content = repositories.content(commit, *id, FILE_BYTES_MAX)?;
    let crate::repositories::FileContent::Bytes(old) = content else { return Ok(false) };
    Ok(with_line_feeds(&old) == with_line_feeds(bytes))
}

fn with_line_feeds(bytes: &[u8]) -> Vec<u8> {
    let is_removed = |(position, byte): &(usize, &u8)| **byte == b'\r' && bytes.get(position + 1) == Some(&b'\n');
    bytes.iter().enumerate().filter(|found| !is_removed(found)).map(|(_, byte)| *byte).collect()
}

/// The files of a commit that are read, or exclude others. Links and submodules with such names are among them.
fn files_of(repositories: &dyn Repositories, commit: &Commit) -> Result<Files, RepositoryError> {
    let mut files = Files::new();
    let mut folders = vec![(String::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in repositories.folder(commit, &folder)?.unwrap_or_default() {
            let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
            match entry.kind {
                EntryKind::Folder if depth < FOLDER_DEPTH_MAX => folders.push((path, depth + 1)),
                EntryKind::Folder => {}
                kind if is_relevant(&path) => drop(files.insert(path.into(), (kind, entry.id))),
                _ => {}
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_are_compared_as_git_converts_them() {
        assert_eq!(with_line_feeds(b"a\r\nb\rc\r\r\n"), b"a\nb\rc\r\n");
        assert_eq!(with_line_feeds(b"\r"), b"\r");
    }

    #[test]
    fn only_differences_are_edits() {
        let id = GitId::of_blob(b"a");
        let file = |bytes: &[u8]| Content::File(bytes.into(), GitId::of_blob(bytes));
        assert_eq!(edit(Some(&(EntryKind::File, id)), Some(&file(b"a"))), None);
        assert_eq!(edit(None, None), None);
        assert_eq!(edit(Some(&(EntryKind::Submodule, id)), None), None);
        assert_eq!(edit(Some(&(EntryKind::File, id)), None), Some(Edit::Removed));
        assert_eq!(edit(Some(&(EntryKind::File, id)), Some(&Content::Link(id))), Some(Edit::Link(id)));
        assert!(matches!(edit(Some(&(EntryKind::Link, id)), Some(&file(b"a"))), Some(Edit::Content(..))));
    }
}
