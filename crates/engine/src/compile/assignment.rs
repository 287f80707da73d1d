//! One assignment of what was compiled.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic};
use model::digest::Digest;
use model::git_id::GitId;
use model::name::{ConfigMapName, PolicyName};

use super::Compiled;
use super::pairs::Pair;
use super::rows::{Asked, RowContext, Slot};
use crate::compose::Composition;
use crate::place::Place;
use crate::prepare::PreparedTarget;
use crate::render::Files;
use crate::target::Target;

/// An assignment of a [`Compiled`].
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) place: u32,
    pub(super) target: u32,
    pub(super) slot: &'a Slot,
}

impl<'a> Assignment<'a> {
    /// Its name. None only if its place or target is gone, which no assignment of a [`Compiled`] is.
    pub fn id(&self) -> Option<AssignmentId> {
        self.compiled.prepared.assignment_id(self.place, self.target)
    }

    /// Its workload; empty if nobody says.
    pub fn workload(&self) -> &'a str {
        self.prepared_target().map_or("", |target| target.target.workload())
    }

    /// The policies that assigned it.
    pub fn policies(&self) -> BTreeSet<PolicyName> {
        let policies = self.compiled.prepared.schedule.policies(self.place, self.target);
        policies.map(|policy| policy.name.clone()).collect()
    }

    /// Where it runs.
    pub fn place(&self) -> Option<&'a Place> {
        self.compiled.prepared.place(self.place)
    }

    /// Its target.
    pub fn target(&self) -> Option<&'a Target> {
        self.prepared_target().map(|target| &*target.target)
    }

    /// Whether nothing is wrong with it, so that it has files.
    pub fn is_good(&self) -> bool {
        self.slot.is_shown
    }

    /// The id of its folder; none if something is wrong with it.
    pub fn folder(&self) -> Option<GitId> {
        self.slot.tree.filter(|_| self.slot.is_shown)
    }

    /// What its values are: assignments with the same values have the same.
    pub fn values(&self) -> Option<Digest> {
        Some(self.pair()?.values.digest)
    }

    /// What its values are made of: assignments whose values come from the same places have the same.
    pub fn composition_inputs(&self) -> Option<Digest> {
        Some(self.pair()?.values.inputs)
    }

    /// What of its values is sensitive: of assignments with the same, the same is hidden.
    pub fn marks(&self) -> Option<Digest> {
        Some(self.pair()?.marks)
    }

    /// Everything that it depends on: assignments with other inputs have another.
    pub fn inputs(&self) -> Digest {
        self.slot.inputs
    }

    /// Its values.
    pub fn composition(&self) -> Option<Arc<Composition>> {
        let pair = self.pair()?;
        Some(Arc::clone(pair.values.composition(|| self.compiled.prepared.containers_at(&pair.containers))))
    }

    /// The `ConfigMap`s that its values are from, once for each set of values in them, in the order in which they are merged.
    pub fn config_maps(&self) -> Vec<ConfigMapName> {
        let containers = self.pair().map(|pair| self.compiled.prepared.containers_at(&pair.containers));
        containers.unwrap_or_default().iter().map(|container| container.name.clone()).collect()
    }

    /// Its files, rendered again.
    ///
    /// # Errors
    /// Why it can't be rendered.
    pub fn files(&self) -> Result<Files, Vec<Diagnostic>> {
        let (Some(place), Some(target), Some(pair)) = (self.place(), self.prepared_target(), self.pair()) else {
            return Err(Vec::new());
        };
        RowContext::new(&self.compiled.prepared, &self.compiled.shared, place).files(&Asked { target, pair })
    }

    fn pair(&self) -> Option<&'a Pair> {
        self.compiled.pair(self.place, self.target)
    }

    pub(super) fn prepared_target(&self) -> Option<&'a PreparedTarget> {
        self.compiled.prepared.target(self.target)
    }
}
