//! Diagnostics of the inputs, with their positions in files, and as JSON.

mod excerpt;
mod finding;
mod folding;
mod hidden;
mod json;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use delivery::access::acknowledgement::{self, Acknowledged};
use delivery::output::compilation::Reuse;
use delivery::output::planned::Planned;
use delivery::sources::loaded::Loaded;
use delivery::sources::shared_objects::without_possibly_used;
use engine::compile::Compiled;
use model::count::count;
use model::diagnostic::{AssignmentId, Diagnostic, Origin, Severity};
use model::expiry::Expiry;
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::locate::Locator;
use model::name::EnvironmentName;
use model::source::{File, Files, Source};

pub use self::excerpt::Excerpt;
pub use self::finding::{AffectedAssignments, Fate, LocatedDiagnostic, Mark, Spot};
pub use self::hidden::{HiddenBytes, touching};
use crate::branch::EditComparison;
use crate::checkout_paths::CheckoutPaths;

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
pub struct Acknowledgement {
    /// The reason that was given.
    pub reason: String,
    /// The day until which it counts. None: forever.
    pub until: Option<Expiry>,
    /// Whether it is written beside the object, not in the configuration.
    pub is_in_source: bool,
}

/// All diagnostics with their positions. A diagnostic that several environments share is contained once.
#[derive(Debug, Default)]
pub struct DiagnosticReport<'a> {
    /// The diagnostics that count, with the assignments that each affects.
    pub findings: BTreeMap<LocatedDiagnostic<'a>, Vec<AffectedAssignments>>,
    /// The warnings that were acknowledged.
    pub acknowledged: BTreeMap<LocatedDiagnostic<'a>, (Acknowledgement, Vec<AffectedAssignments>)>,
    /// The environments that were read.
    pub environments: BTreeSet<EnvironmentName>,
    files: BTreeSet<(Arc<Source>, Arc<str>)>,
    /// The checkouts. None: that of a plain directory.
    checkouts: Vec<CheckoutPaths>,
    /// The amount of work that was done, if it is known.
    pub reuse: Option<Reuse>,
    /// The paths of values that are not shown.
    pub sensitive: BTreeSet<FieldPath>,
}

/// The number of diagnostics, and of the files that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosticSummary {
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

impl<'d> Fallback<'d> {
    /// The consequence for failing assignments of a plan: published files are kept if there are any.
    pub fn of_plan(planned: &'d Planned) -> Self {
        if planned.target.branch.is_published {
            Self::KeptExcept(&planned.plan.missing, planned.published())
        } else {
            Self::Published
        }
    }
}

impl<'d> DiagnosticBatch<'d> {
    /// The diagnostics of a compiled environment.
    pub fn of_compiled(diagnostics: &'d [Diagnostic], compiled: &'d Compiled) -> Self {
        let sensitive = Some(compiled.prepared().sensitive());
        Self { diagnostics, assignments: Some(compiled.len()), sensitive, ..Self::default() }
    }

