//! Patterns of the names of files with one object.

use std::collections::BTreeMap;

use super::{folder, joined, stem};

/// How the name of a file follows from the name of its object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileName {
    /// The same name.
    #[default]
    Same,
    /// The file's name has something before or after the object's name: `cluster-type-NAME.yaml`.
    Around(String, String),
    /// The object's name has something before or after the file's name.
    Within(String, String),
    /// The object's name begins with that of the folder, which the file's name leaves out: `checkout/api.yaml` of `checkout-api`.
    BelowFolder,
    /// Each object has a folder of its name, with a file of this name.
    OwnFolder(String),
    /// No pattern.
    Other,
}

impl FileName {
    /// The pattern of a file with an object.
    pub(super) fn from_path(path: &str, name: &str) -> Self {
        let file = stem(path);
        let last = stem(folder(path));
        let is_below = name.strip_prefix(last).and_then(|rest| rest.strip_prefix('-')) == Some(file);
        let parts = |(before, after): (&str, &str)| (before.to_owned(), after.to_owned());
        if file == name {
            Self::Same
        } else if is_below && !last.is_empty() {
            Self::BelowFolder
        } else if last == name {
            Self::OwnFolder(file.to_owned())
        } else if let Some((before, after)) = file.split_once(name).filter(|_| !name.is_empty()).map(parts) {
            Self::Around(before, after)
        } else if let Some((before, after)) = name.split_once(file).filter(|_| !file.is_empty()).map(parts) {
            Self::Within(before, after)
        } else {
            Self::Other
        }
    }

    /// The folder that the objects of a group share, from the folder of a file.
    pub(super) fn group<'f>(&self, of: &'f str) -> &'f str {
        if matches!(self, Self::OwnFolder(_)) { folder(of) } else { of }
    }

    /// The most frequent of these patterns. None if there are none.
    pub(super) fn most_frequent<'n>(names: impl Iterator<Item = &'n Self>) -> Option<Self> {
        let mut counts: BTreeMap<&Self, usize> = BTreeMap::new();
        names.for_each(|name| *counts.entry(name).or_default() += 1);
        counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| name.clone())
    }

    /// Whether the name of the object is in the name of the file as a word, and not a part of another one: `a` is not in `data.yaml`.
    pub(super) fn is_of_whole_name(&self) -> bool {
        let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        match self {
            Self::Same | Self::BelowFolder | Self::OwnFolder(_) => true,
            Self::Around(before, after) => is_end(before.chars().next_back()) && is_end(after.chars().next()),
            Self::Within(..) | Self::Other => false,
        }
    }

    /// The name of the file for an object in a folder, without its extension.
    pub(super) fn apply(&self, folder: &str, name: &str) -> String {
        let shorter = match self {
            Self::Around(before, after) => Some(format!("{before}{name}{after}")),
            Self::Within(before, after) => {
                name.strip_prefix(&**before).and_then(|rest| rest.strip_suffix(&**after)).map(str::to_owned)
            }
            Self::BelowFolder => {
                name.strip_prefix(stem(folder)).and_then(|rest| rest.strip_prefix('-')).map(str::to_owned)
            }
            Self::OwnFolder(file) => Some(joined(name, file)),
            Self::Same | Self::Other => None,
        };
        shorter.filter(|shorter| !shorter.is_empty()).unwrap_or_else(|| name.to_owned())
    }
}
