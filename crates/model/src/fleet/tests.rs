//! Objects for the tests of the collections in this module.

use crate::digest::Digest;
use crate::label::Labels;
use crate::name::ClusterName;
use crate::object::{Cluster, Object};
use crate::source::{Address, FileId};

/// A cluster whose content depends on `version`.
pub(super) fn cluster(name: &str, version: u64) -> Object<Cluster> {
    Object {
        name: ClusterName::new(name).unwrap(),
        labels: Labels::default(),
        annotations: Labels::default(),
        address: Address { file: FileId::default(), document: 0, item: None },
        digest: Digest::from_value(&(name, version)),
        spec: Cluster { cluster_type: "large".into() },
    }
}
