//! What is wrong with the inputs, in the formats that people and programs read.

mod excerpt;
mod finding;
mod folding;
mod github;
mod hidden;
mod human;
mod json;
mod sarif;
mod words;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use clap::ValueEnum;
use delivery::acknowledgement::Acknowledged;
use delivery::compilation::Reuse;
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

pub use yaml::to_yaml;

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
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

/// Diagnostics of one environment, or of what was read before there was one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch<'d> {
    /// The environment.
    pub environment: Option<&'d EnvironmentName>,
    /// What is wrong.
    pub diagnostics: &'d [Diagnostic],
    /// How many assignments the environment has, if that is known.
    pub assignments: Option<usize>,
    /// Warnings that were acknowledged.
    pub acknowledged: &'d [Acknowledged],
    /// What becomes of the assignments that an error reaches.
    pub fallback: Fallback<'d>,
    /// The paths of sensitive values, which are not shown. None if nobody knows them: then no value is shown.
    pub sensitive: Option<&'d BTreeSet<FieldPath>>,
}

/// What becomes of an assignment that an error stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback<'d> {
    /// It keeps what was published last, if anything was: the GitOps branch was not read.
    Published,
    /// It keeps what was published last, in this commit of the GitOps branch if that is known, except for these assignments, which were never published.
    KeptExcept(&'d BTreeSet<AssignmentId>, Option<GitId>),
    /// It is left out: there is nothing published that it could keep.
    #[default]
    Nothing,
}

/// Why a finding does not count.
#[derive(Debug)]
struct Acknowledgement {
    reason: String,
    until: Option<Expiry>,
    is_in_source: bool,
}

/// Which of the files lie in the folder where the program runs, and where in it: the places that code hosts can show.
///
/// By default, the files of a plain directory that is that folder itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    /// The URL of the repository, as [`Source::url`] has it.
    pub url: Arc<str>,
    /// The branch, as [`Source::revision`] has it.
    pub revision: Arc<str>,
    /// The folder of the repository's root, relative to the one where the program runs; may be empty.
    pub folder: String,
}

impl Checkout {
    /// The path of `file` from the folder where the program runs; none if the file is not there.
    fn path(&self, file: &File) -> Option<String> {
        if (&file.source.url, &file.source.revision) != (&self.url, &self.revision) {
            return None;
        }
        let folder = self.folder.trim_start_matches("./").trim_end_matches('/');
        let is_here = matches!(folder, "" | ".");
        Some(if is_here { file.path.to_string() } else { format!("{folder}/{}", file.path) })
    }
}

/// Everything that is wrong, with its places. What several environments share is in it once.
#[derive(Debug, Default)]
pub struct Report<'a> {
    findings: BTreeMap<Finding<'a>, Vec<Reach>>,
    acknowledged: BTreeMap<Finding<'a>, (Acknowledgement, Vec<Reach>)>,
    environments: BTreeSet<EnvironmentName>,
    files: BTreeSet<(Arc<Source>, Arc<str>)>,
    checkout: Checkout,
    reuse: Option<Reuse>,
    /// The paths of values that are not shown.
    sensitive: BTreeSet<FieldPath>,
}

/// How much is wrong, in how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many errors there are.
    pub errors: usize,
    /// How many warnings there are, without those that were acknowledged.
    pub warnings: usize,
    /// How many were acknowledged.
    pub acknowledged: usize,
    /// How many files were read.
    pub files: usize,
    /// How many repositories they are from; none if they are from a plain directory.
    pub repositories: usize,
}

impl<'a> Report<'a> {
    /// Without anything wrong, in no file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what is wrong with one environment, and counts the files in which `locator` looks.
    pub fn add(&mut self, batch: Batch<'_>, locator: &mut Locator<'a>) {
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

    /// With another checkout, for the formats of code hosts.
    #[must_use]
    pub fn checked_out(mut self, checkout: Checkout) -> Self {
        self.checkout = checkout;
        self
    }

    /// With how much work it was.
    #[must_use]
    pub fn made_with(mut self, reuse: Reuse) -> Self {
        self.reuse = Some(reuse);
        self
    }

    /// How much is wrong.
    pub fn summary(&self) -> Summary {
        let count = |severity| self.findings.keys().filter(|finding| finding.severity == severity).count();
        let sources = self.files.iter().map(|(source, _)| source).filter(|source| !source.label.is_empty());
        let repositories: BTreeSet<_> = sources.map(|source| (&source.url, &source.label)).collect();
        Summary {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            acknowledged: self.acknowledged.len(),
            files: self.files.len(),
            repositories: repositories.len(),
        }
    }

    /// The report as text that ends in a newline.
    ///
    /// [`Format::Human`] is coloured: print it with `anstream`, which takes the colours out where they are not wanted.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Human => human::render(self),
            Format::Json => escaped_json(json::text(self)),
            Format::Yaml => to_yaml(&json::whole(self)),
            Format::Sarif => escaped_json(format!("{:#}\n", sarif::render(self))),
            Format::Github => github::render(self),
        }
    }

    /// The report as a JSON object with `diagnostics` and `summary`, as a part of larger answers: long lists are cut off. Its shape is
    /// stable; the reference of diagnostics describes it.
    pub fn to_json(&self) -> serde_json::Value {
        json::part(self)
    }
}

/// The paths of values that are not shown. Where nobody knows what is sensitive, everything is: also where a file that marks something
/// can't be read.
fn sensitive(batch: Batch<'_>, files: &Files) -> BTreeSet<FieldPath> {
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

/// `1 error, 2 warnings in 214 files of 5 repositories`
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.errors, self.warnings) {
            (0, 0) => f.write_str("nothing wrong")?,
            (errors, 0) => f.write_str(&count(errors, "error"))?,
            (0, warnings) => f.write_str(&count(warnings, "warning"))?,
            (errors, warnings) => write!(f, "{}, {}", count(errors, "error"), count(warnings, "warning"))?,
        }
        write!(f, " in {}", count(self.files, "file"))?;
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

/// `3 of 1,000,000 assignments recomputed`
pub(crate) fn reuse_text(reuse: Reuse) -> String {
    format!("{} of {} recomputed", thousands(reuse.recomputed), count(reuse.assignments, "assignment"))
}

/// The manual page of a code, as Markdown. Its first line is the title.
pub fn manual(code: Code) -> String {
    // Each line is one of a doc comment, with the blank behind its slashes.
    let lines = code.manual().lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests;
