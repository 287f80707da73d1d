//! `Environment`: an environment with the place of its objects.

use std::sync::Arc;

use super::Spec;
use super::allow::{ALLOW, Allow};
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::EnvironmentName;
use crate::shape::{Field, REPOSITORY_PLACE, Shape, required};
use crate::yaml::Node;

/// The `spec` of an `Environment`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// The repository, branch and path of the environment's objects.
    pub control_plane: RepositoryPlace,
    /// What the environment's branch may bring. None: everything.
    pub allow: Option<Arc<Allow>>,
}

/// A repository, branch and path: a folder or file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryPlace {
    /// The URL, as in the object.
    pub repo: Arc<str>,
    /// The branch.
    pub branch: Arc<str>,
    /// The path, as in the object.
    pub path: Arc<str>,
}

impl RepositoryPlace {
    /// Reads the mapping at `keys` below `root`.
    pub(crate) fn decode(root: &Node, keys: &[&str]) -> Self {
        let field = |name| decode::text(root, &[keys, &[name]].concat());
        Self { repo: field("repo"), branch: field("branch"), path: field("path") }
    }
}

/// The URL of a repository without `/` and `.git` at its end, to compare it with others.
pub fn comparable_url(url: &str) -> &str {
    url.trim_end_matches('/').trim_end_matches(".git")
}

/// The annotation that sets what happens if a required value is missing: `enforce` (default) or `warn`.
pub const MISSING_VALUES: &str = "schema.kalypso.io/missing";
/// The annotation that sets what happens if a namespace name is too long: `error` (default) or `shorten`.
pub const LONG_NAMES: &str = "names.kalypso.io/long";
/// The annotation that sets which of two values counts: `name` (default) or `specificity`.
pub const PRECEDENCE: &str = "config.kalypso.io/precedence";
/// The annotations that change how output is made: part of what promotions admit, although the rest of an `Environment` is not.
pub const OUTPUT_SETTINGS: [&str; 3] = [MISSING_VALUES, LONG_NAMES, PRECEDENCE];
/// The annotation that names the next environment in the order of promotion.
pub const NEXT: &str = "promotion.kalypso.io/next";

impl Spec for Environment {
    type Name = EnvironmentName;
    const KIND: Kind = Kind::Environment;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("controlPlane", Shape::Fields(REPOSITORY_PLACE), "Where the environment's objects are."),
            ALLOW,
        ]),
        "The environment.",
    )];
    const DOC: &'static str = "An environment: a branch of the control plane with its cluster types, policies and values. \
        Lives in the folder `.environments` of the control plane's `main` branch.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: dev
spec:
  controlPlane:
    repo: https://git.example/acme/control-plane
    branch: dev
    path: .
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        let control_plane = RepositoryPlace::decode(root, &["spec", "controlPlane"]);
        Self { control_plane, allow: Allow::decode(root, decoder) }
    }
}
