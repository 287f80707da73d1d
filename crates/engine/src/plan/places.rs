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
#[derive(Clone, Debug)]
pub(super) struct PlaceDifference {
    pub(super) name: Arc<str>,
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

/// The entry under a name on one side.
struct Entry<'t> {
    kind: EntryKind,
    child: Option<&'t Child>,
}

impl<'t> Entry<'t> {
    fn is_place(&self) -> bool {
        matches!(self.kind, EntryKind::Place)
    }

    fn is_other(&self) -> bool {
        matches!(self.kind, EntryKind::Other)
    }

    /// The child, if it is neither a place nor a prefix folder.
    fn other(&self) -> Option<&'t Child> {
        self.child.filter(|_| self.is_other())
    }
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
                let (before, after) = (pair.entry(name, before, open)?, pair.entry(name, after, open)?);
                if before.is_place() || after.is_place() {
                    let place = found.places.entry(Arc::clone(name)).or_insert_with(|| {
                        comparing.expect(1);
                        PlaceDifference { name: Arc::clone(name), before: None, after: None }
                    });
                    place.set(&path, &before, &after);
                } else if before.is_other() || after.is_other() {
                    found.put(&path, before.other(), after.other())?;
                }
                let (level, before, after) = match (before.kind, after.kind) {
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
    fn entry<'t>(&self, name: &str, child: Option<&'t Child>, open: &Open<'_>) -> Result<Entry<'t>, OpenError> {
        let kind = match child.map(|child| child.opened(open)).transpose()? {
            None => EntryKind::Nothing,
            Some(None) => EntryKind::Other,
            Some(Some(folder)) => match self.level.folder_kind(&self.path, name, &folder) {
                FolderKind::Place => EntryKind::Place,
                FolderKind::Prefix(level) => EntryKind::Prefix(level, folder),
                FolderKind::Foreign => EntryKind::Other,
            },
        };
        Ok(Entry { kind, child })
    }
}

impl PlaceDifference {
    /// Adds the folders at a path. The folder of another layout may have been added before.
    fn set(&mut self, path: &str, before: &Entry<'_>, after: &Entry<'_>) {
        let side = |entry: &Entry<'_>| {
            let is_ours = entry.is_place();
            // A foreign entry is compared with the place that replaces it.
            let counts = is_ours || (entry.is_other() && after.is_place());
            Some(PlaceSide { path: path.to_owned(), folder: entry.child.filter(|_| counts)?.clone(), is_ours })
        };
        let (before, after) = (side(before), side(after));
        if before.is_some() && (self.before.is_none() || after.is_some()) {
            self.before = before;
        }
        self.after = after.or(self.after.take());
    }
}
