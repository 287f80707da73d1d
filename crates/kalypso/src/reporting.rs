//! Functions of commands for diagnostics.

use std::collections::BTreeSet;
use std::io::Write as _;

use delivery::access::acknowledgement::{self, Id};
use delivery::sources::loaded::Loaded;
use delivery::sources::shared_objects::without_possibly_used;
use engine::compile::Compiled;
use model::diagnostic::Diagnostic;
use model::locate::Locator;
use workbench::branch::EditComparison;

use crate::diagnostics::{DiagnosticBatch, DiagnosticReport, ReportFormat};

/// Adds diagnostics to a report. Notes are left out: they are for readers of a check. Warnings about shared objects are left out, too: other
/// environments, which were not read, may use these objects.
pub(crate) fn add<'a>(report: &mut DiagnosticReport<'a>, loaded: &'a Loaded, batch: DiagnosticBatch<'_>) {
    let mut diagnostics = without_possibly_used(loaded, batch.diagnostics);
    diagnostics.retain(|diagnostic| !diagnostic.is_note());
    add_all(report, loaded, DiagnosticBatch { diagnostics: &diagnostics, ..batch });
}

/// Adds diagnostics to a report. Returns the acknowledgements that match a diagnostic.
pub(crate) fn add_all<'a>(
    report: &mut DiagnosticReport<'a>,
    loaded: &'a Loaded,
    batch: DiagnosticBatch<'_>,
) -> BTreeSet<Id> {
    let of = (&*loaded.fleet, &*loaded.acknowledgements);
    let divided = acknowledgement::divide(of, batch.diagnostics, jiff::Timestamp::now());
    let (diagnostics, acknowledged) = (&*divided.counting, &*divided.acknowledged);
    let batch = DiagnosticBatch { environment: Some(&loaded.fleet.environment), diagnostics, acknowledged, ..batch };
    report.add(batch, &mut Locator::new(&loaded.fleet));
    divided.used
}

/// A batch with the diagnostics of an environment.
pub(crate) fn batch<'d>(diagnostics: &'d [Diagnostic], compiled: &'d Compiled) -> DiagnosticBatch<'d> {
    let sensitive = Some(compiled.prepared().sensitive());
    DiagnosticBatch { diagnostics, assignments: Some(compiled.len()), sensitive, ..DiagnosticBatch::default() }
}

/// Adds the errors that exist only after edits.
pub(crate) fn add_new_errors<'a>(report: &mut DiagnosticReport<'a>, comparison: &EditComparison<'a>) {
    let batch = batch(comparison.new_errors(), comparison.compiled());
    add_all(
        report,
        comparison.loaded(),
        DiagnosticBatch { sensitive: Some(comparison.planned().sensitive()), ..batch },
    );
}

/// Adds the warnings that exist only after edits. Warnings about objects that other environments may use are left out.
pub(crate) fn add_new_warnings<'a>(report: &mut DiagnosticReport<'a>, comparison: &EditComparison<'a>) {
    let batch = batch(comparison.new_warnings(), comparison.compiled());
    add(report, comparison.loaded(), DiagnosticBatch { sensitive: Some(comparison.planned().sensitive()), ..batch });
}

/// Whether the diagnostics of a report make the program exit with an error.
pub(crate) fn has_problems(report: &DiagnosticReport<'_>, strict: bool) -> bool {
    let summary = report.summary();
    summary.errors > 0 || (strict && summary.warnings > 0)
}

/// Prints a report to standard error if it has diagnostics.
pub(crate) fn to_stderr(report: &DiagnosticReport<'_>) -> std::io::Result<()> {
    let summary = report.summary();
    if summary.errors + summary.warnings == 0 {
        return Ok(());
    }
    let mut stderr = anstream::stderr().lock();
    stderr.write_all(report.render(ReportFormat::Human).as_bytes())?;
    stderr.write_all(b"\n")
}

/// Prints the diagnostics that an error is the consequence of, if there are any: those of an environment that was not read completely.
pub(crate) fn reasons_to_stderr(error: &anyhow::Error) -> std::io::Result<()> {
    let Some(workbench::Error::Incomplete(loaded)) = error.downcast_ref() else { return Ok(()) };
    let mut report = DiagnosticReport::new();
    let batch =
        DiagnosticBatch { diagnostics: &loaded.diagnostics, assignments: Some(0), ..DiagnosticBatch::default() };
    add(&mut report, loaded, batch);
    to_stderr(&report)
}

/// A report as JSON, as a part of a larger document.
pub(crate) fn json(report: &DiagnosticReport<'_>) -> serde_json::Value {
    report.to_json()
}
