//! The kinds of objects, one file for each kind.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

pub mod allow;
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
mod metadata;
pub mod promotion;
pub mod release;
pub mod release_pin;
pub mod scheduling_policy;
pub mod template;
pub mod workload;
pub mod workload_registration;

use crate::decode::{Decoder, Header};
use crate::digest::{Digest, DigestBuilder};
use crate::kind::{Kind, with_kinds};
use crate::label::Labels;
use crate::name::NameError;
use crate::object_key::ObjectKey;
use crate::shape::Field;
use crate::source::Address;
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
pub use promotion::Promotion;
pub use release_pin::ReleasePin;
pub use scheduling_policy::SchedulingPolicy;
pub use template::Template;
pub use workload::Workload;
pub use workload_registration::WorkloadRegistration;

macro_rules! any_object {
    ($($variant:ident: $group:literal $version:literal $kind:literal,)+) => {
        /// An object of any kind. Clones share its memory.
        #[derive(Clone, Debug)]
        pub enum AnyObject {
            $(#[doc = concat!("A `", stringify!($variant), "`.")] $variant(Arc<Object<$variant>>),)+
        }

        impl Kind {
            /// The top-level fields beside `apiVersion`, `kind` and `metadata`.
            pub fn fields(self) -> &'static [Field] {
                match self {
                    $(Self::$variant => <$variant as Spec>::FIELDS,)+
                }
            }

            /// Whether objects of the kind may have fields that are not in [`Kind::fields`].
            pub fn is_open(self) -> bool {
                match self {
                    $(Self::$variant => <$variant as Spec>::IS_OPEN,)+
                }
            }

            /// The purpose of the kind, for the reference.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Self::$variant => <$variant as Spec>::DOC,)+
                }
            }

            /// A small valid object of the kind, as YAML.
            pub fn example(self) -> &'static str {
                match self {
                    $(Self::$variant => <$variant as Spec>::EXAMPLE,)+
                }
            }

            pub(crate) fn decode(self, header: Header, root: &Node, decoder: &mut Decoder<'_>) -> Option<AnyObject> {
                match self {
                    $(Self::$variant => Object::decode(header, root, decoder).map(|object| AnyObject::$variant(Arc::new(object))),)+
                }
            }
        }

        impl AnyObject {
            /// The kind of the object.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$variant(_) => Kind::$variant,)+
                }
            }

            /// The kind and name of the object.
            pub fn key(&self) -> ObjectKey {
                match self {
                    $(Self::$variant(object) => object.key(),)+
                }
            }

            /// The name of the object.
            pub fn name(&self) -> &Arc<str> {
                match self {
                    $(Self::$variant(object) => object.name.as_ref(),)+
                }
            }

            /// The address of the object.
            pub fn address(&self) -> Address {
                match self {
                    $(Self::$variant(object) => object.address,)+
                }
            }

            /// The labels of the object.
            pub fn labels(&self) -> &Labels {
                match self {
                    $(Self::$variant(object) => &object.labels,)+
                }
            }

            /// The annotations of the object.
            pub fn annotations(&self) -> &Labels {
                match self {
                    $(Self::$variant(object) => &object.annotations,)+
                }
            }

            /// Whether both are the same value in memory.
            pub(crate) fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$variant(object), Self::$variant(other)) => Arc::ptr_eq(object, other),)+
                    _ => false,
                }
            }

            /// The digest of the object's meaning: of all but its address and formatting.
            pub fn digest(&self) -> Digest {
                match self {
                    $(Self::$variant(object) => object.digest,)+
                }
            }
        }
    };
}

with_kinds!(any_object);

/// The content of objects of one kind, without the metadata.
pub trait Spec: Sized + Hash {
    /// The type of the object's name.
    type Name: Clone + fmt::Debug + fmt::Display + Ord + AsRef<Arc<str>> + TryFrom<Arc<str>, Error = NameError>;
    /// The kind.
    const KIND: Kind;
    /// The top-level fields beside `apiVersion`, `kind` and `metadata`.
    const FIELDS: &'static [Field];
    /// Whether other fields are allowed. Kinds of other systems have fields that Kalypso does not use.
    const IS_OPEN: bool = false;
    /// The purpose of the kind, for the reference.
    const DOC: &'static str;
    /// A small valid object of the kind.
    const EXAMPLE: &'static str;

    /// Reads an object whose shape matches [`Spec::FIELDS`]. Reports errors that the shape cannot express. If it reports an error, the object is dropped.
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
    /// The address of the object.
    pub address: Address,
    /// The digest of the object's meaning: of all but its address and formatting.
    pub digest: Digest,
    /// The content, without the metadata.
    pub spec: S,
}

impl<S: Spec> Object<S> {
    /// Reads the object. If it has errors, reports them, and returns None.
    fn decode(header: Header, root: &Node, decoder: &mut Decoder<'_>) -> Option<Self> {
        // Unknown fields are errors only where they could widen the effect of an object. Objects that only the hub reads have no such fields.
        decoder.set_strict(S::KIND.is_own() && S::KIND.is_of_fleets());
        decoder.check_object(root, S::FIELDS, S::IS_OPEN);
        let Header { name, labels, annotations, address, .. } = header;
        let name = S::Name::try_from(name).ok()?;
        if decoder.has_errors() {
            return None;
        }
        let spec = S::decode(root, decoder);
        if decoder.has_errors() {
            return None;
        }
        let mut meaning = DigestBuilder::new(S::KIND.name());
        meaning.text(name.as_ref()).value(&labels).value(&annotations).value(&spec);
        Some(Self { name, labels, annotations, address, digest: meaning.finish(), spec })
    }

    /// The kind and name of the object.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { kind: S::KIND, name: Arc::clone(self.name.as_ref()), of: None }
    }
}
