//! The files that an edit changes, with their new contents.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The new content of files, by path. The paths are relative to the root of the branch, with `/` between names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEdits(BTreeMap<Arc<str>, FileEdit>);

/// The edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEdit {
    /// The file has this content. It is a new file, or another content of an existing one.
    Write(Arc<[u8]>),
    /// The file is removed.
    Remove,
}

impl FileEdits {
    /// Gives a file this content. Replaces an earlier edit of the file.
    pub fn write(&mut self, path: impl Into<Arc<str>>, content: impl Into<Arc<[u8]>>) {
        self.0.insert(path.into(), FileEdit::Write(content.into()));
    }

    /// Removes a file. Replaces an earlier edit of the file.
    pub fn remove(&mut self, path: impl Into<Arc<str>>) {
        self.0.insert(path.into(), FileEdit::Remove);
    }

    /// The edit of a file.
    pub fn get(&self, path: &str) -> Option<&FileEdit> {
        self.0.get(path)
    }

    /// All edits, by path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &FileEdit)> {
        self.0.iter()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FileEdit {
    /// The new content. None if the file is removed.
    pub fn content(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Write(content) => Some(content),
            Self::Remove => None,
        }
    }
}
