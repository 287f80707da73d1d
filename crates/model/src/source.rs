//! The sources of objects: files at a commit of a repository.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::git_id::GitId;

/// One commit of one repository, or a plain directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The short name that messages use: the last part of the URL, `control-plane`.
    pub label: Arc<str>,
    /// The URL in objects and configuration, without credentials. Empty for a plain directory.
    pub url: Arc<str>,
    /// The requested branch, tag or commit. Empty for a plain directory.
    pub revision: Arc<str>,
    /// The commit whose files were read. None for a plain directory.
    pub commit: Option<GitId>,
    /// Whether exactly this commit was requested. The branch may have moved since.
    pub is_pinned: bool,
}

impl Source {
    /// A plain directory, which has no repository and no history. Its files are shown by their path alone.
    pub fn directory() -> Self {
        Self { label: "".into(), url: "".into(), revision: "".into(), commit: None, is_pinned: false }
    }

    /// The first part of places in messages: `control-plane@prod`, or `control-plane@4fb8c44` if exactly that commit was requested.
    pub fn place_name(&self) -> String {
        match &self.commit {
            Some(commit) if self.is_pinned => format!("{}@{}", self.label, commit.short()),
            _ => self.to_string(),
        }
    }
}

/// Writes `control-plane@prod`, and nothing for a plain directory.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.revision.is_empty() {
            return f.write_str(&self.label);
        }
        write!(f, "{}@{}", self.label, self.revision)
    }
}

/// A file with its content.
#[derive(Clone, Debug)]
pub struct File {
    /// The repository and commit that contain the file.
    pub source: Arc<Source>,
    /// The path in the repository, with `/` between names.
    pub path: Arc<str>,
    /// The git blob id of the content.
    pub id: GitId,
    /// The content.
    pub content: Arc<[u8]>,
}

impl File {
    /// The file's name in places: `control-plane@prod:configs/west.yaml`.
    pub fn place_name(&self) -> String {
        if self.source.label.is_empty() {
            return self.path.to_string();
        }
        format!("{}:{}", self.source.place_name(), self.path)
    }
}

/// Writes `control-plane@prod:configs/west.yaml`.
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source.label.is_empty() {
            return f.write_str(&self.path);
        }
        write!(f, "{}:{}", self.source, self.path)
    }
}

/// The id of a file in a [`Files`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// The place of an object: file, document and item, without lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The file.
    pub file: FileId,
    /// The document in the file, from 0.
    pub document: u32,
    /// The item in the document's `items`, if the document is a `List`.
    pub item: Option<u32>,
}

/// The files that objects were read from. Diagnostics show their lines.
#[derive(Clone, Debug, Default)]
pub struct Files(Vec<Arc<File>>);

impl Files {
    /// Adds a file, and returns its id.
    pub fn add(&mut self, file: File) -> FileId {
        self.0.push(Arc::new(file));
        FileId(self.0.len() as u32 - 1)
    }

    /// Replaces a file by another version.
    pub fn set(&mut self, id: FileId, file: File) {
        self.0[id.0 as usize] = Arc::new(file);
    }

    /// The file with this id. The id must come from [`Files::add`] of the same value.
    pub fn get(&self, id: FileId) -> &File {
        &self.0[id.0 as usize]
    }

    /// All files, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.0.iter().enumerate().map(|(index, file)| (FileId(index as u32), &**file))
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no files.
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

/// Converts byte offsets in a text to lines and columns.
///
/// The first conversion reads the whole text once. After that, each conversion takes the same time, whatever the length of the text or of its lines.
#[derive(Debug)]
pub struct Positions<'t> {
    text: &'t [u8],
    /// The positions of the bytes 0, [`STRIDE`], 2 × [`STRIDE`] and so on.
    known: OnceLock<Vec<Position>>,
}

/// The distance in bytes of the positions that [`Positions`] keeps. Each takes two words of memory, so all take a 64th of the text.
const STRIDE: usize = 1_024;

impl<'t> Positions<'t> {
    /// The positions in `text`. This call does not read the text yet.
    pub fn new(text: &'t [u8]) -> Self {
        Self { text, known: OnceLock::new() }
    }

    /// The position of a byte offset. For offsets after the end, the position of the end. If the text is not UTF-8, columns are approximate.
    pub fn position(&self, offset: usize) -> Position {
        let (known, between) = self.nearest(offset);
        known.after(between)
    }

    /// The last kept position at or before `offset`, and the text between the two.
    fn nearest(&self, offset: usize) -> (Position, &'t [u8]) {
        let offset = offset.min(self.text.len());
        let known = self.known.get_or_init(|| known(self.text)).get(offset / STRIDE);
        let from = offset - offset % STRIDE;
        known.map_or((Position::START, &self.text[..offset]), |known| (*known, &self.text[from..offset]))
    }
}

fn known(text: &[u8]) -> Vec<Position> {
    let next = |at: &mut Position, stride: &[u8]| {
        let end = at.after(stride);
        Some(std::mem::replace(at, end))
    };
    // If the text fills its last stride, the position of its end is kept too.
    text.chunks(STRIDE).chain([[].as_slice()]).scan(Position::START, next).collect()
}

impl Position {
    const START: Self = Self { line: 1, column: 1 };

    /// The position after `text`, which begins here.
    fn after(self, text: &[u8]) -> Self {
        let last = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let lines = text[..text.len() - last.len()].iter().filter(|byte| **byte == b'\n').count();
        let column = if lines == 0 { self.column } else { 1 };
        // In UTF-8, all bytes of a character except the first have these bits.
        let is_inside = |byte: &u8| byte & 0xC0 == 0x80;
        Self { line: self.line + lines, column: column + last.iter().filter(|byte| !is_inside(byte)).count() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(Positions::new(text.as_bytes()).position(offset), Position { line, column }, "{text:?} at {offset}");
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        check("ab\ncd", 0, 1, 1);
        check("ab\ncd", 2, 1, 3);
        check("ab\ncd", 4, 2, 2);
        check("ü=x", 2, 1, 2);
        check("ab", 99, 1, 3);
        check("", 0, 1, 1);
    }

    #[test]
    fn position_lookups_scan_less_than_one_stride() {
        for text in ["üa\n".repeat(STRIDE), "üa".repeat(STRIDE + 1), "\n".repeat(2 * STRIDE)] {
            let positions = Positions::new(text.as_bytes());
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let line = 1 + text[..offset].matches('\n').count();
                let column = 1 + text[..offset].rsplit('\n').next().unwrap().chars().count();
                assert_eq!(positions.position(offset), Position { line, column }, "at {offset}");
                assert!(positions.nearest(offset).1.len() < STRIDE, "at {offset}");
            }
        }
    }
}
