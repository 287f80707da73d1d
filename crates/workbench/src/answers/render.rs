//! The rendered files of an environment.

use std::collections::BTreeMap;

use delivery::output::compilation::{Reuse, reuse};
use engine::compile::Compiled;
use engine::output::Output;
use model::git_id::GitId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::plan::LISTED_MAX;
use crate::diagnostics::DiagnosticReport;

/// A rendered environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenderedEnvironment {
    /// The environment.
    environment: String,
    /// The git tree id of the result.
    tree: String,
    /// How many assignments there are.
    assignments: usize,
    /// Assignments that no earlier run computed.
    recomputed: usize,
    /// How many cluster types there are.
    cluster_types: usize,
    /// How many clusters there are that are places of their own.
    clusters: usize,
    /// Assignments that could not be rendered, as `CLUSTER_TYPE/TARGET`: the first 1,000.
    failed: Vec<String>,
    /// How many these are.
    failed_count: usize,
    /// The files; `null` with `--digest`.
    files: Option<Vec<RenderedFile>>,
    /// The diagnostics, as in `check -o json`; at most 1,000.
    #[schema(value_type = Object)]
    report: Value,
}

/// A rendered file.
#[derive(Serialize, ToSchema)]
struct RenderedFile {
    /// A file of the result.
    path: String,
    /// Its git blob id.
    id: String,
}

impl RenderedEnvironment {
    /// The answer about the output of an environment. `files`: the files by path, if they were written.
    pub fn new(
        compiled: &Compiled,
        output: &Output,
        files: Option<&BTreeMap<String, GitId>>,
        report: &DiagnosticReport<'_>,
    ) -> Self {
        let (fleet, Reuse { recomputed, assignments }) = (compiled.fleet(), reuse([compiled]));
        let file = |(path, id): (&String, &GitId)| RenderedFile { path: path.clone(), id: id.to_string() };
        let mut failed = failed_assignments(compiled);
        let failed_count = failed.len();
        failed.truncate(LISTED_MAX);
        Self {
            environment: fleet.environment.to_string(),
            tree: output.tree.id().to_string(),
            assignments,
            recomputed,
            cluster_types: fleet.cluster_types.len(),
            clusters: fleet.clusters.len(),
            failed,
            failed_count,
            files: files.map(|files| files.iter().map(file).collect()),
            report: report.to_json(),
        }
    }
}

/// The assignments that could not be rendered, as `CLUSTER_TYPE/TARGET`.
pub fn failed_assignments(compiled: &Compiled) -> Vec<String> {
    let failed = compiled.assignments().filter(|assignment| !assignment.is_rendered());
    failed.filter_map(|assignment| Some(assignment.id()?.to_string())).collect()
}
