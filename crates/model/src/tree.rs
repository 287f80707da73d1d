//! The tree of files that a GitOps branch holds or should hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::git_id::GitId;

/// The content of a file: in memory, or known by its id because it stays as it is.
#[derive(Clone, Debug)]
pub enum Blob {
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
    /// A blob that the target repository has already.
    Existing(GitId),
}

impl Blob {
    /// The git id of the content.
    pub fn id(&self) -> GitId {
        match self {
            Self::Bytes(bytes) => GitId::of_blob(bytes),
            Self::Existing(id) => *id,
        }
    }
}

/// Two blobs are equal if their contents are.
impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(left), Self::Bytes(right)) => left == right,
            _ => self.id() == other.id(),
        }
    }
}

impl Eq for Blob {}

/// A file's kind in a git tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// An ordinary file; the only kind that Kalypso writes.
    #[default]
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
    /// A submodule.
    Submodule,
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What kind of file it is.
    pub mode: Mode,
    /// What is in it.
    pub blob: Blob,
}

/// Files by path. Paths have `/` between their parts and none at their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<Arc<str>, Entry>,
}

impl Tree {
    /// Puts an ordinary file with these bytes at `path`, in place of what was there.
    pub fn write(&mut self, path: impl Into<Arc<str>>, bytes: impl Into<Arc<[u8]>>) {
        self.insert(path, Entry { mode: Mode::File, blob: Blob::Bytes(bytes.into()) });
    }

    /// Puts an entry at `path`, in place of what was there.
    pub fn insert(&mut self, path: impl Into<Arc<str>>, entry: Entry) {
        self.entries.insert(path.into(), entry);
    }

    /// Takes the file at `path` away.
    pub fn remove(&mut self, path: &str) -> Option<Entry> {
        self.entries.remove(path)
    }

    /// The file at `path`.
    pub fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// All files by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Entry)> {
        self.entries.iter()
    }

    /// The files in `folder` and below it. The empty folder is the whole tree.
    pub fn below(&self, folder: &str) -> impl Iterator<Item = (&Arc<str>, &Entry)> {
        let prefix: Arc<str> = if folder.is_empty() { "".into() } else { format!("{folder}/").into() };
        let from = Arc::clone(&prefix);
        self.entries.range(from..).take_while(move |(path, _)| path.starts_with(&*prefix))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The id that git gives this tree.
    pub fn id(&self) -> GitId {
        let entries: Vec<_> = self.entries.iter().map(|(path, entry)| (&**path, entry)).collect();
        tree_id(&entries, 0)
    }
}

/// The id of the tree of `entries`, all of which are below one folder whose path (with its slash) is `prefix` bytes long.
fn tree_id(entries: &[(&str, &Entry)], prefix: usize) -> GitId {
    let mut children = Vec::new();
    let mut rest = entries;
    while let Some((path, entry)) = rest.first() {
        let below = &path[prefix..];
        let Some(slash) = below.find('/') else {
            children.push((below.to_owned(), mode_digits(entry.mode), entry.blob.id()));
            rest = &rest[1..];
            continue;
        };
        let folder = &path[..=prefix + slash];
        let count = rest.iter().take_while(|(path, _)| path.starts_with(folder)).count();
        children.push((format!("{}/", &below[..slash]), "40000", tree_id(&rest[..count], folder.len())));
        rest = &rest[count..];
    }
    // Git sorts folders as if their names ended with a slash.
    children.sort();
    let mut encoded = Vec::new();
    for (name, mode, id) in &children {
        encoded.extend_from_slice(format!("{mode} {}\0", name.trim_end_matches('/')).as_bytes());
        encoded.extend_from_slice(id.as_bytes());
    }
    GitId::of_tree(&encoded)
}

fn mode_digits(mode: Mode) -> &'static str {
    match mode {
        Mode::File => "100644",
        Mode::Executable => "100755",
        Mode::Link => "120000",
        Mode::Submodule => "160000",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.write(*path, text.as_bytes()));
        tree
    }

    #[test]
    fn trees_have_the_ids_that_git_gives_them() {
        assert_eq!(tree(&[]).id().to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        // `git mktree` and `git write-tree` of the same files.
        let tree = tree(&[("a-b/x", "1"), ("a.txt", "2"), ("a/b/c", "3"), ("a/d", "4")]);
        assert_eq!(tree.id().to_string(), "f72343927640848e2fd84664074be765a2985686");
    }

    #[test]
    fn below_a_folder_are_only_its_own_files() {
        let tree = tree(&[("a", ""), ("a-b/x", ""), ("a/x", ""), ("a/y/z", ""), ("a0", "")]);
        let below = |folder: &str| tree.below(folder).map(|(path, _)| &**path).collect::<Vec<_>>();
        assert_eq!(below("a"), ["a/x", "a/y/z"]);
        assert_eq!(below("a/y"), ["a/y/z"]);
        assert_eq!(below("").len(), 5);
        assert!(below("b").is_empty());
    }
}