    /// The diagnostics of a plan. What is sensitive on one of its sides is hidden.
    pub fn of_plan(diagnostics: &'d [Diagnostic], planned: &'d Planned) -> Self {
        let (fallback, sensitive) = (Fallback::of_plan(planned), Some(planned.sensitive()));
        Self { fallback, sensitive, ..Self::of_compiled(diagnostics, &planned.compiled) }
    }
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
            let finding = LocatedDiagnostic::new(diagnostic, locator, &hidden);
            let reaches = self.findings.entry(finding).or_default();
            reaches.push(AffectedAssignments::new(diagnostic, batch));
        }
        for Acknowledged { diagnostic, reason, until, is_in_source } in batch.acknowledged {
            let finding = LocatedDiagnostic::new(diagnostic, locator, &hidden);
            let (reason, until, is_in_source) = (reason.clone(), *until, *is_in_source);
            let known = || (Acknowledgement { reason, until, is_in_source }, Vec::new());
            let (_, reaches) = self.acknowledged.entry(finding).or_insert_with(known);
            reaches.push(AffectedAssignments::new(diagnostic, batch));
        }
    }

    /// Adds diagnostics of an environment. Notes are left out: they are for readers of a check. Warnings about shared objects are left out, too: other
    /// environments, which were not read, may use these objects.
    pub fn add_problems(&mut self, loaded: &'a Loaded, batch: DiagnosticBatch<'_>) {
        let mut diagnostics = without_possibly_used(loaded, batch.diagnostics);
        diagnostics.retain(|diagnostic| !diagnostic.is_note());
        self.add_all(loaded, DiagnosticBatch { diagnostics: &diagnostics, ..batch });
    }

    /// Adds all diagnostics of an environment. Returns the acknowledgements that match a diagnostic.
    pub fn add_all(&mut self, loaded: &'a Loaded, batch: DiagnosticBatch<'_>) -> BTreeSet<acknowledgement::Id> {
        let of = (&*loaded.fleet, &*loaded.acknowledgements);
        let divided = acknowledgement::divide(of, batch.diagnostics, jiff::Timestamp::now());
        let (diagnostics, acknowledged) = (&*divided.counting, &*divided.acknowledged);
        let batch =
            DiagnosticBatch { environment: Some(&loaded.fleet.environment), diagnostics, acknowledged, ..batch };
        self.add(batch, &mut Locator::new(&loaded.fleet));
        divided.used
    }

    /// Adds the errors that exist only after edits.
    pub fn add_new_errors(&mut self, comparison: &EditComparison<'a>) {
        let batch = DiagnosticBatch::of_compiled(comparison.new_errors(), comparison.compiled());
        let sensitive = Some(comparison.planned().sensitive());
        self.add_all(comparison.loaded(), DiagnosticBatch { sensitive, ..batch });
    }

    /// Adds the warnings that exist only after edits. Warnings about objects that other environments may use are left out.
    pub fn add_new_warnings(&mut self, comparison: &EditComparison<'a>) {
        let batch = DiagnosticBatch::of_compiled(comparison.new_warnings(), comparison.compiled());
        let sensitive = Some(comparison.planned().sensitive());
        self.add_problems(comparison.loaded(), DiagnosticBatch { sensitive, ..batch });
    }

    /// Sets other checkouts: a file is shown at its path in the first one that has it.
    #[must_use]
    pub fn checked_out(mut self, checkouts: Vec<CheckoutPaths>) -> Self {
        self.checkouts = checkouts;
        self
    }

    /// The path of a file from the working directory. None if it is in no checkout.
    pub fn path(&self, file: &File) -> Option<String> {
        if self.checkouts.is_empty() {
            return CheckoutPaths::default().path(file);
        }
        self.checkouts.iter().find_map(|checkout| checkout.path(file))
    }

    /// The path of a file of a working tree, from the working directory. None for other files, also for those of a plain directory.
    pub fn path_in_working_tree(&self, file: &File) -> Option<String> {
        self.checkouts.iter().filter(|checkout| checkout.commit.is_some()).find_map(|checkout| checkout.path(file))
    }

    /// The name of a file for people.
    pub fn place_name(&self, file: &File) -> String {
        self.path_in_working_tree(file).unwrap_or_else(|| file.place_name())
    }

    /// Sets the amount of work that was done.
    #[must_use]
    pub fn made_with(mut self, reuse: Reuse) -> Self {
        self.reuse = Some(reuse);
        self
    }

    /// The number of diagnostics and files.
    pub fn summary(&self) -> DiagnosticSummary {
        let count = |severity| self.findings.keys().filter(|finding| finding.severity == severity).count();
        let sources = self.files.iter().map(|(source, _)| source).filter(|source| !source.label.is_empty());
        let repositories: BTreeSet<_> = sources.map(|source| (&source.url, &source.label)).collect();
        DiagnosticSummary {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
            acknowledged: self.acknowledged.len(),
            files: self.files.len(),
            repositories: repositories.len(),
        }
    }

    /// Whether there are errors; with `strict`, also whether there are warnings.
    pub fn has_problems(&self, strict: bool) -> bool {
        let summary = self.summary();
        summary.errors > 0 || (strict && summary.warnings > 0)
    }

    /// The report with all diagnostics, as a JSON document that ends with a newline.
    pub fn json_text(&self) -> String {
        json::text(self)
    }

    /// The report with all diagnostics, as a JSON object.
    pub fn to_whole_json(&self) -> serde_json::Value {
        json::whole(self)
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
impl fmt::Display for DiagnosticSummary {
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
