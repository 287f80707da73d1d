//! Reports of diagnostics as text: for people, and in formats of other programs.

mod affected_text;
mod github;
mod human;
mod sarif;
mod yaml;

use clap::ValueEnum;
use delivery::output::compilation::Reuse;
use model::count::{count, thousands};
use model::diagnostic::Code;
use workbench::diagnostics::DiagnosticReport;

use workbench::visible::escaped_json;

pub use yaml::to_yaml;

/// The output format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For reading, with the lines that are wrong
    #[default]
    Human,
    /// JSON, stable
    Json,
    /// YAML, stable
    Yaml,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

/// The report as text that ends with a newline.
///
/// [`ReportFormat::Human`] has colours: print it with `anstream`, which removes the colours if the output does not support them.
pub fn render(report: &DiagnosticReport<'_>, format: ReportFormat) -> String {
    match format {
        ReportFormat::Human => human::render(report),
        ReportFormat::Json => escaped_json(report.json_text()),
        ReportFormat::Yaml => to_yaml(&report.to_whole_json()),
        ReportFormat::Sarif => escaped_json(format!("{:#}\n", sarif::render(report))),
        ReportFormat::Github => github::render(report),
    }
}

/// Example: `3 of 1,000,000 assignments recomputed`.
pub(crate) fn reuse_text(reuse: Reuse) -> String {
    format!("{} of {} recomputed", thousands(reuse.recomputed), count(reuse.assignments, "assignment"))
}

/// The manual page of a code, as Markdown. Its first line is the title.
pub fn manual(code: Code) -> String {
    // Each line comes from a doc comment, and begins with the blank behind `///`.
    let lines = code.manual().lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests;
