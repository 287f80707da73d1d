//! The differences of files as text.

use std::fmt::Write as _;

use model::tree::OpenError;
use workbench::answers::plan::{FileDiffs, PlanView};

use crate::terminal::count;

/// The default maximum number of assignments whose differences are shown.
const DIFFS_MAX: usize = 1_000;

/// The differences of the selected changes.
pub(super) fn text(view: &PlanView<'_>) -> Result<String, OpenError> {
    let (planned, diffs) = (view.planned, FileDiffs::new(view.planned));
    let limit = view.limit.unwrap_or(DIFFS_MAX);
    let mut text = String::new();
    for (id, _) in view.changes.iter().take(limit) {
        text.extend(diffs.files(id, &planned.files(id)?));
    }
    let other_files = &planned.plan.other_files;
    text.extend(other_files.iter().take(limit).map(|change| diffs.other(change)));
    let more = view.changes.len().saturating_sub(limit) + other_files.len().saturating_sub(limit);
    if more > 0 {
        let _ = writeln!(text, "\n  and {}: --limit N shows more", count(more, "more difference"));
    }
    Ok(text)
}
