//! Where objects come from: files at a commit of a repository.

use std::fmt;
use std::sync::Arc;

use crate::git_id::GitId;

/// One state of one repository (or of a plain directory).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The short name that messages use: the last part of the URL, `control-plane`.
    pub label: Arc<str>,
    /// The URL as objects and configuration write it, never with a credential in it. Empty for a plain directory.
    pub url: Arc<str>,
    /// The branch, tag or commit that was asked for. Empty for a plain directory.
    pub revision: Arc<str>,
    /// The commit that was read; none for a plain directory.
    pub commit: Option<GitId>,
}

impl Source {
    /// A plain directory: no repository, no history. Its files are named by their path alone.
    pub fn directory() -> Self {
        Self { label: "".into(), url: "".into(), revision: "".into(), commit: None }
    }
}

/// `control-plane@prod`, and nothing for a plain directory.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.revision.is_empty() {
            return f.write_str(&self.label);
        }
        write!(f, "{}@{}", self.label, self.revision)
    }
}

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct File {
    /// The repository and commit it is from.
    pub source: Arc<Source>,
    /// Its path in the repository, with `/`.
    pub path: Arc<str>,
    /// The git blob id of its content.
    pub id: GitId,
    /// Its content.
    pub content: Arc<[u8]>,
}

/// `control-plane@prod:configs/west.yaml`
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source.label.is_empty() {
            return f.write_str(&self.path);
        }
        write!(f, "{}:{}", self.source, self.path)
    }
}

/// A file of a [`Files`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// The files that something was read from, so that a message can show the lines it is about.
#[derive(Clone, Debug, Default)]
pub struct Files(Vec<Arc<File>>);

impl Files {
    /// Adds a file.
    pub fn add(&mut self, file: File) -> FileId {
        self.0.push(Arc::new(file));
        FileId(self.0.len() as u32 - 1)
    }

    /// Puts another version of a file into its place.
    pub fn set(&mut self, id: FileId, file: File) {
        self.0[id.0 as usize] = Arc::new(file);
    }

    /// The file with this id. Ids are only given out by [`Files::add`] of the same value.
    pub fn get(&self, id: FileId) -> &File {
        &self.0[id.0 as usize]
    }

    /// All files in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.0.iter().enumerate().map(|(index, file)| (FileId(index as u32), &**file))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A line and column, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset in `text`. Offsets past the end are its end.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
        Self { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(Position::of(text.as_bytes(), offset), Position { line, column }, "{text:?} at {offset}");
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        check("ab\ncd", 0, 1, 1);
        check("ab\ncd", 2, 1, 3);
        check("ab\ncd", 4, 2, 2);
        check("ü=x", 2, 1, 2);
        check("ab", 99, 1, 3);
    }
}
