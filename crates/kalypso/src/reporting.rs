//! Prints diagnostics to standard error.

use std::io::Write as _;

use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};

use crate::diagnostics::{ReportFormat, render};

/// Prints a report to standard error if it has diagnostics.
pub(crate) fn to_stderr(report: &DiagnosticReport<'_>) -> std::io::Result<()> {
    let summary = report.summary();
    if summary.errors + summary.warnings == 0 {
        return Ok(());
    }
    let mut stderr = anstream::stderr().lock();
    stderr.write_all(render(report, ReportFormat::Human).as_bytes())?;
    stderr.write_all(b"\n")
}

/// Prints the diagnostics that an error is the consequence of, if there are any: those of an environment that was not read completely.
pub(crate) fn reasons_to_stderr(error: &anyhow::Error) -> std::io::Result<()> {
    let Some(workbench::Error::Incomplete(loaded)) = error.downcast_ref() else { return Ok(()) };
    let mut report = DiagnosticReport::new();
    let batch =
        DiagnosticBatch { diagnostics: &loaded.diagnostics, assignments: Some(0), ..DiagnosticBatch::default() };
    report.add_problems(loaded, batch);
    to_stderr(&report)
}
