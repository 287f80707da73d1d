//! The images that targets need: their references in manifests, their digests from registries, and manifests with digests.

mod digests;
mod list;
mod pin;
mod reference;
mod registry;
mod uses;

pub use self::digests::{ImageDigests, PinnedImages};
pub use self::list::{ListedImage, ListedImages, list};
pub(crate) use self::pin::Pinning;
pub use self::reference::{ImageReference, ReferenceError};
pub use self::registry::{
    HttpRegistries, ImageRegistry, MemoryRegistry, RegistryCredentials, RegistryError, RegistrySettings,
};
pub use self::uses::{ImageUse, uses};
