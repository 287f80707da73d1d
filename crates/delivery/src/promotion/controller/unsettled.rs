//! What a publication leaves unsettled, for all of an environment or for single workloads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::plan::{ChangeKind, Plan};
use engine::promotion::step::Settled;
use git::RepositoryUrl;
use git::load::ReadRole;
use model::count::count;
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::fleet::{Fleet, RegisteredWorkload};
use model::kind::Kind;
use model::object_key::ObjectKey;

use crate::branches::push::Delivered;
use crate::output::refusal::Refusal;
use crate::publication::publish::{End, Outcome, PlaceOutcome};
use crate::sources::loaded::Loaded;

/// Why an environment shows nothing about its commit of the main branch: a part of it, the removals, was not tried.
const REMOVALS: &str = "its removals wait for a confirmation";

/// Whether a publication left everything on the GitOps branches without errors.
pub(super) fn settled(outcome: &Outcome) -> Settled {
    let mut settled = Settled::default();
    settled.problem = problem(outcome).or_else(|| {
        let mut places = outcome.places.iter();
        places.find_map(|place| note_place(place, &mut settled).err())
    });
    settled
}

fn problem(outcome: &Outcome) -> Option<Arc<str>> {
    match &outcome.end {
        End::Complete => {}
        End::LostRaces => return Some("other programs moved its branches while it was published".into()),
        End::Incomplete(loaded) => return Some(unread(loaded)),
    }
    if let Some(failure) = outcome.failures.first() {
        return Some(format!("nothing is published to {}: {}", failure.gitops_repo, failure.error).into());
    }
    outcome.places.is_empty().then(|| "its output has no destination".into())
}

fn unread(loaded: &Loaded) -> Arc<str> {
    match loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        Some(first) => format!("not all of it can be read: [{}] {}", first.code, first.message).into(),
        None => "not all of it can be read".into(),
    }
}

/// Notes what is not settled at a destination.
///
/// # Errors
/// Why nothing is settled there.
fn note_place(place: &PlaceOutcome, settled: &mut Settled) -> Result<(), Arc<str>> {
    note_errors(place, settled)?;
    if let Some(Refusal::Diagnostic(first)) = place.refusals.first() {
        return Err(format!("its publication is refused: [{}] {}", first.code, first.message).into());
    }
    if let Some(pending) = &place.planned.renderer {
        return Err(pending.to_string().into());
    }
    if !place.refusals.is_empty() {
        return note_unpublished(&place.planned.plan, (REMOVALS, settled));
    }
    if place.planned.has_waiting_removals() {
        settled.removals.get_or_insert_with(|| REMOVALS.into());
    }
    if place.is_proposed() || place.delivered.is_none() {
        let why = match (&place.pull_request, &place.delivered) {
            // A preview pushes nothing, and asks no git host.
            (None, None) => "it waits for a publication, or for the merge of its pull request".to_owned(),
            _ => match place.open_pull_request() {
                Some(link) => format!("{}: {}", place.description(), link.url),
                None => place.description(),
            },
        };
        let why = format!("its output is not on the branch that clusters pull: {why}");
        return note_unpublished(&place.planned.plan, (&why, settled));
    }
    let target = &*place.planned.target.place.branch;
    let is_elsewhere = match &place.delivered {
        Some(Delivered::Pushed { branch, .. }) => **branch != *target,
        Some(Delivered::Proposed { .. }) => true,
        _ => false,
    };
    if is_elsewhere {
        // The hub still counts the clusters with the content before.
        return Err("its output was merged just now, and the hub does not have it yet".into());
    }
    match &place.hub {
        Some(Err(error)) => Err(format!("the hub does not have its output: {error}").into()),
        _ => Ok(()),
    }
}

/// Notes the workloads with errors.
///
/// # Errors
/// If an error is about more than known workloads.
fn note_errors(place: &PlaceOutcome, settled: &mut Settled) -> Result<(), Arc<str>> {
    let errors: Vec<_> = place.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    let mut of_workload: BTreeMap<Arc<str>, Vec<&Diagnostic>> = BTreeMap::new();
    for error in &errors {
        let workloads = workloads(place, error).ok_or_else(|| Arc::from(text(&errors)))?;
        workloads.into_iter().for_each(|workload| of_workload.entry(workload).or_default().push(error));
    }
    for (workload, errors) in of_workload {
        note(settled, workload, &text(&errors));
    }
    Ok(())
}

