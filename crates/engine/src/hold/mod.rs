//! Holds failing assignments: an assignment that can't be rendered is rendered from the commits of its last good folder, with the current
//! release pins applied.
//!
//! This module selects these assignments, and the earlier publication that each of them needs. The caller reads the publications, one after
//! another ([`Search`]).

mod diagnostics;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::tree::{Open, OpenError, Tree};

pub use self::search::{Search, needs_search};
use crate::layout::Folder;
use crate::masking::ShownFiles;
use crate::promotion::release::PlacedRelease;
use crate::schedule::pin::Pin;

/// The maximum number of held assignments. The files of each are kept in memory, and the commit message of the publication names each.
pub const HELD_MAX: usize = 5_000;
/// The maximum number of earlier fleets that are read. Each fleet is read and prepared as a whole. Assignments that fail together usually
/// share one or two earlier fleets.
pub const FLEETS_MAX: usize = 8;

/// The publications on a GitOps branch.
#[derive(Clone, Copy)]
pub struct PublicationHistory<'a> {
    /// The tree of the branch.
    pub head: &'a Tree,
    /// The folder that contains the output.
    pub folder: &'a Folder,
    /// The commits of publications, newest first, up to the limit of the search.
    pub publications: &'a [GitId],
    /// Returns the assignments that were held at a publication, with the publication that each was rendered from.
    pub held: &'a dyn Fn(GitId) -> BTreeMap<AssignmentId, GitId>,
    /// Returns the tree of a publication.
    pub tree: &'a dyn Fn(GitId) -> Result<Tree, OpenError>,
    /// Opens folders of these trees.
    pub open: &'a Open<'a>,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// The folders of assignments that are held.
    pub folders: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// Assignments that could not be held and keep their current folder.
    pub failures: BTreeMap<AssignmentId, NotHeld>,
}

/// The folder of an assignment that is held.
#[derive(Debug)]
pub struct HeldFolder {
    /// The publication whose commits it is rendered from.
    pub from: GitId,
    /// The pins that are applied. Empty if the assignment was held before and no pin holds it any more.
    pub pins: Vec<Pin>,
    /// The rendered files.
    pub tree: Tree,
    /// The version of its configuration.
    pub version: Arc<str>,
    /// The release of its target, with these pins. None: no key names it.
    pub release: Option<PlacedRelease>,
    /// The paths of values that are sensitive in the earlier or in the current fleet.
    pub sensitive: BTreeSet<FieldPath>,
    /// Its files for display, with these pins, with the pins of the earlier fleet, and without pins. Empty if no value is sensitive.
    pub shown: Vec<ShownFiles>,
}

/// An assignment that is not held, with the reason.
#[derive(Clone, Debug)]
pub struct NotHeld {
    /// The pins that would have been applied.
    pub pins: Vec<Pin>,
    /// The reason.
    pub reason: NotHeldReason,
}

/// The reason why the last good state of an assignment is not available.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotHeldReason {
    /// No commit of the branch names the commits that the assignment was rendered from.
    NoPublication,
    /// The commits that a publication names can't be read.
    Unreadable(GitId, String),
    /// The assignment can't be rendered from the commits of this publication. The codes are the errors. No codes: it is not assigned there.
    Failing(GitId, BTreeSet<Code>),
    /// More than [`FLEETS_MAX`] earlier fleets would have to be read.
    TooManyFleets,
    /// More than [`HELD_MAX`] assignments would be held.
    TooManyAssignments,
}

impl Held {
    /// Reports the assignments that are held, and those that can't be held.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        diagnostics::diagnostics(self)
    }
}
