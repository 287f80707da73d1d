//! The tree that a GitOps branch should hold: what was compiled, laid over what is there.
//!
//! Only folders of Kalypso's own are touched. An assignment that fails keeps its last good folder.

mod assembly;
mod destinations;
mod layout;
mod own_files;
#[cfg(test)]
mod tests;
mod wanted;

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
/// The file that says whose branch (or folder) it is, under the output's path.
pub const OWNER_FILE: &str = ".kalypso/owner";

/// A folder of a repository: empty for its root, without slashes at its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Folder(Arc<str>);

impl Folder {
    /// Reads a path as people write it: `.`, `./clusters/`, `/clusters`. None if it leads out of the repository, or deeper than anybody can look.
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

    /// The path; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where the tree goes and how.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// The folder that all output lives under.
    pub folder: Folder,
    /// Where in it the folders of places are.
    pub layout: Layout,
    /// The promoted commit, for the tracking file; without one the file stays as it is.
    pub promoted_commit: Option<Arc<str>>,
    /// Whether folders that are not marked as Kalypso's are taken over.
    pub adopt: bool,
}

/// The tree that should be, and what came of the assignments.
#[derive(Clone, Debug)]
pub struct Output {
    /// The whole tree of the branch.
    pub tree: Tree,
    /// How many assignments have a folder in it.
    pub assignments: usize,
    /// Assignments without files of their own that keep their last good folder.
    pub kept: BTreeSet<AssignmentId>,
    /// Assignments without files of their own that are rendered from an earlier publication, with release pins laid over.
    pub held: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Folders at the root that would be forgotten because output now goes somewhere else.
fn left_behind(previous: &Tree, destination: &Destination, open: &Open<'_>) -> Result<Option<Diagnostic>, OpenError> {
    // The root may belong to another environment, whose own file says so.
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
