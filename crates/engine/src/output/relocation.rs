//! Moves the folders of an output to another path of the branch, because the path of its `GitOpsRepo` changed.

use std::collections::BTreeSet;

use model::tree::{Child, Open, OpenError, Tree};

use super::assembly::is_blocked;
use crate::layout::own_files::OWNER_FILE;
use crate::layout::{Folder, FolderKind, Level, joined};

/// The move of an output to another path. Clusters that pull the old path lose its folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The folder that contained the output.
    pub from: Folder,
    /// The folder that contains it now.
    pub to: Folder,
    /// The paths of the folders of cluster types and clusters, in both folders.
    pub places: BTreeSet<String>,
}

impl Relocation {
    /// The move of all folders of places in `inside`. None: there are none.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn of_all(inside: &Tree, (from, to): (&Folder, &Folder), open: &Open<'_>) -> Result<Option<Self>, OpenError> {
        let places: BTreeSet<_> = places_in(inside, open)?.into_iter().map(|(path, _)| path).collect();
        Ok((!places.is_empty()).then(|| Self { from: from.clone(), to: to.clone(), places }))
    }

    /// The paths in the repository that the folders are removed from.
    pub fn removed_folders(&self) -> impl Iterator<Item = String> {
        self.places.iter().map(|path| self.from.join(path))
    }
}

/// A branch with Kalypso's folders at another path, and the move. What is at the new path stays: folders that it has are not moved. None: there is nothing to move.
///
/// # Errors
/// If a folder can't be opened.
pub fn relocated(
    branch: &Tree,
    (from, to): (&Folder, &Folder),
    open: &Open<'_>,
) -> Result<Option<(Tree, Relocation)>, OpenError> {
    if is_blocked(branch, to.as_str(), open)? {
        return Ok(None);
    }
    let inside = branch.folder(from.as_str(), open)?.unwrap_or_default();
    let (mut tree, mut places) = (branch.clone(), BTreeSet::new());
    // Moves a child, unless there is something at its new path.
    let mut move_child = |path: &str, child: Child| -> Result<bool, OpenError> {
        let new = to.join(path);
        if tree.find(&new, open)?.is_some() {
            return Ok(false);
        }
        tree.remove(&from.join(path), open)?;
        tree.put(&new, child, open)?;
        Ok(true)
    };
    for (path, child) in places_in(&inside, open)? {
        if move_child(&path, child)? {
            places.insert(path);
        }
    }
    if places.is_empty() {
        return Ok(None);
    }
    if let Some(owner) = inside.find(OWNER_FILE, open)? {
        move_child(OWNER_FILE, owner)?;
    }
    Ok(Some((tree, Relocation { from: from.clone(), to: to.clone(), places })))
}

/// The folders of places in either layout, with their paths.
fn places_in(inside: &Tree, open: &Open<'_>) -> Result<Vec<(String, Child)>, OpenError> {
    let mut found = Vec::new();
    let mut rest = vec![(Level::Top, String::new(), inside.clone())];
    while let Some((level, around, folder)) = rest.pop() {
        for (name, child) in folder.children() {
            let Some(below) = child.opened(open)? else { continue };
            let path = joined(&around, name);
            match level.folder_kind(&around, name, &below) {
                FolderKind::Place => found.push((path, child.clone())),
                FolderKind::Prefix(level) => rest.push((level, path, below)),
                FolderKind::Foreign => {}
            }
        }
    }
    Ok(found)
}
