//! Diagnostics of assignments. They are stored with the object that causes them, and collected on request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::digest::Digest;
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::class_pairs::NO_PAIR;
use super::duplicate_objects;
use super::{ClassPair, ClassPairs, Compiled, Row};
use crate::compile::renames;
use crate::invariant::require;
use crate::prepare::{NO_TARGET, Prepared};
use crate::render::WarningsDigest;
use crate::schedule::place::Place;
use crate::warnings::clear_credential;
use crate::warnings::retyped_values;
use crate::warnings::rival::{self, Rivals};
use crate::warnings::source_of_another;
use crate::warnings::unassigned_values;
use crate::warnings::unread_manifests;
use crate::warnings::unused;

/// All diagnostics, each once with all assignments that it affects.
pub(super) fn all(compiled: &Compiled) -> Vec<Diagnostic> {
    let prepared = &compiled.prepared;
    let mut diagnostics = prepared.diagnostics();
    diagnostics.extend(unused::without_uncertain(&prepared.fleet, prepared.target_diagnostics()));
    diagnostics.extend(unused::unused_selectors(prepared));
    let used_pairs = UsedPairs::new(&compiled.pairs);
    let of_row = |(place, row): (&u32, &Row)| of_row(compiled, *place, row, &used_pairs);
    let found: Vec<Vec<(DiagnosticSource, AssignmentId)>> = compiled.rows.par_iter().map(of_row).collect();
    let UsedObjects { containers, schemas, rivals } = used_pairs.objects(compiled);
    let is_covered = |container: u32, schema: u32| used_pairs.have(compiled, container, schema);
    diagnostics.extend(unassigned_values::wrong_values(prepared, &containers, &is_covered));
    let schemas_with = |container: u32| used_pairs.schemas_with(compiled, container);
    diagnostics.extend(retyped_values::diagnostics(prepared, &containers, &schemas_with));
    diagnostics.extend(unused::unused_labels(prepared, &containers, &schemas));
    diagnostics.extend(rival::diagnostics(prepared, &rivals));
    diagnostics.extend(duplicate_objects::diagnostics(compiled));
    diagnostics.extend(clear_credential::diagnostics(prepared));
    diagnostics.extend(source_of_another::diagnostics(&prepared.fleet));
    diagnostics.extend(renames::diagnostics(prepared));
    diagnostics.extend(unread_manifests::diagnostics(prepared));
    // Diagnostics of one object are the same for all its assignments. Each is created once.
    let mut reached: BTreeMap<DiagnosticSource, Vec<AssignmentId>> = BTreeMap::new();
    for (source, id) in found.into_iter().flatten() {
        reached.entry(source).or_default().push(id);
    }
    for (source, ids) in reached {
        for mut diagnostic in diagnostics_of(compiled, source, &ids) {
            diagnostic.assignments.extend(ids.iter().cloned());
            diagnostics.push(diagnostic);
        }
    }
    with_examples(model::diagnostic::merged(diagnostics))
}

/// The codes whose notes show the output of one assignment.
const HAS_EXAMPLE: [Code; 2] = [Code::NotYamlRendered, Code::NameRefused];

/// Merges the reports about one place of a template for many assignments. The merged report shows the line of the first one as an example.
fn with_examples(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.dedup_by(|next, kept| {
        let is_same = HAS_EXAMPLE.contains(&kept.code)
            && (kept.code, &kept.message, &kept.labels) == (next.code, &next.message, &next.labels);
        if is_same {
            kept.assignments.append(&mut next.assignments);
        }
        is_same
    });
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| HAS_EXAMPLE.contains(&diagnostic.code)) {
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
    prepared.pins.apply(|key| place.label(key), &target.target).err()
}

/// The class pairs that assignments use. The other class pairs remain from earlier fleets.
struct UsedPairs(Vec<AtomicBool>);

/// The containers and schemas that assignments use, by position, and the rivals among the containers.
#[derive(Default)]
struct UsedObjects {
    containers: RoaringBitmap,
    schemas: RoaringBitmap,
    rivals: BTreeSet<Rivals>,
}

impl UsedPairs {
    fn new(pairs: &ClassPairs) -> Self {
        Self((0..pairs.len()).map(|_| AtomicBool::new(false)).collect())
    }

    fn add(&self, pair: u32) {
        let known = require(self.0.get(pair as usize), NO_PAIR);
        // Most assignments share their pair with others. Reading is cheaper than writing.
        if !known.load(Ordering::Relaxed) {
            known.store(true, Ordering::Relaxed);
        }
    }

