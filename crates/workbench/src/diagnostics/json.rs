//! The report as JSON. Its format is stable: fields are added, but never renamed or removed.

use model::diagnostic::AssignmentId;
use model::name::EnvironmentName;
use serde::Serialize;

use super::finding::{AffectedAssignments, LocatedDiagnostic, Mark};
use super::{DiagnosticReport, DiagnosticSummary};

/// The maximum number of diagnostics in a part of a larger document. It is equal to the limit of lists in a plan.
const DIAGNOSTICS_LISTED_MAX: usize = 1_000;
/// The maximum number of assignments that are listed for a diagnostic.
const ASSIGNMENTS_LISTED_MAX: usize = 1_000;

#[derive(Serialize)]
struct Document<'r> {
    diagnostics: Vec<Diagnostic<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    acknowledged: Vec<Acknowledged<'r>>,
    summary: Counts,
}

/// A warning that was acknowledged.
#[derive(Serialize)]
struct Acknowledged<'r> {
    #[serde(flatten)]
    diagnostic: Diagnostic<'r>,
    reason: &'r str,
    until: Option<String>,
}

#[derive(Serialize)]
struct Diagnostic<'r> {
    code: &'static str,
    severity: String,
    message: &'r str,
    labels: Vec<Label<'r>>,
    notes: &'r [String],
    help: &'r [String],
    environments: Vec<&'r str>,
    assignments: Vec<Assignment<'r>>,
    assignment_count: usize,
    object: Option<Object<'r>>,
}

/// A range. Lines and columns count from 1, columns in characters. The end is exclusive.
#[derive(Default, Serialize)]
struct Label<'r> {
    repository: Option<&'r str>,
    revision: Option<&'r str>,
    commit: Option<String>,
    path: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    text: &'r str,
}

#[derive(Serialize)]
struct Assignment<'r> {
    environment: Option<&'r str>,
    cluster_type: &'r str,
    target: &'r str,
}

#[derive(Serialize)]
struct Object<'r> {
    kind: &'static str,
    name: &'r str,
}

#[derive(Serialize)]
struct Counts {
    errors: usize,
    warnings: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<usize>,
    files: usize,
    repositories: usize,
    not_listed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignments: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recomputed: Option<usize>,
}

/// The report with all diagnostics, as indented text.
pub(super) fn text(report: &DiagnosticReport<'_>) -> String {
    // The document has only strings, numbers and lists of them, so serialization can't fail.
    serde_json::to_string_pretty(&document(report, usize::MAX)).unwrap_or_default() + "\n"
}

/// The report with all diagnostics.
pub(super) fn whole(report: &DiagnosticReport<'_>) -> serde_json::Value {
    serde_json::to_value(document(report, usize::MAX)).unwrap_or_default()
}

/// The report as a part of a larger document. Its size does not depend on the size of the fleet.
pub(super) fn part(report: &DiagnosticReport<'_>) -> serde_json::Value {
    serde_json::to_value(document(report, DIAGNOSTICS_LISTED_MAX)).unwrap_or_default()
}

fn document<'r>(report: &'r DiagnosticReport<'_>, listed_max: usize) -> Document<'r> {
    let DiagnosticSummary { errors, warnings, notes, acknowledged, files, repositories } = report.summary();
    let (assignments, recomputed) = report.reuse.map(|reuse| (reuse.assignments, reuse.recomputed)).unzip();
    let not_listed = report.findings.len().saturating_sub(listed_max);
    let listed = report.findings.iter().take(listed_max);
    let [notes, acknowledged] = [notes, acknowledged].map(|count| Some(count).filter(|count| *count > 0));
    let known = report.acknowledged.iter().take(listed_max).map(|(finding, (why, reaches))| Acknowledged {
        diagnostic: diagnostic(report, finding, reaches),
        reason: &why.reason,
        until: why.until.map(|until| until.to_string()),
    });
    Document {
        diagnostics: listed.map(|(finding, reaches)| diagnostic(report, finding, reaches)).collect(),
        acknowledged: known.collect(),
        summary: Counts {
            errors,
            warnings,
            notes,
            acknowledged,
            files,
            repositories,
            not_listed,
            assignments,
            recomputed,
        },
    }
}

fn diagnostic<'r>(
    report: &DiagnosticReport<'_>,
    finding: &'r LocatedDiagnostic<'_>,
    reaches: &'r [AffectedAssignments],
) -> Diagnostic<'r> {
    Diagnostic {
        code: finding.code.id(),
        severity: finding.severity.to_string(),
        message: &finding.message,
        labels: finding.marks.iter().map(|mark| label(report, mark)).collect(),
        notes: &finding.notes,
        help: &finding.help,
        environments: reaches.iter().filter_map(environment).collect(),
        assignments: reaches.iter().flat_map(assignments).take(ASSIGNMENTS_LISTED_MAX).collect(),
        assignment_count: reaches.iter().map(|reach| reach.assignments.len()).sum(),
        object: finding.object.as_ref().map(|object| Object { kind: object.kind.name(), name: &object.name }),
    }
}

fn environment(reach: &AffectedAssignments) -> Option<&str> {
    reach.environment.as_ref().map(EnvironmentName::as_str)
}

fn assignments(reach: &AffectedAssignments) -> impl Iterator<Item = Assignment<'_>> {
    reach.assignments.iter().map(|AssignmentId { place, target }| Assignment {
        environment: environment(reach),
        cluster_type: place.as_str(),
        target: target.as_str(),
    })
}

fn label<'r>(report: &DiagnosticReport<'_>, mark: &'r Mark<'_>) -> Label<'r> {
    let text = mark.text.as_str();
    let Some(spot) = &mark.spot else { return Label { text, ..Label::default() } };
    let source = &spot.file.source;
    let (start, end) = spot.positions().unzip();
    let file = report.path_in_working_tree(spot.file);
    Label {
        repository: Some(&*source.url).filter(|url| !url.is_empty()),
        revision: Some(&*source.revision).filter(|revision| !revision.is_empty()),
        // The content of a working tree has no commit.
        commit: source.commit.filter(|_| file.is_none()).map(|commit| commit.to_string()),
        path: Some(&spot.file.path),
        file,
        line: start.map(|start| start.line),
        column: start.map(|start| start.column),
        end_line: end.map(|end| end.line),
        end_column: end.map(|end| end.column),
        text,
    }
}
