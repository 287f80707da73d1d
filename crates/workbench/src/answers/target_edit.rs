//! Edits of deployment targets and new workloads in the repositories of applications.

use model::tree::OpenError;
use serde::Serialize;
use utoipa::ToSchema;

use super::branch_edit::{EditPlan, EditVerb, ProposalFields};
use crate::branch::{EditComparison, EditResult};

/// An edit of a target.
pub struct TargetEdit<'a> {
    /// What is done with it.
    pub verb: EditVerb,
    /// The workload.
    pub workload: &'a str,
    /// The name of the target.
    pub target: &'a str,
    /// The environment.
    pub environment: &'a str,
    /// The labels and keys that change.
    pub notes: Vec<String>,
}

/// An edit of a target for programs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetEditFields {
    /// `add`, `set` or `remove`.
    action: &'static str,
    /// The workload.
    workload: String,
    /// The deployment target.
    target: String,
    /// The environment.
    environment: String,
    /// The path of each changed file.
    files: Vec<String>,
    /// Whether the files of the checkout are changed.
    is_written: bool,
    /// The id of the commit, with `--commit`.
    commit: Option<String>,
    /// What is proposed in the application's repository, with `--propose`; else `null`.
    proposal: Option<ProposalFields>,
    /// The fields of `plans[]` of `plan`; `null` if the workload is not registered.
    #[schema(value_type = Option<Object>)]
    plan: Option<EditPlan>,
}

/// A new workload in a checkout of its application.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWorkloadFields {
    /// `add`.
    action: &'static str,
    /// The workload.
    workload: String,
    /// The path of the new file.
    files: [String; 1],
    /// Whether the file is written.
    is_written: bool,
}

impl TargetEdit<'_> {
    /// The first line of a commit message: `Change target api of checkout for dev: tag=2.4.0`.
    pub fn title(&self) -> String {
        let Self { verb, workload, target, environment, notes } = self;
        let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join(", ")) };
        format!("{} target {target} of {workload} for {environment}{notes}", verb.imperative())
    }

    /// The name of the branch of a proposal.
    pub fn branch(&self) -> String {
        let Self { verb, workload, target, environment, .. } = self;
        format!("{}/{environment}-target-{workload}-{target}", verb.word())
    }
}

impl TargetEditFields {
    /// The answer of an edit of these files, with its plan if the workload is registered.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn new(
        edit: &TargetEdit<'_>,
        files: Vec<String>,
        done: &EditResult,
        comparison: Option<&EditComparison<'_>>,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            action: if edit.verb == EditVerb::Change { "set" } else { edit.verb.word() },
            workload: edit.workload.to_owned(),
            target: edit.target.to_owned(),
            environment: edit.environment.to_owned(),
            files,
            is_written: done.is_written(),
            commit: done.commit(),
            proposal: ProposalFields::of_result(done),
            plan: comparison.map(EditPlan::new).transpose()?,
        })
    }
}

impl NewWorkloadFields {
    /// The answer of a workload in this file.
    pub fn new(workload: &str, file: &str, is_written: bool) -> Self {
        Self { action: "add", workload: workload.to_owned(), files: [file.to_owned()], is_written }
    }
}
