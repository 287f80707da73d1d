//! The desired tree of a GitOps branch: the compiled folders, merged into the current tree.
//!
//! Only Kalypso's own folders are changed. An assignment that fails keeps its last good folder.

mod assembly;
mod desired;
mod destinations;
mod foreign_files;
mod foreign_folders;
pub mod kept;
mod place_folders;
mod proposed;
mod relocation;
pub mod rings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::git_id::GitId;
use model::tree::{Child, Open, OpenError, Tree};

pub use self::assembly::{Contents, assemble, assemble_contents};
pub use self::destinations::{FOLDERS_MAX, destination_problems, layout, shared_destinations};
pub use self::foreign_files::foreign_file;
pub use self::place_folders::PlaceFolders;
pub use self::proposed::ProposedFolders;
pub use self::relocation::{Relocation, relocated};
use crate::hold::HeldFolder;
use crate::layout::own_files::{OWNER_FILE, TRACKING_FILE};
use crate::layout::{Folder, FolderKind, Layout, Level, joined, own_folders};

/// The destination of the output, and how to write it.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// The folder that contains all output.
    pub folder: Folder,
    /// The layout of the folders of places in it.
    pub layout: Layout,
    /// The promoted commit for the tracking file. None: the file stays as it is.
    pub promoted_commit: Option<Arc<str>>,
    /// The folders without Kalypso's marker that are replaced.
    pub adopt: Adoption,
}

/// The current tree of a branch, and where the output goes in it.
#[derive(Clone, Copy)]
struct BranchTree<'a> {
    tree: &'a Tree,
    destination: &'a Destination,
    /// Opens folders of the tree.
    open: &'a Open<'a>,
}

/// The folders of places without Kalypso's marker that are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// None: they stay, and their places are not written.
    #[default]
    Nothing,
    /// Those of these places.
    Named(BTreeSet<Arc<str>>),
    /// All.
    All,
}

impl Default for &Adoption {
    fn default() -> Self {
        &Adoption::Nothing
    }
}

impl Adoption {
    /// Whether the folder of a place is replaced.
    pub fn includes(&self, place: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Named(names) => names.contains(place),
            Self::All => true,
        }
    }
}

/// The desired tree, and the state of the assignments in it.
#[derive(Clone, Debug)]
pub struct Output {
    /// The whole tree of the branch.
    pub tree: Tree,
    /// The number of assignments with a folder in the tree.
    pub assignments: usize,
    /// Failing assignments that keep their last good folder.
    pub kept: BTreeSet<AssignmentId>,
    /// Places that are not written, because their folders are foreign.
    pub refused: BTreeSet<Arc<str>>,
    /// Failing assignments that are rendered from an earlier publication, with release pins applied.
    pub held: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// Diagnostics about the destination, foreign folders and held assignments.
    pub diagnostics: Vec<Diagnostic>,
}

impl Output {
    /// Returns the publications that held assignments are rendered from, for the next run. Assignments that were held `before` and still fail
    /// are included, also if they could not be held this time.
    pub fn held_publications(
        &self,
        before: BTreeMap<AssignmentId, GitId>,
        still_fails: impl Fn(&AssignmentId) -> bool,
    ) -> BTreeMap<AssignmentId, GitId> {
        let mut publications: BTreeMap<_, _> = before.into_iter().filter(|(id, _)| still_fails(id)).collect();
        publications.extend(self.held.iter().map(|(id, held)| (id.clone(), held.from)));
        publications
    }
}

/// The folders of places in a tree, and the tracking file: what rendering into an empty folder would write.
///
/// # Errors
/// If a folder can't be opened.
pub fn own_tree(tree: &Tree, folder: &Folder, open: &Open<'_>) -> Result<Tree, OpenError> {
    let inside = tree.folder(folder.as_str(), open)?.unwrap_or_default();
    let places = places_in(&inside, (Level::Top, ""), open)?;
    let mut own = Tree::default();
    if folder.as_str().is_empty() {
        own = places;
    } else if !places.is_empty() {
        own.put(folder.as_str(), Child::Tree(places), open)?;
    }
    if let Some(tracking) = tree.file(TRACKING_FILE, open)? {
        own.put(TRACKING_FILE, Child::File(tracking), open)?;
    }
    Ok(own)
}

fn places_in(tree: &Tree, (level, around): (Level, &str), open: &Open<'_>) -> Result<Tree, OpenError> {
    let mut found = Vec::new();
    for (name, child) in tree.children() {
        let Some(folder) = child.opened(open)? else { continue };
        match level.folder_kind(around, name, &folder) {
            FolderKind::Place => found.push((Arc::clone(name), child.clone())),
            FolderKind::Prefix(next) => {
                let below = places_in(&folder, (next, &joined(around, name)), open)?;
                found.extend((!below.is_empty()).then(|| (Arc::clone(name), Child::Tree(below))));
            }
            FolderKind::Foreign => {}
        }
    }
    Ok(Tree::from_children(found))
}

/// Reports folders of Kalypso at the root that would be left behind because the output moves to another folder.
fn left_behind(branch: BranchTree<'_>) -> Result<Option<Diagnostic>, OpenError> {
    let BranchTree { tree, destination, open } = branch;
    // The root may belong to another environment. Its owner file is then there.
    if destination.folder.as_str().is_empty() || tree.find(OWNER_FILE, open)?.is_some() {
        return Ok(None);
    }
    let at_root = own_folders(tree, open)?;
    let Some(first) = at_root.first() else { return Ok(None) };
    let message = format!(
        "output goes to `{}`, but the branch has {} folders of Kalypso at its root",
        destination.folder.as_str(),
        at_root.len()
    );
    Ok(Some(
        Diagnostic::error(Code::PathMoved, message).note(format!("the first one is `{first}`")).help(
            "move or remove them in the commit that lets clusters pull from the new path, or set `path: .` again",
        ),
    ))
}
