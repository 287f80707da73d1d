//! Diagnostics of the inputs, in formats for people and for programs.

mod affected_text;
mod excerpt;
mod finding;
mod folding;
mod github;
mod hidden;
mod human;
mod json;
mod sarif;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use clap::ValueEnum;
use delivery::access::acknowledgement::Acknowledged;
use delivery::output::compilation::Reuse;
use model::count::{count, thousands};
use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin, Severity};
use model::expiry::Expiry;
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::locate::Locator;
use model::name::EnvironmentName;
use model::source::{File, Files, Source};

use finding::{Finding, Reach};
use hidden::HiddenBytes;

use crate::visible::escaped_json;

use workbench::checkout_paths::CheckoutPaths;
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

/// The diagnostics of one environment, or of the files that were read before environments are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiagnosticBatch<'d> {
    /// The environment.
    pub environment: Option<&'d EnvironmentName>,
    /// The diagnostics.
    pub diagnostics: &'d [Diagnostic],
    /// The number of assignments of the environment. None if it is not known.
    pub assignments: Option<usize>,
    /// Warnings that were acknowledged.
    pub acknowledged: &'d [Acknowledged],
    /// The consequence of an error for the assignments that it affects.
    pub fallback: Fallback<'d>,
    /// The paths of sensitive values, which are not shown. None if they are not known: then no value is shown.
    pub sensitive: Option<&'d BTreeSet<FieldPath>>,
}

/// The consequence of an error for an assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback<'d> {
    /// The assignment keeps its last published files, if there are any: the GitOps branch was not read.
    Published,
    /// The assignment keeps its last published files, in this commit of the GitOps branch if it is known. These assignments are excepted: they were
    /// never published.
    KeptExcept(&'d BTreeSet<AssignmentId>, Option<GitId>),
    /// The assignment is left out: there are no published files to keep.
    #[default]
    Nothing,
}

/// The reason why a finding does not count.
#[derive(Debug)]
struct Acknowledgement {
    reason: String,
    until: Option<Expiry>,
    is_in_source: bool,
}

/// All diagnostics with their positions. A diagnostic that several environments share is contained once.
#[derive(Debug, Default)]
pub struct DiagnosticReport<'a> {
    findings: BTreeMap<Finding<'a>, Vec<Reach>>,
    acknowledged: BTreeMap<Finding<'a>, (Acknowledgement, Vec<Reach>)>,
    environments: BTreeSet<EnvironmentName>,
    files: BTreeSet<(Arc<Source>, Arc<str>)>,
    /// The checkouts. None: that of a plain directory.
    checkouts: Vec<CheckoutPaths>,
    reuse: Option<Reuse>,
    /// The paths of values that are not shown.
    sensitive: BTreeSet<FieldPath>,
}

/// The number of diagnostics, and of the files that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings, without acknowledged warnings.
    pub warnings: usize,
    /// The number of notes.
    pub notes: usize,
    /// The number of acknowledged warnings.
    pub acknowledged: usize,
    /// The number of files that were read.
    pub files: usize,
    /// The number of repositories of the files. None if the files are from a plain directory.
    pub repositories: usize,
}

impl<'a> DiagnosticReport<'a> {
    /// A report without diagnostics.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the diagnostics of one environment, and counts the files of `locator`.
    pub fn add(&mut self, batch: DiagnosticBatch<'_>, locator: &mut Locator<'a>) {
        self.environments.extend(batch.environment.cloned());
        self.files.extend(locator.files().iter().map(|(_, file)| (Arc::clone(&file.source), Arc::clone(&file.path))));
        let sensitive = sensitive(batch, locator.files());
        self.sensitive.extend(sensitive.iter().cloned());
        let hidden = HiddenBytes::new(&sensitive);
        for diagnostic in &folding::folded(batch.diagnostics, locator.files()) {
            let finding = Finding::new(diagnostic, locator, &hidden);
            let reaches = self.findings.entry(finding).or_default();
            reaches.push(Reach::new(diagnostic, batch));
        }
        for Acknowledged { diagnostic, reason, until, is_in_source } in batch.acknowledged {
            let finding = Finding::new(diagnostic, locator, &hidden);
            let (reason, until, is_in_source) = (reason.clone(), *until, *is_in_source);
            let known = || (Acknowledgement { reason, until, is_in_source }, Vec::new());
            let (_, reaches) = self.acknowledged.entry(finding).or_insert_with(known);
            reaches.push(Reach::new(diagnostic, batch));
        }
    }

