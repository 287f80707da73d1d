//! The states of what is on its way into an environment.

use std::collections::BTreeSet;

use engine::promotion::report::MoveReport;
use engine::promotion::state::{AdvanceState, Revision};

use crate::scenario::contents::Commit;

/// The number of the subject of commits of the main branch. Each workload has the number of its releases after it.
pub(super) const PLATFORM: usize = 0;

/// The revision of an environment that has no commit of the scenario.
pub(super) const START: &str = "start";

/// Which subject, in which environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scenario) struct SubjectKey {
    /// The number of the environment.
    pub(in crate::scenario) environment: usize,
    /// The number of the subject.
    pub(in crate::scenario) subject: usize,
}

/// A subject on its way into an environment.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Subject {
    pub(in crate::scenario) state: AdvanceState,
    /// The revision that the sources of the environment name. Its output has the admitted one.
    pub(in crate::scenario) named: Option<Revision>,
    pub(in crate::scenario) report: Option<MoveReport>,
    /// The open pull request.
    pub(in crate::scenario) proposal: Option<Proposal>,
}

/// An open pull request that writes a revision into an environment.
#[derive(Debug)]
pub(in crate::scenario) struct Proposal {
    pub(in crate::scenario) revision: Revision,
    /// The number of its planned merge. None: people only review it, because its gates do not hold.
    pub(in crate::scenario) merge: Option<u32>,
}

/// Why places of a workload stay as they are.
pub(super) const KEPT: &str = "the installed version of kalypso/renderer changes its folders, and is not admitted yet";
/// Why a revision can't be rendered.
pub(super) const UNRENDERED: &str = "another version of kalypso/renderer rendered what places have";

/// The version of the program that renders, on its way into an environment.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Renderer {
    /// What is recorded. None: no version ever changed the output.
    pub(super) state: Option<AdvanceState>,
    pub(super) report: Option<MoveReport>,
    /// The workloads with folders that the installed version changes, while it is not admitted.
    pub(super) kept: BTreeSet<usize>,
}

/// The commits of a source of an environment that are not admitted yet: of its values, or of an application team.
#[derive(Debug)]
pub(in crate::scenario) struct Values {
    /// The commits, oldest first.
    pub(in crate::scenario) pending: Vec<Commit>,
    /// The last commit that the output has.
    pub(in crate::scenario) read: Revision,
    /// What is recorded. None: nothing holds the source.
    pub(in crate::scenario) state: Option<AdvanceState>,
    pub(in crate::scenario) report: Option<MoveReport>,
}

impl Default for Values {
    fn default() -> Self {
        Self { pending: Vec::new(), read: Revision(START.into()), state: None, report: None }
    }
}
