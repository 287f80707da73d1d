//! Checks rendered files: whether they are valid YAML, and what Kubernetes refuses or reads differently.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use model::diagnostic::{Code, Diagnostic};
use model::digest::Digest;
use model::yaml::{Outline, OutlinedText, outline};

use super::application_text::origins_of;
use super::fields;
use super::namespace;
use super::not_yaml::{self, Place, outputs, places};
use super::review::{Finding, review, shell};
use super::template::extension;
use super::warning::{FileWarnings, OutputWarning};
use super::{Format, OutputFile};

/// The number of locks of [`CheckedOutlines`]. There are more locks than processors, so that threads seldom wait for the same one.
const PARTS: usize = 64;
/// The cache is cleared above this number of outlines. A fleet has one for each form of each template.
const OUTLINES_MAX: usize = 1 << 20;

/// The outlines of files without findings, for all assignments. A file with a known outline is not read again.
#[derive(Debug)]
pub(crate) struct CheckedOutlines {
    parts: Box<[RwLock<HashSet<Digest>>]>,
    /// The bytes of the files that were read completely.
    bytes: AtomicUsize,
}

impl Default for CheckedOutlines {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| RwLock::default()).collect(), bytes: AtomicUsize::new(0) }
    }
}

impl CheckedOutlines {
    fn part(&self, outline: Digest) -> Option<&RwLock<HashSet<Digest>>> {
        self.parts.get(usize::from(outline.as_bytes()[0]) % PARTS)
    }

    fn contains(&self, outline: Digest) -> bool {
        let part = self.part(outline);
        part.is_some_and(|part| part.read().unwrap_or_else(PoisonError::into_inner).contains(&outline))
    }

    fn insert(&self, outline: Digest) {
        if let Some(part) = self.part(outline) {
            let mut known = part.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= OUTLINES_MAX / PARTS {
                known.clear();
            }
            known.insert(outline);
        }
    }

    /// The bytes of the files that were read completely, because no file with the same outline was known.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Files with their warnings, the last one of each template and set of values. Files of the same template and values differ only in a few lines. Only these
/// lines are compared. The warnings are about the values, which such files have in common.
#[derive(Debug, Default)]
pub(crate) struct RecentFiles {
    yaml: RefCell<BTreeMap<MadeBy, RecentFile>>,
    /// The shared parts of shell files without findings.
    shell_parts: RefCell<BTreeMap<MadeBy, Vec<Arc<[u8]>>>>,
}

/// What files have in common that differ only in a few lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MadeBy {
    template: Digest,
    is_json: bool,
    /// None if the template reads no values.
    values: Option<Digest>,
}

#[derive(Debug)]
struct RecentFile {
    text: OutlinedText,
    warnings: FileWarnings,
}

impl RecentFiles {
    /// The warnings about a known file with the same outline. None if no such file is known.
    fn warnings(&self, file: &OutputFile<'_>, application_texts: &[Range<usize>]) -> Option<FileWarnings> {
        let files = self.yaml.borrow();
        let known = files.get(&file.made_by())?;
        let made = file.made;
        let is_same = known.text.has_outline_of((&made.text, &made.shared_parts), application_texts);
        is_same.then(|| known.warnings.clone())
    }

    fn insert(&self, file: &OutputFile<'_>, application_texts: &[Range<usize>], warnings: FileWarnings) {
        let text = OutlinedText::new((&file.made.text, &file.made.shared_parts), application_texts);
        self.yaml.borrow_mut().insert(file.made_by(), RecentFile { text, warnings });
    }
}

