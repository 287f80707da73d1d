//! The diagnostics that are about an object.

use delivery::promotion::expired_pins::expired_pins;
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use engine::output::destination_problems;
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::fleet::Fleet;
use model::object_key::ObjectKey;

use super::DescribedObject;
use crate::diagnostics::{DiagnosticBatch, DiagnosticReport, Fallback};
use crate::listing::kind::ListedKind;
use crate::listing::object::Listed;
use crate::listing::view::View;

/// All diagnostics of an environment.
pub(super) fn all(loaded: &Loaded, compiled: &Compiled) -> Vec<Diagnostic> {
    let now = jiff::Timestamp::now();
    let found = loaded.diagnostics.iter().cloned().chain(compiled.diagnostics());
    let found = found.chain(destination_problems(&loaded.fleet)).chain(expired_pins(&loaded.fleet, now));
    model::diagnostic::merged(found.collect())
}

/// A report with the diagnostics about an object or its assignments.
pub(super) fn report<'a>(
    object: &DescribedObject,
    (view, compiled): (&View<'a>, &Compiled),
    diagnostics: &[Diagnostic],
) -> DiagnosticReport<'a> {
    let loaded = view.loaded;
    let found: Vec<_> = diagnostics.iter().filter(|found| is_about(found, object, view)).cloned().collect();
    let fallback = if loaded.directory.is_some() { Fallback::Nothing } else { Fallback::Published };
    let mut report = DiagnosticReport::new();
    report.add_problems(loaded, DiagnosticBatch { fallback, ..DiagnosticBatch::of_compiled(&found, compiled) });
    report
}

fn is_about(found: &Diagnostic, object: &DescribedObject, view: &View<'_>) -> bool {
    match &object.listed {
        Listed::Object(_, key) => {
            found.object.as_ref() == Some(key)
                || found.labels.iter().any(|label| is_in(&label.origin, key, view.fleet()))
                || found.assignments.iter().any(|id| is_of(id, object, view))
        }
        Listed::Target(target) => {
            let (key, path) = &target.origin;
            let is_in = |origin: &Origin| matches!(origin, Origin::Field(field) if field.object == *key && field.path.is_at_or_below(path));
            found.labels.iter().any(|label| is_in(&label.origin))
                || found.assignments.iter().any(|id| is_of(id, object, view))
        }
    }
}

/// Whether a place in a file belongs to an object.
fn is_in(origin: &Origin, key: &ObjectKey, fleet: &Fleet) -> bool {
    match origin {
        Origin::Field(field) => field.object == *key,
        Origin::At(address, _) => fleet.address(key) == Some(*address),
        Origin::Span(..) | Origin::File(_) => false,
    }
}

/// Whether an assignment belongs to a place, a workload or a target.
fn is_of(id: &AssignmentId, object: &DescribedObject, view: &View<'_>) -> bool {
    let name = &**object.listed.name();
    match object.kind {
        ListedKind::Cluster => id.place.as_str() == name,
        ListedKind::ClusterType => {
            let cluster = view.fleet().clusters.get(id.place.as_str());
            id.place.as_str() == name || cluster.is_some_and(|cluster| *cluster.spec.cluster_type == *name)
        }
        ListedKind::Target => id.target.as_str() == name,
        ListedKind::Workload => {
            let targets = view.inventory.prepared().targets();
            let target = targets.binary_search_by(|target| target.name.cmp(&id.target));
            target.ok().and_then(|position| targets.get(position)).is_some_and(|target| target.workload() == name)
        }
        _ => false,
    }
}
