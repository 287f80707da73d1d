//! `BaseRepo`: a repository whose objects an environment builds on.

use std::sync::Arc;

use super::Spec;
use super::allow::{ALLOW, Allow};
use super::environment::RepositoryPlace;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::BaseRepoName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// The name of the `BaseRepo` whose `spec.commit` is the promoted commit.
pub const MAIN: &str = "main";

/// The `spec` of a `BaseRepo`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BaseRepo {
    /// The repository, branch and path of the objects.
    pub place: RepositoryPlace,
    /// The commit that is promoted to this environment. None stands for the head of the branch.
    pub commit: Option<Arc<str>>,
    /// What the repository may bring. None: everything that the repositories above it may bring.
    pub allow: Option<Arc<Allow>>,
}

impl Spec for BaseRepo {
    type Name = BaseRepoName;
    const KIND: Kind = Kind::BaseRepo;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("repo", Shape::Text, "The repository's URL, `https` or `ssh`."),
            required("branch", Shape::Text, "The branch."),
            required("path", Shape::Text, "The folder or file in the repository; `.` is all of it."),
            optional("commit", Shape::Text, "The commit to read. Without it, the head of the branch is read."),
            ALLOW,
        ]),
        "The repository.",
    )];
    const DOC: &'static str = "A repository whose objects (templates, registrations, schemas, values, further `BaseRepo`s) an environment builds on. \
        The one named `main` is the control plane's main branch at the promoted commit.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  repo: https://git.example/acme/control-plane
  branch: main
  path: .
  commit: 5523a85f37d12c0c7c10ab6616644db089fcd6f7
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        let commit = decode::text(root, &["spec", "commit"]);
        let commit = (!commit.is_empty()).then_some(commit);
        Self { place: RepositoryPlace::decode(root, &["spec"]), commit, allow: Allow::decode(root, decoder) }
    }
}
