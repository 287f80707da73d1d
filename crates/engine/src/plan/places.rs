//! The folders of places that differ between two trees of a branch, whatever their layouts.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::progress::Counter;
use model::tree::{Child, Open, OpenError, Tree};

use crate::output::{Found, Level, joined};

/// What differs between two folders that output lives under.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// The folders of places, by their names.
    pub(super) places: BTreeMap<Arc<str>, Place>,
    /// Everything else that differs, as it was.
    pub(super) before: Tree,
    /// Everything else that differs, as it will be.
    pub(super) after: Tree,
    /// How many folders, around those of places, will be there that are not there as they will be.
    pub(super) new_folders: usize,
}

/// A place's folder before and after.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) before: Option<Side>,
    pub(super) after: Option<Side>,
}

/// A folder on one side.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// Its path in the folder that output lives under.
    pub(super) path: String,
    pub(super) folder: Child,
    /// Whether it is marked as Kalypso's. One that was not has been taken over.
    pub(super) is_ours: bool,
}

/// What stands under a name on one side.
enum What {
    Nothing,
    Place,
    Prefix(Level, Tree),
    Other,
}

/// Folders of one path that are to be compared.
struct Pair {
    level: Level,
    path: String,
    before: Tree,
    after: Tree,
}

impl Differences {
    /// Compares two folders that output lives under, and counts what differs. Places are to be counted once more by who looks into them.
    pub(super) fn between(
        before: Tree,
        after: Tree,
        (open, comparing): (&Open<'_>, Counter<'_>),
    ) -> Result<Self, OpenError> {
        let mut found = Self::default();
        let mut pairs = vec![Pair { level: Level::Top, path: String::new(), before, after }];
        while let Some(pair) = pairs.pop() {
            let changes: Vec<_> = pair.before.changes(&pair.after).collect();
            comparing.expect(changes.len());
            found.new_folders += usize::from(!pair.after.is_empty());
            for (name, before, after) in changes {
                comparing.advance(1);
                let path = joined(&pair.path, name);
                let (was, is) = (pair.look(name, before, open)?, pair.look(name, after, open)?);
                if matches!(was, What::Place) || matches!(is, What::Place) {
                    let place = found.places.entry(Arc::clone(name)).or_insert_with(|| {
                        comparing.expect(1);
                        Place::default()
                    });
                    place.set(&path, (&was, before), (&is, after));
                } else if matches!(was, What::Other) || matches!(is, What::Other) {
                    found.put(
                        &path,
                        before.filter(|_| matches!(was, What::Other)),
                        after.filter(|_| matches!(is, What::Other)),
                    )?;
                }
                let (level, before, after) = match (was, is) {
                    (What::Prefix(level, before), What::Prefix(_, after)) => (level, before, after),
                    (What::Prefix(level, before), _) => (level, before, Tree::default()),
                    (_, What::Prefix(level, after)) => (level, Tree::default(), after),
                    _ => continue,
                };
                pairs.push(Pair { level, path, before, after });
            }
        }
        Ok(found)
    }

    /// Adds something that belongs to no place.
    pub(super) fn put(&mut self, path: &str, before: Option<&Child>, after: Option<&Child>) -> Result<(), OpenError> {
        for (side, child) in [(&mut self.before, before), (&mut self.after, after)] {
            if let Some(child) = child {
                side.put(path, child.clone(), &model::tree::closed)?;
            }
        }
        Ok(())
    }
}

impl Pair {
    fn look(&self, name: &str, child: Option<&Child>, open: &Open<'_>) -> Result<What, OpenError> {
        let Some(child) = child else { return Ok(What::Nothing) };
        let Some(folder) = child.opened(open)? else { return Ok(What::Other) };
        Ok(match self.level.find(&self.path, name, &folder) {
            Found::Place => What::Place,
            Found::Prefix(level) => What::Prefix(level, folder),
            Found::Foreign => What::Other,
        })
    }
}

impl Place {
    /// Adds what stands at a path. The folder of another layout may have been added before.
    fn set(&mut self, path: &str, (was, before): (&What, Option<&Child>), (is, after): (&What, Option<&Child>)) {
        let side = |what: &What, child: Option<&Child>| {
            let is_ours = matches!(what, What::Place);
            // What was somebody else's is compared with what takes its place.
            let counts = is_ours || matches!((what, is), (What::Other, What::Place));
            Some(Side { path: path.to_owned(), folder: child.filter(|_| counts)?.clone(), is_ours })
        };
        let (before, after) = (side(was, before), side(is, after));
        if before.is_some() && (self.before.is_none() || after.is_some()) {
            self.before = before;
        }
        self.after = after.or(self.after.take());
    }
}
