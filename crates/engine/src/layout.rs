//! Folders of the output in a branch: their paths by layout, and which of them are folders of places.

pub mod assignment_folders;
pub mod own_files;

use std::sync::Arc;

use model::git_id::GitId;
use model::tree::{Blob, Open, OpenError, Tree, is_utf8};
use sha2::{Digest as _, Sha256};

use crate::layout::own_files::MARKER;

/// The path of a folder in a repository, without slashes at its ends. Empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder(Arc<str>);

impl Folder {
    /// Parses a path as in `spec.path`: `.`, `./clusters/`, `/clusters`. None if it leads out of the repository, contains `.git` or control
    /// characters, or is deeper than 64 folders.
    pub fn parse(text: &str) -> Option<Self> {
        const DEPTH_MAX: usize = 64;
        let parts: Vec<_> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let is_safe =
            |part: &&str| *part != ".." && !part.eq_ignore_ascii_case(".git") && !part.contains(char::is_control);
        (parts.len() <= DEPTH_MAX && parts.iter().all(is_safe)).then(|| Self(parts.join("/").into()))
    }

    /// The path of a file in the folder.
    pub fn join(&self, path: &str) -> String {
        joined(&self.0, path)
    }

    /// The path. Empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The layout of the folders of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// All folders in one folder: `large/`.
    #[default]
    Plain,
    /// Each folder below two folders named by the first four hexadecimal digits of the SHA-256 of the place's name: `d3/5c/large/`.
    FanOut,
}

impl Layout {
    /// The folders around the folder of a place, the outermost one first.
    pub(crate) fn around(self, place: &str) -> Vec<String> {
        match self {
            Self::Plain => Vec::new(),
            Self::FanOut => Sha256::digest(place).iter().take(2).map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// The path of a place's folder, in the output's folder.
    pub fn path(self, place: &str) -> String {
        let mut parts = self.around(place);
        parts.push(place.to_owned());
        parts.join("/")
    }
}

/// Whether a name may be a prefix folder of [`Layout::FanOut`]: two lowercase hexadecimal digits.
pub(crate) fn is_prefix(name: &str) -> bool {
    matches!(name.as_bytes(), [high, low] if [high, low].iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}

/// Whether a folder has Kalypso's marker.
pub fn is_marked(folder: &Tree) -> bool {
    let readme = folder.child("README.md").and_then(|child| child.as_file());
    readme.is_some_and(|entry| entry.blob.id() == GitId::of_blob(MARKER.as_bytes()))
}

/// Whether a blob contains exactly this text.
pub fn is_text(blob: &Blob, text: &str) -> bool {
    blob.id() == GitId::of_blob(text.as_bytes())
}

/// The level of a folder inside the output's folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Level {
    /// In the output's folder itself.
    #[default]
    Top,
    /// In the first prefix folder.
    First,
    /// In the second prefix folder.
    Second,
}

/// The kind of a folder.
pub(crate) enum FolderKind {
    /// The folder of a place, with the marker.
    Place,
    /// A prefix folder, which may contain folders of places.
    Prefix(Level),
    /// A foreign folder.
    Foreign,
}

impl Level {
    /// The kind of a folder by its name, its content, and the path `around` it.
    pub(crate) fn folder_kind(self, around: &str, name: &str, folder: &Tree) -> FolderKind {
        let is_place = match self {
            // No place has such a name, independent of the folder's content.
            _ if !is_utf8(name) => false,
            Self::Top => is_marked(folder),
            Self::First => false,
            Self::Second => Layout::FanOut.around(name).join("/") == around && is_marked(folder),
        };
        match self {
            _ if is_place => FolderKind::Place,
            Self::Top if is_prefix(name) => FolderKind::Prefix(Self::First),
            Self::First if is_prefix(name) => FolderKind::Prefix(Self::Second),
            _ => FolderKind::Foreign,
        }
    }
}

/// The names of the places with a marked folder in `folder`, in either layout, sorted.
///
/// # Errors
/// If a folder can't be opened.
pub fn own_folders(folder: &Tree, open: &Open<'_>) -> Result<Vec<Arc<str>>, OpenError> {
    let mut found = Vec::new();
    let mut rest = vec![(Level::Top, String::new(), folder.clone())];
    while let Some((level, around, folder)) = rest.pop() {
        for (name, child) in folder.children() {
            let Some(below) = child.opened(open)? else { continue };
            match level.folder_kind(&around, name, &below) {
                FolderKind::Place => found.push(Arc::clone(name)),
                FolderKind::Prefix(level) => rest.push((level, joined(&around, name), below)),
                FolderKind::Foreign => {}
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Joins a path and a name.
pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fan_out_path_uses_the_sha256_digest() {
        // `printf %s large | sha256sum | cut -c1-4`
        assert_eq!(Layout::FanOut.path("large"), "d3/5c/large");
        assert_eq!(Layout::Plain.path("large"), "large");
    }
}
