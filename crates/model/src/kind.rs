//! The kinds of objects: their names, API groups and versions.

use std::fmt;

/// The API group of the kinds that Microsoft's Kalypso has as well.
pub const SCHEDULER_GROUP: &str = "scheduler.kalypso.io";
/// The API group of the kinds that only this Kalypso has.
pub const FLEET_GROUP: &str = "fleet.kalypso.io";
/// The API group of what the hub reads.
pub const HUB_GROUP: &str = "hub.kalypso.io";

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

            /// The name of the kind as objects write it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $kind,)+
                }
            }

            /// The API group; empty for Kubernetes' own.
            pub fn group(self) -> &'static str {
                match self {
                    $(Self::$variant => $group,)+
                }
            }

            /// The API version that is written.
            pub fn version(self) -> &'static str {
                match self {
                    $(Self::$variant => $version,)+
                }
            }
        }
    };
}

kinds! {
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
    ReleasePin: "fleet.kalypso.io" "v1alpha1" "ReleasePin",
    SchedulingPolicy: "scheduler.kalypso.io" "v1alpha1" "SchedulingPolicy",
    Template: "scheduler.kalypso.io" "v1alpha1" "Template",
    Workload: "scheduler.kalypso.io" "v1alpha1" "Workload",
    WorkloadRegistration: "scheduler.kalypso.io" "v1alpha1" "WorkloadRegistration",
}

impl Kind {
    /// The kind with this API group and name.
    pub fn find(group: &str, name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.group() == group && kind.name() == name)
    }

    /// Whether it is one of Kalypso's own kinds, not one of Kubernetes or Flux.
    pub fn is_own(self) -> bool {
        matches!(self.group(), SCHEDULER_GROUP | FLEET_GROUP | HUB_GROUP)
    }

    /// Whether an object of the kind that has this `apiVersion` is read. Of Kalypso's own kinds there is one version; those of others are read alike.
    pub fn has_version(self, api_version: &str) -> bool {
        !self.is_own() || api_version.rsplit_once('/').is_some_and(|(_, version)| version == self.version())
    }

    /// Whether control planes and the repositories of workloads have objects of the kind. The others are for the hub.
    pub fn is_of_fleets(self) -> bool {
        self.group() != HUB_GROUP
    }

    /// The `apiVersion` that objects of the kind write.
    pub fn api_version(self) -> String {
        if self.group().is_empty() { self.version().to_owned() } else { format!("{}/{}", self.group(), self.version()) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
