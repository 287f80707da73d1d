//! The folders of places that differ between two states of a branch, without reasons.

use std::sync::Arc;

use model::progress::{Progress, ProgressPhase};
use model::tree::{Child, Open, OpenError, Tree};

use super::places::{FolderDifferences, PlaceSide};

/// A place's folder in two states of a branch.
#[derive(Clone, Debug)]
pub struct PlaceFolder {
    /// The name of the cluster type or cluster.
    pub name: Arc<str>,
    /// Its path in the output's folder, and its content, before. None if it did not exist.
    pub before: Option<(String, Child)>,
    /// Its path and its content after. None if it does not exist any more.
    pub after: Option<(String, Child)>,
}

/// The differences between two states of a branch.
#[derive(Clone, Debug, Default)]
pub struct FolderChanges {
    /// The differing folders of places, by name.
    pub places: Vec<PlaceFolder>,
    /// All other differences: the state before.
    pub before: Tree,
    /// All other differences: the state after.
    pub after: Tree,
}

/// A differing folder: the folder of a place, or the folder of an assignment in it.
#[derive(Clone, Debug)]
pub struct PlacePart {
    /// The name of the cluster type or cluster.
    pub place: Arc<str>,
    /// The name of the target's folder. None if it is the folder of the place itself.
    pub target: Option<Arc<str>>,
    /// The path in the output's folder.
    pub path: String,
    /// The content. None if the folder was removed.
    pub folder: Option<Child>,
}

impl PlaceFolder {
    /// The differing folders: the folder of the place, and the folders of assignments in it. A moved folder is removed at the old path and new at
    /// the new path.
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
        // In a moved folder, all content is new.
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

/// Compares two states of a folder that contains output. Only differing folders are opened.
///
/// # Errors
/// If a folder that differs can't be opened.
pub fn folder_changes(before: Tree, after: Tree, open: &Open<'_>) -> Result<FolderChanges, OpenError> {
    let progress = Progress::default();
    let found = FolderDifferences::between(before, after, (open, progress.begin(ProgressPhase::Comparing)))?;
    let ours = |side: Option<PlaceSide>| side.filter(|side| side.is_ours).map(|side| (side.path, side.folder));
    let places = found.places.into_iter().map(|(name, place)| {
        let (before, after) = (ours(place.before), ours(place.after));
        PlaceFolder { name, before, after }
    });
    Ok(FolderChanges { places: places.collect(), before: found.before, after: found.after })
}
