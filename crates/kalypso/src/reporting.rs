//! What commands do with reports.

use std::io::Write as _;

use engine::compile::Compiled;
use model::diagnostic::Diagnostic;

use crate::report::{Batch, Format, Report};

/// A batch of these diagnostics of an environment.
pub(crate) fn batch<'d>(diagnostics: &'d [Diagnostic], compiled: &'d Compiled) -> Batch<'d> {
    let sensitive = Some(compiled.prepared().sensitive());
    Batch { diagnostics, assignments: Some(compiled.len()), sensitive, ..Batch::default() }
}

/// Whether a report makes the program end with an error.
pub(crate) fn has_problems(report: &Report<'_>, strict: bool) -> bool {
    let summary = report.summary();
    summary.errors > 0 || (strict && summary.warnings > 0)
}

/// Shows a report beside an answer, if something is wrong.
pub(crate) fn to_stderr(report: &Report<'_>) -> std::io::Result<()> {
    let summary = report.summary();
    if summary.errors + summary.warnings == 0 {
        return Ok(());
    }
    let mut stderr = anstream::stderr().lock();
    stderr.write_all(report.render(Format::Human).as_bytes())?;
    stderr.write_all(b"\n")
}

/// A report as part of a larger answer.
pub(crate) fn json(report: &Report<'_>) -> serde_json::Value {
    report.to_json()
}
