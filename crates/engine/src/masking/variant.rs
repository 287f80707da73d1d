//! Renders variants of an assignment: with other values, or with other manifests of its target.

use std::collections::BTreeSet;

use model::digest::Digest;

use crate::compose::Composition;
use crate::prepare::Prepared;
use crate::render::{Context, Pinned, PlaceFields, RecentFiles, RenderedFiles};
use crate::schedule::pin::Manifests;

/// An assignment with its own or other values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant<'a> {
    /// The ids of its place and target.
    pub(crate) assigned: (u32, u32),
    pub(crate) composition: &'a Composition,
    /// Whether some value is itself a template.
    pub(crate) has_nested: bool,
    /// The manifests that override the target's. None: the fleet's own release pins apply.
    pub(crate) manifests: Option<&'a Manifests>,
}

impl Variant<'_> {
    /// Renders the files. None if the assignment can't be rendered.
    pub(crate) fn files(&self, prepared: &Prepared) -> Option<RenderedFiles> {
        let (place, target) = (prepared.place(self.assigned.0)?, prepared.target(self.assigned.1)?);
        let pinned = match self.manifests {
            Some(manifests) => Pinned::with(manifests, &target.target),
            None => prepared.pinned(place, target).ok()?,
        };
        let context = Context {
            environment: &prepared.fleet.environment,
            place,
            place_fields: &PlaceFields::new(place),
            target: &target.target,
            target_fields: &target.fields,
            pinned: pinned.as_ref(),
            values: self.composition.digest,
            has_nested: self.has_nested,
            long_names: prepared.settings.long_names,
            checked_outlines: None,
            recent_files: &RecentFiles::default(),
            hides_output: false,
            // The reason of a failure is not used.
            sensitive: &BTreeSet::new(),
            sensitive_digest: Digest::from_bytes([0; 16]),
        };
        prepared.templates(place).ok()?.render(&context, self.composition, None).into_files().ok()
    }
}
