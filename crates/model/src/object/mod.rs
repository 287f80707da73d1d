//! The objects that people write: one file a kind.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

pub mod annotation;
pub mod base_repo;
pub mod cluster;
pub mod cluster_type;
pub mod config_map;
pub mod config_schema;
pub mod deployment_descriptor;
pub mod deployment_target;
pub mod environment;
pub mod flux;
pub mod gitops_repo;
pub mod label_mapping;
pub mod release_pin;
pub mod scheduling_policy;
pub mod shape;
pub mod template;
pub mod workload;
pub mod workload_registration;

use crate::diagnostic::ObjectKey;
use crate::digest::Digest;
use crate::label::Labels;
use crate::name::NameError;
use crate::source::FileId;
use crate::yaml::Node;

pub use base_repo::BaseRepo;
pub use cluster::Cluster;
pub use cluster_type::ClusterType;
pub use config_map::ConfigMap;
pub use config_schema::ConfigSchema;
pub use deployment_descriptor::DeploymentDescriptor;
pub use deployment_target::DeploymentTarget;
pub use environment::Environment;
pub use flux::{FluxGitRepository, FluxKustomization};
pub use gitops_repo::GitOpsRepo;
pub use label_mapping::LabelMapping;
pub use release_pin::ReleasePin;
pub use scheduling_policy::SchedulingPolicy;
pub use shape::{Field, Shape};
pub use template::Template;
pub use workload::Workload;
pub use workload_registration::WorkloadRegistration;

/// The API group of the kinds that Microsoft's Kalypso has as well.
pub const SCHEDULER_GROUP: &str = "scheduler.kalypso.io";
/// The API group of the kinds that only this Kalypso has.
pub const FLEET_GROUP: &str = "fleet.kalypso.io";
/// The API group of what the hub reads.
pub const HUB_GROUP: &str = "hub.kalypso.io";

macro_rules! kinds {
    ($($variant:ident($spec:ty): $group:literal $version:literal $kind:literal,)+) => {
        /// The kind of an object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $group, "/", $version, "` `", $kind, "`")] $variant,)+
        }

        /// An object of any kind. Clones share it.
        #[derive(Clone, Debug)]
        pub enum AnyObject {
            $(#[doc = concat!("A `", $kind, "`.")] $variant(Arc<Object<$spec>>),)+
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

            /// The fields beside `apiVersion`, `kind` and `metadata`.
            pub fn fields(self) -> &'static [Field] {
                match self {
                    $(Self::$variant => <$spec>::FIELDS,)+
                }
            }

            /// Whether fields that [`Kind::fields`] does not know belong to the kind as well.
            pub fn is_open(self) -> bool {
                match self {
                    $(Self::$variant => <$spec>::IS_OPEN,)+
                }
            }

            /// What the kind is for.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Self::$variant => <$spec>::DOC,)+
                }
            }

            /// A small valid object of the kind, as YAML.
            pub fn example(self) -> &'static str {
                match self {
                    $(Self::$variant => <$spec>::EXAMPLE,)+
                }
            }

            pub(crate) fn decode(self, header: Header, root: &Node, decoder: &mut Decoder<'_>) -> Option<AnyObject> {
                match self {
                    $(Self::$variant => header.object(root, decoder).map(|object| AnyObject::$variant(Arc::new(object))),)+
                }
            }
        }

        impl AnyObject {
            /// Its kind.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$variant(_) => Kind::$variant,)+
                }
            }

            /// Its kind and name.
            pub fn key(&self) -> ObjectKey {
                match self {
                    $(Self::$variant(object) => object.key(),)+
                }
            }

            /// Its name.
            pub fn name(&self) -> &Arc<str> {
                match self {
                    $(Self::$variant(object) => object.name.as_ref(),)+
                }
            }

            /// Where it stands.
            pub fn address(&self) -> Address {
                match self {
                    $(Self::$variant(object) => object.address,)+
                }
            }

            /// Whether both are one value in memory.
            pub(crate) fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$variant(object), Self::$variant(other)) => Arc::ptr_eq(object, other),)+
                    _ => false,
                }
            }

            /// The digest of its meaning.
            pub fn digest(&self) -> Digest {
                match self {
                    $(Self::$variant(object) => object.digest,)+
                }
            }
        }
    };
}

