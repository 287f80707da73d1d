//! A new environment, and what its branch has in place of what the copied one has.

use authoring::scaffold::copied_source::CopiedSource;
use model::fleet::SourcePart;
use serde::Serialize;
use utoipa::ToSchema;

use crate::environment_addition::{AdditionEdits, AdditionResult, EnvironmentAddition};

/// A new environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewEnvironmentFields {
    /// The new environment.
    environment: String,
    /// The environment before it in the order of promotion, whose branch is copied.
    after: String,
    /// Whether nothing is written.
    is_dry_run: bool,
    /// The new branch of the control plane.
    branch: String,
    /// The folder of its working tree; `null` without one.
    working_tree: Option<String>,
    /// The path of each changed file of the main branch.
    files: Vec<String>,
    /// The `ConfigMap` and the key of each value that names the new environment in place of the other one.
    values: Vec<String>,
    sources: Vec<SourceFields>,
    /// The same for branches and folders that are still those of the other environment.
    #[schema(value_type = Vec<Object>)]
    shared_sources: Vec<SourceFields>,
    /// The id of the commit of the main branch, with `--commit`.
    commit: Option<String>,
    /// The number of its assignments.
    assignments: usize,
}

/// An object that reads another repository.
#[derive(Serialize, ToSchema)]
struct SourceFields {
    /// The kind of an object that reads a branch or a folder of another repository which is that of the new environment now.
    kind: &'static str,
    /// Its name.
    name: String,
    /// The URL of the repository, as in the object.
    repo: String,
    /// The branch, if it is named after the environment; else there is `folder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The path of the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The file with the object.
    file: String,
}

impl NewEnvironmentFields {
    /// The answer of an addition, with the number of assignments of the new environment. Nothing is done in a dry run.
    pub fn new(
        addition: &EnvironmentAddition,
        edits: &AdditionEdits,
        assignments: usize,
        done: Option<&AdditionResult>,
    ) -> Self {
        let copy = &edits.copy;
        Self {
            environment: addition.to.to_string(),
            after: addition.from.to_string(),
            is_dry_run: done.is_none(),
            branch: addition.to.to_string(),
            working_tree: done.and_then(|done| Some(done.working_tree.as_ref()?.display().to_string())),
            files: addition.main_files(edits),
            values: copy.values.clone(),
            sources: copy.own_sources.iter().map(SourceFields::new).collect(),
            shared_sources: copy.shared_sources.iter().map(SourceFields::new).collect(),
            commit: done.and_then(|done| done.commit.clone()),
            assignments,
        }
    }
}

impl SourceFields {
    fn new(source: &CopiedSource) -> Self {
        let text = |part: SourcePart| (source.part == part).then(|| source.text.to_string());
        Self {
            kind: source.kind.name(),
            name: source.name.to_string(),
            repo: source.repo.to_string(),
            branch: text(SourcePart::Branch),
            folder: text(SourcePart::Folder),
            file: source.path.to_string(),
        }
    }
}
