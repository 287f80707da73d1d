//! The rename of a workload or a deployment target.

use std::sync::Arc;

use git::Edit;
use model::tree::OpenError;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::branch_edit::{EditPlan, EditedFile, ProposalFields};
use crate::branch::{EditComparison, EditResult};
use crate::diagnostics::DiagnosticReport;
use crate::joint_rename::{JointRename, RenamedBranch};

/// The rename of a workload or a target.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameFields {
    /// `rename`.
    action: &'static str,
    #[schema(value_type = Vec<RenamedFields>)]
    objects: [RenamedFields; 1],
    branches: Vec<BranchFields>,
    referring: Vec<ReferringFields>,
    /// Whether files of the working trees are changed.
    is_written: bool,
    /// For each environment that changes, the fields of `plans[]` of `plan`, and its name in `environment`.
    #[schema(value_type = Vec<Object>)]
    plans: Vec<EditPlan>,
    /// The new warnings, as in `check -o json`; the errors, if the rename is refused.
    #[schema(value_type = Object)]
    report: Value,
}

/// A renamed object.
#[derive(Serialize, ToSchema)]
struct RenamedFields {
    /// The kind of a renamed object, also `DeploymentTarget` for a target of a `Workload`.
    kind: &'static str,
    /// Its name before.
    old: String,
    /// Its new name.
    new: String,
}

/// A branch that is edited.
#[derive(Serialize, ToSchema)]
struct BranchFields {
    /// The URL of the repository of a branch that is edited.
    repository: String,
    /// The branch.
    branch: String,
    /// The environment of the branch; `null` for other branches.
    environment: Option<String>,
    files: Vec<EditedFile>,
    /// The id of the commit, with `--commit`.
    commit: Option<String>,
    /// What is proposed, with `--propose`; else `null`. The fields of `proposal` of `add`.
    #[schema(value_type = Option<Object>)]
    proposal: Option<ProposalFields>,
}

/// An object that named the renamed one.
#[derive(Serialize, ToSchema)]
struct ReferringFields {
    /// The kind of an object that named it.
    kind: &'static str,
    /// The name of this object.
    name: String,
}

impl RenameFields {
    /// The answer of a rename. `done` has what was done with each branch; it is empty in a dry run.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn new(
        rename: &JointRename<'_>,
        comparisons: &[EditComparison<'_>],
        done: &[EditResult],
    ) -> Result<Self, OpenError> {
        let mut report = DiagnosticReport::new();
        comparisons.iter().for_each(|comparison| report.add_new_warnings(comparison));
        let (kind, (old, new)) = rename.renamed();
        let parts = rename.branches.iter().enumerate();
        let referring = rename.referring().into_iter();
        let referring =
            referring.map(|object| ReferringFields { kind: object.kind.name(), name: object.name.to_string() });
        Ok(Self {
            action: "rename",
            objects: [RenamedFields { kind: kind.name(), old: old.to_owned(), new: new.to_owned() }],
            branches: parts.map(|(position, part)| BranchFields::new(part, done.get(position))).collect(),
            referring: referring.collect(),
            is_written: done.iter().any(EditResult::is_written),
            plans: comparisons.iter().map(EditPlan::new).collect::<Result<_, _>>()?,
            report: report.to_json(),
        })
    }
}

impl BranchFields {
    fn new(part: &RenamedBranch, done: Option<&EditResult>) -> Self {
        let RenamedBranch { branch, edits, .. } = part;
        let file = |(path, edit): (&Arc<str>, &Edit)| EditedFile::new(branch, path, matches!(edit, Edit::Removed));
        Self {
            repository: branch.url().as_str().to_owned(),
            branch: branch.name().to_string(),
            environment: branch.environment().map(ToString::to_string),
            files: edits.iter().map(file).collect(),
            commit: done.and_then(EditResult::commit),
            proposal: done.and_then(ProposalFields::of_result),
        }
    }
}
