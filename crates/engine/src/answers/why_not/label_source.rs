//! Finds the object and the field that a label of a place or target comes from.

use std::sync::Arc;

use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::kind::Kind;
use model::name::RegistrationName;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::label_mapping::ADD;
use model::object_key::ObjectKey;

use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// The path of the labels in the metadata of an object.
pub(crate) const LABELS: [&str; 2] = ["metadata", "labels"];

/// A label with the object that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedLabel {
    /// The label's key.
    pub key: Arc<str>,
    /// The label's value.
    pub value: Arc<str>,
    /// The object that sets it: a cluster or its cluster type, a workload or a deployment target, a label mapping, or a registration.
    pub object: ObjectKey,
    /// The field of the object that sets it.
    pub path: FieldPath,
    /// The registration whose repository contains the object. None for objects of the platform team.
    pub registration: Option<RegistrationName>,
}

impl SourcedLabel {
    /// The place of the field.
    pub fn origin(&self) -> Origin {
        Origin::field(&self.object, self.path.clone())
    }
}

/// The label of a place with this key. None if it has no such label.
pub fn label_of_place(place: &Place, key: &str) -> Option<SourcedLabel> {
    let own = place.cluster.as_ref().and_then(|cluster| Some((cluster.labels.get(key)?, cluster.key())));
    let inherited = || Some((place.cluster_type.labels.get(key)?, place.cluster_type.key()));
    let (value, object) = own.or_else(inherited)?;
    let (key, value) = (Arc::from(key), Arc::clone(value));
    Some(SourcedLabel { path: FieldPath::from(LABELS).key(Arc::clone(&key)), key, value, object, registration: None })
}

/// The label of a target with this key. None if it has no such label.
pub fn label_of_target(target: &Target, key: &str) -> Option<SourcedLabel> {
    let value = Arc::clone(target.labels.get(key)?);
    let (object, path) = source(target, key);
    let registration = target.registration.clone().filter(|_| object.kind == Kind::Workload);
    Some(SourcedLabel { key: key.into(), value, object, path, registration })
}

/// All labels of a place, by key.
pub fn labels_of_place(place: &Place) -> Vec<SourcedLabel> {
    place.labels().iter().filter_map(|(key, _)| label_of_place(place, key)).collect()
}

/// All labels of a target, by key.
pub fn labels_of_target(target: &Target) -> Vec<SourcedLabel> {
    target.labels.iter().filter_map(|(key, _)| label_of_target(target, key)).collect()
}

/// The field of the target's own labels.
pub(crate) fn own_labels(target: &Target) -> FieldPath {
    let (object, path) = &target.origin;
    if object.kind == Kind::Workload { path.key("labels") } else { FieldPath::from(LABELS) }
}

fn source(target: &Target, key: &str) -> (ObjectKey, FieldPath) {
    let object = &target.origin.0;
    if let Some(mapping) = target.mapped.get(key) {
        let mapping = ObjectKey { kind: Kind::LabelMapping, name: Arc::clone(mapping.as_arc()), of: None };
        return (mapping, FieldPath::from(ADD).key(key));
    }
    if object.kind != Kind::Workload {
        return (object.clone(), FieldPath::from(LABELS).key(key));
    }
    match (key, &target.registration) {
        (WORKSPACE_LABEL, Some(registration)) => {
            let name = Arc::clone(registration.as_arc());
            let registration = ObjectKey { kind: Kind::WorkloadRegistration, name, of: None };
            (registration, FieldPath::from(["spec", "workspace"]))
        }
        (WORKLOAD_LABEL, _) => (object.clone(), FieldPath::from(["metadata", "name"])),
        _ if target.of_workload.contains(key) => (object.clone(), FieldPath::from(LABELS).key(key)),
        _ => (object.clone(), own_labels(target).key(key)),
    }
}
