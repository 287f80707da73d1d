//! The differences of two environments: the desired and reported state of their targets, and their values by key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use delivery::sources::loaded::Loaded;
use engine::answers::inventory::{AssignmentSet, HeldValue, Inventory};
use engine::compile::Prepared;
use hub_api::compare::ComparedTarget;
use rayon::prelude::*;
use serde::Serialize;
use utoipa::ToSchema;

use crate::listing::rows::shown_value;

/// How many places with a value are listed by name.
const EXAMPLES_MAX: usize = 100;
/// What is shown instead of a value that is sensitive only in the other environment.
const HIDDEN: &str = "(sensitive)";

/// The differences of two environments.
#[derive(Serialize, ToSchema)]
pub struct EnvironmentComparison {
    /// The one environment.
    pub from: String,
    /// The other.
    pub to: String,
    /// The compared targets.
    pub items: Vec<ComparedTarget>,
    /// Whether there are more than `--limit`.
    pub more: bool,
    /// The values that differ between these targets; `null` without a control plane here.
    pub values: Option<Vec<ValueDifference>>,
}

/// A key whose values differ, with the targets for which they differ in the same way.
#[derive(Serialize, ToSchema)]
pub struct ValueDifference {
    /// The key.
    pub key: String,
    /// The targets for which it differs in this way: `WORKLOAD/TARGET`.
    pub targets: Vec<String>,
    /// The values in the one environment, the most frequent one first.
    pub from: Vec<PlacedValue>,
    /// The values in the other environment.
    pub to: Vec<PlacedValue>,
}

/// A value with the places that have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub struct PlacedValue {
    /// The value, or a digest of a sensitive one; `null`: these places have none.
    pub value: Option<String>,
    /// Whether it is sensitive.
    pub sensitive: bool,
    /// How many places have it.
    pub places: usize,
    /// The first of them.
    pub examples: Vec<String>,
}

/// The values of a key in one environment.
type Values = Vec<PlacedValue>;

/// The name of a target, or its two names.
pub fn target_text(row: &ComparedTarget) -> String {
    let names: Vec<_> = [&row.from, &row.to].into_iter().flatten().map(|side| side.target.as_str()).collect();
    match names.as_slice() {
        [one, other] if one != other => format!("{}/{one} = {other}", row.workload),
        names => format!("{}/{}", row.workload, names.first().unwrap_or(&"")),
    }
}

impl ValueDifference {
    /// The values that differ between targets of two environments. A hub has only digests of values, so they are composed.
    pub fn find(environments: [&Loaded; 2], rows: &[ComparedTarget]) -> Vec<Self> {
        let prepared = environments.map(|loaded| Prepared::new(&loaded.fleet));
        let inventories = prepared.each_ref().map(Inventory::new);
        let found: Vec<_> = rows.par_iter().flat_map_iter(|row| of_target(&inventories, row)).collect();
        let mut grouped: BTreeMap<(String, [Values; 2]), Vec<String>> = BTreeMap::new();
        for (target, key, sides) in found {
            grouped.entry((key, sides)).or_default().push(target);
        }
        grouped.into_iter().map(|((key, [from, to]), targets)| Self { key, targets, from, to }).collect()
    }
}

/// The differences of a target that exists in both environments, with its name.
fn of_target(inventories: &[Inventory<'_>; 2], row: &ComparedTarget) -> Vec<(String, String, [Values; 2])> {
    let (Some(from), Some(to)) = (&row.from, &row.to) else { return Vec::new() };
    let sets = [(&inventories[0], from), (&inventories[1], to)]
        .map(|(inventory, side)| (inventory, inventory.of_target(&format!("{}-{}", row.workload, side.target))));
    let keys: BTreeSet<Arc<str>> =
        sets.iter().flat_map(|(inventory, set)| inventory.keys(Some(set)).into_keys()).collect();
    let differing = |key: &str| differing(key, sets.each_ref().map(|(inventory, set)| (*inventory, set)));
    let paths: BTreeSet<String> = inventories.iter().flat_map(Inventory::key_paths).collect();
    let mut found = Vec::new();
    for key in &keys {
        let Some(whole) = differing(key) else { continue };
        // Of nested values, only the parts that differ are shown.
        let parts: Vec<_> = parts_of(key, &paths).filter_map(|part| Some((part.clone(), differing(part)?))).collect();
        found.extend(if parts.is_empty() { vec![(key.to_string(), whole)] } else { parts });
    }
    let target = target_text(row);
    found.into_iter().map(|(key, sides)| (target.clone(), key, sides)).collect()
}

/// The paths below a key that have nothing below them.
fn parts_of<'p>(key: &str, paths: &'p BTreeSet<String>) -> impl Iterator<Item = &'p String> {
    let is_below = |above: &str, path: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']));
    let below: Vec<_> = paths.iter().filter(|path| is_below(key, path)).collect();
    let leaves: Vec<_> =
        below.iter().filter(|path| !below.iter().any(|other| is_below(path, other))).copied().collect();
    leaves.into_iter()
}

/// The values of a key on both sides, if they differ: if one side has a value that the other has not, or if a place of both has different values.
fn differing(key: &str, sides: [(&Inventory<'_>, &AssignmentSet); 2]) -> Option<[Values; 2]> {
    let held = sides.map(|(inventory, set)| inventory.values(key, set));
    let distinct = held.each_ref().map(|values| values.iter().map(|value| &value.shown).collect::<BTreeSet<_>>());
    let is_same = distinct[0] == distinct[1];
    if is_same && (distinct[0].len() <= 1 || have_same_places(&sides, &held)) {
        return None;
    }
    let is_sensitive = held.iter().flatten().any(|value| value.is_sensitive);
    let mut sides = sides.into_iter().zip(&held).map(|((inventory, _), held)| placed(inventory, held, is_sensitive));
    Some([sides.next().unwrap_or_default(), sides.next().unwrap_or_default()])
}

/// Whether the places of both sides have the same values.
fn have_same_places(sides: &[(&Inventory<'_>, &AssignmentSet); 2], held: &[Vec<HeldValue>; 2]) -> bool {
    let [from, to] = [0, 1].map(|side| {
        let (inventory, _) = sides[side];
        let mut by_place = BTreeMap::new();
        for value in &held[side] {
            by_place.extend(inventory.assignments(&value.set, None).map(|one| (one.place.name(), &value.shown)));
        }
        by_place
    });
    from.iter().all(|(place, value)| to.get(place).is_none_or(|other| other == value))
}

/// The values with their places. The same value from several `ConfigMap`s is one.
fn placed(inventory: &Inventory<'_>, held: &[HeldValue], is_sensitive: bool) -> Values {
    let mut values: Vec<PlacedValue> = Vec::new();
    for one in held {
        let value = if is_sensitive && !one.is_sensitive {
            one.shown.as_ref().map(|_| HIDDEN.to_owned())
        } else {
            shown_value(one)
        };
        let places = inventory.counts(&one.set).places();
        let examples = inventory.assignments(&one.set, None).take(EXAMPLES_MAX);
        let examples: Vec<_> = examples.map(|one| one.place.name().to_string()).collect();
        match values.iter_mut().find(|other| other.value == value) {
            Some(same) => {
                same.places += places;
                same.examples.extend(examples);
                same.examples.sort();
                same.examples.truncate(EXAMPLES_MAX);
            }
            None => values.push(PlacedValue { value, sensitive: is_sensitive, places, examples }),
        }
    }
    values
}
