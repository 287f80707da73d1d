//! Values, and the keys of values.

use engine::answers::inventory::{HeldValue, ValueOrigin};
use hub_api::compiled::SourcePosition;
use model::count::thousands;
use model::credential::without;
use model::excerpt;
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};
use crate::listing::view::View;

/// How many assignments with a value are shown as examples.
const EXAMPLES_MAX: usize = 2;
/// How many assignments with a value programs get as examples.
const EXAMPLES_OF_PROGRAMS_MAX: usize = 10;
/// How many `ConfigMap`s that set parts of a value are named.
const ORIGINS_MAX: usize = 3;
/// The maximum length of a value in a table, in characters.
pub const VALUE_CHARS_MAX: usize = 60;

/// A value with its assignments.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueRow {
    /// The environment.
    pub environment: String,
    /// The key, as it was asked for.
    pub key: String,
    /// A value, as `explain` shows it; `null` for the assignments without a value.
    pub value: Option<String>,
    /// Whether the value is sensitive; then `value` is a digest.
    pub sensitive: bool,
    /// How many assignments have this value from these `ConfigMap`s.
    pub assignments: usize,
    /// On how many cluster types they are.
    pub cluster_types: usize,
    /// On how many clusters they are.
    pub clusters: usize,
    /// Of how many targets they are.
    pub targets: usize,
    /// Of how many workloads they are.
    pub workloads: usize,
    /// The `ConfigMap`s that set it; several if each sets a part.
    pub set_by: Vec<SetBy>,
    /// The first 10 of these assignments.
    pub examples: Vec<String>,
    /// The same `ConfigMap`s, for people.
    #[serde(skip)]
    sources: String,
}

/// A `ConfigMap` that sets a value or a part of it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetBy {
    /// The name of the `ConfigMap`.
    pub config_map: String,
    /// Where the value is written.
    pub place: Option<SourcePosition>,
}

impl ValueRow {
    /// The row of a value.
    pub fn new(key: &str, value: &HeldValue, view: &mut View<'_>) -> Self {
        let counts = view.inventory.counts(&value.set);
        let first = view.inventory.assignments(&value.set, None).take(EXAMPLES_OF_PROGRAMS_MAX);
        let examples = first.map(|assigned| assigned.id().to_string()).collect();
        let sources = sources(value, view);
        let set_by = |by: &ValueOrigin| SetBy {
            config_map: by.config_map.to_string(),
            place: SourcePosition::find(&by.origin, &mut view.locator),
        };
        let set_by = value.set_by.iter().map(set_by).collect();
        Self {
            environment: view.environment().to_owned(),
            key: key.to_owned(),
            value: shown_value(value),
            sensitive: value.is_sensitive,
            assignments: counts.assignments,
            cluster_types: counts.cluster_types,
            clusters: counts.clusters,
            targets: counts.targets,
            workloads: counts.workloads,
            set_by,
            examples,
            sources,
        }
    }

    fn examples_text(&self) -> String {
        let shown: Vec<_> = self.examples.iter().take(EXAMPLES_MAX).map(String::as_str).collect();
        let shown = shown.join(", ");
        let more = self.assignments.saturating_sub(EXAMPLES_MAX);
        if more > 0 { format!("{shown} and {} more", thousands(more)) } else { shown }
    }
}

impl KindFields for ValueRow {
    const COLUMNS: ListColumns = columns(
        &["VALUE", "ASSIGNMENTS", "PLACES", "WORKLOADS", "SET-BY", "EXAMPLES"],
        &["CLUSTER-TYPES", "CLUSTERS", "TARGETS"],
    );

    fn cells(&self) -> Vec<String> {
        vec![
            self.value.as_deref().map_or_else(|| "(none)".to_owned(), |text| excerpt::first(text, VALUE_CHARS_MAX)),
            thousands(self.assignments),
            thousands(self.cluster_types + self.clusters),
            thousands(self.workloads),
            self.sources.clone(),
            self.examples_text(),
            thousands(self.cluster_types),
            thousands(self.clusters),
            thousands(self.targets),
        ]
    }
}

/// A key, with the number of `ConfigMap`s that set it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRow {
    /// The environment.
    pub environment: String,
    /// A key that a `ConfigMap` sets.
    pub key: String,
    /// How many `ConfigMap`s set it.
    pub configs: usize,
}

impl KindFields for KeyRow {
    const COLUMNS: ListColumns = columns(&["KEY", "CONFIGS"], &[]);

    fn cells(&self) -> Vec<String> {
        vec![self.key.clone(), thousands(self.configs)]
    }
}

/// The `ConfigMap`s that set a value, each with the file and line of its first part: `web control-plane@prod:web.yaml:9 + 2 more`.
fn sources(value: &HeldValue, view: &mut View<'_>) -> String {
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
    if shown.is_empty() { "-".to_owned() } else { shown.join(" + ") }
}

/// A value without credentials. None: there is no value.
pub fn shown_value(value: &HeldValue) -> Option<String> {
    value.shown.as_deref().map(|shown| without(shown).into_owned())
}
