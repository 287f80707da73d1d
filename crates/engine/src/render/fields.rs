//! What templates see of an assignment.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::value::{Struct, Value};
use model::digest::Digest;

use super::Context;
use super::namespace::namespace;
use crate::compose::Composition;
use crate::place::Place;
use crate::target::Target;

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
            cluster_type_labels: text_map(type_labels.iter()),
            cluster: Value::text(cluster.map_or("", |cluster| cluster.name.as_str())),
            cluster_labels: text_map(cluster_labels.iter()),
            type_labels_digest: Digest::of(type_labels),
            cluster_labels_digest: Digest::of(&cluster_labels),
        }
    }
}

impl TargetFields {
    pub(crate) fn of(target: &Target) -> Self {
        Self {
            name: Value::text(target.name.as_str()),
            workspace: Value::text(target.workspace()),
            workload: Value::text(target.workload()),
            labels: text_map(target.labels.iter()),
            manifests: text_map(target.manifests.iter()),
            labels_digest: Digest::of(&target.labels),
            manifests_digest: Digest::of(&target.manifests),
            identity_digest: Digest::of(&(target.name.as_str(), target.workspace(), target.workload(), &target.origin)),
        }
    }
}

impl Pinned {
    pub(crate) fn of(manifests: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        Self { manifests: text_map(manifests.iter()), digest: Digest::of(manifests) }
    }
}

fn text_map<'l>(pairs: impl Iterator<Item = (&'l Arc<str>, &'l Arc<str>)>) -> Value {
    Value::text_map(pairs.map(|(key, value)| (&**key, &**value)))
}

/// The data of an assignment's templates.
pub(super) fn data(context: &Context<'_>, composition: &Composition, version: &str) -> Value {
    let Context { place_fields: place, target_fields: target, .. } = context;
    let manifests = context.pinned.map_or(&target.manifests, |pinned| &pinned.manifests);
    let fields = vec![
        ("DeploymentTargetName", target.name.clone()),
        ("Namespace", Value::text(namespace(context).as_str())),
        ("Environment", Value::text(context.environment.as_str())),
        ("Workspace", target.workspace.clone()),
        ("Workload", target.workload.clone()),
        ("Labels", target.labels.clone()),
        ("Manifests", manifests.clone()),
        ("ClusterType", place.cluster_type.clone()),
        ("ConfigData", composition.data.clone()),
        ("ClusterTypeLabels", place.cluster_type_labels.clone()),
        ("Cluster", place.cluster.clone()),
        ("ClusterLabels", place.cluster_labels.clone()),
        ("ConfigVersion", Value::text(version)),
    ];
    Value::Struct(Arc::new(Struct { type_name: "Assignment", fields }))
}
