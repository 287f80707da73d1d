//! One compiled assignment.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic};
use model::digest::Digest;
use model::git_id::GitId;
use model::name::{ConfigMapName, PolicyName};

use super::Compiled;
use super::class_pairs::ClassPair;
use super::rows::{AssignmentInputs, RowContext, Slot};
use crate::compose::Composition;
use crate::prepare::{Prepared, PreparedTarget};
use crate::render::RenderedFiles;
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// An assignment of a [`Compiled`].
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) place: u32,
    pub(super) target: u32,
    pub(super) slot: &'a Slot,
}

impl<'a> Assignment<'a> {
    /// The assignment's name. None if its place or target was removed. This does not occur for assignments of a [`Compiled`].
    pub fn id(&self) -> Option<AssignmentId> {
        self.compiled.prepared.assignment_id(self.place, self.target)
    }

    /// The workload. Empty if the label is not set.
    pub fn workload(&self) -> &'a str {
        self.prepared_target().map_or("", |target| target.target.workload())
    }

    /// The policies that assign it.
    pub fn policies(&self) -> BTreeSet<PolicyName> {
        let policies = self.compiled.prepared.schedule.policies(self.place, self.target);
        policies.map(|policy| policy.name.clone()).collect()
    }

    /// The place where it runs.
    pub fn place(&self) -> Option<&'a Place> {
        self.compiled.prepared.place(self.place)
    }

    /// The deployment target.
    pub fn target(&self) -> Option<&'a Target> {
        self.prepared_target().map(|target| &*target.target)
    }

    /// Whether it has no errors. Only then it has files.
    pub fn is_rendered(&self) -> bool {
        self.slot.is_rendered
    }

    /// The git id of its folder. None if it has errors.
    pub fn folder(&self) -> Option<GitId> {
        self.slot.tree.filter(|_| self.slot.is_rendered)
    }

    /// The digest of its values. Equal values have equal digests.
    pub fn values(&self) -> Option<Digest> {
        Some(self.pair()?.values.digest)
    }

    /// The digest of the containers of its values. Assignments whose values come from the same containers have equal digests.
    pub fn composition_inputs(&self) -> Option<Digest> {
        Some(self.pair()?.values.inputs)
    }

    /// The digest of the paths that its schemas mark as sensitive. The same values are hidden in assignments with equal digests.
    pub fn marks(&self) -> Option<Digest> {
        Some(self.pair()?.marks)
    }

    /// The digest of all its inputs. Assignments with different inputs have different digests.
    pub fn inputs(&self) -> Digest {
        self.slot.inputs
    }

    /// The composed values.
    pub fn composition(&self) -> Option<Arc<Composition>> {
        let pair = self.pair()?;
        Some(Arc::clone(pair.values.composition(|| self.compiled.prepared.containers_at(&pair.containers))))
    }

    /// The `ConfigMap`s that its values come from, in merge order. A `ConfigMap` with several matching containers occurs several times.
    pub fn config_maps(&self) -> Vec<ConfigMapName> {
        let containers = self.pair().map(|pair| self.compiled.prepared.containers_at(&pair.containers));
        containers.unwrap_or_default().iter().map(|container| container.name.clone()).collect()
    }

    /// Renders its files again.
    ///
    /// # Errors
    /// Diagnostics if it can't be rendered.
    pub fn files(&self) -> Result<RenderedFiles, Vec<Diagnostic>> {
        let (Some(place), Some(target), Some(pair)) = (self.place(), self.prepared_target(), self.pair()) else {
            return Err(Vec::new());
        };
        RowContext::new(&self.compiled.prepared, &self.compiled.shared, place).files(&AssignmentInputs { target, pair })
    }

    /// The warnings about its files.
    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        let (Some(place), Some(target), Some(pair)) = (self.place(), self.prepared_target(), self.pair()) else {
            return Vec::new();
        };
        let context = RowContext::new(&self.compiled.prepared, &self.compiled.shared, place);
        context.warnings(&AssignmentInputs { target, pair })
    }

    fn pair(&self) -> Option<&'a ClassPair> {
        self.compiled.pair(self.place, self.target)
    }

    pub(crate) fn prepared(&self) -> &'a Prepared {
        &self.compiled.prepared
    }

    pub(super) fn prepared_target(&self) -> Option<&'a PreparedTarget> {
        self.compiled.prepared.target(self.target)
    }
}
