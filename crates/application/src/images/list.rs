//! The images of the targets of an environment, each with the targets that need it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};

use super::{ImageReference, ReferenceError, uses};
use crate::manifests::ManifestObject;
use crate::values::TargetPath;

/// An image that targets need.
#[derive(Clone, Debug)]
pub struct ListedImage {
    /// What its text means, or why it is no reference.
    pub reference: Result<ImageReference, ReferenceError>,
    /// The targets that need it.
    pub targets: BTreeSet<TargetPath>,
    /// The first place that names it.
    pub origin: Origin,
}

/// Images, by their texts in the manifests.
pub type ListedImages = BTreeMap<Arc<str>, ListedImage>;

/// The images in the objects of targets.
pub fn list<'m>(targets: impl IntoIterator<Item = (&'m TargetPath, &'m [ManifestObject])>) -> ListedImages {
    let mut images = ListedImages::new();
    for (target, objects) in targets {
        for object in objects {
            for one in uses(&object.node) {
                let text = one.text();
                let image = images.entry(text.into()).or_insert_with(|| ListedImage {
                    reference: text.parse(),
                    targets: BTreeSet::new(),
                    origin: Origin::Span(object.place.file, one.node.span),
                });
                image.targets.insert(target.clone());
            }
        }
    }
    images
}

impl ListedImage {
    /// Why its text is no reference. None: it is one.
    pub fn problem(&self, text: &str) -> Option<Diagnostic> {
        let error = self.reference.as_ref().err()?;
        let found = Diagnostic::warning(Code::ImageReference, format!("`{text}` is no reference of an image: {error}"));
        Some(found.at(self.origin.clone(), "").help("write it as REGISTRY/REPOSITORY:TAG"))
    }
}