kinds! {
    BaseRepo(BaseRepo): "scheduler.kalypso.io" "v1alpha1" "BaseRepo",
    Cluster(Cluster): "fleet.kalypso.io" "v1alpha1" "Cluster",
    ClusterType(ClusterType): "scheduler.kalypso.io" "v1alpha1" "ClusterType",
    ConfigMap(ConfigMap): "" "v1" "ConfigMap",
    ConfigSchema(ConfigSchema): "scheduler.kalypso.io" "v1alpha1" "ConfigSchema",
    DeploymentDescriptor(DeploymentDescriptor): "hub.kalypso.io" "v1alpha1" "DeploymentDescriptor",
    DeploymentTarget(DeploymentTarget): "scheduler.kalypso.io" "v1alpha1" "DeploymentTarget",
    Environment(Environment): "scheduler.kalypso.io" "v1alpha1" "Environment",
    GitOpsRepo(GitOpsRepo): "scheduler.kalypso.io" "v1alpha1" "GitOpsRepo",
    FluxGitRepository(FluxGitRepository): "source.toolkit.fluxcd.io" "v1" "GitRepository",
    FluxKustomization(FluxKustomization): "kustomize.toolkit.fluxcd.io" "v1" "Kustomization",
    LabelMapping(LabelMapping): "fleet.kalypso.io" "v1alpha1" "LabelMapping",
    ReleasePin(ReleasePin): "fleet.kalypso.io" "v1alpha1" "ReleasePin",
    SchedulingPolicy(SchedulingPolicy): "scheduler.kalypso.io" "v1alpha1" "SchedulingPolicy",
    Template(Template): "scheduler.kalypso.io" "v1alpha1" "Template",
    Workload(Workload): "scheduler.kalypso.io" "v1alpha1" "Workload",
    WorkloadRegistration(WorkloadRegistration): "scheduler.kalypso.io" "v1alpha1" "WorkloadRegistration",
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

/// What an object of one kind says, beside its metadata.
pub trait Spec: Sized + Hash {
    /// The type of its name.
    type Name: Clone + fmt::Debug + fmt::Display + Ord + AsRef<Arc<str>> + TryFrom<Arc<str>, Error = NameError>;
    /// Its kind.
    const KIND: Kind;
    /// The fields beside `apiVersion`, `kind` and `metadata`.
    const FIELDS: &'static [Field];
    /// Whether other fields are possible as well: kinds of other systems have more than Kalypso looks at.
    const IS_OPEN: bool = false;
    /// What the kind is for.
    const DOC: &'static str;
    /// A small valid object of the kind.
    const EXAMPLE: &'static str;

    /// Reads the object, which has [`Spec::FIELDS`]' shape. Reports what the shape can't say; an error there means that there is no object.
    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self;
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object<S: Spec> {
    /// `metadata.name`
    pub name: S::Name,
    /// `metadata.labels`
    pub labels: Labels,
    /// `metadata.annotations`
    pub annotations: Labels,
    /// Where it stands.
    pub address: Address,
    /// The digest of its meaning: of everything but where and how it is written.
    pub digest: Digest,
    /// What it says.
    pub spec: S,
}

impl<S: Spec> Object<S> {
    /// Its kind and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { kind: S::KIND, name: Arc::clone(self.name.as_ref()), of: None }
    }
}

/// Where an object stands, without lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The file.
    pub file: FileId,
    /// The document in the file, from 0.
    pub document: u32,
    /// The item in the document's `items`, if it is a `List`.
    pub item: Option<u32>,
}

pub use crate::decode::{Decoder, Header};
