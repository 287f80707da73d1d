//! Where in a branch the folders of places are: beside each other, or spread.

use std::sync::Arc;

use model::git_id::GitId;
use model::tree::{Blob, Open, OpenError, Tree, is_utf8};
use sha2::{Digest as _, Sha256};

use super::MARKER;

/// How the folders of places are laid out. A place is what clusters pull from: a cluster type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// All beside each other: `large/`.
    #[default]
    Plain,
    /// Spread over folders that are named by two hexadecimal digits each, the first four of the SHA-256 of the place's name: `d3/5c/large/`.
    FanOut,
}

impl Layout {
    /// The folders around the folder of a place; the outermost first.
    pub(super) fn around(self, place: &str) -> Vec<String> {
        match self {
            Self::Plain => Vec::new(),
            Self::FanOut => Sha256::digest(place).iter().take(2).map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// The path of a place's folder.
    pub fn path(self, place: &str) -> String {
        let mut parts = self.around(place);
        parts.push(place.to_owned());
        parts.join("/")
    }
}

/// Whether a name is one that [`Layout::FanOut`] spreads folders over.
pub(crate) fn is_prefix(name: &str) -> bool {
    matches!(name.as_bytes(), [high, low] if [high, low].iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}

/// Whether a folder is marked as Kalypso's.
pub(crate) fn is_marked(folder: &Tree) -> bool {
    let readme = folder.child("README.md").and_then(|child| child.as_file());
    readme.is_some_and(|entry| entry.blob.id() == GitId::of_blob(MARKER.as_bytes()))
}

/// Whether a blob of a tree is this text.
pub fn is_text(blob: &Blob, text: &str) -> bool {
    blob.id() == GitId::of_blob(text.as_bytes())
}

/// What a folder of a branch is, by where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Level {
    /// In the folder that output lives under.
    #[default]
    Top,
    /// In the first of the folders that places are spread over.
    First,
    /// In the second one.
    Second,
}

/// What a folder turns out to be.
pub(crate) enum Found {
    /// The folder of a place, marked as ours.
    Place,
    /// A folder that places may be spread over.
    Prefix(Level),
    /// Somebody else's.
    Foreign,
}

impl Level {
    /// What a folder of this name is, that stands in the folders `around` it.
    pub(crate) fn find(self, around: &str, name: &str, folder: &Tree) -> Found {
        let is_place = match self {
            // No place has such a name, whatever stands in the folder.
            _ if !is_utf8(name) => false,
            Self::Top => is_marked(folder),
            Self::First => false,
            Self::Second => Layout::FanOut.around(name).join("/") == around && is_marked(folder),
        };
        match self {
            _ if is_place => Found::Place,
            Self::Top if is_prefix(name) => Found::Prefix(Self::First),
            Self::First if is_prefix(name) => Found::Prefix(Self::Second),
            _ => Found::Foreign,
        }
    }
}

/// The names of the places that have a folder in `folder`, in either layout.
///
/// # Errors
/// If a folder can't be opened.
pub fn own_folders(folder: &Tree, open: &Open<'_>) -> Result<Vec<Arc<str>>, OpenError> {
    let mut found = Vec::new();
    let mut rest = vec![(Level::Top, String::new(), folder.clone())];
    while let Some((level, around, folder)) = rest.pop() {
        for (name, child) in folder.children() {
            let Some(below) = child.opened(open)? else { continue };
            match level.find(&around, name, &below) {
                Found::Place => found.push(Arc::clone(name)),
                Found::Prefix(level) => rest.push((level, joined(&around, name), below)),
                Found::Foreign => {}
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// A path and a name in it.
pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_where_sha256sum_says() {
        // `printf %s large | sha256sum | cut -c1-4`
        assert_eq!(Layout::FanOut.path("large"), "d3/5c/large");
        assert_eq!(Layout::Plain.path("large"), "large");
    }
}
