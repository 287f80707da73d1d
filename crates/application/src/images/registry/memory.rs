//! A registry in memory, for tests: it has the images that were published.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{ImageRegistry, RegistryError};
use crate::digest::ContentDigest;
use crate::images::ImageReference;

/// All registries, in memory. Clones share the images.
#[derive(Clone, Debug, Default)]
pub struct MemoryRegistry {
    images: Arc<Mutex<BTreeMap<ImageReference, ContentDigest>>>,
    requests: Arc<AtomicUsize>,
}

impl MemoryRegistry {
    /// Adds an image. A text that is no reference adds nothing. Returns the digest.
    pub fn publish(&self, text: &str) -> ContentDigest {
        let digest = ContentDigest::of_content(text.as_bytes());
        if let Ok(reference) = text.parse() {
            self.images.lock().unwrap_or_else(PoisonError::into_inner).insert(reference, digest.clone());
        }
        digest
    }

    /// The number of references that were asked for.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl ImageRegistry for MemoryRegistry {
    fn digest(&self, reference: &ImageReference) -> Result<ContentDigest, RegistryError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.get(reference).cloned().ok_or(RegistryError::NotFound)
    }
}
