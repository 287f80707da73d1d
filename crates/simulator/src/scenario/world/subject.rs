//! The state of a subject on its way into an environment.

use engine::promotion::report::Report;
use engine::promotion::state::{AdvanceState, Revision};

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
