//! The folders of all places in the output of a branch, in either layout. Places' folders are not opened.

use std::collections::HashMap;
use std::sync::Arc;

use model::tree::{Child, Open, OpenError, Tree};

use crate::layout::{Folder, is_marked, is_prefix};

/// The folders of places by name.
#[derive(Clone, Debug, Default)]
pub struct PlaceFolders(HashMap<Arc<str>, Child>);

impl PlaceFolders {
    /// Lists the folders in the output's folder of a branch. Foreign folders may be among them.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn read(tree: &Tree, folder: &Folder, open: &Open<'_>) -> Result<Self, OpenError> {
        let mut found = HashMap::new();
        let inside = tree.folder(folder.as_str(), open)?.unwrap_or_default();
        let mut around = vec![(inside, 0_u8)];
        while let Some((tree, depth)) = around.pop() {
            for (name, child) in tree.children().filter(|(_, child)| child.is_folder()) {
                // A place may have a name like that of a folder around places.
                if depth < 2 && is_prefix(name) {
                    let below = child.opened(open)?.unwrap_or_default();
                    if depth > 0 || !is_marked(&below) {
                        around.push((below, depth + 1));
                        continue;
                    }
                }
                if depth != 1 {
                    found.insert(Arc::clone(name), child.clone());
                }
            }
        }
        Ok(Self(found))
    }

    /// The folder of a place.
    pub fn get(&self, place: &str) -> Option<&Child> {
        self.0.get(place)
    }

    /// The names of all places with a folder.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.keys()
    }
}
