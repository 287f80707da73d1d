//! Finds objects that are twice in the folder of a place. A reconciler that applies the folder as a whole then applies nothing of it, as Flux, or one of them.
//!
//! Places with the same templates, targets and class render the same objects, apart from the name of the place. So one place stands for all of these. If
//! the templates put the name of the target into the names of their objects, only a single assignment can have an object twice, and one place stands for all
//! with these templates.

use std::collections::BTreeMap;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use rayon::prelude::*;

use super::Compiled;
use super::rows::{AssignmentInputs, RowContext};
use crate::render::{ObjectId, RenderedObject};
use model::digest::Digest;

/// The maximum number of objects that are reported for one place. One template can print the same object for every target.
const REPORTED_MAX: usize = 20;

/// Warns about objects that are twice in the folder of a place.
pub(super) fn diagnostics(compiled: &Compiled) -> Vec<Diagnostic> {
    let groups: Vec<Vec<u32>> = groups(compiled).into_values().collect();
    groups.par_iter().flat_map(|places| of_group(compiled, places)).collect()
}

/// The places that render the same objects, in the order of their names.
fn groups(compiled: &Compiled) -> BTreeMap<Digest, Vec<u32>> {
    let prepared = &compiled.prepared;
    let mut groups: BTreeMap<Digest, Vec<u32>> = BTreeMap::new();
    let mut places: Vec<_> = prepared.places().collect();
    places.sort_unstable_by(|(_, one), (_, other)| one.name_text().cmp(other.name_text()));
    for (id, place) in places {
        let (Ok(templates), Some(row)) = (prepared.templates(place), compiled.rows.get(&id)) else { continue };
        if row.targets.is_empty() {
            continue;
        }
        let key = if templates.name_objects_by_target() {
            Digest::of(&templates.digest())
        } else {
            Digest::of(&(templates.digest(), prepared.class_of_place(id), &row.targets))
        };
        groups.entry(key).or_default().push(id);
    }
    groups
}

/// The warnings about places that render the same objects.
fn of_group(compiled: &Compiled, places: &[u32]) -> Vec<Diagnostic> {
    let Some((first, row)) = places.first().and_then(|first| Some((*first, compiled.rows.get(first)?))) else {
        return Vec::new();
    };
    let mut rendered: BTreeMap<ObjectId, Vec<(u32, RenderedObject)>> = BTreeMap::new();
    let slots = row.targets.iter().zip(&row.slots).filter(|(_, slot)| slot.is_rendered);
    for (target, _) in slots {
        for object in objects(compiled, first, *target) {
            rendered.entry(object.id.clone()).or_default().push((*target, object));
        }
    }
    let twice = rendered.into_iter().filter(|(_, found)| found.len() > 1).take(REPORTED_MAX);
    twice.map(|(id, found)| diagnostic(compiled, places, (&id, &found))).collect()
}

fn objects(compiled: &Compiled, place: u32, target: u32) -> Vec<RenderedObject> {
    let (Some(at), Some(prepared), Some(pair)) =
        (compiled.prepared.place(place), compiled.prepared.target(target), compiled.pair(place, target))
    else {
        return Vec::new();
    };
    let context = RowContext::new(&compiled.prepared, &compiled.shared, at);
    context.objects(&AssignmentInputs { target: prepared, pair })
}

fn diagnostic(compiled: &Compiled, places: &[u32], (id, found): (&ObjectId, &[(u32, RenderedObject)])) -> Diagnostic {
    let ObjectId { kind, namespace, name, .. } = id;
    let within = if namespace.is_empty() { String::new() } else { format!(" in namespace `{namespace}`") };
    let mut diagnostic = Diagnostic::warning(
        Code::DuplicateOutput,
        format!("{kind} `{name}`{within} occurs {} times in the folder of one cluster", found.len()),
    );
    for (target, object) in found.iter().take(2) {
        let target = &compiled.target(*target).target.name;
        diagnostic = diagnostic.at(object.origin.clone(), format!("rendered for `{target}`"));
    }
    let has = |place: u32, target: u32| compiled.rows.get(&place).is_some_and(|row| row.targets.contains(&target));
    let ids = places.iter().flat_map(|place| found.iter().map(move |(target, _)| (*place, *target)));
    let mut ids: Vec<AssignmentId> =
        ids.filter(|(place, target)| has(*place, *target)).map(|(place, target)| compiled.id(place, target)).collect();
    ids.sort_unstable();
    ids.dedup();
    diagnostic.assignments = ids;
    diagnostic.note("Flux applies nothing of a folder in which an object is twice; Argo CD warns").help(
        "put `.DeploymentTargetName` or `.Namespace` into its name or namespace, or render it for one target only",
    )
}
