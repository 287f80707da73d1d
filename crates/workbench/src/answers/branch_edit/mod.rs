//! Edits of a branch of the control plane, and what they did.

mod value_effect;

use authoring::additions::PlacedObject;
use authoring::config_values::ConfigValueChange;
use authoring::file_edits::{FileEdit, FileEdits};
use delivery::pull_requests::Proposal;
use model::field_path::FieldPath;
use model::tree::OpenError;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

pub use self::value_effect::{ExpectedValues, check_expected};
use super::plan::{PlanFields, PlanView};
use crate::branch::{Changes, ControlPlaneBranch, EditComparison, EditResult, ProposalResult};
use crate::diagnostics::DiagnosticReport;

/// What is done with the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditVerb {
    /// Objects are added.
    Add,
    /// Objects are changed.
    Change,
    /// Objects are removed.
    Remove,
    /// Objects get another name.
    Rename,
}

impl EditVerb {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Change => "change",
            Self::Remove => "remove",
            Self::Rename => "rename",
        }
    }

    /// The first word of a commit message.
    pub fn imperative(self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Change => "Change",
            Self::Remove => "Remove",
            Self::Rename => "Rename",
        }
    }
}

/// An edit of a branch.
pub struct BranchEdit {
    /// What is done.
    pub verb: EditVerb,
    /// The objects that are added, changed or removed, with their files.
    pub objects: Vec<PlacedObject>,
    /// The values that change.
    pub values: Vec<ConfigValueChange>,
    /// The files.
    pub files: FileEdits,
    /// Mistakes that do not stop the edit.
    pub warnings: Vec<String>,
    /// Consequences, shown below the objects.
    pub notes: Vec<String>,
    /// The words for the name of a proposal's branch: `cluster-type-large`.
    pub slug: String,
    /// The values that must have an effect. None: the edit may have none.
    pub expected: Option<ExpectedValues>,
}

impl BranchEdit {
    /// An edit without values, warnings and notes. `slug`: the words for the name of a proposal's branch.
    pub fn new(verb: EditVerb, objects: Vec<PlacedObject>, files: FileEdits, slug: String) -> Self {
        let (values, warnings, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { verb, objects, values, files, warnings, notes, slug, expected: None }
    }
}

/// What an edit did.
pub struct EditOutcome<'a> {
    /// The state of the working tree or repository.
    pub done: EditResult,
    /// The environments that change, before and after.
    pub comparisons: &'a [EditComparison<'a>],
    /// What the edit does to the environments.
    pub changes: &'a Changes,
}

/// What an edit of a branch did.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchEditFields {
    /// `add`, `change`, `remove` or `rename`.
    action: &'static str,
    /// The branch that is edited.
    branch: String,
    /// The environment of the branch; `null` for the main branch.
    environment: Option<String>,
    objects: Vec<ObjectFields>,
    values: Vec<ValueFields>,
    files: Vec<EditedFile>,
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
    plans: Vec<EditPlan>,
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
pub struct EditedFile {
    /// The path of a file in the branch.
    path: String,
    /// `added`, `changed` or `removed`.
    change: &'static str,
}

/// What is proposed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposalFields {
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
pub struct EditPlan {
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
    /// The answer of an edit.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn new(branch: &ControlPlaneBranch, edit: &BranchEdit, outcome: &EditOutcome<'_>) -> Result<Self, OpenError> {
        let EditOutcome { done, comparisons, changes } = outcome;
        let mut report = DiagnosticReport::new();
        comparisons.iter().for_each(|comparison| report.add_new_warnings(comparison));
        let plans = comparisons.iter().map(EditPlan::new).collect::<Result<_, _>>()?;
        let objects = edit.objects.iter().map(|object| ObjectFields {
            kind: object.kind.name(),
            name: object.name.to_string(),
            file: object.path.to_string(),
        });
        let files = edit.files.iter();
        let files = files.map(|(path, edit)| EditedFile::new(branch, path, matches!(edit, FileEdit::Remove)));
        let pinned = changes.pinned.iter();
        let pinned =
            pinned.map(|(name, commit)| PinnedFields { environment: name.to_string(), commit: commit.to_string() });
        Ok(Self {
            action: edit.verb.word(),
            branch: branch.name().to_string(),
            environment: branch.environment().map(ToString::to_string),
            objects: objects.collect(),
            values: edit.values.iter().map(|value| ValueFields::new(value, comparisons)).collect(),
            files: files.collect(),
            notes: edit.warnings.iter().chain(&edit.notes).cloned().collect(),
            is_written: done.is_written(),
            commit: done.commit(),
            proposal: ProposalFields::of_result(done),
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

impl EditedFile {
    /// The change of a file of `branch`.
    pub fn new(branch: &ControlPlaneBranch, path: &str, is_removed: bool) -> Self {
        let change = match (is_removed, branch.files().contains_key(path)) {
            (true, _) => "removed",
            (false, true) => "changed",
            (false, false) => "added",
        };
        Self { path: path.to_owned(), change }
    }
}

impl ProposalFields {
    /// The proposal of an edit. None: it was not proposed.
    pub fn of_result(done: &EditResult) -> Option<Self> {
        let EditResult::Proposed(ProposalResult { branch, base, change }) = done else { return None };
        let proposal = change.pull_request.as_ref().and_then(|made| made.as_ref().ok());
        Some(Self {
            branch: branch.clone(),
            base: base.clone(),
            commit: change.commit.to_string(),
            pull_request: proposal.and_then(Proposal::open).map(|link| link.url.clone()),
        })
    }
}

impl EditPlan {
    /// The plan of an environment that changes.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn new(comparison: &EditComparison<'_>) -> Result<Self, OpenError> {
        let loaded = comparison.loaded();
        let plan = PlanFields::new(&PlanView::whole(comparison.planned()), loaded, None)?;
        Ok(Self { plan, environment: loaded.fleet.environment.to_string() })
    }
}

/// The answer of an edit that is refused.
pub fn refused_edit(report: &DiagnosticReport<'_>) -> Value {
    json!({"isWritten": false, "report": report.to_json()})
}

/// Whether a value may be shown.
pub fn is_shown(value: &ConfigValueChange, comparisons: &[EditComparison<'_>]) -> bool {
    let path = FieldPath::default().key(value.key.clone());
    let is_hidden = |comparison: &EditComparison<'_>| {
        let sensitive = comparison.planned().sensitive();
        sensitive.iter().any(|secret| path.is_at_or_below(secret) || secret.is_at_or_below(&path))
    };
    !comparisons.is_empty() && !comparisons.iter().any(is_hidden)
}
