//! The digests of images in one run: a registry is asked once for each reference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ImageReference, ImageRegistry, RegistryError};
use crate::digest::ContentDigest;
use crate::limits::REGISTRY_REQUESTS_MAX;

/// The answer of a registry.
type DigestAnswer = Result<ContentDigest, Arc<RegistryError>>;

/// The digests that registries gave in this run.
pub struct ImageDigests {
    registry: Box<dyn ImageRegistry>,
    answers: Mutex<BTreeMap<ImageReference, DigestAnswer>>,
}

impl ImageDigests {
    /// No digest is known yet.
    pub fn new(registry: impl ImageRegistry + 'static) -> Self {
        Self { registry: Box::new(registry), answers: Mutex::default() }
    }

    /// Asks for the digests that are not known, some at a time. A digest, or the reason why there is none, stays the same until the end of the run.
    pub fn ask<'i>(&self, references: impl IntoIterator<Item = &'i ImageReference>) {
        // Another caller waits, and then finds the answers.
        let mut answers = self.lock();
        let unknown: BTreeSet<_> = references.into_iter().filter(|one| !answers.contains_key(*one)).collect();
        let unknown: Vec<_> = unknown.into_iter().collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            while let Some(reference) = unknown.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.push(((*reference).clone(), self.registry.digest(reference).map_err(Arc::new)));
            }
            found
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..unknown.len().min(REGISTRY_REQUESTS_MAX)).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                answers.extend(worker.join().unwrap_or_default());
            }
        });
    }

    /// The digest of an image, as its registry gave it in this run.
    ///
    /// # Errors
    /// The reason why the registry gave none.
    pub fn digest(&self, reference: &ImageReference) -> Result<ContentDigest, Arc<RegistryError>> {
        self.ask([reference]);
        let known = self.lock().get(reference).cloned();
        known.unwrap_or_else(|| Err(Arc::new(RegistryError::Unexpected("no answer was kept".to_owned()))))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ImageReference, DigestAnswer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ImageDigests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImageDigests({})", self.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryRegistry;
    use super::*;

    #[test]
    fn each_reference_is_asked_once() {
        let registry = MemoryRegistry::default();
        let digest = registry.publish("nginx:1");
        let asked = registry.clone();
        let digests = ImageDigests::new(registry);
        let references = ["nginx:1", "docker.io/library/nginx:1", "nginx:2"].map(|text| text.parse().unwrap());
        digests.ask(&references);
        digests.ask(&references);
        assert_eq!(digests.digest(&references[0]), Ok(digest));
        assert_eq!(*digests.digest(&references[2]).unwrap_err(), RegistryError::NotFound);
        assert_eq!(asked.requests(), 2);
    }
}