    /// Sets other checkouts: a file is shown at its path in the first one that has it.
    #[must_use]
    pub fn checked_out(mut self, checkouts: Vec<CheckoutPaths>) -> Self {
        self.checkouts = checkouts;
        self
    }

    /// The path of a file from the working directory. None if it is in no checkout.
    fn path(&self, file: &File) -> Option<String> {
        if self.checkouts.is_empty() {
            return CheckoutPaths::default().path(file);
        }
        self.checkouts.iter().find_map(|checkout| checkout.path(file))
    }

    /// The path of a file of a working tree, from the working directory. None for other files, also for those of a plain directory.
    fn path_in_working_tree(&self, file: &File) -> Option<String> {
        self.checkouts.iter().filter(|checkout| checkout.commit.is_some()).find_map(|checkout| checkout.path(file))
    }

    /// The name of a file for people.
    fn place_name(&self, file: &File) -> String {
        self.path_in_working_tree(file).unwrap_or_else(|| file.place_name())
    }

    /// Sets the amount of work that was done.
    #[must_use]
    pub fn made_with(mut self, reuse: Reuse) -> Self {
        self.reuse = Some(reuse);
        self
    }

    /// The number of diagnostics and files.
    pub fn summary(&self) -> Summary {
        let count = |severity| self.findings.keys().filter(|finding| finding.severity == severity).count();
        let sources = self.files.iter().map(|(source, _)| source).filter(|source| !source.label.is_empty());
        let repositories: BTreeSet<_> = sources.map(|source| (&source.url, &source.label)).collect();
        Summary {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
            acknowledged: self.acknowledged.len(),
            files: self.files.len(),
            repositories: repositories.len(),
        }
    }

    /// The report as text that ends with a newline.
    ///
    /// [`ReportFormat::Human`] has colours: print it with `anstream`, which removes the colours if the output does not support them.
    pub fn render(&self, format: ReportFormat) -> String {
        match format {
            ReportFormat::Human => human::render(self),
            ReportFormat::Json => escaped_json(json::text(self)),
            ReportFormat::Yaml => to_yaml(&json::whole(self)),
            ReportFormat::Sarif => escaped_json(format!("{:#}\n", sarif::render(self))),
            ReportFormat::Github => github::render(self),
        }
    }

    /// The report as a JSON object with `diagnostics` and `summary`, as a part of larger documents: long lists are cut off. Its format is stable, and
    /// documented in the reference of diagnostics.
    pub fn to_json(&self) -> serde_json::Value {
        json::part(self)
    }
}

/// The paths of values that are not shown. If the sensitive paths are not known, all values are hidden. This includes the case that a file with
/// sensitive marks can't be read.
fn sensitive(batch: DiagnosticBatch<'_>, files: &Files) -> BTreeSet<FieldPath> {
    let labels = batch.diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels);
    let broken: BTreeSet<_> = labels
        .filter_map(|label| match label.origin {
            Origin::Span(file, _) => Some(file),
            _ => None,
        })
        .collect();
    let mut sensitive = batch.sensitive.cloned().unwrap_or_else(|| BTreeSet::from([FieldPath::default()]));
    if broken.into_iter().any(|file| engine::schema::marks::names_mark(&files.get(file).content)) {
        sensitive.insert(FieldPath::default());
    }
    sensitive
}

/// Example: `1 error, 2 warnings, 3 notes in 214 files of 5 repositories`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let counted = counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what));
        let nothing = (self.errors + self.warnings == 0).then(|| "nothing wrong".to_owned());
        let parts: Vec<_> = nothing.into_iter().chain(counted).collect();
        write!(f, "{} in {}", parts.join(", "), count(self.files, "file"))?;
        match self.repositories {
            0 => {}
            1 => f.write_str(" of 1 repository")?,
            repositories => write!(f, " of {repositories} repositories")?,
        }
        match self.acknowledged {
            0 => Ok(()),
            1 => f.write_str("; 1 warning is acknowledged"),
            more => write!(f, "; {} are acknowledged", count(more, "warning")),
        }
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
