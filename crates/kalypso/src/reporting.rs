//! Functions of commands for diagnostics.

use std::collections::BTreeSet;
use std::io::Write as _;

use delivery::acknowledgement::{self, Id};
use delivery::loaded::Loaded;
use delivery::shared_objects::without_possibly_used;
use engine::compile::Compiled;
use model::diagnostic::Diagnostic;
use model::locate::Locator;

use crate::diagnostics::{Batch, Format, Report};

/// Adds diagnostics to a report. Notes are left out: they are for readers of a check. Warnings about shared objects are left out, too: other
/// environments, which were not read, may use these objects.
pub(crate) fn add<'a>(report: &mut Report<'a>, loaded: &'a Loaded, batch: Batch<'_>) {
    let mut diagnostics = without_possibly_used(loaded, batch.diagnostics);
    diagnostics.retain(|diagnostic| !diagnostic.is_note());
    add_all(report, loaded, Batch { diagnostics: &diagnostics, ..batch });
}

/// Adds diagnostics to a report. Returns the acknowledgements that match a diagnostic.
pub(crate) fn add_all<'a>(report: &mut Report<'a>, loaded: &'a Loaded, batch: Batch<'_>) -> BTreeSet<Id> {
    let of = (&*loaded.fleet, &*loaded.acknowledgements);
    let divided = acknowledgement::divide(of, batch.diagnostics, jiff::Timestamp::now());
    let (diagnostics, acknowledged) = (&*divided.counting, &*divided.acknowledged);
    let batch = Batch { environment: Some(&loaded.fleet.environment), diagnostics, acknowledged, ..batch };
    report.add(batch, &mut Locator::new(&loaded.fleet));
    divided.used
}

/// A batch with the diagnostics of an environment.
pub(crate) fn batch<'d>(diagnostics: &'d [Diagnostic], compiled: &'d Compiled) -> Batch<'d> {
    let sensitive = Some(compiled.prepared().sensitive());
    Batch { diagnostics, assignments: Some(compiled.len()), sensitive, ..Batch::default() }
}

/// Whether the diagnostics of a report make the program exit with an error.
pub(crate) fn has_problems(report: &Report<'_>, strict: bool) -> bool {
    let summary = report.summary();
    summary.errors > 0 || (strict && summary.warnings > 0)
}

/// Prints a report to standard error if it has diagnostics.
pub(crate) fn to_stderr(report: &Report<'_>) -> std::io::Result<()> {
    let summary = report.summary();
    if summary.errors + summary.warnings == 0 {
        return Ok(());
    }
    let mut stderr = anstream::stderr().lock();
    stderr.write_all(report.render(Format::Human).as_bytes())?;
    stderr.write_all(b"\n")
}

/// A report as JSON, as a part of a larger document.
pub(crate) fn json(report: &Report<'_>) -> serde_json::Value {
    report.to_json()
}
