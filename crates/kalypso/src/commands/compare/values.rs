//! The values that differ between two environments, by key. The hub has only digests of values, so they are composed from the control plane.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::answers::inventory::{AssignmentSet, HeldValue, Inventory};
use engine::compile::Prepared;
use hub_api::compare::ComparedTarget;
use model::count::count;
use model::excerpt;
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use workbench::listing::rows::{VALUE_CHARS_MAX, shown_value};

use crate::arguments::{Compare, SourceOptions};
use crate::progress::Watch;
use crate::{configuration, hub_client, loading, reporting, terminal};

/// How many places with a value are named.
const PLACES_NAMED_MAX: usize = 2;
/// How many places with a value programs get by name.
const PLACES_OF_PROGRAMS_MAX: usize = 100;
/// How many targets with the same difference are named.
const TARGETS_NAMED_MAX: usize = 3;
/// What is shown instead of a value that is sensitive only in the other environment.
const HIDDEN: &str = "(sensitive)";

/// The values of a key in one environment, the most frequent one first.
type Values = Vec<PlacedValue>;

/// A value with the places that have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PlacedValue {
    /// None: these places have no value.
    value: Option<String>,
    is_sensitive: bool,
    places: usize,
    /// Some of the places, by name.
    named: Vec<String>,
}

/// A key whose values differ, with the targets for which they differ in the same way.
pub(super) struct ValueDifference {
    key: String,
    sides: [Values; 2],
    targets: Vec<String>,
}

/// The values that differ between the compared targets. None: there is no control plane here, or it can't be read.
pub(super) fn differences(options: &Compare, rows: &[ComparedTarget]) -> Option<Vec<ValueDifference>> {
    if !configuration::is_there(options.connection.config.as_deref()) {
        return None;
    }
    match read(options) {
        Ok(environments) => Some(of_environments(environments.each_ref(), rows)),
        Err(error) => {
            // If standard error is closed, there is no other place for this output.
            let _ = reporting::reasons_to_stderr(&error);
            terminal::note(&format!("note: values are not compared by key: {error}"));
            None
        }
    }
}

fn read(options: &Compare) -> anyhow::Result<[Loaded; 2]> {
    let source = SourceOptions { config: options.connection.config.clone(), ..SourceOptions::default() };
    let mut watch = Watch::start();
    let one = |name: &str| loading::environment(&source, name, ReadAt::Admitted, &watch);
    let environments = [one(&options.from)?, one(&options.to)?];
    watch.end();
    Ok(environments)
}

fn of_environments(environments: [&Loaded; 2], rows: &[ComparedTarget]) -> Vec<ValueDifference> {
    let prepared = environments.map(|loaded| Prepared::new(&loaded.fleet));
    let inventories = prepared.each_ref().map(Inventory::new);
    let found: Vec<_> = rows.par_iter().flat_map_iter(|row| of_target(&inventories, row)).collect();
    let mut grouped: BTreeMap<(String, [Values; 2]), Vec<String>> = BTreeMap::new();
    for (target, key, sides) in found {
        grouped.entry((key, sides)).or_default().push(target);
    }
    grouped.into_iter().map(|((key, sides), targets)| ValueDifference { key, sides, targets }).collect()
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
    let target = super::target_text(row);
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
        let named = inventory.assignments(&one.set, None).take(PLACES_OF_PROGRAMS_MAX);
        let named: Vec<_> = named.map(|one| one.place.name().to_string()).collect();
        match values.iter_mut().find(|other| other.value == value) {
            Some(same) => {
                same.places += places;
                same.named.extend(named);
                same.named.sort();
                same.named.truncate(PLACES_OF_PROGRAMS_MAX);
            }
            None => values.push(PlacedValue { value, is_sensitive, places, named }),
        }
    }
    values
}

/// The differences for people. Empty if there are none.
pub(super) fn text(differences: &[ValueDifference], environments: [&str; 2]) -> String {
    let mut grouped: BTreeMap<(&str, [String; 2]), Vec<&str>> = BTreeMap::new();
    for ValueDifference { key, sides, targets } in differences {
        let shown = shown_sides(sides);
        grouped.entry((key, shown)).or_default().extend(targets.iter().map(String::as_str));
    }
    let width = environments.iter().map(|name| name.len()).max().unwrap_or_default();
    let mut text = if grouped.is_empty() { String::new() } else { "\nvalues that differ:\n".to_owned() };
    for ((key, sides), mut targets) in grouped {
        targets.sort_unstable();
        let _ = writeln!(text, "\n  {}   {}", hub_client::plain(key), hub_client::plain(&targets_text(&targets)));
        for (environment, values) in environments.iter().zip(&sides) {
            let _ = writeln!(text, "    {environment:width$}  {}", hub_client::plain(values));
        }
    }
    text
}

/// The values of both sides. Of two long values, the part that differs is shown.
fn shown_sides(sides: &[Values; 2]) -> [String; 2] {
    if let [[PlacedValue { value: Some(from), .. }], [PlacedValue { value: Some(to), .. }]] =
        sides.each_ref().map(Vec::as_slice)
    {
        let (from, to) = excerpt::differing(from, to, VALUE_CHARS_MAX);
        return [from, to];
    }
    sides.each_ref().map(values_text)
}

/// The values of one side: `"info"`, or `"info" on 4 places, "warning" on chicago-edge`.
fn values_text(values: &Values) -> String {
    let text = |value: &PlacedValue| {
        value.value.as_deref().map_or_else(|| "(none)".to_owned(), |text| excerpt::first(text, VALUE_CHARS_MAX))
    };
    match values.as_slice() {
        [] => "(none)".to_owned(),
        [only] => text(only),
        several => {
            let with_places = several.iter().map(|value| format!("{} on {}", text(value), places_text(value)));
            with_places.collect::<Vec<_>>().join(", ")
        }
    }
}

fn places_text(value: &PlacedValue) -> String {
    if value.places <= PLACES_NAMED_MAX { value.named.join(" and ") } else { count(value.places, "place") }
}

fn targets_text(targets: &[&str]) -> String {
    let named = targets.iter().take(TARGETS_NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match targets.len().saturating_sub(TARGETS_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {} more", terminal::thousands(more)),
    }
}

/// The differences for programs.
pub(super) fn json(differences: &[ValueDifference]) -> Json {
    let values = |values: &Values| {
        let one = |value: &PlacedValue| {
            let PlacedValue { value, is_sensitive, places, named } = value;
            json!({"value": value, "sensitive": is_sensitive, "places": places, "examples": named})
        };
        values.iter().map(one).collect::<Vec<_>>()
    };
    let one = |difference: &ValueDifference| {
        let ValueDifference { key, sides: [from, to], targets } = difference;
        json!({"key": key, "targets": targets, "from": values(from), "to": values(to)})
    };
    differences.iter().map(one).collect::<Vec<_>>().into()
}
