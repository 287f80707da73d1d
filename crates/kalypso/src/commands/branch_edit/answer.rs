//! Edits as structured output.

use authoring::file_edits::FileEdit;
use delivery::pull_requests::Proposal;
use serde_json::{Value as Json, json};
use workbench::branch::{Comparison, ControlPlaneBranch, Proposed};

use super::edit_text::is_shown;
use super::{BranchEdit, Done, Outcome, Verb};
use crate::commands::plan::selection::View;
use crate::diagnostics::DiagnosticReport;
use crate::reporting;

/// The answer of an edit.
pub(super) fn json(branch: &ControlPlaneBranch, edit: &BranchEdit, outcome: &Outcome<'_>) -> anyhow::Result<Json> {
    let mut report = DiagnosticReport::new();
    outcome.comparisons.iter().for_each(|comparison| reporting::add_new_warnings(&mut report, comparison));
    let plans = outcome.comparisons.iter().map(plan).collect::<anyhow::Result<Vec<_>>>()?;
    let objects = edit
        .objects
        .iter()
        .map(|object| json!({"kind": object.kind.name(), "name": &*object.name, "file": &*object.path}));
    let files = edit.files.iter().map(|(path, edit)| {
        let change = match (edit, branch.files().contains_key(path)) {
            (FileEdit::Remove, _) => "removed",
            (FileEdit::Write(_), true) => "changed",
            (FileEdit::Write(_), false) => "added",
        };
        json!({"path": &**path, "change": change})
    });
    let values = edit.values.iter().map(|value| {
        let is_shown = is_shown(value, outcome.comparisons);
        let shown = |text: &Option<std::sync::Arc<str>>| text.as_ref().filter(|_| is_shown).map(ToString::to_string);
        json!({"key": &*value.key, "old": shown(&value.old), "new": shown(&value.new), "isShown": is_shown})
    });
    let pinned = outcome.changes.pinned.iter();
    Ok(json!({
        "action": match edit.verb { Verb::Add => "add", Verb::Change => "change", Verb::Remove => "remove", Verb::Rename => "rename" },
        "branch": &*branch.name(),
        "environment": branch.environment().map(ToString::to_string),
        "objects": objects.collect::<Vec<_>>(),
        "values": values.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
        "notes": edit.warnings.iter().chain(&edit.notes).collect::<Vec<_>>(),
        "isWritten": matches!(outcome.done, Done::Written | Done::Committed(_)),
        "commit": match &outcome.done { Done::Committed(committed) => Some(committed.id.to_string()), _ => None },
        "proposal": match &outcome.done { Done::Proposed(proposed) => Some(proposal(proposed)), _ => None },
        "plans": plans,
        "pinned": pinned.map(|(name, commit)| json!({"environment": name.as_str(), "commit": commit.to_string()})).collect::<Vec<_>>(),
        "report": reporting::json(&report),
    }))
}

/// The answer of an edit that is refused.
pub(super) fn refused(report: &DiagnosticReport<'_>) -> Json {
    json!({"isWritten": false, "report": reporting::json(report)})
}

/// The plan for one environment.
pub(in crate::commands) fn plan(comparison: &Comparison<'_>) -> anyhow::Result<Json> {
    let loaded = comparison.loaded();
    let mut answer = View::whole(comparison.planned()).answer_without_lines(loaded)?;
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("environment".to_owned(), json!(loaded.fleet.environment.as_str()));
    }
    Ok(answer)
}

/// What is proposed.
pub(in crate::commands) fn proposal(proposed: &Proposed) -> Json {
    let proposal = proposed.change.pull_request.as_ref().and_then(|made| made.as_ref().ok());
    let url = proposal.and_then(Proposal::open).map(|link| link.url.clone());
    json!({
        "branch": proposed.branch,
        "base": proposed.base,
        "commit": proposed.change.commit.to_string(),
        "pullRequest": url,
    })
}
