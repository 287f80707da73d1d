//! `GitOpsRepo`: the destination of an environment's output.

use super::Spec;
use super::environment::RepositoryPlace;
use crate::decode::{self, Decoder};
use crate::kind::Kind;
use crate::name::GitOpsRepoName;
use crate::shape::{Field, GITOPS_PLACE, Shape, required};
use crate::yaml::Node;

/// The annotation that sets whether the folders of the output are spread over subfolders: `true` or `false`.
pub const FAN_OUT: &str = "output.kalypso.io/fan-out";

/// The `spec` of a `GitOpsRepo`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GitOpsRepo {
    /// The repository, the branch that clusters pull, and the folder that contains all output.
    pub place: RepositoryPlace,
    /// Whether the git host merges pull requests by itself as soon as it can.
    pub auto_merge: bool,
}

impl Spec for GitOpsRepo {
    type Name = GitOpsRepoName;
    const KIND: Kind = Kind::GitOpsRepo;
    const FIELDS: &'static [Field] = &[required("spec", Shape::Fields(GITOPS_PLACE), "The destination.")];
    const DOC: &'static str = "A repository and branch that receives the environment's output, and that clusters pull. All output lives under `path`.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: dev
spec:
  repo: https://git.example/acme/platform-gitops
  branch: dev
  path: .
";

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self {
            place: RepositoryPlace::decode(root, &["spec"]),
            auto_merge: decode::node(root, &["spec", "autoMerge"]).and_then(decode::boolean).unwrap_or_default(),
        }
    }
}
