//! Edits for programs.

use authoring::config_values::ConfigValueChange;
use authoring::file_edits::FileEdit;
use delivery::pull_requests::Proposal;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use workbench::answers::plan::{PlanFields, PlanView};
use workbench::branch::{ControlPlaneBranch, EditComparison, ProposalResult};
use workbench::diagnostics::DiagnosticReport;

use super::edit_text::is_shown;
use super::{BranchEdit, Done, Outcome};

/// An edit of a branch.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchEditFields {
    /// `add`, `change`, `remove` or `rename`.
    action: &'static str,
    /// The branch that is edited.
    branch: String,
    /// The environment of the branch; `null` for the main branch.
    environment: Option<String>,
    objects: Vec<ObjectFields>,
    values: Vec<ValueFields>,
    files: Vec<FileFields>,
    /// Advice, in words.
    notes: Vec<String>,
    /// Whether files of the working tree are changed.
    is_written: bool,
    /// The id of the commit, with `--commit`.
    commit: Option<String>,
    /// What is proposed, with `--propose`; else `null`.
    proposal: Option<ProposalFields>,
    /// For each environment that changes, the fields of `plans[]` of `plan`, and its name in `environment`.
    #[schema(value_type = Vec<Object>)]
    plans: Vec<EnvironmentPlan>,
    pinned: Vec<PinnedFields>,
    /// The new warnings, as in `check -o json`; the errors, if the edit is refused.
    #[schema(value_type = Object)]
    report: Value,
}

/// An object that is edited.
#[derive(Serialize, ToSchema)]
struct ObjectFields {
    /// The kind of an object that is added, changed or removed.
    kind: &'static str,
    /// Its name.
    name: String,
    /// The path of its file in the branch.
    file: String,
}

/// A value that changes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ValueFields {
    /// The key of a value that changes.
    key: String,
    /// The value before; `null` if there was none, or if it is not shown.
    old: Option<String>,
    /// The value after; `null` if it is removed, or if it is not shown.
    new: Option<String>,
    /// Whether no schema marks the value as sensitive.
    is_shown: bool,
}

/// A file that changes.
#[derive(Serialize, ToSchema)]
pub(in crate::commands) struct FileFields {
    /// The path of a file in the branch.
    path: String,
    /// `added`, `changed` or `removed`.
    change: &'static str,
}

/// What is proposed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct ProposalFields {
    /// The new branch.
    branch: String,
    /// The branch to merge it into.
    base: String,
    /// Its commit.
    commit: String,
    /// The URL of the pull request; `null` without one.
    pull_request: Option<String>,
}

/// The plan for one environment, with its name.
#[derive(Serialize)]
pub(in crate::commands) struct EnvironmentPlan {
    #[serde(flatten)]
    plan: PlanFields,
    environment: String,
}

/// An environment that is built on a fixed commit.
#[derive(Serialize, ToSchema)]
struct PinnedFields {
    /// An environment that is built on a fixed commit of the branch, so that it does not change yet.
    environment: String,
    /// That commit.
    commit: String,
}

impl BranchEditFields {
    pub(super) fn new(branch: &ControlPlaneBranch, edit: &BranchEdit, outcome: &Outcome<'_>) -> anyhow::Result<Self> {
        let Outcome { done, comparisons, changes } = outcome;
        let mut report = DiagnosticReport::new();
        comparisons.iter().for_each(|comparison| report.add_new_warnings(comparison));
        let plans = comparisons.iter().map(EnvironmentPlan::new).collect::<anyhow::Result<_>>()?;
        let objects = edit.objects.iter().map(|object| ObjectFields {
            kind: object.kind.name(),
            name: object.name.to_string(),
            file: object.path.to_string(),
        });
        let files = edit.files.iter();
        let files = files.map(|(path, edit)| FileFields::new(branch, path, matches!(edit, FileEdit::Remove)));
        let pinned = changes.pinned.iter();
        let pinned =
            pinned.map(|(name, commit)| PinnedFields { environment: name.to_string(), commit: commit.to_string() });
        let (commit, proposal) = match done {
            Done::Committed(committed) => (Some(committed.id.to_string()), None),
            Done::Proposed(proposed) => (None, Some(ProposalFields::new(proposed))),
            Done::Nothing | Done::Shown | Done::Written => (None, None),
        };
        Ok(Self {
            action: edit.verb.word(),
            branch: branch.name().to_string(),
            environment: branch.environment().map(ToString::to_string),
            objects: objects.collect(),
            values: edit.values.iter().map(|value| ValueFields::new(value, comparisons)).collect(),
            files: files.collect(),
            notes: edit.warnings.iter().chain(&edit.notes).cloned().collect(),
            is_written: matches!(done, Done::Written | Done::Committed(_)),
            commit,
            proposal,
            plans,
            pinned: pinned.collect(),
            report: report.to_json(),
        })
    }
}

impl ValueFields {
    fn new(value: &ConfigValueChange, comparisons: &[EditComparison<'_>]) -> Self {
        let is_shown = is_shown(value, comparisons);
        let [old, new] =
            [&value.old, &value.new].map(|text| text.as_ref().filter(|_| is_shown).map(ToString::to_string));
        Self { key: value.key.to_string(), old, new, is_shown }
    }
}

impl FileFields {
    /// The change of a file of `branch`.
    pub(in crate::commands) fn new(branch: &ControlPlaneBranch, path: &str, is_removed: bool) -> Self {
        let change = match (is_removed, branch.files().contains_key(path)) {
            (true, _) => "removed",
            (false, true) => "changed",
            (false, false) => "added",
        };
        Self { path: path.to_owned(), change }
    }
}

impl ProposalFields {
    pub(in crate::commands) fn new(proposed: &ProposalResult) -> Self {
        let proposal = proposed.change.pull_request.as_ref().and_then(|made| made.as_ref().ok());
        Self {
            branch: proposed.branch.clone(),
            base: proposed.base.clone(),
            commit: proposed.change.commit.to_string(),
            pull_request: proposal.and_then(Proposal::open).map(|link| link.url.clone()),
        }
    }
}

impl EnvironmentPlan {
    pub(in crate::commands) fn new(comparison: &EditComparison<'_>) -> anyhow::Result<Self> {
        let loaded = comparison.loaded();
        let plan = PlanFields::new(&PlanView::whole(comparison.planned()), loaded, None)?;
        Ok(Self { plan, environment: loaded.fleet.environment.to_string() })
    }
}

/// The answer of an edit that is refused.
pub(super) fn refused(report: &DiagnosticReport<'_>) -> Value {
    json!({"isWritten": false, "report": report.to_json()})
}
