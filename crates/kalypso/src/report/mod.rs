//! What is wrong with the inputs, in the formats that people and programs read.

mod excerpt;
mod finding;
mod human;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use clap::ValueEnum;
use model::diagnostic::{Diagnostic, Severity};
use model::git_id::GitId;
use model::locate::Locator;
use model::name::EnvironmentName;
use model::source::Source;

use finding::{Finding, Reach};

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people, with excerpts of the files
    #[default]
    Human,
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
    /// What becomes of the assignments that an error reaches.
    pub fallback: Fallback,
}

/// What becomes of an assignment that an error stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// It keeps what was published last, in this commit of the GitOps branch if that is known.
    LastGood(Option<GitId>),
    /// It is left out: there is nothing published that it could keep.
    #[default]
    Nothing,
}

/// Everything that is wrong, with its places. What several environments share is in it once.
#[derive(Debug, Default)]
pub struct Report<'a> {
    findings: BTreeMap<Finding<'a>, Vec<Reach>>,
    environments: BTreeSet<EnvironmentName>,
    files: BTreeSet<(Arc<Source>, Arc<str>)>,
}

/// How much is wrong, in how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many errors there are.
    pub errors: usize,
    /// How many warnings there are.
    pub warnings: usize,
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
        for diagnostic in batch.diagnostics {
            let reaches = self.findings.entry(Finding::new(diagnostic, locator)).or_default();
            reaches.push(Reach::new(diagnostic, batch));
        }
    }

    /// How much is wrong.
    pub fn summary(&self) -> Summary {
        let count = |severity| self.findings.keys().filter(|finding| finding.severity == severity).count();
        let sources = self.files.iter().map(|(source, _)| source).filter(|source| !source.label.is_empty());
        let repositories: BTreeSet<_> = sources.map(|source| (&source.url, &source.label)).collect();
        Summary {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
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
        }
    }
}

/// `1 error, 2 warnings in 214 files of 5 repositories`
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.errors, self.warnings) {
            (0, 0) => f.write_str("nothing wrong")?,
            (errors, 0) => f.write_str(&counted(errors, "error"))?,
            (0, warnings) => f.write_str(&counted(warnings, "warning"))?,
            (errors, warnings) => write!(f, "{}, {}", counted(errors, "error"), counted(warnings, "warning"))?,
        }
        write!(f, " in {}", counted(self.files, "file"))?;
        match self.repositories {
            0 => Ok(()),
            1 => f.write_str(" of 1 repository"),
            repositories => write!(f, " of {repositories} repositories"),
        }
    }
}

/// `1 error`, `2 errors`
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests;
