//! Uncommitted changes of files, applied on top of a commit.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use model::git_id::GitId;

use crate::repositories::{EntryKind, FolderEntry};

/// The new content of files, by path. None: the file is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits(BTreeMap<Arc<str>, Option<Arc<[u8]>>>);

impl Edits {
    /// The edit of a file. `None`: the file is not edited. `Some(None)`: it is deleted.
    pub fn get(&self, path: &str) -> Option<Option<&Arc<[u8]>>> {
        self.0.get(path).map(Option::as_ref)
    }

    /// The content with this blob id, if one of the edits contains it.
    pub fn blob(&self, id: GitId) -> Option<&Arc<[u8]>> {
        self.0.values().flatten().find(|bytes| GitId::of_blob(bytes) == id)
    }

    /// The paths of the edited files.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.keys()
    }

    /// Whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries of a folder after the edits, from its entries before. None if the folder exists neither before nor after.
    pub fn folder(&self, path: &str, before: Option<Vec<FolderEntry>>) -> Option<Vec<FolderEntry>> {
        let start = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = self.0.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let mut below = below.take_while(|(file, _)| file.starts_with(&start)).peekable();
        if below.peek().is_none() {
            return before;
        }
        let is_new = before.is_none();
        let mut entries = before.unwrap_or_default();
        for (file, content) in below {
            let rest = file.get(start.len()..).unwrap_or_default();
            let (name, kind) =
                rest.split_once('/').map_or((rest, EntryKind::File), |(name, _)| (name, EntryKind::Folder));
            let position = entries.iter().position(|entry| entry.name == name);
            match (content, kind, position) {
                (None, EntryKind::File, Some(position)) => drop(entries.remove(position)),
                // The folder stays, even if it is now empty: a walk through it finds no files.
                (None, _, _) => {}
                (Some(_), EntryKind::Folder, Some(position)) if entries[position].kind == EntryKind::Folder => {}
                (Some(content), ..) => {
                    entries.retain(|entry| entry.name != name);
                    let id = GitId::of_blob(if kind == EntryKind::File { content } else { b"" });
                    entries.push(FolderEntry { name: name.to_owned(), kind, id });
                }
            }
        }
        entries.sort();
        (!is_new || !entries.is_empty()).then_some(entries)
    }
}

impl FromIterator<(Arc<str>, Option<Arc<[u8]>>)> for Edits {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Option<Arc<[u8]>>)>>(files: I) -> Self {
        Self(files.into_iter().collect())
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
    fn files_come_change_and_go() {
        let edits = edits(&[("a/new.yaml", Some("1")), ("a/old.yaml", None), ("a-b.yaml", Some("2"))]);
        check(&edits, "a", Some(&["old.yaml", "other.yaml"]), Some(&["new.yaml", "other.yaml"]));
        check(&edits, "", Some(&["a/", "z.yaml"]), Some(&["a/", "a-b.yaml", "z.yaml"]));
        check(&edits, "other", Some(&["x.yaml"]), Some(&["x.yaml"]));
        check(&edits, "other", None, None);
    }

    #[test]
    fn folders_come_with_their_files() {
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
}
