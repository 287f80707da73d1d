//! The folders of single assignments in a tree.

use std::collections::HashMap;
use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::tree::{Child, Open, OpenError, Tree};

use crate::layout::{Folder, Layout, is_marked};

/// The folders of assignments in one tree, in either layout. Each place is opened once.
pub struct AssignmentFolders<'a> {
    inside: Tree,
    open: &'a Open<'a>,
    places: HashMap<Arc<str>, Option<Tree>>,
}

impl<'a> AssignmentFolders<'a> {
    /// The folders of an output in `folder` of a tree.
    ///
    /// # Errors
    /// If the folder can't be opened.
    pub fn new(tree: &Tree, folder: &Folder, open: &'a Open<'a>) -> Result<Self, OpenError> {
        let inside = tree.folder(folder.as_str(), open)?.unwrap_or_default();
        Ok(Self { inside, open, places: HashMap::new() })
    }

    /// The git id of an assignment's folder. None if there is no folder.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn find(&mut self, id: &AssignmentId) -> Result<Option<GitId>, OpenError> {
        Ok(self.child(id)?.map(Child::id))
    }

    /// An assignment's folder. None if there is none.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn folder(&mut self, id: &AssignmentId) -> Result<Option<Tree>, OpenError> {
        let open = self.open;
        self.child(id)?.map_or(Ok(None), |child| child.opened(open))
    }

    fn child(&mut self, id: &AssignmentId) -> Result<Option<&Child>, OpenError> {
        let place = id.place.as_arc();
        if !self.places.contains_key(place) {
            let folder = place_folder(&self.inside, place, self.open)?;
            self.places.insert(Arc::clone(place), folder);
        }
        let folder = self.places.get(place).and_then(Option::as_ref);
        let child = folder.and_then(|folder| folder.child(id.target.as_str()));
        Ok(child.filter(|child| child.is_folder()))
    }
}

/// Finds the folder of a place in the output's folder, in either layout. A folder without Kalypso's marker is not one.
fn place_folder(inside: &Tree, place: &str, open: &Open<'_>) -> Result<Option<Tree>, OpenError> {
    for layout in [Layout::Plain, Layout::FanOut] {
        if let Some(found) = inside.find(&layout.path(place), open)?
            && let Some(folder) = found.opened(open)?
            && is_marked(&folder)
        {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}
