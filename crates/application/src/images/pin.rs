//! Writes digests behind the tags of images, and keeps all other bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use authoring::edit::{Change, ObjectPosition, edit};
use authoring::value::NewValue;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldStep;
use model::yaml::{self, Node, NodeValue, ScalarStyle, YamlOptions};

use super::{ImageDigests, ImageReference, ImageUse, ListedImage, ListedImages, PinnedImages, uses};
use crate::digest::ContentDigest;
use crate::manifests::ManifestObject;

/// The digests for the images of all targets of an environment.
pub(crate) struct Pinning {
    /// By the texts of the manifests.
    images: BTreeMap<Arc<str>, PinnedImage>,
}

/// What is written for an image.
struct PinnedImage {
    /// What is written. Or why it has no digest.
    pin: Result<ImagePin, Diagnostic>,
    /// The first place that names it.
    origin: Origin,
}

/// An image with its digest.
struct ImagePin {
    text: String,
    /// The digest that its reference gets. None: it has one.
    added: Option<(ImageReference, ContentDigest)>,
}

/// An image in a file, with its document.
struct Place {
    document: usize,
    image: ImageUse,
    pinned: String,
}

impl Pinning {
    /// Asks for the digests of images.
    pub(crate) fn new(digests: &ImageDigests, listed: &ListedImages) -> Self {
        let references = listed.values().filter_map(|image| image.reference.as_ref().ok());
        digests.ask(references.filter(|reference| reference.digest().is_none()));
        let images = listed.iter().map(|(text, image)| {
            (Arc::clone(text), PinnedImage { pin: pin(digests, text, image), origin: image.origin.clone() })
        });
        Self { images: images.collect() }
    }

    /// The digests that the images of objects get.
    pub(crate) fn added(&self, objects: &[ManifestObject]) -> PinnedImages {
        let images = objects.iter().flat_map(|object| uses(&object.node));
        let added = images.filter_map(|image| self.images.get(image.text())?.pin.as_ref().ok()?.added.clone());
        PinnedImages(added.collect())
    }

