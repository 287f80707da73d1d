//! Flux's `GitRepository` and `Kustomization`. Control planes use pairs of them to spread their objects over several repositories.

use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::diagnostic::Code;
use crate::kind::Kind;
use crate::name::ConfigMapName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a Flux `GitRepository`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FluxGitRepository {
    /// The URL.
    pub url: Arc<str>,
    /// The branch. Empty if it is not set.
    pub branch: Arc<str>,
    /// The tag. Empty if it is not set.
    pub tag: Arc<str>,
    /// The commit. Empty if it is not set.
    pub commit: Arc<str>,
}

/// The `spec` of a Flux `Kustomization`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FluxKustomization {
    /// The folder in the repository.
    pub path: Arc<str>,
    /// The name of the `GitRepository`.
    pub repository: Arc<str>,
}

/// Fields of a `GitRepository` that select other files than its URL and branch, tag or commit.
const LEADING_ELSEWHERE: &[&[&str]] = &[
    &["spec", "ref", "semver"],
    &["spec", "ref", "name"],
    &["spec", "ignore"],
    &["spec", "include"],
    &["spec", "sparseCheckout"],
];

/// Fields of a `Kustomization` that change the content of the files.
const CHANGING_FIELDS: &[&str] = &[
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "postBuild",
    "decryption",
    "images",
    "components",
    "commonMetadata",
    "namePrefix",
    "nameSuffix",
];

impl Spec for FluxGitRepository {
    type Name = ConfigMapName;
    const KIND: Kind = Kind::FluxGitRepository;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("url", Shape::Text, "The repository's URL, `https` or `ssh`."),
            optional("ref", Shape::Any, "`branch`, `tag` or `commit`."),
        ]),
        "The repository.",
    )];
    const IS_OPEN: bool = true;
    const DOC: &'static str =
        "A repository, as Flux names it. Followed where a `Kustomization` of the control plane refers to it.";
    const EXAMPLE: &'static str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: region-east
spec:
  url: https://git.example/acme/region-east
  ref:
    branch: main
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        for path in LEADING_ELSEWHERE {
            if let Some(node) = decode::node(root, path) {
                let message = format!("`{}` is not followed", path.join("."));
                decoder.error(Code::UnsupportedKustomization, node.span, message);
                decoder.help(
                    "name a branch, tag or commit, and say in the repository's `.sourceignore` what is not to be read",
                );
            }
        }
        let reference = |name| decode::text(root, &["spec", "ref", name]);
        Self {
            url: decode::text(root, &["spec", "url"]),
            branch: reference("branch"),
            tag: reference("tag"),
            commit: reference("commit"),
        }
    }
}

impl Spec for FluxKustomization {
    type Name = ConfigMapName;
    const KIND: Kind = Kind::FluxKustomization;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            optional("path", Shape::Text, "The folder in the repository."),
            required(
                "sourceRef",
                Shape::Fields(&[
                    required("kind", Shape::OneOf(&["GitRepository"]), "The kind of source."),
                    required("name", Shape::Text, "The name of the `GitRepository`."),
                    optional("namespace", Shape::Text, "Not used."),
                    optional("apiVersion", Shape::Text, "Not used."),
                ]),
                "The source.",
            ),
        ]),
        "The folder.",
    )];
    const IS_OPEN: bool = true;
    const DOC: &'static str = "A folder of a `GitRepository`, whose objects become part of the environment.";
    const EXAMPLE: &'static str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: region-east
spec:
  path: ./configs
  sourceRef:
    kind: GitRepository
    name: region-east
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        for field in CHANGING_FIELDS {
            if let Some(node) = decode::node(root, &["spec", field]) {
                decoder.error(
                    Code::UnsupportedKustomization,
                    node.span,
                    format!("`{field}` would change what the folder holds"),
                );
                decoder.help("move the change into the files themselves");
            }
        }
        Self {
            path: decode::text(root, &["spec", "path"]),
            repository: decode::text(root, &["spec", "sourceRef", "name"]),
        }
    }
}
