//! What templates see of an assignment.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::value::{Key, MapKind, Struct, Value};
use gotemplate::{Taint, Text};
use model::digest::Digest;

use super::Context;
use super::namespace::namespace;
use crate::compose::{CONFIG_DATA, Composition};
use crate::place::Place;
use crate::target::Target;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};

/// What templates see of a place.
#[derive(Debug)]
pub(crate) struct PlaceFields {
    cluster_type: Value,
    cluster_type_labels: Value,
    cluster: Value,
    cluster_labels: Value,
    pub(super) type_labels_digest: Digest,
    pub(super) cluster_labels_digest: Digest,
}

/// What templates see of a target.
#[derive(Debug)]
pub(crate) struct TargetFields {
    name: Value,
    workspace: Value,
    workload: Value,
    labels: Value,
    manifests: Value,
    pub(super) labels_digest: Digest,
    pub(super) manifests_digest: Digest,
    pub(super) identity_digest: Digest,
}

/// Manifests with what pins lay over them.
#[derive(Debug)]
pub(crate) struct Pinned {
    manifests: Value,
    pub(super) digest: Digest,
}

impl PlaceFields {
    pub(crate) fn of(place: &Place) -> Self {
        let cluster = place.cluster.as_ref();
        let cluster_labels = cluster.map(|_| place.labels()).unwrap_or_default();
        let type_labels = &place.cluster_type.labels;
        Self {
            cluster_type: Value::text(place.cluster_type.name.as_str()),
            cluster_type_labels: text_map(type_labels.iter(), |_| Taint::None),
            cluster: Value::text(cluster.map_or("", |cluster| cluster.name.as_str())),
            cluster_labels: text_map(cluster_labels.iter(), |_| Taint::None),
            type_labels_digest: Digest::of(type_labels),
            cluster_labels_digest: Digest::of(&cluster_labels),
        }
    }
}

impl TargetFields {
    pub(crate) fn of(target: &Target) -> Self {
        Self {
            name: name(target.name.as_str(), target),
            workspace: Value::text(target.workspace()),
            workload: name(target.workload(), target),
            labels: text_map(target.labels.iter(), |(key, _)| label_taint(target, key)),
            manifests: text_map(target.manifests.iter(), |_| text_taint(target)),
            labels_digest: Digest::of(&(&target.labels, target.mapped.keys().collect::<Vec<_>>(), &target.of_workload)),
            manifests_digest: Digest::of(&target.manifests),
            identity_digest: Digest::of(&(target.name.as_str(), target.workspace(), target.workload(), &target.origin)),
        }
    }
}

impl Pinned {
    /// What is laid over the manifests of a target; none if that is nothing.
    pub(crate) fn over(over: &BTreeMap<Arc<str>, Arc<str>>, target: &Target) -> Option<Self> {
        let manifests = || target.manifests.clone().into_iter().chain(over.clone()).collect();
        (!over.is_empty()).then(|| Self::of(&manifests(), target))
    }

    /// These manifests of a target. What a pin sets to the text that the target has already stays the target's.
    pub(crate) fn of(manifests: &BTreeMap<Arc<str>, Arc<str>>, target: &Target) -> Self {
        let is_own = |(key, value): (&Arc<str>, &Arc<str>)| target.manifests.get(key) == Some(value);
        let taint = |pair| if is_own(pair) { text_taint(target) } else { Taint::None };
        let own: Vec<bool> = manifests.iter().map(is_own).collect();
        Self { manifests: text_map(manifests.iter(), taint), digest: Digest::of(&(manifests, own)) }
    }
}

/// A name of a target.
fn name(text: &str, target: &Target) -> Value {
    let taint = if target.is_of_application() { Taint::Name } else { Taint::None };
    Value::Text(Text::from(text).tainted(taint))
}

/// Where the texts of a target come from.
fn text_taint(target: &Target) -> Taint {
    if target.is_of_application() { Taint::Raw } else { Taint::None }
}

/// Where a label of a target comes from: mappings and registrations are the platform's.
fn label_taint(target: &Target, key: &Arc<str>) -> Taint {
    match &**key {
        WORKSPACE_LABEL => Taint::None,
        WORKLOAD_LABEL => text_taint(target).min(Taint::Name),
        _ if target.mapped.contains_key(key) => Taint::None,
        _ => text_taint(target),
    }
}

type Pair<'l> = (&'l Arc<str>, &'l Arc<str>);

fn text_map<'l>(pairs: impl Iterator<Item = Pair<'l>>, taint: impl Fn(Pair<'l>) -> Taint) -> Value {
    let entry = |pair: Pair<'l>| {
        let [key, value] = [pair.0, pair.1].map(|text| Text::from(&**text).tainted(taint(pair)));
        (Key::Text(key), Value::Text(value))
    };
    Value::map(MapKind::TextToText, pairs.map(entry).collect())
}

/// The data of an assignment's templates.
pub(super) fn data(context: &Context<'_>, composition: &Composition, version: &str) -> Value {
    let Context { place_fields: place, target_fields: target, .. } = context;
    let manifests = context.pinned.map_or(&target.manifests, |pinned| &pinned.manifests);
    let fields = vec![
        ("DeploymentTargetName", target.name.clone()),
        ("Namespace", name(&namespace(context), context.target)),
        ("Environment", Value::text(context.environment.as_str())),
        ("Workspace", target.workspace.clone()),
        ("Workload", target.workload.clone()),
        ("Labels", target.labels.clone()),
        ("Manifests", manifests.clone()),
        ("ClusterType", place.cluster_type.clone()),
        (CONFIG_DATA, composition.data.clone()),
        ("ClusterTypeLabels", place.cluster_type_labels.clone()),
        ("Cluster", place.cluster.clone()),
        ("ClusterLabels", place.cluster_labels.clone()),
        ("ConfigVersion", Value::text(version)),
    ];
    Value::Struct(Arc::new(Struct { type_name: "Assignment", fields }))
}
