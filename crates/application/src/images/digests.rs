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
    asked: Arc<AskedRegistries>,
    /// The digests that no registry is asked for.
    known: PinnedImages,
}

struct AskedRegistries {
    registry: Box<dyn ImageRegistry>,
    answers: Mutex<BTreeMap<ImageReference, DigestAnswer>>,
}

/// The digests that images of manifests got, by their references without a digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinnedImages(pub BTreeMap<ImageReference, ContentDigest>);

impl PinnedImages {
    /// The digests as JSON.
    pub(crate) fn text(&self) -> String {
        let images = self.0.iter().map(|(reference, digest)| (reference.to_string(), digest.to_string().into()));
        serde_json::Value::Object(images.collect()).to_string()
    }

    /// Reads what [`Self::text`] writes. None if it is something else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let images: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
        let image = |(reference, digest): (String, String)| Some((reference.parse().ok()?, digest.parse().ok()?));
        images.into_iter().map(image).collect::<Option<_>>().map(Self)
    }
}

impl ImageDigests {
    /// No digest is known yet.
    pub fn new(registry: impl ImageRegistry + 'static) -> Self {
        let asked = AskedRegistries { registry: Box::new(registry), answers: Mutex::default() };
        Self { asked: Arc::new(asked), known: PinnedImages::default() }
    }

    /// The same registries and their answers, for images of which some digests are known.
    #[must_use]
    pub fn with_known(&self, known: PinnedImages) -> Self {
        Self { asked: Arc::clone(&self.asked), known }
    }

    /// Asks for the digests that are not known, some at a time. A digest, or the reason why there is none, stays the same until the end of the run.
    pub fn ask<'i>(&self, references: impl IntoIterator<Item = &'i ImageReference>) {
        // Another caller waits, and then finds the answers.
        let mut answers = self.lock();
        let is_unknown = |one: &&ImageReference| !self.known.0.contains_key(*one) && !answers.contains_key(*one);
        let unknown: BTreeSet<_> = references.into_iter().filter(is_unknown).collect();
        let unknown: Vec<_> = unknown.into_iter().collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            while let Some(reference) = unknown.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.push(((*reference).clone(), self.asked.registry.digest(reference).map_err(Arc::new)));
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

    /// The digest of an image that is known, or that its registry gave in this run.
    ///
    /// # Errors
    /// The reason why the registry gave none.
    pub fn digest(&self, reference: &ImageReference) -> Result<ContentDigest, Arc<RegistryError>> {
        if let Some(digest) = self.known.0.get(reference) {
            return Ok(digest.clone());
        }
        self.ask([reference]);
        let known = self.lock().get(reference).cloned();
        known.unwrap_or_else(|| Err(Arc::new(RegistryError::Unexpected("no answer was kept".to_owned()))))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ImageReference, DigestAnswer>> {
        self.asked.answers.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn known_digests_are_not_asked_for() {
        let registry = MemoryRegistry::default();
        let moved = registry.publish("nginx:1");
        let asked = registry.clone();
        let digests = ImageDigests::new(registry);
        let reference: ImageReference = "nginx:1".parse().unwrap();
        let known = ContentDigest::of_content(b"an earlier one");
        let earlier = PinnedImages([(reference.clone(), known.clone())].into());
        assert_eq!(digests.with_known(earlier.clone()).digest(&reference), Ok(known));
        assert_eq!(asked.requests(), 0);
        assert_eq!(digests.digest(&reference), Ok(moved));
        assert_eq!(PinnedImages::parse(&earlier.text()), Some(earlier));
        assert_eq!(PinnedImages::parse(r#"{"nginx:1":"sha256:12"}"#), None);
    }

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
