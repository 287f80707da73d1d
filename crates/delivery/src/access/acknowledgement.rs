//! Acknowledged warnings. They are listed with a reason, but do not count as problems.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use model::diagnostic::{Code, Diagnostic, FieldOrigin, Origin};
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
    /// The reason why the warning is acknowledged.
    pub reason: String,
    /// The last day of the acknowledgement. None: it does not end.
    pub until: Option<Expiry>,
    /// Whether an annotation of the object acknowledges the warning, and not the configuration file.
    pub is_in_source: bool,
}

/// An entry of `acknowledge` in the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcknowledgedWarning {
    /// The code of the warning.
    pub code: Code,
    /// The object that the warning is about: its kind and name.
    pub object: Option<(Kind, String)>,
    /// The path of the file that the warning points at, or of a folder. A folder ends with a slash.
    pub path: Option<String>,
    /// The reason why the warning is acknowledged.
    pub reason: String,
    /// The last day of the acknowledgement. None: it does not end.
    pub until: Option<Expiry>,
    /// The place of the entry, for messages.
    pub place: String,
}

/// Identifies an acknowledgement in all environments. If one environment uses it, it is not idle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// The entry at this position.
    Entry(usize),
    /// The annotation of an object of the repository with this URL.
    Annotation(Arc<str>, ObjectKey, Code),
}

/// Diagnostics, divided by whether they are acknowledged.
#[derive(Debug, Default)]
pub struct Divided {
    /// The diagnostics that count. A note is added if an acknowledgement has ended.
    pub counting: Vec<Diagnostic>,
    /// The acknowledged warnings.
    pub acknowledged: Vec<Acknowledged>,
    /// The acknowledgements that match a warning.
    pub used: BTreeSet<Id>,
}

/// An acknowledgement, from the configuration file or an annotation.
struct Acknowledgement<'f> {
    id: Id,
    code: Code,
    reason: &'f str,
    until: Option<Expiry>,
    subject: Subject<'f>,
}

/// The subject of an acknowledgement.
enum Subject<'f> {
    Entry(&'f AcknowledgedWarning),
    Object(Annotation),
}

/// An object that acknowledges warnings about itself.
struct Annotation {
    key: ObjectKey,
    file: FileId,
    /// The registration of the application that the object belongs to. None for the platform.
    application: Option<RegistrationName>,
}

/// Divides the diagnostics of an environment into acknowledged warnings and diagnostics that count. `entries` are the entries of the configuration file.
pub fn divide(
    (fleet, entries): (&Fleet, &[AcknowledgedWarning]),
    diagnostics: &[Diagnostic],
    now: Timestamp,
) -> Divided {
    let acknowledgements = acknowledgements(fleet, entries);
    let mut divided = Divided::default();
    for diagnostic in diagnostics {
        let is_about = |acknowledgement: &&Acknowledgement<'_>| {
            !diagnostic.is_error()
                && acknowledgement.code == diagnostic.code
                && acknowledgement.is_about(fleet, diagnostic)
        };
        let matching: Vec<_> = acknowledgements.iter().filter(is_about).collect();
        divided.used.extend(matching.iter().map(|acknowledgement| acknowledgement.id.clone()));
        let is_over =
            |acknowledgement: &&&Acknowledgement<'_>| acknowledgement.until.is_some_and(|until| until.is_past(now));
        let mut diagnostic = diagnostic.clone();
        match (matching.iter().find(|acknowledgement| !is_over(acknowledgement)), matching.first()) {
            (Some(acknowledgement), _) => divided.acknowledged.push(Acknowledged {
                diagnostic,
                reason: acknowledgement.reason.to_owned(),
                until: acknowledgement.until,
                is_in_source: matches!(acknowledgement.subject, Subject::Object(_)),
            }),
            (None, over) => {
                if let Some(Acknowledgement { until: Some(until), reason, .. }) = over {
                    diagnostic.notes.push(format!("its acknowledgement ended on {until}: {reason}"));
                }
                divided.counting.push(diagnostic);
            }
        }
    }
    divided
}

