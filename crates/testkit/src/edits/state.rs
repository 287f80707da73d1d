//! The files as they are after some edits, and what the next edit may do with them.

use std::collections::BTreeMap;

use simulator::random::Random;

use super::draft::Draft;
use super::object::FileObject;

const SEPARATOR: &str = "---\n";

/// Files with what is known about them.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) files: BTreeMap<String, String>,
    /// Broken files with the text that they had before.
    pub(super) broken: BTreeMap<String, String>,
    /// How many edits there were, for new names.
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

    /// One of the objects of a kind, if there are more than `left`.
    pub(super) fn one_of(&self, kind: &str, left: usize, random: &mut Random) -> Option<FileObject> {
        let mut found = self.objects(kind);
        (found.len() > left).then(|| found.swap_remove(random.below(found.len() as u64) as usize))
    }

    /// The text of a file with another text for one of its objects, or without it.
    pub(super) fn with(&self, object: &FileObject, text: Option<String>) -> Option<String> {
        let mut documents: Vec<String> = self.files[&object.path].split(SEPARATOR).map(str::to_owned).collect();
        match text {
            Some(text) => documents[object.index] = text,
            None => drop(documents.remove(object.index)),
        }
        (!documents.is_empty()).then(|| documents.join(SEPARATOR))
    }

    /// Another text for an object.
    pub(super) fn replace(&self, object: &FileObject, text: String, what: String) -> Draft {
        Draft::new(what, [(object.path.clone(), self.with(object, Some(text)))])
    }

    /// An object goes.
    pub(super) fn remove(&self, object: &FileObject) -> Draft {
        Draft::new(format!("{object} removed"), [(object.path.clone(), self.with(object, None))])
    }
}

/// One of the items.
pub(super) fn pick<'a, T>(items: &'a [T], random: &mut Random) -> Option<&'a T> {
    items.get(random.below(items.len() as u64) as usize)
}