    /// A file whose images have digests. A file that can't be read stays as it is: it is an error anyway.
    ///
    /// # Errors
    /// All images that can't be pinned.
    pub(crate) fn pinned(&self, content: &[u8]) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let Some(documents) = documents(content) else { return Ok(content.to_vec()) };
        let (mut places, mut problems) = (Vec::new(), Vec::new());
        for (document, root) in documents.iter().enumerate() {
            for image in uses(root) {
                match self.images.get(image.text()).map(|image| &image.pin) {
                    Some(Ok(ImagePin { text, added: Some(_) })) => {
                        places.push(Place { document, image, pinned: text.clone() });
                    }
                    Some(Err(problem)) => problems.push(problem.clone()),
                    _ => {}
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        match spliced(content, &documents, &places) {
            Some(content) => Ok(content),
            None => self.edited(content, &places),
        }
    }

    /// The file with one edit for each image. It is slow, and writes what additions can't: texts with escapes, and blocks.
    fn edited(&self, content: &[u8], places: &[Place]) -> Result<Vec<u8>, Vec<Diagnostic>> {
        places.iter().try_fold(content.to_vec(), |content, place| {
            let at = ObjectPosition { document: place.document, item: None };
            let change = Change::Set(place.image.path.clone(), NewValue::text(place.pinned.as_str()));
            edit(&content, at, &change).map_err(|error| {
                let text = place.image.text();
                let found = Diagnostic::error(Code::ImageNotPinned, format!("image `{text}` can't be pinned: {error}"));
                let found = self.images.get(text).map_or(found.clone(), |image| found.at(image.origin.clone(), ""));
                vec![found.help("write the image at each place, without an anchor")]
            })
        })
    }
}

/// An image with its digest.
fn pin(digests: &ImageDigests, text: &str, image: &ListedImage) -> Result<ImagePin, Diagnostic> {
    let refused = |reason: String, help: &str| {
        let found = Diagnostic::error(Code::ImageNotPinned, format!("image `{text}` can't be pinned: {reason}"));
        Err(found.at(image.origin.clone(), "").help(help))
    };
    match &image.reference {
        Err(error) => refused(error.to_string(), "write it as REGISTRY/REPOSITORY:TAG"),
        Ok(reference) if reference.digest().is_some() => Ok(ImagePin { text: text.to_owned(), added: None }),
        Ok(reference) => match digests.digest(reference) {
            Ok(digest) => Ok(ImagePin { text: format!("{text}@{digest}"), added: Some((reference.clone(), digest)) }),
            Err(error) => {
                let registry = reference.registry();
                refused(format!("{registry}: {error}"), &error.advice(registry))
            }
        },
    }
}

/// The documents of a file. None: it has an error.
fn documents(content: &[u8]) -> Option<Vec<Node>> {
    let reading = yaml::read_bytes(content, &YamlOptions::OBJECTS);
    let is_good = reading.problems.iter().all(|problem| problem.kind.is_warning());
    is_good.then(|| reading.documents.into_iter().map(|document| document.root).collect())
}

/// The file with the additions behind the scalars. None: it would not have exactly the intended meaning, such as with an anchor that another field uses.
fn spliced(content: &[u8], documents: &[Node], places: &[Place]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(content).ok()?;
    let additions = places.iter().map(|place| {
        let (start, end) = (place.image.node.span.start as usize, place.image.node.span.end as usize);
        let (scalar, written) = (place.image.node.as_scalar()?, text.get(start..end)?);
        let inner = match scalar.style {
            ScalarStyle::Plain => Some(written),
            ScalarStyle::SingleQuoted => written.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')),
            ScalarStyle::DoubleQuoted => written.strip_prefix('"').and_then(|text| text.strip_suffix('"')),
            ScalarStyle::Literal | ScalarStyle::Folded => None,
        }?;
        let addition = place.pinned.strip_prefix(place.image.text())?;
        (inner == &*scalar.text).then_some((end - (written.len() - inner.len()) / 2, addition))
    });
    // Aliases have the place of their anchor.
    let additions: BTreeMap<usize, &str> = additions.collect::<Option<_>>()?;
    let (mut result, mut copied) = (String::with_capacity(text.len()), 0);
    for (at, addition) in additions {
        result.push_str(text.get(copied..at)?);
        result.push_str(addition);
        copied = at;
    }
    result.push_str(text.get(copied..)?);
    is_exactly(documents, result.as_bytes(), places).then(|| result.into_bytes())
}

/// Whether a changed file has the new texts at all places, and nowhere else another content.
fn is_exactly(before: &[Node], content: &[u8], places: &[Place]) -> bool {
    let Some(after) = documents(content).filter(|after| after.len() == before.len()) else { return false };
    let has_new_texts = places.iter().all(|place| {
        let steps = place.image.path.steps();
        let found = after.get(place.document).and_then(|root| {
            steps.iter().try_fold(root, |node, step| match step {
                FieldStep::Key(key) => node.get(key),
                FieldStep::Index(index) => node.index(*index),
            })
        });
        found.and_then(Node::as_scalar).is_some_and(|scalar| *scalar.text == *place.pinned)
    });
    let differences =
        before.iter().zip(&after).map(|(before, after)| differences(before, after)).sum::<Option<usize>>();
    has_new_texts && differences == Some(places.len())
}

/// The number of scalars that differ. None: another part differs.
fn differences(before: &Node, after: &Node) -> Option<usize> {
    match (&before.value, &after.value) {
        (NodeValue::Scalar(before), NodeValue::Scalar(after)) => Some(usize::from(before.text != after.text))
            .filter(|_| before.style == after.style && before.tag == after.tag),
        (NodeValue::Sequence(before), NodeValue::Sequence(after)) if before.len() == after.len() => {
            before.iter().zip(after.iter()).map(|(before, after)| differences(before, after)).sum()
        }
        (NodeValue::Mapping(before), NodeValue::Mapping(after)) if before.len() == after.len() => {
            let pairs = before.iter().zip(after.iter());
            pairs
                .map(|(before, after)| Some(differences(&before.0, &after.0)? + differences(&before.1, &after.1)?))
                .sum()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::MemoryRegistry;
    use super::*;

    /// The file with pinned images: `shop:1`, `web` and `ghcr.io/a/b:2` have digests. Digests are written as `@D`.
    fn check(content: &str, expected: Result<&str, &str>) {
        let registry = MemoryRegistry::default();
        let digests: Vec<_> = ["shop:1", "web", "ghcr.io/a/b:2"].map(|image| registry.publish(image)).to_vec();
        let image = |one: &ImageUse| {
            let origin = Origin::File(model::source::FileId::default());
            let image = ListedImage { reference: one.text().parse(), targets: BTreeSet::new(), origin };
            (one.text().into(), image)
        };
        let all = documents(content.as_bytes()).unwrap();
        let listed = all.iter().flat_map(uses).map(|one| image(&one)).collect();
        let pinned = Pinning::new(&ImageDigests::new(registry), &listed).pinned(content.as_bytes());
        let shown = pinned.map(|content| {
            let text = String::from_utf8(content).unwrap();
            digests.iter().fold(text, |text, digest| text.replace(&digest.to_string(), "D"))
        });
        let shown = shown.map_err(|problems| problems.first().unwrap().message.clone());
        assert_eq!(shown.as_deref().map_err(String::as_str), expected, "{content}");
    }

    #[test]
    fn only_the_scalars_change() {
        check(
            "# a\nspec:\n    containers:\n    - image:   shop:1   # why\n      name: shop:1\n    - {image: web, name: 'x' }\n---\n\n",
            Ok(
                "# a\nspec:\n    containers:\n    - image:   shop:1@D   # why\n      name: shop:1\n    - {image: web@D, name: 'x' }\n---\n\n",
            ),
        );
    }

    #[test]
    fn quotes_stay() {
        check(
            "containers: [{image: 'shop:1'}, {image: \"web\"}]",
            Ok("containers: [{image: 'shop:1@D'}, {image: \"web@D\"}]"),
        );
        check("{\"containers\":[{\"image\":\"shop:1\"}]}\r\n", Ok("{\"containers\":[{\"image\":\"shop:1@D\"}]}\r\n"));
        check(
            "volumes:\n- image: {reference: ghcr.io/a/b:2}\n",
            Ok("volumes:\n- image: {reference: ghcr.io/a/b:2@D}\n"),
        );
    }

    #[test]
    fn escapes_and_blocks_are_written_anew() {
        check(r#"containers: [{image: "\x73hop:1"}]"#, Ok(r#"containers: [{image: "shop:1@D"}]"#));
        check("containers:\n- image: >-\n    shop:1\n  name: a\n", Ok("containers:\n- image: shop:1@D\n  name: a\n"));
    }

    #[test]
    fn an_anchor_for_images_only_is_pinned_once() {
        check(
            "containers: [{image: &i shop:1}]\ninitContainers: [{image: *i}]\n",
            Ok("containers: [{image: &i shop:1@D}]\ninitContainers: [{image: *i}]\n"),
        );
    }

    #[test]
    fn an_anchor_for_other_fields_is_an_error() {
        let shared = "image `shop:1` can't be pinned: `containers[0].image` has an anchor that other fields use, and they would change too: edit the file by hand";
        check("containers: [{image: &i shop:1}]\nlabel: *i\n", Err(shared));
        let alias = "image `shop:1` can't be pinned: `containers[0].image` comes from an anchor or a merge key: edit it where the anchor is";
        check("label: &i shop:1\ncontainers: [{image: *i}]\n", Err(alias));
    }

    #[test]
    fn images_with_a_digest_stay() {
        let pinned = format!("containers: [{{image: 'shop:1@sha256:{}'}}]", "0".repeat(64));
        check(&pinned, Ok(&pinned));
    }

    #[test]
    fn an_image_without_a_digest_is_an_error() {
        check(
            "containers: [{image: shop:1}, {image: 'r.io/shop:2'}]",
            Err("image `r.io/shop:2` can't be pinned: r.io: it has no such image"),
        );
        check(
            "containers: [{image: '${IMAGE}'}]",
            Err(
                "image `${IMAGE}` can't be pinned: `${IMAGE}` can't be a part of a repository: it must be lower-case letters and digits, with `.`, `_` or `-` between them",
            ),
        );
    }
}
