//! The files after some edits, and the data from which the next edit is made.

use std::collections::BTreeMap;

use simulator::random::Random;

use super::draft::Draft;
use super::object::FileObject;

const SEPARATOR: &str = "---\n";

/// The files and their state.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) files: BTreeMap<String, String>,
    /// Broken files with the text that they had before they were broken.
    pub(super) broken: BTreeMap<String, String>,
    /// The number of edits so far, for new names.
    pub(super) turn: usize,
}

impl State {
    /// The objects of a kind in files that are not broken, in the order of the files.
    pub(super) fn objects(&self, kind: &str) -> Vec<FileObject> {
        self.all().into_iter().filter(|object| object.kind() == kind).collect()
    }

    /// All objects in files that are not broken.
    pub(super) fn all(&self) -> Vec<FileObject> {
        let files = self.files.iter().filter(|(path, _)| !self.broken.contains_key(*path));
        let objects = files.flat_map(|(path, text)| {
            let found =
                move |(index, text): (usize, &str)| FileObject { path: path.clone(), index, text: text.to_owned() };
            text.split(SEPARATOR).enumerate().map(found)
        });
        objects.collect()
    }

    /// Chooses one object of a kind. Returns `None` if there are not more than `left`.
    pub(super) fn one_of(&self, kind: &str, left: usize, random: &mut Random) -> Option<FileObject> {
        let mut found = self.objects(kind);
        (found.len() > left).then(|| found.swap_remove(random.below(found.len() as u64) as usize))
    }

    /// The text of a file in which one object has another text or is removed.
    pub(super) fn with(&self, object: &FileObject, text: Option<String>) -> Option<String> {
        let mut documents: Vec<String> = self.files[&object.path].split(SEPARATOR).map(str::to_owned).collect();
        match text {
            Some(text) => documents[object.index] = text,
            None => drop(documents.remove(object.index)),
        }
        (!documents.is_empty()).then(|| documents.join(SEPARATOR))
    }

    /// Replaces the text of an object.
    pub(super) fn replace(&self, object: &FileObject, text: String, what: String) -> Draft {
        Draft::new(what, [(object.path.clone(), self.with(object, Some(text)))])
    }

    /// Removes an object.
    pub(super) fn remove(&self, object: &FileObject) -> Draft {
        Draft::new(format!("{object} removed"), [(object.path.clone(), self.with(object, None))])
    }
}

/// Chooses one of the items. Returns `None` if there are no items.
pub(super) fn pick<'a, T>(items: &'a [T], random: &mut Random) -> Option<&'a T> {
    items.get(random.below(items.len() as u64) as usize)
}
