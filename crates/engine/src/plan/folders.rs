//! Which folders of places differ between two states of a branch: for those who only want to know what is there.

use std::sync::Arc;

use model::progress::{Phase, Progress};
use model::tree::{Child, Open, OpenError, Tree};

use super::places::{Differences, Side};

/// A place's folder in two states of a branch.
#[derive(Clone, Debug)]
pub struct PlaceFolder {
    /// The name of the cluster type or cluster.
    pub name: Arc<str>,
    /// Its path in the folder that output lives under, and what was in it.
    pub before: Option<(String, Child)>,
    /// Its path, and what is in it.
    pub after: Option<(String, Child)>,
}

/// What differs between two states of a branch.
#[derive(Clone, Debug, Default)]
pub struct FolderChanges {
    /// The folders of places that differ, by name.
    pub places: Vec<PlaceFolder>,
    /// Everything else that differs, as it was.
    pub before: Tree,
    /// Everything else that differs, as it is.
    pub after: Tree,
}

/// A folder that differs: that of a place, or that of an assignment in it.
#[derive(Clone, Debug)]
pub struct PlacePart {
    /// The name of the cluster type or cluster.
    pub place: Arc<str>,
    /// The target's folder in it; none if it is the folder of the place itself.
    pub target: Option<Arc<str>>,
    /// The path in the folder that output lives under.
    pub path: String,
    /// What is in it; none if it is gone.
    pub folder: Option<Child>,
}

impl PlaceFolder {
    /// The folder itself and those of assignments in it, as far as they differ. What moved is gone where it was, and new where it is.
    ///
    /// # Errors
    /// If the folder can't be opened.
    pub fn parts(&self, open: &Open<'_>) -> Result<Vec<PlacePart>, OpenError> {
        let mut parts = Vec::new();
        let mut add = |path: &str, target: Option<&Arc<str>>, folder: Option<&Child>| {
            let path = target.map_or_else(|| path.to_owned(), |target| format!("{path}/{target}"));
            let (place, target) = (Arc::clone(&self.name), target.cloned());
            parts.push(PlacePart { place, target, path, folder: folder.cloned() });
        };
        let opened = |side: &Option<(String, Child)>| match side {
            Some((_, child)) => Ok(child.opened(open)?.unwrap_or_default()),
            None => Ok(Tree::default()),
        };
        let (was, is) = (opened(&self.before)?, opened(&self.after)?);
        let paths = (self.before.as_ref().map(|(path, _)| path), self.after.as_ref().map(|(path, _)| path));
        match paths {
            (Some(old), new) if new != Some(old) => {
                add(old, None, None);
                let folders = was.children().filter(|(_, child)| child.is_folder());
                folders.for_each(|(target, _)| add(old, Some(target), None));
            }
            _ => {}
        }
        let Some((path, child)) = &self.after else { return Ok(parts) };
        add(path, None, Some(child));
        // Of a folder that moved, everything is new.
        let was = if paths.0 == paths.1 { was } else { Tree::default() };
        for (target, before, after) in was.changes(&is) {
            let (before, after) = (before.filter(|child| child.is_folder()), after.filter(|child| child.is_folder()));
            if before.is_some() || after.is_some() {
                add(path, Some(target), after);
            }
        }
        Ok(parts)
    }
}

/// Compares two states of a folder that output lives under. Only what differs is opened.
///
/// # Errors
/// If a folder that differs can't be opened.
pub fn folder_changes(before: Tree, after: Tree, open: &Open<'_>) -> Result<FolderChanges, OpenError> {
    let progress = Progress::default();
    let found = Differences::between(before, after, (open, progress.begin(Phase::Comparing)))?;
    let ours = |side: Option<Side>| side.filter(|side| side.is_ours).map(|side| (side.path, side.folder));
    let places = found.places.into_iter().map(|(name, place)| {
        let (before, after) = (ours(place.before), ours(place.after));
        PlaceFolder { name, before, after }
    });
    Ok(FolderChanges { places: places.collect(), before: found.before, after: found.after })
}
