//! Finds objects that are twice in the folder of a place. A reconciler that applies the folder as a whole then applies nothing of it, as Flux, or one of them.
//!
//! Places with the same templates, targets and class render the same objects, apart from the name of the place. So one place stands for all of these. If
//! the templates put the name of the target into the names of their objects, only a single assignment can have an object twice, and one place stands for all
//! with these templates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin};
use model::digest::Digest;
use rayon::prelude::*;

use super::Compiled;
use super::rows::{AssignmentInputs, RowContext};
use crate::render::{ObjectId, RenderedObject};

/// Places that render the same objects, in the order of their names.
type Group = Vec<u32>;

/// An object, and the targets that render it.
type Found = (ObjectId, Vec<(u32, Origin)>);

/// Warns about objects that are twice in the folder of a place.
pub(super) fn diagnostics(compiled: &Compiled) -> Vec<Diagnostic> {
    let groups: Vec<Group> = groups(compiled).into_values().collect();
    groups.par_iter().flat_map(|places| of_group(compiled, places)).collect()
}

fn groups(compiled: &Compiled) -> BTreeMap<Digest, Group> {
    let prepared = &compiled.prepared;
    let mut groups: BTreeMap<Digest, Group> = BTreeMap::new();
    let mut places: Vec<_> = prepared.places().collect();
    places.sort_unstable_by(|(_, one), (_, other)| one.name_text().cmp(other.name_text()));
    for (id, place) in places {
        let (Ok(templates), Some(row)) = (prepared.templates(place), compiled.rows.get(&id)) else { continue };
        let key = match (templates.name_objects_by_target(), templates.may_repeat_objects()) {
            _ if row.targets.is_empty() => continue,
            (true, false) => continue,
            (true, true) => Digest::from_value(&templates.digest()),
            (false, _) => Digest::from_value(&(templates.digest(), prepared.class_of_place(id), &row.targets)),
        };
        groups.entry(key).or_default().push(id);
    }
    groups
}

/// The warnings about places that render the same objects: one for each kind and place in the templates, with one of the objects as an example.
fn of_group(compiled: &Compiled, places: &[u32]) -> Vec<Diagnostic> {
    let Some((first, row)) = places.first().and_then(|first| Some((*first, compiled.rows.get(first)?))) else {
        return Vec::new();
    };
    let mut rendered: BTreeMap<ObjectId, Vec<(u32, Origin)>> = BTreeMap::new();
    for (target, _) in row.targets.iter().zip(&row.slots).filter(|(_, slot)| slot.is_rendered) {
        for RenderedObject { id, origin } in objects(compiled, first, *target) {
            rendered.entry(id).or_default().push((*target, origin));
        }
    }
    let mut causes: BTreeMap<(Arc<str>, BTreeSet<Origin>), Vec<Found>> = BTreeMap::new();
    for (id, found) in rendered.into_iter().filter(|(_, found)| found.len() > 1) {
        let origins = found.iter().map(|(_, origin)| origin.clone()).collect();
        causes.entry((Arc::clone(&id.kind), origins)).or_default().push((id, found));
    }
    causes.into_values().filter_map(|found| diagnostic(compiled, places, &found)).collect()
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

/// The warning about objects of one kind that the same places in the templates render.
fn diagnostic(compiled: &Compiled, places: &[u32], all: &[Found]) -> Option<Diagnostic> {
    let (ObjectId { kind, namespace, name, .. }, found) = all.first()?;
    let within = if namespace.is_empty() { String::new() } else { format!(" in namespace `{namespace}`") };
    let message = format!("{kind} `{name}`{within} occurs {} times in the folder of one cluster", found.len());
    let mut diagnostic = Diagnostic::warning(Code::DuplicateOutput, message);
    for (target, origin) in found.iter().take(2) {
        let target = &compiled.target(*target).target.name;
        diagnostic = diagnostic.at(origin.clone(), format!("rendered for `{target}`"));
    }
    if all.len() > 1 {
        diagnostic = diagnostic.note(format!("{} other objects of this kind as well", all.len() - 1));
    }
    diagnostic.assignments = assignments(compiled, places, all);
    let note = "Flux applies nothing of a folder in which an object is twice; Argo CD warns";
    let help =
        "put `.DeploymentTargetName` or `.Namespace` into its name or namespace, or render it for one target only";
    Some(diagnostic.note(note).help(help))
}

/// The assignments that render the objects.
fn assignments(compiled: &Compiled, places: &[u32], all: &[Found]) -> Vec<AssignmentId> {
    let targets: BTreeSet<u32> = all.iter().flat_map(|(_, found)| found.iter().map(|(target, _)| *target)).collect();
    let rows = places.iter().filter_map(|place| Some((*place, compiled.rows.get(place)?)));
    let ids = rows.flat_map(|(place, row)| {
        let of_place = row.targets.iter().filter(|target| targets.contains(target));
        of_place.map(move |target| compiled.id(place, *target))
    });
    let mut ids: Vec<AssignmentId> = ids.collect();
    ids.sort_unstable();
    ids
}
