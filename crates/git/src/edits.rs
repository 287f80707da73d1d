//! Uncommitted changes of files, applied on top of a commit.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use model::git_id::GitId;

use crate::repositories::{EntryKind, FolderEntry};

/// Changes of files, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    files: BTreeMap<Arc<str>, Edit>,
    /// The new contents by their ids.
    blobs: BTreeMap<GitId, Arc<[u8]>>,
}

/// The change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The file gets this content, which has this id.
    Content(GitId, Arc<[u8]>),
    /// A symbolic link is in its place. The id is that of its target's text.
    Link(GitId),
    /// The file is deleted.
    Removed,
}

impl Edits {
    /// The new content of a file. `None`: the file is not edited. `Some(None)`: it is deleted, or replaced by a link.
    pub fn get(&self, path: &str) -> Option<Option<&Arc<[u8]>>> {
        self.files.get(path).map(|edit| match edit {
            Edit::Content(_, bytes) => Some(bytes),
            Edit::Link(_) | Edit::Removed => None,
        })
    }

    /// The content with this blob id, if one of the edits contains it.
    pub fn blob(&self, id: GitId) -> Option<&Arc<[u8]>> {
        self.blobs.get(&id)
    }

    /// The paths of the edited files.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.files.keys()
    }

    /// All edits, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Edit)> {
        self.files.iter()
    }

    /// Whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// These edits, followed by later ones.
    #[must_use]
    pub fn followed_by(&self, later: &Self) -> Self {
        self.files.iter().chain(&later.files).map(|(path, edit)| (Arc::clone(path), edit.clone())).collect()
    }

    /// The entries of a folder after the edits, from its entries before. None if the folder exists neither before nor after.
    pub fn folder(&self, path: &str, before: Option<Vec<FolderEntry>>) -> Option<Vec<FolderEntry>> {
        let start = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = self.files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let mut below = below.take_while(|(file, _)| file.starts_with(&start)).peekable();
        if below.peek().is_none() {
            return before;
        }
        let is_new = before.is_none();
        let mut entries = before.unwrap_or_default();
        for (file, edit) in below {
            let rest = file.get(start.len()..).unwrap_or_default();
            let (name, kind, id) = match (rest.split_once('/'), edit) {
                (Some((name, _)), _) => (name, EntryKind::Folder, GitId::of_blob(b"")),
                (None, Edit::Link(id)) => (rest, EntryKind::Link, *id),
                (None, Edit::Content(id, _)) => (rest, EntryKind::File, *id),
                (None, Edit::Removed) => (rest, EntryKind::File, GitId::of_blob(b"")),
            };
            let position = entries.iter().position(|entry| entry.name == name);
            match (edit, kind, position) {
                (Edit::Removed, EntryKind::File, Some(position)) if entries[position].kind != EntryKind::Folder => {
                    entries.remove(position);
                }
                // A folder stays, even if it is now empty: a walk through it finds no files.
                (Edit::Removed, _, _) => {}
                (_, EntryKind::Folder, Some(position)) if entries[position].kind == EntryKind::Folder => {}
                _ => {
                    entries.retain(|entry| entry.name != name);
                    entries.push(FolderEntry { name: name.to_owned(), kind, id });
                }
            }
        }
        entries.sort();
        (!is_new || !entries.is_empty()).then_some(entries)
    }
}

/// The new content of files, by path. None: the file is deleted.
impl FromIterator<(Arc<str>, Option<Arc<[u8]>>)> for Edits {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Option<Arc<[u8]>>)>>(files: I) -> Self {
        let edit = |bytes: Arc<[u8]>| Edit::Content(GitId::of_blob(&bytes), bytes);
        files.into_iter().map(|(path, content)| (path, content.map_or(Edit::Removed, edit))).collect()
    }
}

