//! The result of an update, with the amount of its work.

use model::diagnostic::AssignmentId;

use super::Compiled;

/// The result of an update.
#[derive(Clone, Debug, Default)]
pub struct CompileUpdate {
    /// Assignments that are new or have changed inputs: place id and target id.
    pub(super) recomputed: Vec<(u32, u32)>,
    /// Assignments whose folder changed: some of `recomputed`, and assignments that a problem of another object stops, or does not stop any more.
    pub(super) changed: Vec<(u32, u32)>,
    /// Removed assignments.
    pub(super) removed: Vec<(u32, u32)>,
    /// The amount of work.
    pub work: Work,
}

impl CompileUpdate {
    /// The assignments that are new or have changed inputs.
    pub fn recomputed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.recomputed.iter().map(|(place, target)| compiled.id(*place, *target))
    }

    /// The number of assignments that are new or have changed inputs.
    pub fn recomputed_count(&self) -> usize {
        self.recomputed.len()
    }

    /// The assignments whose folder changed.
    pub fn changed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.changed.iter().map(|(place, target)| compiled.id(*place, *target))
    }

    /// The removed assignments.
    pub fn removed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.removed.iter().map(|(place, target)| compiled.id(*place, *target))
    }
}

/// Counters of expensive operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Containers and schemas that were examined for a match.
    pub matches: usize,
    /// Composed sets of values. Assignments with the same matching `ConfigMap`s share one set.
    pub compositions: usize,
    /// Checks of a set of values with one schema.
    pub checks: usize,
    /// Assignments whose templates were rendered.
    pub renderings: usize,
    /// Folders of places whose git id was computed.
    pub folders: usize,
    /// Assignments whose result came from the memo.
    pub saved: usize,
    /// Rendered files. A file that several assignments share counts once.
    pub files: usize,
    /// Bytes of the files that were rendered for a single assignment.
    pub bytes: usize,
}