/// Warnings about annotations of an environment's objects that acknowledge no warning.
pub fn idle_annotations(fleet: &Fleet, used: &BTreeSet<Id>) -> Vec<Diagnostic> {
    let is_idle = |one: &Acknowledgement<'_>| !used.contains(&one.id) && is_certain(one.code);
    let idle = acknowledgements(fleet, &[]).into_iter().filter(is_idle);
    let warnings = idle.filter_map(|Acknowledgement { code, subject, .. }| {
        let Subject::Object(Annotation { key, .. }) = subject else { return None };
        let path = FieldPath::from(["metadata", "annotations"]).key(format!("{ACKNOWLEDGE}{code}"));
        let message = format!("{key} acknowledges {code}, and there is no such warning about it");
        let diagnostic = Diagnostic::warning(Code::UnusedAcknowledgement, message).at(Origin::field(&key, path), "");
        Some(diagnostic.help("remove the annotation, or correct its code").about(&key))
    });
    warnings.collect()
}

/// Warnings about entries of the configuration file that acknowledge no warning.
pub fn idle_entries(entries: &[AcknowledgedWarning], used: &BTreeSet<Id>) -> Vec<Diagnostic> {
    let is_idle = |position: usize, code| !used.contains(&Id::Entry(position)) && is_certain(code);
    let idle = entries.iter().enumerate().filter(|(position, entry)| is_idle(*position, entry.code));
    let warnings = idle.map(|(_, entry)| {
        let what = match (&entry.object, &entry.path) {
            (Some((kind, name)), _) => format!("{kind} `{name}`"),
            (None, path) => format!("`{}`", path.as_deref().unwrap_or_default()),
        };
        let message = format!("{} acknowledges {} of {what}, and there is no such warning", entry.place, entry.code);
        Diagnostic::warning(Code::UnusedAcknowledgement, message).help("remove the entry, or correct it")
    });
    warnings.collect()
}

/// Whether each run finds the warnings with a code. Not if they depend on a git host, which may not be reached, or not be asked.
fn is_certain(code: Code) -> bool {
    code != Code::UnprotectedBranch
}

/// All acknowledgements of an environment.
fn acknowledgements<'f>(fleet: &'f Fleet, entries: &'f [AcknowledgedWarning]) -> Vec<Acknowledgement<'f>> {
    let entries = entries.iter().enumerate();
    let mut acknowledgements: Vec<Acknowledgement<'_>> = entries
        .map(|(position, entry)| Acknowledgement {
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
            acknowledgements.push(Acknowledgement { id, code, reason, until, subject });
        }
    }
    acknowledgements
}

impl Acknowledgement<'_> {
    fn is_about(&self, fleet: &Fleet, diagnostic: &Diagnostic) -> bool {
        match &self.subject {
            Subject::Entry(AcknowledgedWarning { object, path, .. }) => {
                let is_object = |(kind, name): &(Kind, String)| {
                    objects(diagnostic).any(|key| key.kind == *kind && *key.name == **name)
                };
                let is_at = |path: &String| file(fleet, diagnostic).is_some_and(|file| is_in(&file.path, path));
                object.as_ref().is_none_or(is_object) && path.as_ref().is_none_or(is_at)
            }
            Subject::Object(annotation) => annotation.is_about(fleet, diagnostic),
        }
    }
}

impl Annotation {
    /// Whether the annotation applies to the diagnostic. An application can acknowledge only warnings about its own objects.
    fn is_about(&self, fleet: &Fleet, diagnostic: &Diagnostic) -> bool {
        // Diagnostics of reading a file name all objects like objects of the platform.
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

/// The object of a diagnostic, and the objects that its labels point at.
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

/// Whether an object belongs to the application of a registration.
fn is_of(fleet: &Fleet, key: &ObjectKey, application: &RegistrationName) -> bool {
    if let Some(of) = &key.of {
        return of == application;
    }
    let workload = fleet.workloads.get(&*key.name).filter(|_| key.kind == Kind::Workload);
    workload
        .is_some_and(|found| found.author == Author::Application && found.registration.as_ref() == Some(application))
}

/// The file of the first label, which is the file to fix.
fn file<'f>(fleet: &'f Fleet, diagnostic: &Diagnostic) -> Option<&'f File> {
    let id = match &diagnostic.labels.first()?.origin {
        Origin::Span(file, _) | Origin::File(file) => *file,
        Origin::At(address, _) => address.file,
        Origin::Field(FieldOrigin { object, .. }) => fleet.address(object)?.file,
    };
    Some(fleet.files.get(id))
}

/// Whether a path equals the path of an entry, or is below it if the entry ends with a slash.
fn is_in(path: &str, entry: &str) -> bool {
    let entry = entry.trim_start_matches("./");
    path == entry || (entry.ends_with('/') && path.starts_with(entry))
}
