//! `ReleasePin`: at some places, replaces the release that deployment targets name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::scheduling_policy::{CLUSTER_TYPE_FIELD, TARGET_FIELD};
use super::{Object, SchedulingPolicy, Spec, release};
use crate::decode;
use crate::decode::Decoder;
use crate::expiry::Expiry;
use crate::kind::Kind;
use crate::name::ReleasePinName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `ReleasePin`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReleasePin {
    /// The selected assignments: of those that exist, the ones that a policy with these selectors would make.
    pub selection: SchedulingPolicy,
    /// Replaces keys of the target's manifests.
    pub manifests: BTreeMap<Arc<str>, Arc<str>>,
    /// The reason, for readers of the pin. May be empty.
    pub reason: Arc<str>,
    /// The time when the pin must be reviewed. The rendered output does not depend on it.
    pub expires: Option<Expiry>,
}

/// The path of the field that replaces the target's manifests.
pub const MANIFESTS: [&str; 2] = ["spec", "manifests"];
/// The path of the field with the time from which the pin is reported as expired.
pub const EXPIRES: [&str; 2] = ["spec", "expires"];

/// The prefix of the names of the pins with which promotions write the release of a workload. The rest is the name of the workload.
pub const PROMOTED_PREFIX: &str = "promoted-";

impl Object<ReleasePin> {
    /// Whether a promotion wrote the pin: it is the release of a workload in the environment. All other pins are exceptions that people made, and override it.
    pub fn is_promoted(&self) -> bool {
        self.promoted_workload().is_some()
    }

    /// What the pin says about a target with these manifests. A release with several keys says in each target only those that it has.
    pub fn of_target<'p>(
        &'p self,
        target: &BTreeMap<Arc<str>, Arc<str>>,
    ) -> impl Iterator<Item = (&'p Arc<str>, &'p Arc<str>)> {
        let is_all = self.spec.manifests.len() == 1 || !self.is_promoted();
        self.spec.manifests.iter().filter(move |(key, _)| is_all || target.contains_key(*key))
    }

    /// What the pin sets by one of its versions: a promoted tag or branch at a commit sets both.
    pub fn set_by(&self, key: &Arc<str>, version: &Arc<str>) -> Vec<(Arc<str>, Arc<str>)> {
        if self.is_promoted() {
            return release::set_by(key, version);
        }
        vec![(Arc::clone(key), Arc::clone(version))]
    }

    /// The workload whose release the pin is, if a promotion wrote it.
    pub fn promoted_workload(&self) -> Option<&str> {
        let workload = self.name.as_str().strip_prefix(PROMOTED_PREFIX);
        workload.filter(|_| self.spec.selection.cluster_types.requirements.is_empty())
    }
}

impl Spec for ReleasePin {
    type Name = ReleasePinName;
    const KIND: Kind = Kind::ReleasePin;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            TARGET_FIELD,
            CLUSTER_TYPE_FIELD,
            required("manifests", Shape::TextMap, "Overrides the target's `manifests`, key by key."),
            optional("reason", Shape::Text, "Why the pin is there, for people."),
            optional(
                "expires",
                Shape::Timestamp,
                "The time from which `kalypso check` warns about the pin: the end of that date (UTC), or that timestamp. The output never depends on it.",
            ),
        ]),
        "The pin.",
    )];
    const DOC: &'static str = "Holds the deployment targets that it selects at another release, on the cluster types and clusters that it selects: its `manifests` are laid \
        over the target's, key by key. Two pins that set one key differently for one assignment stop it.";
    const EXAMPLE: &'static str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: ReleasePin
metadata:
  name: hold-hello-world-in-chicago
spec:
  deploymentTargetSelector:
    labelSelector:
      matchLabels:
        workload: hello-world
  clusterTypeSelector:
    labelSelector:
      matchLabels:
        site: chicago
  manifests:
    branch: release-1.4
  reason: The scanners of line 7 can't read the new labels yet.
  expires: 2027-01-31
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        Self {
            selection: SchedulingPolicy::decode(root, decoder),
            manifests: decode::text_map(root, &MANIFESTS),
            reason: decode::text(root, &["spec", "reason"]),
            expires: decode::text(root, &EXPIRES).parse().ok(),
        }
    }
}
