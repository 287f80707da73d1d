//! `DeploymentDescriptor`: the version of a workload that the manifests of a deployment target contain.

use std::sync::Arc;

use super::Spec;
use super::environment::RepositoryPlace;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::DeploymentDescriptorName;
use crate::shape::{Field, REPOSITORY_PLACE, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `DeploymentDescriptor`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeploymentDescriptor {
    /// The name of the workload.
    pub workload: Arc<str>,
    /// The place of the workload's source.
    pub source: RepositoryPlace,
    /// The application of the workload.
    pub application: Arc<str>,
    /// The application's workspace.
    pub workspace: Arc<str>,
    /// The deployment target's own name, without the workload's.
    pub target: Arc<str>,
    /// The target's environment.
    pub environment: Arc<str>,
    /// The place of the target's manifests.
    pub manifests: RepositoryPlace,
    /// The version of the workload in the manifests.
    pub version: Arc<str>,
    /// The build that generated the manifests. Empty if it is not given.
    pub build: Arc<str>,
    /// The commit of the source that the manifests were generated from.
    pub commit: Arc<str>,
}

const WORKSPACE: [&str; 5] = ["spec", "workload", "application", "workspace", "name"];
const APPLICATION: [&str; 4] = ["spec", "workload", "application", "name"];
const WORKLOAD: [&str; 3] = ["spec", "workload", "name"];
const TARGET: [&str; 3] = ["spec", "deploymentTarget", "name"];
const ENVIRONMENT: [&str; 3] = ["spec", "deploymentTarget", "environment"];
const VERSION: [&str; 3] = ["spec", "workloadVersion", "version"];
const BUILD: [&str; 3] = ["spec", "workloadVersion", "build"];
const COMMIT: [&str; 3] = ["spec", "workloadVersion", "commit"];

impl Spec for DeploymentDescriptor {
    type Name = DeploymentDescriptorName;
    const KIND: Kind = Kind::DeploymentDescriptor;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required(
                "workload",
                Shape::Fields(&[
                    required("name", Shape::Text, "The workload's name."),
                    required("source", Shape::Fields(REPOSITORY_PLACE), "Where the workload's source is."),
                    required(
                        "application",
                        Shape::Fields(&[
                            required("name", Shape::Text, "The application's name."),
                            required(
                                "workspace",
                                Shape::Fields(&[required("name", Shape::Text, "The workspace's name.")]),
                                "The workspace (the team) that the application belongs to.",
                            ),
                        ]),
                        "The application that the workload belongs to.",
                    ),
                ]),
                "The workload.",
            ),
            required(
                "deploymentTarget",
                Shape::Fields(&[
                    required("name", Shape::Text, "The target's own name, without the workload's."),
                    required("environment", Shape::Text, "The environment that the target is for."),
                    required(
                        "manifests",
                        Shape::Fields(REPOSITORY_PLACE),
                        "The folder with the target's manifests, which its reconcilers apply.",
                    ),
                ]),
                "The deployment target.",
            ),
            required(
                "workloadVersion",
                Shape::Fields(&[
                    required("version", Shape::Text, "The version, in quotes if it looks like a number."),
                    optional("build", Shape::Text, "The build that made the manifests."),
                    required("commit", Shape::Text, "The commit of the source that they were made of."),
                    optional("buildTime", Shape::Timestamp, "When they were made. Ignored."),
                ]),
                "The version of the workload that the manifests are of.",
            ),
        ]),
        "What the manifests are.",
    )];
    const DOC: &'static str = "Names the version of the workload whose manifests are in a folder of a GitOps repository. The program that writes the manifests writes it beside \
        them, in the same commit. Only the hub reads it; in a control plane it has no effect. No name has more than 253 characters.";
    const EXAMPLE: &'static str = "\
apiVersion: hub.kalypso.io/v1alpha1
kind: DeploymentDescriptor
metadata:
  name: hello-world-functional-test
spec:
  workload:
    name: hello-world
    source:
      repo: https://git.example/acme/hello-world
      branch: main
      path: .
    application:
      name: greetings
      workspace:
        name: web-team
  deploymentTarget:
    name: functional-test
    environment: dev
    manifests:
      repo: https://git.example/acme/hello-world-gitops
      branch: dev
      path: ./functional-test
  workloadVersion:
    version: 1.0.3
    build: \"57\"
    commit: 9f2c4e1d5b6a7f8091a2b3c4d5e6f708192a3b4c
    buildTime: 2026-11-21T13:44:01Z
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        for keys in [&WORKSPACE[..], &APPLICATION, &WORKLOAD, &TARGET, &ENVIRONMENT, &VERSION, &BUILD, &COMMIT] {
            decoder.plain_name(root, keys);
        }
        let text = |keys: &[&str]| decode::text(root, keys);
        Self {
            workload: text(&WORKLOAD),
            source: RepositoryPlace::decode(root, &["spec", "workload", "source"]),
            application: text(&APPLICATION),
            workspace: text(&WORKSPACE),
            target: text(&TARGET),
            environment: text(&ENVIRONMENT),
            manifests: RepositoryPlace::decode(root, &["spec", "deploymentTarget", "manifests"]),
            version: text(&VERSION),
            build: text(&BUILD),
            commit: text(&COMMIT),
        }
    }
}
