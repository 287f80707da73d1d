//! The columns of scheduling policies, release pins and label mappings.

use model::object::{LabelMapping, Object, ReleasePin, SchedulingPolicy};
use serde_json::json;

use super::super::view::{View, labels_json, labels_text, or_dash, pairs_json, pairs_text};
use super::{Columns, Row, columns};
use crate::terminal::thousands;

pub(super) const POLICY: Columns =
    columns(&["NAME", "TARGETS", "CLUSTER-TYPES", "SELECTS", "ASSIGNMENTS"], &["SOURCE"]);
pub(super) const PIN: Columns =
    columns(&["NAME", "SETS", "ASSIGNMENTS", "EXPIRES", "REASON"], &["TARGETS", "CLUSTER-TYPES", "SOURCE"]);
pub(super) const MAPPING: Columns = columns(&["NAME", "FROM", "ADDS", "TARGETS"], &["SOURCE"]);

/// The requirements of a policy for targets and for cluster types, in words.
fn requirements(policy: &SchedulingPolicy) -> [Vec<String>; 2] {
    let workspace = (!policy.workspace.is_empty()).then(|| format!("workspace={}", policy.workspace));
    let words = |selector: &model::selector::LabelSelector| {
        selector.requirements.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    [workspace.into_iter().chain(words(&policy.targets)).collect(), words(&policy.cluster_types)]
}

fn shown(requirements: &[String]) -> String {
    if requirements.is_empty() { "any".to_owned() } else { requirements.join(", ") }
}

pub(super) fn policy(object: &Object<SchedulingPolicy>, view: &View<'_>) -> Row {
    let counts = view.inventory.counts(&view.inventory.of_policy(&object.spec));
    let [targets, cluster_types] = requirements(&object.spec);
    let (selected_places, selected_targets) = view.inventory.selected_by(&object.spec);
    Row {
        cells: vec![
            shown(&targets),
            shown(&cluster_types),
            format!("{} x {}", thousands(selected_targets), thousands(selected_places)),
            thousands(counts.assignments),
        ],
        json: json!({
            "targetRequirements": targets,
            "clusterTypeRequirements": cluster_types,
            "targets": selected_targets,
            "places": selected_places,
            "assignments": counts.assignments,
        }),
    }
}

pub(super) fn pin(object: &Object<ReleasePin>, view: &View<'_>) -> Row {
    let ReleasePin { selection, manifests, reason, expires } = &object.spec;
    let held = view.inventory.len(&view.inventory.of_policy(selection));
    let [targets, cluster_types] = requirements(selection);
    let expires = expires.map(|expiry| expiry.to_string());
    let manifests = || manifests.iter().map(|(key, value)| (&**key, &**value));
    Row {
        cells: vec![
            pairs_text(manifests()),
            thousands(held),
            or_dash(expires.as_deref().unwrap_or_default()),
            or_dash(reason),
            shown(&targets),
            shown(&cluster_types),
        ],
        json: json!({
            "manifests": pairs_json(manifests()),
            "reason": &**reason,
            "expires": expires,
            "targetRequirements": targets,
            "clusterTypeRequirements": cluster_types,
            "assignments": held,
        }),
    }
}

pub(super) fn mapping(object: &Object<LabelMapping>, view: &View<'_>) -> Row {
    let targets = view.inventory.prepared().targets().iter();
    let mapped = targets.filter(|target| target.mapped.values().any(|mapping| *mapping == object.name)).count();
    let LabelMapping { from, add } = &object.spec;
    Row {
        cells: vec![labels_text(from), labels_text(add), thousands(mapped)],
        json: json!({"from": labels_json(from), "add": labels_json(add), "targets": mapped}),
    }
}
