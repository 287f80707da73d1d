//! Diagnostics of assignments. They are stored with the object that causes them, and collected on request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::class_pairs::NO_PAIR;
use super::{ClassPairs, Compiled, Row};
use crate::invariant::require;
use crate::place::Place;
use crate::prepare::{NO_TARGET, Prepared};
use crate::rival::{self, Rivals};
use crate::scope;

/// All diagnostics, each once with all assignments that it affects.
pub(super) fn all(compiled: &Compiled) -> Vec<Diagnostic> {
    let prepared = &compiled.prepared;
    let mut diagnostics = prepared.diagnostics();
    let in_use = InUse::of(&compiled.pairs);
    let of_row = |(place, row): (&u32, &Row)| of_row(compiled, *place, row, &in_use);
    let found: Vec<Vec<(Said, AssignmentId)>> = compiled.rows.par_iter().map(of_row).collect();
    let Met { containers, schemas, rivals } = in_use.met(compiled);
    diagnostics.extend(scope::apply_to_nothing(prepared, &containers, &schemas));
    diagnostics.extend(rival::diagnostics(prepared, &rivals));
    // Diagnostics of one object are the same for all its assignments. Each is created once.
    let mut reached: BTreeMap<Said, Vec<AssignmentId>> = BTreeMap::new();
    for (said, id) in found.into_iter().flatten() {
        reached.entry(said).or_default().push(id);
    }
    for (said, ids) in reached {
        for mut diagnostic in in_words(compiled, said) {
            diagnostic.assignments.extend(ids.iter().cloned());
            diagnostics.push(diagnostic);
        }
    }
    with_examples(model::diagnostic::merged(diagnostics))
}

/// Merges the reports about one place of a template for many assignments. The merged report shows the line of the first one as an example.
fn with_examples(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.dedup_by(|next, kept| {
        let is_same = kept.code == Code::NotYamlRendered
            && (kept.code, &kept.message, &kept.labels) == (next.code, &next.message, &next.labels);
        if is_same {
            kept.assignments.append(&mut next.assignments);
        }
        is_same
    });
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == Code::NotYamlRendered) {
        diagnostic.assignments.sort_unstable();
        diagnostic.assignments.dedup();
    }
    diagnostics
}

/// The problems that stop all assignments of a place.
pub(super) fn of_place(prepared: &Prepared, place: &Place) -> impl Iterator<Item = Diagnostic> {
    let problem = place.problem(&prepared.fleet).into_iter();
    problem.chain(prepared.template_problems(place.cluster_type.name.as_arc()))
}

/// The problems of a target and of its policies that stop an assignment.
pub(super) fn of_target(prepared: &Prepared, place: u32, target: u32) -> impl Iterator<Item = Diagnostic> {
    let problem = require(prepared.target(target), NO_TARGET).target.problem.clone();
    let unclear =
        if prepared.schedule.has_unclear() { prepared.schedule.unclear(place, target) } else { BTreeSet::new() };
    let fleet = &prepared.fleet;
    let policies =
        unclear.into_iter().filter_map(|policy| fleet.duplicate_diagnostic(&fleet.policies.get(&policy)?.key()));
    problem.into_iter().chain(policies)
}

/// The conflicts of the release pins that hold a target on a place. None if there are no conflicts.
fn of_pins(prepared: &Prepared, place: u32, target: u32) -> Option<Vec<Diagnostic>> {
    let (place, target) = (prepared.place(place)?, prepared.target(target)?);
    prepared.pins.over(|key| place.label(key), &target.target).err()
}

/// The class pairs that assignments use. The other class pairs remain from earlier fleets.
struct InUse(Vec<AtomicBool>);

/// The containers and schemas that assignments use, by position, and the rivals among the containers.
#[derive(Default)]
struct Met {
    containers: RoaringBitmap,
    schemas: RoaringBitmap,
    rivals: BTreeSet<Rivals>,
}

impl InUse {
    fn of(pairs: &ClassPairs) -> Self {
        Self((0..pairs.len()).map(|_| AtomicBool::new(false)).collect())
    }

    fn add(&self, pair: u32) {
        let known = require(self.0.get(pair as usize), NO_PAIR);
        // Most assignments have the pair of another one: to look is cheaper than to write.
        if !known.load(Ordering::Relaxed) {
            known.store(true, Ordering::Relaxed);
        }
    }

    fn met(&self, compiled: &Compiled) -> Met {
        let mut met = Met::default();
        let used = self.0.iter().enumerate().filter(|(_, is_used)| is_used.load(Ordering::Relaxed));
        for pair in used.map(|(position, _)| require(compiled.pairs.at(position as u32), NO_PAIR)) {
            met.containers.extend(pair.containers.iter());
            met.schemas.extend(pair.schemas.iter());
            met.rivals.extend(pair.rivals.iter());
        }
        met
    }
}

/// The source of diagnostics about an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    /// The place.
    Place(u32),
    /// The target or the policies. Place id and target id.
    Target(u32, u32),
    /// The values. The position of the class pair.
    Values(u32),
    /// The rendering. Place id and target id.
    Rendering(u32, u32),
}

fn of_row(compiled: &Compiled, place: u32, row: &Row, in_use: &InUse) -> Vec<(Said, AssignmentId)> {
    let prepared = &compiled.prepared;
    let is_place_stopped = of_place(prepared, compiled.place(place)).next().is_some();
    let class = prepared.class_of_place(place);
    let mut found = Vec::new();
    for target in row.targets.iter().copied() {
        let pair = require(compiled.pairs.position(class, prepared.class_of_target(target)), NO_PAIR);
        in_use.add(pair);
        let is_troubled = require(compiled.pairs.at(pair), NO_PAIR).is_troubled;
        let said = [
            is_place_stopped.then_some(Said::Place(place)),
            of_target(prepared, place, target).next().map(|_| Said::Target(place, target)),
            is_troubled.then_some(Said::Values(pair)),
            compiled.failures.contains_key(&(place, target)).then_some(Said::Rendering(place, target)),
        ];
        let mut said = said.into_iter().flatten().peekable();
        if said.peek().is_some() {
            let id = compiled.id(place, target);
            found.extend(said.map(|said| (said, id.clone())));
        }
    }
    found
}

fn in_words(compiled: &Compiled, said: Said) -> Vec<Diagnostic> {
    let prepared = &compiled.prepared;
    match said {
        Said::Place(place) => of_place(prepared, compiled.place(place)).collect(),
        Said::Target(place, target) => of_target(prepared, place, target).collect(),
        Said::Values(pair) => require(compiled.pairs.at(pair), NO_PAIR).diagnostics(prepared),
        // What is said of pins that exist more than once names their places, which may be others by now.
        Said::Rendering(place, target) => of_pins(prepared, place, target)
            .or_else(|| compiled.failures.get(&(place, target)).cloned())
            .unwrap_or_default(),
    }
}
