//! `DeploymentTarget`: one way to deploy a workload in an environment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::DeploymentTargetName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `DeploymentTarget`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeploymentTarget {
    /// The environment of the target.
    pub environment: Arc<str>,
    /// The place of its manifests, for the reconciler template. The keys are free.
    pub manifests: BTreeMap<Arc<str>, Arc<str>>,
    /// JSON schemas, as JSON text, of the values that it uses.
    pub config_schemas: Vec<Arc<str>>,
}

/// The label with the name of the target's workload.
pub const WORKLOAD_LABEL: &str = "workload";
/// The label with the target's workspace.
pub const WORKSPACE_LABEL: &str = "workspace";

/// The field `configSchemas` of targets and workloads.
pub(crate) const CONFIG_SCHEMAS: Field = optional(
    "configSchemas",
    Shape::List(&Shape::Text),
    "JSON schemas, as JSON text, that the platform's values must satisfy.",
);

impl Spec for DeploymentTarget {
    type Name = DeploymentTargetName;
    const KIND: Kind = Kind::DeploymentTarget;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("environment", Shape::Text, "The environment that the target is for."),
            required(
                "manifests",
                Shape::TextMap,
                "What the reconciler template needs: usually `repo`, `branch` and `path`.",
            ),
            CONFIG_SCHEMAS,
        ]),
        "The target.",
    )];
    const DOC: &'static str = "A deployment target written directly instead of inside a `Workload`. Its labels `workload` and `workspace` name its workload and workspace.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata:
  name: hello-world-functional-test
  labels:
    workload: hello-world
    workspace: web-team
    purpose: functional-test
spec:
  environment: dev
  manifests:
    repo: https://git.example/acme/hello-world-gitops
    branch: dev
    path: ./functional-test
";

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self {
            environment: decode::text(root, &["spec", "environment"]),
            manifests: decode::text_map(root, &["spec", "manifests"]),
            config_schemas: decode::texts(root, &["spec", "configSchemas"]),
        }
    }
}
