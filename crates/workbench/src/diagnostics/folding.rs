//! Combines diagnostics with a common cause, and adds the version of a broken file that is used instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Label, Origin, Severity};
use model::source::{File, FileId, Files};

/// The maximum number of diagnostics with one cause that are shown one by one.
const OF_ONE_CAUSE_MAX: usize = 3;
/// The maximum number of positions that are kept of further diagnostics.
const PLACES_MAX: usize = 1_000;
/// The maximum number of objects that a note names.
const NAMED_MAX: usize = 3;

/// Returns the diagnostics, where many diagnostics with the same cause are combined to one.
pub(super) fn folded(diagnostics: &[Diagnostic], files: &Files) -> Vec<Diagnostic> {
    of_one_cause(with_earlier_versions(diagnostics, files))
}

fn of_one_cause(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let cause = |diagnostic: &Diagnostic| {
        let cause = diagnostic.cause.clone()?;
        Some((diagnostic.severity, diagnostic.code, cause))
    };
    let mut groups: BTreeMap<(Severity, Code, Arc<str>), Vec<Diagnostic>> = BTreeMap::new();
    let mut folded = Vec::new();
    for diagnostic in diagnostics {
        match cause(&diagnostic) {
            Some(cause) => groups.entry(cause).or_default().push(diagnostic),
            None => folded.push(diagnostic),
        }
    }
    for group in groups.into_values() {
        if group.len() <= OF_ONE_CAUSE_MAX {
            folded.extend(group);
        } else {
            folded.extend(one_of(group));
        }
    }
    folded
}

/// The first of several diagnostics, with the positions of the others.
fn one_of(group: Vec<Diagnostic>) -> Option<Diagnostic> {
    let mut group = group.into_iter();
    let mut first = group.next()?;
    let (count, mut names) = (group.len(), Vec::new());
    for other in group {
        let name = other.object.as_ref().map(ToString::to_string);
        names.extend(name.clone().filter(|name| names.len() < NAMED_MAX && !names.contains(name)));
        if first.labels.len() < PLACES_MAX {
            let origin = other.labels.into_iter().next().map(|label| label.origin);
            let text = name.map_or_else(String::new, |name| format!("and {name}"));
            first.labels.extend(origin.map(|origin| Label { origin, text }));
        }
        first.assignments.extend(other.assignments);
    }
    first.assignments.sort_unstable();
    first.assignments.dedup();
    let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    let more = if names.is_empty() || count <= NAMED_MAX { "" } else { " …" };
    first.notes.push(format!("and {count} more for the same reason{names}{more}"));
    Some(first)
}

/// Adds the earlier version of a broken file that is used to the error about this file.
fn with_earlier_versions(diagnostics: &[Diagnostic], files: &Files) -> Vec<Diagnostic> {
    let broken = |diagnostic: &Diagnostic| {
        let is_cause =
            diagnostic.is_error() && !matches!(diagnostic.code, Code::EarlierVersionUsed | Code::ObjectsKept);
        diagnostic.labels.first().filter(|_| is_cause).and_then(|label| file(&label.origin)).map(|id| files.get(id))
    };
    let is_same = |one: &File, other: &File| one.source == other.source && one.path == other.path;
    let mut said: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    let (earlier, others): (Vec<_>, Vec<_>) =
        diagnostics.iter().partition(|diagnostic| diagnostic.code == Code::EarlierVersionUsed);
    said.extend(others.into_iter().cloned());
    for version in earlier {
        let place = version.labels.first().and_then(|label| file(&label.origin)).map(|id| files.get(id));
        let cause = said.iter_mut().find(|found| {
            let found = broken(found);
            place.zip(found).is_some_and(|(place, found)| is_same(place, found))
        });
        match cause {
            Some(cause) => {
                cause.labels.extend(version.labels.iter().skip(1).cloned());
                cause.notes.push(format!("{}: {}", version.code, version.message));
            }
            None => said.push(version.clone()),
        }
    }
    said
}

/// The file to which a diagnostic about reading it points.
fn file(origin: &Origin) -> Option<FileId> {
    match origin {
        Origin::Span(file, _) | Origin::File(file) => Some(*file),
        Origin::At(address, _) => Some(address.file),
        Origin::Field(_) => None,
    }
}
