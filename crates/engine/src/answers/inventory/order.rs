//! Lists assignments in the order of their names.

use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::name::PolicyName;
use model::object::{Object, ReleasePin};
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::{AssignmentSet, Inventory};
use crate::prepare::Prepared;
use crate::promotion::release::{PlacedRelease, release_at};
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// An assignment.
#[derive(Clone, Copy, Debug)]
pub struct Assigned<'p> {
    prepared: &'p Prepared,
    ids: (u32, u32),
    /// Where it runs.
    pub place: &'p Place,
    /// What runs.
    pub target: &'p Target,
}

impl<'p> Assigned<'p> {
    /// The name.
    pub fn id(&self) -> AssignmentId {
        AssignmentId { place: self.place.name(), target: self.target.name.clone() }
    }

    /// The policies that assign it, by name.
    pub fn policies(&self) -> impl Iterator<Item = &'p PolicyName> {
        self.prepared.schedule.policies(self.ids.0, self.ids.1).map(|policy| &policy.name)
    }

    /// The release of its workload at its place. None: no key names it.
    pub fn release(&self) -> Option<PlacedRelease> {
        release_at(self.prepared, (self.place, self.target))
    }

    /// The release pins that hold it.
    pub fn pins(&self) -> Vec<&'p Arc<Object<ReleasePin>>> {
        self.prepared.pins.holding(|key| self.place.label(key), self.target)
    }
}

impl<'p> Inventory<'p> {
    /// The assignments of a set, by place and target. `after` skips all up to this name, which does not have to exist.
    pub fn assignments<'a>(
        &'a self,
        set: &'a AssignmentSet,
        after: Option<&'a AssignmentId>,
    ) -> impl Iterator<Item = Assigned<'p>> + use<'a, 'p> {
        let mut places: Vec<(&Arc<str>, u32)> =
            self.places_in(set).into_iter().filter_map(|id| self.named(id)).collect();
        places.par_sort_unstable();
        let first = after.map_or(0, |after| places.partition_point(|(name, _)| ***name < *after.place.as_str()));
        places.into_iter().skip(first).flat_map(move |(name, place)| {
            let is_first = after.filter(|after| *after.place.as_str() == **name);
            self.on_place(set, place)
                .into_iter()
                .filter(move |assigned| is_first.is_none_or(|after| assigned.target.name > after.target))
        })
    }

    /// The places with at least one assignment of a set.
    pub(super) fn places_in(&self, set: &AssignmentSet) -> RoaringBitmap {
        let mut places = RoaringBitmap::new();
        self.for_each_product(set, |of_places, _| places |= of_places);
        places
    }

    /// The assignments of a set on one place, by target.
    fn on_place(&self, set: &AssignmentSet, place: u32) -> Vec<Assigned<'p>> {
        let block = self.block_of.get(place as usize).and_then(|block| self.blocks.get(*block as usize));
        let Some(block) = block else { return Vec::new() };
        let mut targets = RoaringBitmap::new();
        for product in set.products.iter().filter(|product| product.places.contains(place)) {
            targets |= &block.targets & &product.targets;
        }
        let assigned = |target: u32| {
            let (at, prepared) = (self.prepared.place(place)?, self.prepared.target(target)?);
            Some(Assigned { prepared: self.prepared, ids: (place, target), place: at, target: &prepared.target })
        };
        let mut found: Vec<_> = targets.iter().filter_map(assigned).collect();
        found.sort_unstable_by(|one, other| one.target.name.cmp(&other.target.name));
        found
    }

    fn named(&self, place: u32) -> Option<(&'p Arc<str>, u32)> {
        Some((self.prepared.place(place)?.name_text(), place))
    }
}
