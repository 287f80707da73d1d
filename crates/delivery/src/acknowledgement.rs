//! Warnings that were acknowledged with a reason: they are listed, and do not count.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use model::diagnostic::{Code, Diagnostic, FieldOrigin, Origin, Severity};
use model::expiry::Expiry;
use model::field_path::FieldPath;
use model::fleet::{Author, Fleet};
use model::kind::Kind;
use model::name::RegistrationName;
use model::object::annotation::{self, ACKNOWLEDGE};
use model::object_key::ObjectKey;
use model::source::{File, FileId};

/// A warning that was acknowledged.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    /// The warning.
    pub diagnostic: Diagnostic,
    /// Why it is no mistake.
    pub reason: String,
    /// Until when that holds.
    pub until: Option<Expiry>,
    /// Whether the object says so itself, by annotation.
    pub is_in_source: bool,
}

/// An entry of `acknowledge` in the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The code of the warning.
    pub code: Code,
    /// The object that the warning is about: its kind and name.
    pub object: Option<(Kind, String)>,
    /// The file that it points at, or the folder, which ends in a slash.
    pub path: Option<String>,
    /// Why it is no mistake.
    pub reason: String,
    /// Until when that holds.
    pub until: Option<Expiry>,
    /// Where it is written, in words.
    pub place: String,
}

/// Identifies an acknowledgement in all environments: one that is used in any of them is not idle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// The entry at this position.
    Entry(usize),
    /// The annotation of an object of the repository with this URL.
    Annotation(Arc<str>, ObjectKey, Code),
}

/// Diagnostics, divided by acknowledgements.
#[derive(Debug, Default)]
pub struct Divided {
    /// What counts, with a note where an acknowledgement is over.
    pub counting: Vec<Diagnostic>,
    /// What does not count.
    pub acknowledged: Vec<Acknowledged>,
    /// The acknowledgements that match something.
    pub used: BTreeSet<Id>,
}

/// An acknowledgement as it is compared with warnings.
struct Known<'f> {
    id: Id,
    code: Code,
    reason: &'f str,
    until: Option<Expiry>,
    subject: Subject<'f>,
}

/// What an acknowledgement is about.
enum Subject<'f> {
    Entry(&'f Entry),
    Object(Annotation),
}

/// An object that acknowledges warnings about itself.
struct Annotation {
    key: ObjectKey,
    file: FileId,
    /// The registration whose application wrote it.
    application: Option<RegistrationName>,
}

/// Divides the diagnostics of an environment into acknowledged warnings and what counts. `entries` are those of the configuration file.
pub fn divide((fleet, entries): (&Fleet, &[Entry]), diagnostics: &[Diagnostic], now: Timestamp) -> Divided {
    let known = known(fleet, entries);
    let mut divided = Divided::default();
    for diagnostic in diagnostics {
        let is_about = |known: &&Known<'_>| {
            diagnostic.severity == Severity::Warning
                && known.code == diagnostic.code
                && known.is_about(fleet, diagnostic)
        };
        let matching: Vec<_> = known.iter().filter(is_about).collect();
        divided.used.extend(matching.iter().map(|known| known.id.clone()));
        let is_over = |known: &&&Known<'_>| known.until.is_some_and(|until| until.is_past(now));
        let mut diagnostic = diagnostic.clone();
        match (matching.iter().find(|known| !is_over(known)), matching.first()) {
            (Some(known), _) => divided.acknowledged.push(Acknowledged {
                diagnostic,
                reason: known.reason.to_owned(),
                until: known.until,
                is_in_source: matches!(known.subject, Subject::Object(_)),
            }),
            (None, over) => {
                if let Some(Known { until: Some(until), reason, .. }) = over {
                    diagnostic.notes.push(format!("its acknowledgement ended on {until}: {reason}"));
                }
                divided.counting.push(diagnostic);
            }
        }
    }
    divided
}

/// Warnings about acknowledgements of an environment's objects that match nothing.
pub fn idle_annotations(fleet: &Fleet, used: &BTreeSet<Id>) -> Vec<Diagnostic> {
    let idle = known(fleet, &[]).into_iter().filter(|known| !used.contains(&known.id));
    let said = idle.filter_map(|Known { code, subject, .. }| {
        let Subject::Object(Annotation { key, .. }) = subject else { return None };
        let path = FieldPath::from(["metadata", "annotations"]).key(format!("{ACKNOWLEDGE}{code}"));
        let message = format!("{key} acknowledges {code}, and there is no such warning about it");
        let diagnostic = Diagnostic::warning(Code::IdleAcknowledgement, message).at(Origin::field(&key, path), "");
        Some(diagnostic.help("remove the annotation, or correct its code").about(&key))
    });
    said.collect()
}

