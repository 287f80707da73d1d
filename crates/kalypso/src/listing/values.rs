//! The columns of values.

use engine::inventory::{HeldValue, Inventory, ValueOrigin};
use model::credential::without;
use model::excerpt;
use serde_json::{Value as Json, json};

use super::rows::{Columns, Row};
use super::view::View;
use crate::places;
use crate::terminal::thousands;

pub(crate) const COLUMNS: Columns = Columns {
    always: &["VALUE", "ASSIGNMENTS", "PLACES", "WORKLOADS", "SET-BY", "EXAMPLES"],
    wide: &["CLUSTER-TYPES", "CLUSTERS", "TARGETS"],
};

/// The columns of keys.
pub(crate) const KEYS: Columns = Columns { always: &["KEY", "CONFIGS"], wide: &[] };

/// How many assignments with a value are shown as examples.
const EXAMPLES_MAX: usize = 2;
/// How many assignments with a value programs get as examples.
const EXAMPLES_OF_PROGRAMS_MAX: usize = 10;
/// How many `ConfigMap`s that set parts of a value are named.
const ORIGINS_MAX: usize = 3;
/// The maximum length of a value in a table.
pub(crate) const SHOWN_MAX: usize = 60;

/// The row of a value with its assignments.
pub(crate) fn row(key: &str, value: &HeldValue, view: &mut View<'_>) -> Row {
    let counts = view.inventory.counts(&value.set);
    let examples = examples(&view.inventory, value);
    let shown_value = shown(value);
    let shown = examples.iter().take(EXAMPLES_MAX).cloned().collect::<Vec<_>>().join(", ");
    let more = counts.assignments.saturating_sub(EXAMPLES_MAX);
    let shown = if more > 0 { format!("{shown} and {} more", thousands(more)) } else { shown };
    Row {
        cells: vec![
            shown_value.as_deref().map_or_else(|| "(none)".to_owned(), |text| excerpt::first(text, SHOWN_MAX)),
            thousands(counts.assignments),
            thousands(counts.places()),
            thousands(counts.workloads),
            set_by(value, view),
            shown,
            thousands(counts.cluster_types),
            thousands(counts.clusters),
            thousands(counts.targets),
        ],
        json: json!({
            "environment": view.environment(),
            "key": key,
            "value": shown_value,
            "sensitive": value.is_sensitive,
            "assignments": counts.assignments,
            "clusterTypes": counts.cluster_types,
            "clusters": counts.clusters,
            "targets": counts.targets,
            "workloads": counts.workloads,
            "setBy": set_by_json(value, view),
            "examples": examples,
        }),
    }
}

/// The row of a key, with the number of `ConfigMap`s that set it.
pub(crate) fn key_row(key: &str, config_maps: usize, environment: &str) -> Row {
    Row {
        cells: vec![key.to_owned(), thousands(config_maps)],
        json: json!({"environment": environment, "key": key, "configs": config_maps}),
    }
}

fn examples(inventory: &Inventory<'_>, value: &HeldValue) -> Vec<String> {
    let first = inventory.assignments(&value.set, None).take(EXAMPLES_OF_PROGRAMS_MAX);
    first.map(|assigned| assigned.id().to_string()).collect()
}

fn set_by(value: &HeldValue, view: &mut View<'_>) -> String {
    if value.set_by.is_empty() {
        return "-".to_owned();
    }
    // A map may set several parts. Its first place is enough to find them.
    let mut origins: Vec<&ValueOrigin> = Vec::new();
    for by in &value.set_by {
        if !origins.iter().any(|other| other.config_map == by.config_map) {
            origins.push(by);
        }
    }
    let named = origins.iter().take(ORIGINS_MAX);
    let mut shown: Vec<_> = named.map(|by| format!("{} {}", by.config_map, view.source(&by.origin))).collect();
    if let Some(more) = origins.len().checked_sub(ORIGINS_MAX).filter(|more| *more > 0) {
        shown.push(format!("{} more", thousands(more)));
    }
    shown.join(" + ")
}

fn set_by_json(value: &HeldValue, view: &mut View<'_>) -> Json {
    let origin = |by: &ValueOrigin| json!({"configMap": by.config_map.as_str(), "place": places::json(&by.origin, &mut view.locator)});
    value.set_by.iter().map(origin).collect::<Vec<_>>().into()
}

/// A value without credentials. None: there is no value.
pub(crate) fn shown(value: &HeldValue) -> Option<String> {
    value.shown.as_deref().map(|shown| without(shown).into_owned())
}
