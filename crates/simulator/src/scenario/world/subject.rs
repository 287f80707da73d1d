//! The states of what is on its way into an environment.

use engine::promotion::report::Report;
use engine::promotion::state::{AdvanceState, Revision};

use crate::scenario::contents::Commit;

/// A subject on its way into an environment.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Subject {
    pub(in crate::scenario) state: AdvanceState,
    /// The revision that the sources of the environment name. Its output has the admitted one.
    pub(in crate::scenario) named: Option<Revision>,
    pub(in crate::scenario) report: Option<Report>,
    /// The open pull request: its number, and the revision that it writes.
    pub(in crate::scenario) proposal: Option<(u32, Revision)>,
}

/// The values of an environment that are not admitted yet.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Values {
    /// The commits, oldest first.
    pub(in crate::scenario) pending: Vec<Commit>,
    pub(in crate::scenario) state: AdvanceState,
    pub(in crate::scenario) report: Option<Report>,
}
