//! `Workload`: an application with its deployment targets, written by the application team.

use std::sync::Arc;

use super::Spec;
use super::deployment_target::{CONFIG_SCHEMAS, DeploymentTarget};
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::label::Labels;
use crate::name::WorkloadName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `Workload`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workload {
    /// The deployment targets, of all environments.
    pub deployment_targets: Vec<WorkloadTarget>,
    /// JSON schemas, as JSON text, of the values that all its targets use.
    pub config_schemas: Vec<Arc<str>>,
}

/// A deployment target inside a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkloadTarget {
    /// The target's own name, without the workload's.
    pub name: Arc<str>,
    /// The target's own labels.
    pub labels: Labels,
    /// The target's `spec`.
    pub spec: DeploymentTarget,
    /// The position in the list of targets, which also contains targets with errors.
    pub position: usize,
}

impl Spec for Workload {
    type Name = WorkloadName;
    const KIND: Kind = Kind::Workload;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            optional(
                "deploymentTargets",
                Shape::Parts(&Shape::Fields(&[
                    required("name", Shape::Name, "The target's name; its whole name is `<workload>-<name>`."),
                    optional("labels", Shape::PlainTextMap, "Labels, by which policies and values find the target."),
                    required("environment", Shape::Text, "The environment that the target is for."),
                    required(
                        "manifests",
                        Shape::PlainTextMap,
                        "What the reconciler template needs: usually `repo`, `branch` and `path`.",
                    ),
                    CONFIG_SCHEMAS,
                ])),
                "The ways in which the workload is deployed.",
            ),
            CONFIG_SCHEMAS,
        ]),
        "The workload.",
    )];
    const DOC: &'static str =
        "An application or service, with its deployment targets in each environment. It never names a cluster.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: hello-world
  labels:
    type: application
spec:
  deploymentTargets:
    - name: functional-test
      labels:
        purpose: functional-test
      environment: dev
      manifests:
        repo: https://git.example/acme/hello-world-gitops
        branch: dev
        path: ./functional-test
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        let targets = decode::items(root, &["spec", "deploymentTargets"]).iter().enumerate();
        let good: Vec<_> = targets.filter(|(position, _)| !decoder.is_broken_part(*position)).collect();
        for (_, target) in &good {
            decoder.check_label_rules(target, &["labels"]);
        }
        Self {
            deployment_targets: good
                .into_iter()
                .map(|(position, node)| WorkloadTarget::decode(position, node))
                .collect(),
            config_schemas: decode::texts(root, &["spec", "configSchemas"]),
        }
    }
}

impl WorkloadTarget {
    fn decode(position: usize, node: &Node) -> Self {
        Self {
            position,
            name: decode::text(node, &["name"]),
            labels: decode::labels(node, &["labels"]),
            spec: DeploymentTarget {
                environment: decode::text(node, &["environment"]),
                manifests: decode::text_map(node, &["manifests"]),
                config_schemas: decode::texts(node, &["configSchemas"]),
            },
        }
    }
}