    fn used<'c>(&self, compiled: &'c Compiled) -> impl Iterator<Item = &'c ClassPair> {
        let used = self.0.iter().enumerate().filter(|(_, is_used)| is_used.load(Ordering::Relaxed));
        used.map(|(position, _)| require(compiled.pairs.at(position as u32), NO_PAIR))
    }

    /// Whether an assignment uses both a container and a schema.
    fn have(&self, compiled: &Compiled, container: u32, schema: u32) -> bool {
        let mut pairs = self.used(compiled);
        pairs.any(|pair| pair.containers.binary_search(&container).is_ok() && pair.schemas.contains(&schema))
    }

    /// The ids of the schemas of all assignments that use a container.
    fn schemas_with(&self, compiled: &Compiled, container: u32) -> BTreeSet<u32> {
        let pairs = self.used(compiled).filter(|pair| pair.containers.binary_search(&container).is_ok());
        pairs.flat_map(|pair| pair.schemas.iter().copied()).collect()
    }

    fn objects(&self, compiled: &Compiled) -> UsedObjects {
        let mut objects = UsedObjects::default();
        for pair in self.used(compiled) {
            objects.containers.extend(pair.containers.iter());
            objects.schemas.extend(pair.schemas.iter());
            objects.rivals.extend(pair.rivals.iter());
        }
        objects
    }
}

/// The source of diagnostics about an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DiagnosticSource {
    /// The place.
    Place(u32),
    /// The target or the policies. Place id and target id.
    Target(u32, u32),
    /// The values. The position of the class pair.
    Values(u32),
    /// The rendering. Place id and target id.
    Rendering(u32, u32),
    /// The rendered files of assignments with the same warnings. If they are about values, also the digest of the containers of the values.
    Output(WarningsDigest, Option<Digest>),
}

fn of_row(compiled: &Compiled, place: u32, row: &Row, used_pairs: &UsedPairs) -> Vec<(DiagnosticSource, AssignmentId)> {
    let prepared = &compiled.prepared;
    let is_place_stopped = of_place(prepared, compiled.place(place)).next().is_some();
    let class = prepared.class_of_place(place);
    let mut found = Vec::new();
    for (target, slot) in row.targets.iter().copied().zip(&row.slots) {
        let pair = require(compiled.pairs.position(class, prepared.class_of_target(target)), NO_PAIR);
        used_pairs.add(pair);
        let ClassPair { has_diagnostics, values, .. } = require(compiled.pairs.at(pair), NO_PAIR);
        let output = |warnings: WarningsDigest| {
            DiagnosticSource::Output(warnings, warnings.is_about_values().then_some(values.inputs))
        };
        let sources = [
            is_place_stopped.then_some(DiagnosticSource::Place(place)),
            of_target(prepared, place, target).next().map(|_| DiagnosticSource::Target(place, target)),
            has_diagnostics.then_some(DiagnosticSource::Values(pair)),
            compiled.failures.contains_key(&(place, target)).then_some(DiagnosticSource::Rendering(place, target)),
            slot.warnings.filter(|_| slot.is_rendered).map(output),
        ];
        let mut sources = sources.into_iter().flatten().peekable();
        if sources.peek().is_some() {
            let id = compiled.id(place, target);
            found.extend(sources.map(|source| (source, id.clone())));
        }
    }
    found
}

/// The diagnostics of a source. `ids` are the assignments that have them.
fn diagnostics_of(compiled: &Compiled, source: DiagnosticSource, ids: &[AssignmentId]) -> Vec<Diagnostic> {
    let prepared = &compiled.prepared;
    match source {
        DiagnosticSource::Place(place) => of_place(prepared, compiled.place(place)).collect(),
        DiagnosticSource::Target(place, target) => of_target(prepared, place, target).collect(),
        DiagnosticSource::Values(pair) => require(compiled.pairs.at(pair), NO_PAIR).diagnostics(prepared),
        // Diagnostics about pins that exist more than once contain their places. The places may have changed.
        DiagnosticSource::Rendering(place, target) => of_pins(prepared, place, target)
            .or_else(|| compiled.failures.get(&(place, target)).cloned())
            .unwrap_or_default(),
        DiagnosticSource::Output(..) => {
            ids.iter().min().and_then(|id| Some(compiled.get(id)?.warnings())).unwrap_or_default()
        }
    }
}
