//! `ClusterType`: a kind of cluster or host.

use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::ClusterTypeName;
use crate::shape::{Field, Shape, required};
use crate::yaml::Node;

/// The `spec` of a `ClusterType`: the names of the templates for the manifests of its clusters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClusterType {
    /// The template of the reconciler's manifests.
    pub reconciler: Arc<str>,
    /// The template of the namespace's manifest.
    pub namespace_service: Arc<str>,
    /// The template of the configuration.
    pub config_type: Arc<str>,
}

impl Spec for ClusterType {
    type Name = ClusterTypeName;
    const KIND: Kind = Kind::ClusterType;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("reconciler", Shape::Text, "The name of the `Template` that makes `reconciler.yaml`."),
            required("namespaceService", Shape::Text, "The name of the `Template` that makes `namespace.yaml`."),
            required("configType", Shape::Text, "The name of the `Template` that makes `platform-config.yaml`."),
        ]),
        "The templates.",
    )];
    const DOC: &'static str = "A kind of cluster (or host): all clusters of one type get the same workloads with the same configuration, and pull the same folder.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: large
  labels:
    region: west-us
    size: large
spec:
  reconciler: arc-flux
  namespaceService: default
  configType: configmap
";

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self {
            reconciler: decode::text(root, &["spec", "reconciler"]),
            namespace_service: decode::text(root, &["spec", "namespaceService"]),
            config_type: decode::text(root, &["spec", "configType"]),
        }
    }
}