/// Warnings about entries of the configuration file that match nothing.
pub fn idle_entries(entries: &[Entry], used: &BTreeSet<Id>) -> Vec<Diagnostic> {
    let idle = entries.iter().enumerate().filter(|(position, _)| !used.contains(&Id::Entry(*position)));
    let said = idle.map(|(_, entry)| {
        let what = match (&entry.object, &entry.path) {
            (Some((kind, name)), _) => format!("{kind} `{name}`"),
            (None, path) => format!("`{}`", path.as_deref().unwrap_or_default()),
        };
        let message = format!("{} acknowledges {} of {what}, and there is no such warning", entry.place, entry.code);
        Diagnostic::warning(Code::IdleAcknowledgement, message).help("remove the entry, or correct it")
    });
    said.collect()
}

/// The acknowledgements that hold in an environment.
fn known<'f>(fleet: &'f Fleet, entries: &'f [Entry]) -> Vec<Known<'f>> {
    let entries = entries.iter().enumerate();
    let mut known: Vec<Known<'_>> = entries
        .map(|(position, entry)| Known {
            id: Id::Entry(position),
            code: entry.code,
            reason: &entry.reason,
            until: entry.until,
            subject: Subject::Entry(entry),
        })
        .collect();
    for found in fleet.annotated() {
        let url = &fleet.files.get(found.address.file).source.url;
        for (key, value) in found.annotations.iter() {
            let code = key.strip_prefix(ACKNOWLEDGE).and_then(Code::find);
            let (Some(code), Some((until, reason))) = (code, annotation::acknowledgement(value)) else { continue };
            let id = Id::Annotation(Arc::clone(url), found.key.clone(), code);
            let (key, file) = (found.key.clone(), found.address.file);
            let subject = Subject::Object(Annotation { key, file, application: found.application.clone() });
            known.push(Known { id, code, reason, until, subject });
        }
    }
    known
}

impl Known<'_> {
    fn is_about(&self, fleet: &Fleet, diagnostic: &Diagnostic) -> bool {
        match &self.subject {
            Subject::Entry(Entry { object, path, .. }) => {
                let is_object = |(kind, name): &(Kind, String)| {
                    objects(diagnostic).any(|key| key.kind == *kind && *key.name == **name)
                };
                let is_at = |wanted: &String| file(fleet, diagnostic).is_some_and(|file| is_in(&file.path, wanted));
                object.as_ref().is_none_or(is_object) && path.as_ref().is_none_or(is_at)
            }
            Subject::Object(annotation) => annotation.is_about(fleet, diagnostic),
        }
    }
}

impl Annotation {
    /// Whether it may speak of this: an application only of what is its own.
    fn is_about(&self, fleet: &Fleet, diagnostic: &Diagnostic) -> bool {
        // What is found while a file is read names its objects as if they were the platform's.
        let is_read = |key: &ObjectKey| {
            (key.kind, &key.name) == (self.key.kind, &self.key.name) && is_read_in(diagnostic, self.file)
        };
        let mut all = objects(diagnostic);
        match &self.application {
            None => all.any(|key| *key == self.key),
            Some(application) => {
                let is_own = |key: &ObjectKey| is_read(key) || is_of(fleet, key, application);
                let mut all: Vec<_> = all.collect();
                all.dedup();
                all.iter().all(|key| is_own(key)) && all.iter().any(|key| **key == self.key || is_read(key))
            }
        }
    }
}

/// The objects that a diagnostic is about, or points at.
fn objects(diagnostic: &Diagnostic) -> impl Iterator<Item = &ObjectKey> {
    let labels = diagnostic.labels.iter().filter_map(|label| match &label.origin {
        Origin::Field(FieldOrigin { object, .. }) => Some(object),
        _ => None,
    });
    diagnostic.object.iter().chain(labels)
}

fn is_read_in(diagnostic: &Diagnostic, file: FileId) -> bool {
    diagnostic.labels.iter().any(|label| match &label.origin {
        Origin::Span(found, _) | Origin::File(found) => *found == file,
        Origin::At(address, _) => address.file == file,
        Origin::Field(_) => false,
    })
}

/// Whether an object is of the application of a registration.
fn is_of(fleet: &Fleet, key: &ObjectKey, application: &RegistrationName) -> bool {
    if let Some(of) = &key.of {
        return of == application;
    }
    let workload = fleet.workloads.get(&*key.name).filter(|_| key.kind == Kind::Workload);
    workload
        .is_some_and(|found| found.author == Author::Application && found.registration.as_ref() == Some(application))
}

/// The file that is to be mended.
fn file<'f>(fleet: &'f Fleet, diagnostic: &Diagnostic) -> Option<&'f File> {
    let id = match &diagnostic.labels.first()?.origin {
        Origin::Span(file, _) | Origin::File(file) => *file,
        Origin::At(address, _) => address.file,
        Origin::Field(FieldOrigin { object, .. }) => fleet.address(object)?.file,
    };
    Some(fleet.files.get(id))
}

/// Whether a path is the one that is written, or below it, if that ends in a slash.
fn is_in(path: &str, written: &str) -> bool {
    let written = written.trim_start_matches("./");
    path == written || (written.ends_with('/') && path.starts_with(written))
}
