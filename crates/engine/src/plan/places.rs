//! Finds the folders of places that differ between two trees of a branch. The trees may have different layouts.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::progress::Counter;
use model::tree::{Child, Open, OpenError, Tree};

use crate::layout::{FolderKind, Level, joined};

/// The differences between two folders that contain output.
#[derive(Debug, Default)]
pub(super) struct FolderDifferences {
    /// The differing folders of places, by name.
    pub(super) places: BTreeMap<Arc<str>, PlaceDifference>,
    /// All other differences: the state before.
    pub(super) before: Tree,
    /// All other differences: the state after.
    pub(super) after: Tree,
    /// The number of new or changed folders around the folders of places.
    pub(super) new_folders: usize,
}

/// A place's folder before and after.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceDifference {
    pub(super) before: Option<PlaceSide>,
    pub(super) after: Option<PlaceSide>,
}

/// The folder of a place on one side.
#[derive(Clone, Debug)]
pub(super) struct PlaceSide {
    /// Its path in the output's folder.
    pub(super) path: String,
    pub(super) folder: Child,
    /// Whether it has Kalypso's marker. A folder without it was foreign, and a place has taken its path.
    pub(super) is_ours: bool,
}

/// The kind of entry under a name on one side.
enum EntryKind {
    Nothing,
    Place,
    Prefix(Level, Tree),
    Other,
}

/// Two folders at the same path to compare.
struct FolderPair {
    level: Level,
    path: String,
    before: Tree,
    after: Tree,
}

impl FolderDifferences {
    /// Compares two folders that contain output, and reports progress. Each place adds one more step to the progress, for the caller that
    /// compares its content.
    pub(super) fn between(
        before: Tree,
        after: Tree,
        (open, comparing): (&Open<'_>, Counter<'_>),
    ) -> Result<Self, OpenError> {
        let mut found = Self::default();
        let mut pairs = vec![FolderPair { level: Level::Top, path: String::new(), before, after }];
        while let Some(pair) = pairs.pop() {
            let changes: Vec<_> = pair.before.changes(&pair.after).collect();
            comparing.expect(changes.len());
            found.new_folders += usize::from(!pair.after.is_empty());
            for (name, before, after) in changes {
                comparing.advance(1);
                let path = joined(&pair.path, name);
                let (was, is) = (pair.entry_kind(name, before, open)?, pair.entry_kind(name, after, open)?);
                if matches!(was, EntryKind::Place) || matches!(is, EntryKind::Place) {
                    let place = found.places.entry(Arc::clone(name)).or_insert_with(|| {
                        comparing.expect(1);
                        PlaceDifference::default()
                    });
                    place.set(&path, (&was, before), (&is, after));
                } else if matches!(was, EntryKind::Other) || matches!(is, EntryKind::Other) {
                    found.put(
                        &path,
                        before.filter(|_| matches!(was, EntryKind::Other)),
                        after.filter(|_| matches!(is, EntryKind::Other)),
                    )?;
                }
                let (level, before, after) = match (was, is) {
                    (EntryKind::Prefix(level, before), EntryKind::Prefix(_, after)) => (level, before, after),
                    (EntryKind::Prefix(level, before), _) => (level, before, Tree::default()),
                    (_, EntryKind::Prefix(level, after)) => (level, Tree::default(), after),
                    _ => continue,
                };
                pairs.push(FolderPair { level, path, before, after });
            }
        }
        Ok(found)
    }

    /// Adds a difference that belongs to no place.
    pub(super) fn put(&mut self, path: &str, before: Option<&Child>, after: Option<&Child>) -> Result<(), OpenError> {
        for (side, child) in [(&mut self.before, before), (&mut self.after, after)] {
            if let Some(child) = child {
                side.put(path, child.clone(), &model::tree::closed)?;
            }
        }
        Ok(())
    }
}

impl FolderPair {
    fn entry_kind(&self, name: &str, child: Option<&Child>, open: &Open<'_>) -> Result<EntryKind, OpenError> {
        let Some(child) = child else { return Ok(EntryKind::Nothing) };
        let Some(folder) = child.opened(open)? else { return Ok(EntryKind::Other) };
        Ok(match self.level.folder_kind(&self.path, name, &folder) {
            FolderKind::Place => EntryKind::Place,
            FolderKind::Prefix(level) => EntryKind::Prefix(level, folder),
            FolderKind::Foreign => EntryKind::Other,
        })
    }
}

impl PlaceDifference {
    /// Adds the folders at a path. The folder of another layout may have been added before.
    fn set(
        &mut self,
        path: &str,
        (was, before): (&EntryKind, Option<&Child>),
        (is, after): (&EntryKind, Option<&Child>),
    ) {
        let side = |what: &EntryKind, child: Option<&Child>| {
            let is_ours = matches!(what, EntryKind::Place);
            // A foreign entry is compared with the place that replaces it.
            let counts = is_ours || matches!((what, is), (EntryKind::Other, EntryKind::Place));
            Some(PlaceSide { path: path.to_owned(), folder: child.filter(|_| counts)?.clone(), is_ours })
        };
        let (before, after) = (side(was, before), side(is, after));
        if before.is_some() && (self.before.is_none() || after.is_some()) {
            self.before = before;
        }
        self.after = after.or(self.after.take());
    }
}
