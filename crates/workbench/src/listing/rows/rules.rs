//! Scheduling policies, release pins and label mappings.

use model::count::thousands;
use model::object::{LabelMapping, Object, ReleasePin, SchedulingPolicy};
use model::selector::LabelSelector;
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};
use crate::listing::view::{Pairs, View, label_pairs, or_dash, pairs, pairs_text};

/// The requirements of a policy or pin.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requirements {
    /// Its requirements of targets, in words.
    pub target_requirements: Vec<String>,
    /// Its requirements of cluster types and clusters, in words.
    pub cluster_type_requirements: Vec<String>,
}

impl Requirements {
    fn new(policy: &SchedulingPolicy) -> Self {
        let workspace = (!policy.workspace.is_empty()).then(|| format!("workspace={}", policy.workspace));
        let words =
            |selector: &LabelSelector| selector.requirements.iter().map(ToString::to_string).collect::<Vec<_>>();
        let target_requirements = workspace.into_iter().chain(words(&policy.targets)).collect();
        Self { target_requirements, cluster_type_requirements: words(&policy.cluster_types) }
    }

    fn cells(&self) -> [String; 2] {
        [&self.target_requirements, &self.cluster_type_requirements]
            .map(|words| if words.is_empty() { "any".to_owned() } else { words.join(", ") })
    }
}

/// A scheduling policy.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyFields {
    /// What it selects.
    #[serde(flatten)]
    pub requirements: Requirements,
    /// How many targets it selects.
    pub targets: usize,
    /// How many cluster types and clusters it selects.
    pub places: usize,
    /// How many assignments that makes.
    pub assignments: usize,
}

impl PolicyFields {
    pub(super) fn new(object: &Object<SchedulingPolicy>, view: &View<'_>) -> Self {
        let assignments = view.inventory.counts(&view.inventory.of_policy(&object.spec)).assignments;
        let (places, targets) = view.inventory.selected_by(&object.spec);
        Self { requirements: Requirements::new(&object.spec), targets, places, assignments }
    }
}

impl KindFields for PolicyFields {
    const COLUMNS: ListColumns = columns(&["NAME", "TARGETS", "CLUSTER-TYPES", "SELECTS", "ASSIGNMENTS"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        let [targets, cluster_types] = self.requirements.cells();
        let selects = format!("{} x {}", thousands(self.targets), thousands(self.places));
        vec![targets, cluster_types, selects, thousands(self.assignments)]
    }
}

/// A release pin.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinFields {
    /// The keys of the manifests that it overrides, with their values, as in `spec.manifests`.
    pub manifests: Pairs,
    /// The reason that it gives.
    pub reason: String,
    /// The day after which it is warned of; `null` if there is none.
    pub expires: Option<String>,
    /// What it selects.
    #[serde(flatten)]
    pub requirements: Requirements,
    /// How many assignments it holds.
    pub assignments: usize,
}

impl PinFields {
    pub(super) fn new(object: &Object<ReleasePin>, view: &View<'_>) -> Self {
        let ReleasePin { selection, manifests, reason, expires } = &object.spec;
        Self {
            manifests: pairs(manifests.iter().map(|(key, value)| (&**key, &**value))),
            reason: reason.to_string(),
            expires: expires.map(|expiry| expiry.to_string()),
            requirements: Requirements::new(selection),
            assignments: view.inventory.len(&view.inventory.of_policy(selection)),
        }
    }
}

impl KindFields for PinFields {
    const COLUMNS: ListColumns =
        columns(&["NAME", "SETS", "ASSIGNMENTS", "EXPIRES", "REASON"], &["TARGETS", "CLUSTER-TYPES", "SOURCE"]);

    fn cells(&self) -> Vec<String> {
        let [targets, cluster_types] = self.requirements.cells();
        vec![
            pairs_text(&self.manifests),
            thousands(self.assignments),
            or_dash(self.expires.as_deref().unwrap_or_default()),
            or_dash(&self.reason),
            targets,
            cluster_types,
        ]
    }
}

/// A label mapping.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MappingFields {
    /// The labels that a target must have, as in `spec.from`.
    pub from: Pairs,
    /// The labels that it gets, as in `spec.add`.
    pub add: Pairs,
    /// How many targets get labels.
    pub targets: usize,
}

impl MappingFields {
    pub(super) fn new(object: &Object<LabelMapping>, view: &View<'_>) -> Self {
        let targets = view.inventory.prepared().targets().iter();
        let mapped = targets.filter(|target| target.mapped.values().any(|mapping| *mapping == object.name)).count();
        let LabelMapping { from, add } = &object.spec;
        Self { from: label_pairs(from), add: label_pairs(add), targets: mapped }
    }
}

impl KindFields for MappingFields {
    const COLUMNS: ListColumns = columns(&["NAME", "FROM", "ADDS", "TARGETS"], &["SOURCE"]);

    fn cells(&self) -> Vec<String> {
        vec![pairs_text(&self.from), pairs_text(&self.add), thousands(self.targets)]
    }
}
