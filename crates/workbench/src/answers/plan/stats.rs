//! The amount of work in each stage of compiling.

use delivery::output::compilation::{Reuse, reuse};
use engine::compile::{Compiled, Work};
use serde::Serialize;
use utoipa::ToSchema;

/// How much work it was.
#[derive(Serialize, ToSchema)]
pub(super) struct StatsFields {
    /// How many assignments there are.
    assignments: usize,
    /// Assignments that neither the other side nor an earlier run computed.
    recomputed: usize,
    /// `ConfigMap`s and schemas that were examined for a match.
    matches: usize,
    /// Different sets of values that were composed.
    compositions: usize,
    /// Sets of values that were checked, each by one schema.
    checks: usize,
    /// Assignments whose templates were rendered.
    renderings: usize,
    /// Folders of cluster types and clusters whose git tree id was computed.
    trees: usize,
}

impl StatsFields {
    pub(super) fn new(compiled: &Compiled) -> Self {
        let Reuse { recomputed, assignments } = reuse([compiled]);
        let Work { matches, compositions, checks, renderings, folders: trees, .. } = compiled.last_update().work;
        Self { assignments, recomputed, matches, compositions, checks, renderings, trees }
    }
}
