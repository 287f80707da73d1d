//! The kinds of objects: their names, API groups and versions.

use std::fmt;

/// The API group of the kinds that Microsoft's Kalypso has too.
pub const SCHEDULER_GROUP: &str = "scheduler.kalypso.io";
/// The API group of the kinds that only this implementation has.
pub const FLEET_GROUP: &str = "fleet.kalypso.io";
/// The API group of the kinds that the hub reads.
pub const HUB_GROUP: &str = "hub.kalypso.io";

/// Calls a macro with all kinds: the one list of them. Each line has the type of the object's content in [`crate::object`], the API group, the version, and the name.
macro_rules! with_kinds {
    ($call:ident) => {
        $call! {
            BaseRepo: "scheduler.kalypso.io" "v1alpha1" "BaseRepo",
            Cluster: "fleet.kalypso.io" "v1alpha1" "Cluster",
            ClusterType: "scheduler.kalypso.io" "v1alpha1" "ClusterType",
            ConfigMap: "" "v1" "ConfigMap",
            ConfigSchema: "scheduler.kalypso.io" "v1alpha1" "ConfigSchema",
            DeploymentDescriptor: "hub.kalypso.io" "v1alpha1" "DeploymentDescriptor",
            DeploymentTarget: "scheduler.kalypso.io" "v1alpha1" "DeploymentTarget",
            Environment: "scheduler.kalypso.io" "v1alpha1" "Environment",
            GitOpsRepo: "scheduler.kalypso.io" "v1alpha1" "GitOpsRepo",
            FluxGitRepository: "source.toolkit.fluxcd.io" "v1" "GitRepository",
            FluxKustomization: "kustomize.toolkit.fluxcd.io" "v1" "Kustomization",
            LabelMapping: "fleet.kalypso.io" "v1alpha1" "LabelMapping",
            Promotion: "fleet.kalypso.io" "v1alpha1" "Promotion",
            ReleasePin: "fleet.kalypso.io" "v1alpha1" "ReleasePin",
            SchedulingPolicy: "scheduler.kalypso.io" "v1alpha1" "SchedulingPolicy",
            Template: "scheduler.kalypso.io" "v1alpha1" "Template",
            Workload: "scheduler.kalypso.io" "v1alpha1" "Workload",
            WorkloadRegistration: "scheduler.kalypso.io" "v1alpha1" "WorkloadRegistration",
        }
    };
}

pub(crate) use with_kinds;

macro_rules! kinds {
    ($($variant:ident: $group:literal $version:literal $kind:literal,)+) => {
        /// The kind of an object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $group, "/", $version, "` `", $kind, "`")] $variant,)+
        }

        impl Kind {
            /// All kinds by name.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name of the kind, as in an object's `kind`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $kind,)+
                }
            }

            /// The API group. Empty for the core group of Kubernetes.
            pub fn group(self) -> &'static str {
                match self {
                    $(Self::$variant => $group,)+
                }
            }

            /// The API version that Kalypso writes.
            pub fn version(self) -> &'static str {
                match self {
                    $(Self::$variant => $version,)+
                }
            }
        }
    };
}

with_kinds!(kinds);

impl Kind {
    /// The kind with this API group and name. None if there is no such kind.
    pub fn find(group: &str, name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.group() == group && kind.name() == name)
    }

    /// Whether it is one of Kalypso's own kinds, not a kind of Kubernetes or Flux.
    pub fn is_own(self) -> bool {
        matches!(self.group(), SCHEDULER_GROUP | FLEET_GROUP | HUB_GROUP)
    }

    /// Whether objects of this kind with this `apiVersion` are read. Kalypso's own kinds have one version. For other kinds, all versions of the group
    /// are read alike.
    pub fn has_version(self, api_version: &str) -> bool {
        !self.is_own() || api_version.rsplit_once('/').is_some_and(|(_, version)| version == self.version())
    }

    /// Whether objects of the kind belong in control planes and application repositories. Objects of the other kinds are for the hub.
    pub fn is_of_fleets(self) -> bool {
        self.group() != HUB_GROUP
    }

    /// The `apiVersion` of objects of the kind: group and version.
    pub fn api_version(self) -> String {
        if self.group().is_empty() { self.version().to_owned() } else { format!("{}/{}", self.group(), self.version()) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