/// If two edits have the same path, the last one counts.
impl FromIterator<(Arc<str>, Edit)> for Edits {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Edit)>>(files: I) -> Self {
        let files: BTreeMap<_, _> = files.into_iter().collect();
        let blobs = files.values().filter_map(|edit| match edit {
            Edit::Content(id, bytes) => Some((*id, Arc::clone(bytes))),
            Edit::Link(_) | Edit::Removed => None,
        });
        Self { blobs: blobs.collect(), files }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(files: &[(&str, Option<&str>)]) -> Edits {
        let file = |(path, text): &(&str, Option<&str>)| (Arc::from(*path), text.map(|text| text.as_bytes().into()));
        files.iter().map(file).collect()
    }

    fn entry(name: &str) -> FolderEntry {
        let (name, kind) = name.strip_suffix('/').map_or((name, EntryKind::File), |name| (name, EntryKind::Folder));
        FolderEntry { name: name.to_owned(), kind, id: GitId::of_blob(b"") }
    }

    /// Compares the names of the entries in a folder. Names of folders end with a slash.
    fn check(edits: &Edits, path: &str, before: Option<&[&str]>, after: Option<&[&str]>) {
        let before = before.map(|names| names.iter().map(|name| entry(name)).collect());
        let found = edits.folder(path, before);
        let name = |entry: &FolderEntry| {
            if entry.kind == EntryKind::Folder { format!("{}/", entry.name) } else { entry.name.clone() }
        };
        let names: Option<Vec<_>> = found.map(|entries| entries.iter().map(name).collect());
        assert_eq!(names, after.map(|names| names.iter().map(ToString::to_string).collect()), "{path}");
    }

    #[test]
    fn files_are_added_changed_and_removed() {
        let edits = edits(&[("a/new.yaml", Some("1")), ("a/old.yaml", None), ("a-b.yaml", Some("2"))]);
        check(&edits, "a", Some(&["old.yaml", "other.yaml"]), Some(&["new.yaml", "other.yaml"]));
        check(&edits, "", Some(&["a/", "z.yaml"]), Some(&["a/", "a-b.yaml", "z.yaml"]));
        check(&edits, "other", Some(&["x.yaml"]), Some(&["x.yaml"]));
        check(&edits, "other", None, None);
    }

    #[test]
    fn folders_exist_with_their_files() {
        let edits = edits(&[("a/b/c.yaml", Some("1")), ("gone/x.yaml", None)]);
        check(&edits, "", Some(&[]), Some(&["a/"]));
        check(&edits, "a", None, Some(&["b/"]));
        check(&edits, "a/b", None, Some(&["c.yaml"]));
        check(&edits, "gone", None, None);
        check(&edits, "gone", Some(&["x.yaml"]), Some(&[]));
    }

    #[test]
    fn contents_are_found_by_id() {
        let edits = edits(&[("a.yaml", Some("1")), ("b.yaml", None)]);
        assert_eq!(edits.blob(GitId::of_blob(b"1")).map(|bytes| &**bytes), Some(&b"1"[..]));
        assert_eq!(edits.blob(GitId::of_blob(b"2")), None);
        assert_eq!(edits.get("b.yaml"), Some(None));
        assert_eq!(edits.get("c.yaml"), None);
    }

    #[test]
    fn a_file_that_became_a_folder_is_not_removed_with_it() {
        let edits = edits(&[("a.yaml", None), ("a.yaml/b.yaml", Some("1"))]);
        check(&edits, "", Some(&["a.yaml"]), Some(&["a.yaml/"]));
        check(&edits, "", Some(&["a.yaml/"]), Some(&["a.yaml/"]));
    }

    #[test]
    fn later_edits_replace_earlier_ones() {
        let first = edits(&[("a.yaml", Some("1")), ("b.yaml", Some("2"))]);
        let both = first.followed_by(&edits(&[("a.yaml", None), ("c.yaml", Some("3"))]));
        assert_eq!(both, edits(&[("a.yaml", None), ("b.yaml", Some("2")), ("c.yaml", Some("3"))]));
        assert_eq!(both.blob(GitId::of_blob(b"1")), None);
    }
}
