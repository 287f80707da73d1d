//! The registries of images: a seam with the real registries, and with an implementation in memory.

mod challenge;
mod client;
mod credentials;
mod http;
mod memory;

use std::time::Duration;

pub use self::client::{HttpRegistries, RegistrySettings};
pub use self::credentials::RegistryCredentials;
pub use self::memory::MemoryRegistry;
use super::ImageReference;
use crate::digest::ContentDigest;

/// Knows the digests of images. Every method blocks.
pub trait ImageRegistry: Send + Sync {
    /// The digest of what a reference names now: of the index, if the image is there for several platforms.
    ///
    /// # Errors
    /// If the registry can't be reached, refuses, has no such image, or does not answer as the specification of distribution says.
    fn digest(&self, reference: &ImageReference) -> Result<ContentDigest, RegistryError>;
}

/// The reason why a registry gives no digest. The texts contain nothing that a server sent, which may repeat a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is no such image.
    #[error("it has no such image")]
    NotFound,
    /// The registry wants a credential, or another one.
    #[error("it refuses access (HTTP {status}){}", if *.has_credential { " with the credential for it" } else { "" })]
    Refused {
        /// The status of the answer.
        status: u16,
        /// Whether a credential was sent.
        has_credential: bool,
        /// The program that keeps the credential for this registry, if there is one. It is not run.
        helper: Option<String>,
    },
    /// It can't be reached.
    #[error("it can't be reached: {0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("it did not answer within {seconds} seconds", seconds = .0.as_secs())]
    TimedOut(Duration),
    /// It answers, but with an error.
    #[error("it failed (HTTP {0})")]
    Failed(u16),
    /// Its answer is larger than what the specification allows.
    #[error("its answer has more than {mebibytes} MiB", mebibytes = .0 >> 20)]
    TooMuch(u64),
    /// It leads to an address that is not encrypted, or in circles.
    #[error("it redirects to an address that can't be used")]
    Redirected,
    /// It names a server for tokens that gets no credential.
    #[error("its server for tokens is neither encrypted nor on the same host")]
    Realm,
    /// Its answer is not what the specification says.
    #[error("its answer is not that of a registry: {0}")]
    Unexpected(String),
    /// No registry can be asked from this machine.
    #[error("no registry can be asked: {0}")]
    Settings(String),
}

impl RegistryError {
    /// What to do about it.
    pub fn advice(&self, registry: &str) -> String {
        match self {
            Self::NotFound => "is the tag right, and was the image pushed?".to_owned(),
            Self::Refused { helper: Some(helper), .. } => format!(
                "the credential is in the helper `{helper}`, which is not run; write one into `auths` of Docker's config.json instead"
            ),
            Self::Refused { .. } => {
                format!(
                    "`docker login {registry}` writes a credential; a registry also refuses access to images that are not there"
                )
            }
            Self::Unreachable(_) | Self::TimedOut(_) | Self::Failed(_) => {
                "try again; is the registry reachable from this machine?".to_owned()
            }
            Self::Settings(_) => "correct Docker's config.json".to_owned(),
            Self::TooMuch(_) | Self::Redirected | Self::Realm | Self::Unexpected(_) => {
                format!("is `{registry}` the address of a registry?")
            }
        }
    }
}
