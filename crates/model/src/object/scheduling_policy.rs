//! `SchedulingPolicy`: assigns deployment targets to cluster types and clusters.

use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::PolicyName;
use crate::selector::LabelSelector;
use crate::shape::{Field, LABEL_SELECTOR, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `SchedulingPolicy`: every selected target is assigned to every selected cluster type and cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SchedulingPolicy {
    /// The workspace of the selected targets. Empty for all workspaces.
    pub workspace: Arc<str>,
    /// Selects deployment targets by their labels.
    pub targets: LabelSelector,
    /// Selects cluster types and clusters, each by its own labels.
    pub cluster_types: LabelSelector,
}

/// The path of the field with the selector of deployment targets.
pub const TARGET_SELECTOR: [&str; 2] = ["spec", "deploymentTargetSelector"];
/// The path of the field with the selector of cluster types.
pub const CLUSTER_TYPE_SELECTOR: [&str; 2] = ["spec", "clusterTypeSelector"];

/// The field with the selector of deployment targets.
pub(crate) const TARGET_FIELD: Field = required(
    "deploymentTargetSelector",
    Shape::Fields(&[
        optional("workspace", Shape::Text, "Only targets of this workspace. Left out or empty: of any."),
        required("labelSelector", LABEL_SELECTOR, "A label selector; `{}` selects all."),
    ]),
    "Which deployment targets.",
);

/// The field with the selector of cluster types and clusters.
pub(crate) const CLUSTER_TYPE_FIELD: Field = required(
    "clusterTypeSelector",
    Shape::Fields(&[required("labelSelector", LABEL_SELECTOR, "A label selector; `{}` selects all.")]),
    "Which cluster types, and which clusters.",
);

impl Spec for SchedulingPolicy {
    type Name = PolicyName;
    const KIND: Kind = Kind::SchedulingPolicy;
    const FIELDS: &'static [Field] =
        &[required("spec", Shape::Fields(&[TARGET_FIELD, CLUSTER_TYPE_FIELD]), "The policy.")];
    const DOC: &'static str =
        "Assigns every deployment target that it selects to every cluster type and every cluster that it selects.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata:
  name: functional-tests-on-large
spec:
  deploymentTargetSelector:
    workspace: web-team
    labelSelector:
      matchLabels:
        purpose: functional-test
  clusterTypeSelector:
    labelSelector:
      matchExpressions:
        - key: size
          operator: In
          values: [large, huge]
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        let [spec, targets] = TARGET_SELECTOR;
        let [_, cluster_types] = CLUSTER_TYPE_SELECTOR;
        decoder.begun_text(root, &[spec, targets, "workspace"]);
        Self {
            workspace: decode::text(root, &[spec, targets, "workspace"]),
            targets: decoder.selector(root, &[spec, targets, "labelSelector"]),
            cluster_types: decoder.selector(root, &[spec, cluster_types, "labelSelector"]),
        }
    }
}
