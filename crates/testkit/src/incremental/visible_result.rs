//! The visible result of a compiled fleet, in a form that does not depend on the way it was compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use engine::compile::Compiled;
use model::diagnostic::{AssignmentId, Diagnostic, merged};
use model::digest::Digest;
use model::git_id::GitId;
use model::locate::Locator;
use model::name::{DeploymentTargetName, PlaceName, PolicyName};
use model::tree::Sealed;

use crate::suite::said;

/// The visible result of a fleet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VisibleResult {
    pub(super) assignments: BTreeMap<AssignmentId, Assignment>,
    pub(super) places: Vec<PlaceName>,
    pub(super) unclear: BTreeSet<DeploymentTargetName>,
    /// The diagnostics with their current places.
    pub(super) says: Vec<String>,
    pub(super) tree: GitId,
    pub(super) has_duplicates: bool,
}

/// The visible result of an assignment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) inputs: Digest,
    pub(super) folder: Option<GitId>,
    is_rendered: bool,
    values: Option<Digest>,
    workload: String,
    policies: BTreeSet<PolicyName>,
}

impl VisibleResult {
    /// Collects the visible result. The diagnostics of the files are added to those of the assignments.
    pub(super) fn new(compiled: &Compiled, of_files: &[Diagnostic]) -> Self {
        let seen = |found: engine::compile::Assignment<'_>| {
            let assignment = Assignment {
                inputs: found.inputs(),
                folder: found.folder(),
                is_rendered: found.is_rendered(),
                values: found.values(),
                workload: found.workload().to_owned(),
                policies: found.policies(),
            };
            Some((found.id()?, assignment))
        };
        let fleet = compiled.fleet();
        let mut locator = Locator::new(fleet);
        let diagnostics = merged(of_files.iter().cloned().chain(compiled.diagnostics()).collect());
        let mut says: Vec<_> = diagnostics.iter().map(|diagnostic| said(diagnostic, &mut locator)).collect();
        says.sort();
        Self {
            assignments: compiled.assignments().filter_map(seen).collect(),
            places: compiled.places(),
            unclear: compiled.unclear_targets(),
            says,
            tree: compiled.tree().id(),
            has_duplicates: !fleet.duplicates.is_empty(),
        }
    }
}

/// Checks that the folders of changed assignments, and of their places, have the content of their ids when they are opened.
pub(super) fn check_tree(compiled: &Compiled) -> Result<(), String> {
    let open = |sealed: &Sealed| compiled.open(sealed);
    let changed: BTreeSet<_> = compiled.last_update().changed(compiled).collect();
    let places: BTreeSet<_> = changed.iter().map(|id| id.place.to_string()).collect();
    let good = changed.iter().filter(|id| compiled.get(id).is_some_and(|assignment| assignment.is_rendered()));
    for path in places.into_iter().chain(good.map(ToString::to_string)) {
        let found = compiled.tree().find(&path, &open).map_err(|error| error.to_string())?;
        let opened = found.as_ref().map(|child| child.opened(&open)).transpose().map_err(|error| error.to_string())?;
        let opened = opened.flatten().map(|folder| folder.id());
        same(&format!("the folder {path}"), &found.map(|child| child.id()), &opened)?;
    }
    Ok(())
}

/// Returns a text with the differences if the values are not equal.
pub(super) fn same<T: Debug + PartialEq>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
    let diff = similar::TextDiff::from_lines(&expected, &found);
    Err(format!("{what} differ:\n{}", diff.unified_diff().context_radius(4).header("expected", "found")))
}
