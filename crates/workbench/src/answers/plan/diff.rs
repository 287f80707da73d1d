//! The differences of the files of a plan, without content that depends on sensitive values.

use std::sync::Arc;

use delivery::output::planned::Planned;
use engine::compile::Compiled;
use engine::layout::own_files::{OWNER_FILE, TRACKING_FILE};
use engine::masking::plain;
use engine::plan::{FileChange, PlannedId};
use model::tree::Blob;

use crate::answers::shown_files::{ShownSides, not_shown, unified};

/// The file that marks the folder of a cluster type.
const MARKER_FILE: &str = "/README.md";

/// Computes the differences of files.
pub struct FileDiffs<'a> {
    planned: &'a Planned,
}

impl<'a> FileDiffs<'a> {
    /// The differences of the files of a plan.
    pub fn new(planned: &'a Planned) -> Self {
        Self { planned }
    }

    /// The differences of an assignment's files, in their order.
    pub fn files(&self, id: &PlannedId, files: &[FileChange]) -> Vec<String> {
        let Some(sides) = self.sides(id) else { return files.iter().map(not_shown).collect() };
        files.iter().map(|file| self.of_file(file, &sides)).collect()
    }

    /// The difference of a file that belongs to no assignment. Kalypso's own such files contain no values. Foreign files are not shown if the
    /// environment has sensitive values.
    pub fn other(&self, change: &FileChange) -> String {
        let is_ours = [MARKER_FILE, TRACKING_FILE, OWNER_FILE].iter().any(|name| change.path.ends_with(name));
        if !is_ours && !self.planned.sensitive().is_empty() {
            return not_shown(change);
        }
        let [before, after] = [&change.before, &change.after].map(|blob| self.content(blob.as_ref()));
        unified(change, [&plain(&before), &plain(&after)])
    }

    /// The files of an assignment before and after the change, in the form in which they may be shown. None if the assignment is unknown.
    fn sides(&self, id: &PlannedId) -> Option<ShownSides<'_>> {
        let id = id.assignment()?;
        let is_known = |side: &&Compiled| side.get(&id).is_some();
        self.planned.sides().find(is_known)?;
        let old = self.planned.earlier.as_ref().map(|old| old.compiled.prepared());
        let sides = [old, Some(self.planned.compiled.prepared())];
        let held = self.planned.output.held.get(&id);
        let sensitive = held.into_iter().flat_map(|held| held.sensitive.iter().cloned()).collect();
        Some(ShownSides::new(&id, sides, sensitive).with_held(held.map_or(&[][..], |held| &held.shown)))
    }

    fn of_file(&self, change: &FileChange, sides: &ShownSides<'_>) -> String {
        let content = |blob: &Option<Blob>| blob.as_ref().map(|blob| self.content(Some(blob)));
        sides.difference(change, [content(&change.before), content(&change.after)]).unwrap_or_else(|| not_shown(change))
    }

    fn content(&self, blob: Option<&Blob>) -> Arc<[u8]> {
        let known = |blob: &Blob| blob.bytes().cloned().or_else(|| self.planned.target.branch.content(blob.id()));
        blob.and_then(known).unwrap_or_default()
    }
}
