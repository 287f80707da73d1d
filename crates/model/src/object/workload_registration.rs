//! `WorkloadRegistration`: registers the repository of an application team's workload.

use std::sync::Arc;

use super::environment::RepositoryPlace;
use super::{Object, Spec};
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::RegistrationName;
use crate::shape::{Field, REPOSITORY_PLACE, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `WorkloadRegistration`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkloadRegistration {
    /// The repository, branch and path of the workload's objects.
    pub workload: RepositoryPlace,
    /// The workspace of the workload's deployment targets. May be empty.
    pub workspace: Arc<str>,
}

/// The annotation that sets how a release of the workload is written into the next environment: `pin` (default) by a release pin on the environment's branch,
/// `pullRequest` by a pull request to the repository of its manifests.
pub const RELEASE: &str = "promotion.kalypso.io/release";

impl Object<WorkloadRegistration> {
    /// Whether a release of the workload moves by a pull request to the repository of its manifests.
    pub fn moves_by_pull_request(&self) -> bool {
        self.annotations.get(RELEASE).is_some_and(|value| **value == *"pullRequest")
    }
}

impl Spec for WorkloadRegistration {
    type Name = RegistrationName;
    const KIND: Kind = Kind::WorkloadRegistration;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("workload", Shape::Fields(REPOSITORY_PLACE), "Where the workload's objects are."),
            optional("workspace", Shape::Text, "The workspace (the team) that its deployment targets belong to."),
        ]),
        "The registration.",
    )];
    const DOC: &'static str = "Makes an application team's repository known to the platform.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata:
  name: hello-world
spec:
  workload:
    repo: https://git.example/acme/hello-world
    branch: main
    path: workload/
  workspace: web-team
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        decoder.plain_text(root, &["spec", "workspace"]);
        Self {
            workload: RepositoryPlace::decode(root, &["spec", "workload"]),
            workspace: decode::text(root, &["spec", "workspace"]),
        }
    }
}