/// The number of errors, and the first one.
fn text(errors: &[&Diagnostic]) -> String {
    let first = errors.first().map(|first| format!("[{}] {}", first.code, first.message));
    let verb = if errors.len() == 1 { "keeps" } else { "keep" };
    format!("{} {verb} output from being published: {}", count(errors.len(), "error"), first.unwrap_or_default())
}

/// The workloads that an error is about. None: it is about others, or it is not known.
fn workloads(place: &PlaceOutcome, error: &Diagnostic) -> Option<BTreeSet<Arc<str>>> {
    let fleet = &place.loaded.fleet;
    if !error.assignments.is_empty() {
        return error.assignments.iter().map(|id| workload(place, id)).collect();
    }
    // What an application has to mend concerns only this application, also if it has the name of another one's object.
    let to_mend = error.labels.first().and_then(|label| of_origin(&place.loaded, &label.origin));
    to_mend.or_else(|| of_object(fleet, error.object.as_ref()?))
}

/// The workload of an assignment. None: it is not known.
fn workload(place: &PlaceOutcome, id: &AssignmentId) -> Option<Arc<str>> {
    let assignment = place.planned.sides().find_map(|side| side.get(id))?;
    Some(assignment.workload().into()).filter(|name: &Arc<str>| !name.is_empty())
}

fn of_object(fleet: &Fleet, key: &ObjectKey) -> Option<BTreeSet<Arc<str>>> {
    match (key.kind, &key.of) {
        (Kind::Workload, _) => Some([Arc::clone(&key.name)].into()),
        (Kind::WorkloadRegistration, _) => Some(of_registration(fleet, &key.name)),
        (_, Some(registration)) => Some(of_registration(fleet, registration.as_str())),
        _ => None,
    }
}

/// The workloads of an application: those in its repository that are known, and one with its name.
fn of_registration(fleet: &Fleet, name: &str) -> BTreeSet<Arc<str>> {
    let is_its = |workload: &&RegisteredWorkload| workload.registration.as_ref().is_some_and(|of| of.as_str() == name);
    let known = fleet.workloads.values().filter(is_its).map(|workload| Arc::clone(workload.object.name.as_arc()));
    known.chain([name.into()]).collect()
}

/// The workloads of the applications that a place belongs to, by its repository or its object. None: files of the platform team are there, too.
fn of_origin(loaded: &Loaded, origin: &Origin) -> Option<BTreeSet<Arc<str>>> {
    let file = match origin {
        Origin::Span(file, _) | Origin::File(file) => *file,
        Origin::At(address, _) => address.file,
        Origin::Field(field) => return of_object(&loaded.fleet, &field.object),
    };
    let url = RepositoryUrl::from_object(&loaded.fleet.files.get(file).source.url).ok()?;
    let mut found = BTreeSet::new();
    for read in loaded.reads.iter().filter(|read| read.url == url) {
        match &read.role {
            ReadRole::Application(name) => found.extend(of_registration(&loaded.fleet, name.as_str())),
            ReadRole::Manifests(_) => {}
            ReadRole::Main | ReadRole::Environment | ReadRole::Base(_) | ReadRole::Flux(_) => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The folders of a destination that stay until their removal is confirmed or merged, by their paths in the repository.
pub(super) fn removals(place: &PlaceOutcome) -> BTreeSet<String> {
    let is_carried_out = place.refusals.is_empty() && !place.is_proposed() && place.delivered.is_some();
    if is_carried_out && !place.planned.has_waiting_removals() {
        return BTreeSet::new();
    }
    place.planned.whole_plan().removals()
}

/// Notes what a plan changes, because it is not carried out.
///
/// # Errors
/// If it changes more than assignments of known workloads.
fn note_unpublished(plan: &Plan, (why, settled): (&str, &mut Settled)) -> Result<(), Arc<str>> {
    // In a new layout, all folders move.
    if plan.moved > 0 || plan.changes.is_empty() {
        return Err(why.into());
    }
    for change in plan.changes.values() {
        match &change.workload {
            _ if change.kind == ChangeKind::Removed => drop(settled.removals.get_or_insert_with(|| why.into())),
            workload if workload.is_empty() => return Err(why.into()),
            workload => note(settled, Arc::clone(workload), why),
        }
    }
    Ok(())
}

/// Notes the first reason why a workload is not settled.
fn note(settled: &mut Settled, workload: Arc<str>, why: &str) {
    settled.open.entry(workload).or_insert_with(|| why.into());
}
