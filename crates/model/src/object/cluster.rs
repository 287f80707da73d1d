//! `Cluster`: one cluster or host with its own object.

use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::ClusterName;
use crate::shape::{Field, Shape, required};
use crate::yaml::Node;

/// The `spec` of a `Cluster`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cluster {
    /// The name of the cluster type whose labels and templates it inherits.
    pub cluster_type: Arc<str>,
}

/// The path of the field with the name of the cluster type.
pub const CLUSTER_TYPE: [&str; 2] = ["spec", "clusterType"];

impl Spec for Cluster {
    type Name = ClusterName;
    const KIND: Kind = Kind::Cluster;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[required(
            "clusterType",
            Shape::Name,
            "The name of its `ClusterType`, whose labels and templates it inherits.",
        )]),
        "The cluster.",
    )];
    const DOC: &'static str = "One cluster (or host) with its own values, workloads or releases. It is scheduled and configured like a cluster type with one member, into \
        a folder of its own. It has the labels of its cluster type, and its own labels, which take precedence; and its cluster type's templates. Other clusters \
        need no object: they pull the folder of their cluster type, which stays as it is.";
    const EXAMPLE: &'static str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Cluster
metadata:
  name: chicago-line-7
  labels:
    site: chicago
spec:
  clusterType: large
";

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self { cluster_type: decode::text(root, &CLUSTER_TYPE) }
    }
}
