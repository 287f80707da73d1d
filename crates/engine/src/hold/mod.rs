//! Holds what fails: an assignment that can't be rendered is rendered from the commits of its last good folder, with the release pins of today laid over.
//!
//! Here it is decided which assignments that are, and which earlier publication each of them needs. Reading that is done outside, one publication after
//! another ([`Search`]).

mod search;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::object::{Object, ReleasePin};
use model::tree::{Open, OpenError, Tree};

pub use self::search::{Search, is_asked};
use crate::output::{Folder, Layout, Output};
use crate::sensitive::ShownFiles;

/// How many assignments are held at most: the files of each are kept in memory, and the commit of the publication names each.
pub const HELD_MAX: usize = 5_000;
/// How many earlier fleets are read for that at most: each is read and prepared as a whole. Assignments that fail together were good together, so that they
/// share one or two.
pub const FLEETS_MAX: usize = 8;

/// A release pin.
pub type Pin = Arc<Object<ReleasePin>>;

/// What was published on a branch.
#[derive(Clone, Copy)]
pub struct History<'a> {
    /// The tree of the branch.
    pub head: &'a Tree,
    /// The folder that output lives under.
    pub folder: &'a Folder,
    /// The commits of publications, newest first, as far back as is looked.
    pub publications: &'a [GitId],
    /// The assignments that were held at a publication, with the publication that they were rendered from.
    pub held: &'a dyn Fn(GitId) -> BTreeMap<AssignmentId, GitId>,
    /// The tree of a publication.
    pub tree: &'a dyn Fn(GitId) -> Result<Tree, OpenError>,
    /// Opens folders of these trees.
    pub open: &'a Open<'a>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// The folders of assignments that are held.
    pub folders: BTreeMap<AssignmentId, Arc<HeldFolder>>,
    /// Assignments that were to be held and keep the folder that they have.
    pub failures: BTreeMap<AssignmentId, NotHeld>,
}

/// The folder of an assignment that is held.
#[derive(Debug)]
pub struct HeldFolder {
    /// The publication whose commits it is rendered from.
    pub from: GitId,
    /// The pins that are laid over; none if it was held before, and no pin holds it any more.
    pub pins: Vec<Pin>,
    /// Its files.
    pub tree: Tree,
    /// The version of its configuration.
    pub version: Arc<str>,
    /// The paths of its sensitive values, then or now.
    pub sensitive: BTreeSet<FieldPath>,
    /// Its files as they may be shown, and the same without these pins. Nothing if none of its values is sensitive.
    pub shown: Vec<ShownFiles>,
}

/// Why an assignment is not held.
#[derive(Clone, Debug)]
pub struct NotHeld {
    /// The pins that were to be laid over.
    pub pins: Vec<Pin>,
    /// The reason.
    pub reason: Reason,
}

/// Why the last good state of an assignment can't be had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No commit of the branch says what it was made of.
    NoPublication,
    /// The commits that a publication names can't be read.
    Unreadable(GitId, String),
    /// It can't be rendered from them: with these errors, or because nothing assigns it there.
    Failing(GitId, BTreeSet<Code>),
    /// Too many earlier fleets would have to be read.
    TooManyFleets,
    /// Too many assignments would be held.
    TooManyAssignments,
}

impl Held {
    /// What there is to say: which assignments are held, and which can't be.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        words::diagnostics(self)
    }

    /// What the next run needs to know: the publications that assignments of this output are rendered from. Those that were held `before` and fail still
    /// are named again, also where they could not be held this time.
    pub fn to_remember(
        output: &Output,
        before: BTreeMap<AssignmentId, GitId>,
        stays: impl Fn(&AssignmentId) -> bool,
    ) -> BTreeMap<AssignmentId, GitId> {
        let mut named: BTreeMap<_, _> = before.into_iter().filter(|(id, _)| stays(id)).collect();
        named.extend(output.held.iter().map(|(id, held)| (id.clone(), held.from)));
        named
    }
}

/// The folder of a place in the folder that output lives under, in either layout.
fn place_folder(inside: &Tree, place: &str, open: &Open<'_>) -> Result<Option<Tree>, OpenError> {
    for layout in [Layout::Plain, Layout::FanOut] {
        if let Some(found) = inside.find(&layout.path(place), open)?
            && let Some(folder) = found.opened(open)?
        {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Whether an output has a folder for an assignment.
///
/// # Errors
/// If a folder can't be opened.
pub fn has_folder(tree: &Tree, folder: &Folder, id: &AssignmentId, open: &Open<'_>) -> Result<bool, OpenError> {
    let Some(inside) = tree.folder(folder.as_str(), open)? else { return Ok(false) };
    let place = place_folder(&inside, id.place.as_str(), open)?;
    Ok(place.is_some_and(|place| place.child(id.target.as_str()).is_some_and(model::tree::Child::is_folder)))
}
