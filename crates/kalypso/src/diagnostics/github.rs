//! The report as workflow commands. GitHub shows them beside the lines of a pull request.
//!
//! The syntax is defined by "Workflow commands for GitHub Actions", the escapes by its toolkit (`packages/core/src/command.ts`).

use std::fmt::Write as _;

use model::diagnostic::Severity;
use workbench::diagnostics::{AffectedAssignments, DiagnosticReport, LocatedDiagnostic, Mark, Spot};

use super::affected_text;
use workbench::visible::visible;

pub(super) fn render(report: &DiagnosticReport<'_>) -> String {
    let mut text = String::new();
    for (finding, reaches) in &report.findings {
        text.push_str(&command(report, finding, reaches));
        text.push('\n');
    }
    // The next line is not a command. It is for the reader of the log.
    let _ = writeln!(text, "{}", report.summary());
    text
}

fn command(report: &DiagnosticReport<'_>, finding: &LocatedDiagnostic<'_>, reaches: &[AffectedAssignments]) -> String {
    let first = finding.marks.first().and_then(|mark| mark.spot.as_ref());
    let mut properties = first.map(|spot| place(report, spot)).unwrap_or_default();
    let shows_first = !properties.is_empty();
    properties.push(("title", finding.code.id().to_owned()));
    let properties: Vec<_> = properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let mut lines = vec![finding.message.clone()];
    lines.extend(finding.marks.iter().skip(usize::from(shows_first)).filter_map(described));
    lines.extend(affected_text::facts(finding, reaches, report.environments.len() > 1));
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    format!("::{level} {}::{}", properties.join(","), data(&lines.join("\n")))
}

/// The properties for the position. Empty for a file that is not in the repository of the pull request.
fn place(report: &DiagnosticReport<'_>, spot: &Spot<'_>) -> Vec<(&'static str, String)> {
    let Some(path) = report.path(spot.file) else { return Vec::new() };
    let mut properties = vec![("file", path)];
    if let Some((start, end)) = spot.positions() {
        properties.extend([("line", start.line.to_string()), ("endLine", end.line.to_string())]);
        // GitHub accepts columns only for ranges inside of one line.
        if start.line == end.line {
            properties.extend([("col", start.column.to_string()), ("endColumn", end.column.to_string())]);
        }
    }
    properties
}

/// A position as a line of the message.
fn described(mark: &Mark<'_>) -> Option<String> {
    let place = mark.spot.as_ref().map(ToString::to_string);
    let text = (!mark.text.is_empty()).then(|| mark.text.clone());
    match (place, text) {
        (Some(place), Some(text)) => Some(format!("{place}: {text}")),
        (place, text) => place.or(text),
    }
}

fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
