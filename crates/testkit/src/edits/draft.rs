//! What an edit does: the new texts of files, and whether they are broken then.

use std::collections::BTreeMap;

/// What an edit does.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) what: String,
    /// The new texts; none for a file that goes.
    pub(super) changes: BTreeMap<String, Option<String>>,
    pub(super) health: Health,
}

/// What an edit does to the health of its files. A broken file is left alone until it is fixed.
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

    /// A new file.
    pub(super) fn add(what: String, path: String, text: String) -> Self {
        Self::new(what, [(path, Some(text))])
    }

    pub(super) fn with_health(self, health: Health) -> Self {
        Self { health, ..self }
    }
}
