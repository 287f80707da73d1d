//! `DeploymentTarget`: one way in which a workload is deployed in an environment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::DeploymentTargetName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// What a `DeploymentTarget` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeploymentTarget {
    /// The environment it belongs to.
    pub environment: Arc<str>,
    /// Where its manifests are, for the reconciler template: free keys.
    pub manifests: BTreeMap<Arc<str>, Arc<str>>,
    /// JSON schemas (as JSON text) of the values it needs.
    pub config_schemas: Vec<Arc<str>>,
}

/// Label with the name of the workload a target belongs to.
pub const WORKLOAD_LABEL: &str = "workload";
/// Label with the workspace a target belongs to.
pub const WORKSPACE_LABEL: &str = "workspace";

/// `configSchemas`, which targets and workloads have.
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
    const DOC: &'static str = "A deployment target written directly instead of inside a `Workload`. Its labels `workload` and `workspace` say whose it is.";
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
