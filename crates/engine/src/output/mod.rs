//! The desired tree of a GitOps branch: the compiled folders, merged into the current tree.
//!
//! Only Kalypso's own folders are changed. An assignment that fails keeps its last good folder.

mod assembly;
mod desired;
mod destinations;
mod layout;
mod own_files;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::tree::{Open, OpenError, Tree};

pub use self::assembly::{assemble, assemble_held};
pub use self::destinations::{FOLDERS_MAX, destination_problems, layout, shared_destinations};
pub(crate) use self::layout::{Found, Level, joined};
pub use self::layout::{Layout, is_text, own_folders};
pub use self::own_files::foreign_file;
use crate::hold::HeldFolder;

/// The text of the `README.md` that marks a folder as Kalypso's.
pub const MARKER: &str = "This folder contains deployment targets scheduled on the cluster type";
/// The file that names the promoted commit, at the root of the branch.
pub const TRACKING_FILE: &str = ".github/tracking/Promoted_Commit_Id";
/// The path of the owner file, in the output's folder. It names the environment and control plane of the output.
pub const OWNER_FILE: &str = ".kalypso/owner";

/// The path of a folder in a repository, without slashes at its ends. Empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder(Arc<str>);

impl Folder {
    /// Parses a path as in `spec.path`: `.`, `./clusters/`, `/clusters`. None if it leads out of the repository, contains `.git` or control
    /// characters, or is deeper than 64 folders.
    pub fn parse(text: &str) -> Option<Self> {
        const DEPTH_MAX: usize = 64;
        let parts: Vec<_> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let is_safe =
            |part: &&str| *part != ".." && !part.eq_ignore_ascii_case(".git") && !part.contains(char::is_control);
        (parts.len() <= DEPTH_MAX && parts.iter().all(is_safe)).then(|| Self(parts.join("/").into()))
    }

    /// The path of a file in the folder.
    pub fn join(&self, path: &str) -> String {
        joined(&self.0, path)
    }

    /// The path. Empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The destination of the output, and how to write it.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// The folder that contains all output.
    pub folder: Folder,
    /// The layout of the folders of places in it.
    pub layout: Layout,
    /// The promoted commit for the tracking file. None: the file stays as it is.
    pub promoted_commit: Option<Arc<str>>,
    /// Whether folders without Kalypso's marker are replaced.
    pub adopt: bool,
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
    /// Failing assignments that are rendered from an earlier publication, with release pins applied.
    pub held: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// Diagnostics about the destination, foreign folders and held assignments.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reports folders of Kalypso at the root that would be left behind because the output moves to another folder.
fn left_behind(previous: &Tree, destination: &Destination, open: &Open<'_>) -> Result<Option<Diagnostic>, OpenError> {
    // The root may belong to another environment. Its owner file is then there.
    if destination.folder.as_str().is_empty() || previous.find(OWNER_FILE, open)?.is_some() {
        return Ok(None);
    }
    let at_root = own_folders(previous, open)?;
    let Some(first) = at_root.first() else { return Ok(None) };
    let message = format!(
        "output goes to `{}`, but the branch has {} folders of Kalypso at its root",
        destination.folder.as_str(),
        at_root.len()
    );
    Ok(Some(
        Diagnostic::error(Code::PathMoved, message)
            .note(format!("the first one is `{first}`"))
            .help("move or remove them in one commit with the change that makes clusters look at the new path, or set `path: .` again"),
    ))
}
