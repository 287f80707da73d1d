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
