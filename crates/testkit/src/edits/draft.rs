//! The effect of an edit: the new texts of files, and whether the files are broken afterwards.

use std::collections::BTreeMap;

/// The effect of an edit.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) what: String,
    /// The new texts. The value is `None` if the edit removes the file.
    pub(super) changes: BTreeMap<String, Option<String>>,
    pub(super) health: Health,
}

/// The effect of an edit on the health of its files. No edit changes a broken file except the one that fixes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Same,
    Breaks,
    Fixes,
}

impl Draft {
    pub(super) fn new(what: String, changes: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        Self { what, changes: changes.into_iter().collect(), health: Health::Same }
    }

    /// Adds a new file.
    pub(super) fn add(what: String, path: String, text: String) -> Self {
        Self::new(what, [(path, Some(text))])
    }

    pub(super) fn with_health(self, health: Health) -> Self {
        Self { health, ..self }
    }
}