impl OutputFile<'_> {
    /// Checks the file. Returns the warnings.
    ///
    /// # Errors
    /// If it is not valid YAML, or Kubernetes refuses a name in it.
    pub(super) fn check(&self, format: Format, known: &CheckedOutlines) -> Result<FileWarnings, Vec<Diagnostic>> {
        match format {
            Format::Yaml => self.check_yaml(known),
            Format::Shell => self.check_shell(),
            Format::Unchecked => Ok(FileWarnings::default()),
        }
    }

    fn check_yaml(&self, known: &CheckedOutlines) -> Result<FileWarnings, Vec<Diagnostic>> {
        let Self { template, context, made, .. } = *self;
        let raw = made.tainted_ranges.iter().filter(|tainted| tainted.is_raw);
        let application_texts: Vec<Range<usize>> = raw.map(|tainted| tainted.range.clone()).collect();
        if let Some(warnings) = context.recent_files.warnings(self, &application_texts) {
            return Ok(warnings);
        }
        let outline = outline(&made.text, &application_texts);
        let is_complete = outline.as_ref().is_some_and(Outline::is_complete);
        let outline = outline.map(|outline| Digest::from_value(&(self.is_json(), outline)));
        let remember = |warnings: &FileWarnings| {
            if is_complete {
                context.recent_files.insert(self, &application_texts, warnings.clone());
            }
        };
        if outline.is_some_and(|outline| known.contains(outline)) {
            remember(&FileWarnings::default());
            return Ok(FileWarnings::default());
        }
        known.bytes.fetch_add(made.text.len(), Ordering::Relaxed);
        if let Some(problem) = not_yaml::check(self) {
            return Err(vec![problem]);
        }
        let findings = review(&made.text, &application_texts);
        if findings.is_empty() {
            outline.into_iter().for_each(|outline| known.insert(outline));
        }
        let warnings = self.described(findings)?;
        // Other warnings may quote the lines that differ, and name the place of an application's text. In a template with branches, another line may print the
        // value.
        let is_straight = application_texts.is_empty() && template.is_straight();
        let is_about_value = |warning: &OutputWarning| warning.value_key.is_some() && is_straight;
        if warnings.all().iter().all(is_about_value) {
            remember(&warnings);
        }
        Ok(warnings)
    }

    fn check_shell(&self) -> Result<FileWarnings, Vec<Diagnostic>> {
        let parts = &self.made.shared_parts;
        if parts.is_empty() {
            return self.described(shell::review(&self.made.text, &[]));
        }
        let findings = {
            let mut all_known = self.context.recent_files.shell_parts.borrow_mut();
            let known = all_known.entry(self.made_by()).or_default();
            let reviewed = parts.iter().filter(|(_, part)| known.iter().any(|known| Arc::ptr_eq(known, part)));
            let reviewed: Vec<_> = reviewed.map(|(start, part)| shell::whole_lines(*start, part)).collect();
            let findings = shell::review(&self.made.text, &reviewed);
            if findings.is_empty() && reviewed.len() < parts.len() {
                *known = parts.iter().map(|(_, part)| Arc::clone(part)).collect();
            }
            findings
        };
        self.described(findings)
    }

    fn made_by(&self) -> MadeBy {
        let reads_values = fields::reads_values(&self.template.reads) || self.context.has_nested;
        MadeBy {
            template: self.template.digest,
            is_json: self.is_json(),
            values: reads_values.then_some(self.context.values),
        }
    }

    fn is_json(&self) -> bool {
        extension(self.name) == Some("json")
    }

    /// Findings as diagnostics: the warnings, or the errors if there are any.
    fn described(&self, findings: Vec<Finding>) -> Result<FileWarnings, Vec<Diagnostic>> {
        if findings.is_empty() {
            return Ok(FileWarnings::default());
        }
        let outputs = outputs(self.template, self.dot).unwrap_or_default();
        let starts: Vec<usize> = findings.iter().map(|finding| finding.at.start).collect();
        let places = places(self.template, &outputs, &starts, self.dot);
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        for (finding, place) in findings.into_iter().zip(places) {
            let value_key = finding.value_key.clone();
            let diagnostic = self.diagnostic(place, finding);
            if diagnostic.is_error() {
                errors.push(diagnostic);
            } else {
                warnings.push(OutputWarning { diagnostic, value_key });
            }
        }
        if errors.is_empty() { Ok(FileWarnings::new(warnings)) } else { Err(errors) }
    }

    /// A finding as a diagnostic at the template, with the text of the application that it is about.
    fn diagnostic(&self, (origin, label): Place, finding: Finding) -> Diagnostic {
        let Self { template, name, context, made, .. } = *self;
        let Finding { code, severity, at, message, help, namespace, is_of_application, .. } = finding;
        if namespace.as_deref() == Some(&*namespace::namespace(context)) {
            return namespace::refused(context, name);
        }
        let mut diagnostic = Diagnostic { severity, ..Diagnostic::error(code, message) };
        if is_of_application {
            for origin in origins_of(context.target, made, &at) {
                diagnostic = diagnostic.at(origin, "this text");
            }
        }
        let label = if diagnostic.labels.is_empty() { label } else { "printed here" };
        diagnostic = diagnostic.at(origin, label);
        let excerpt = made.text.get(at).filter(|text| code == Code::NameRefused && !text.contains('\n'));
        if let Some(excerpt) = excerpt.filter(|_| !context.hides_output) {
            let excerpt: String = excerpt.chars().take(not_yaml::EXCERPT_CHARS_MAX).collect();
            diagnostic = diagnostic.note(format!("in {name}: {excerpt}"));
        }
        help.into_iter().fold(diagnostic, Diagnostic::help).about(&template.key)
    }
}
