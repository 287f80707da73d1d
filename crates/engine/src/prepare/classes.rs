//! Classes of places and of targets. All members of a class have the same label pairs among those that containers and schemas require.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Delta, Prepared, Reach};
use crate::compose::container::Container;
use crate::invariant::require;
use crate::schedule::matching::{Classes, LabelPairSet, LabelPairs, Matcher};
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use crate::schema::Schema;

/// The label pairs that containers and schemas require, and the classes of places and targets by these pairs.
#[derive(Debug, Default)]
pub(super) struct Matching {
    pairs: LabelPairs,
    containers: Matcher,
    schemas: Matcher,
    place_classes: Classes<LabelPairSet>,
    class_of_place: Vec<u32>,
    target_classes: Classes<LabelPairSet>,
    class_of_target: Vec<u32>,
}

/// The class of a number that no place or target has.
const NO_CLASS: u32 = u32::MAX;
/// The separator in the key of a target's class, between the label pairs and the ids of the target's own schemas.
const SCHEMAS_FOLLOW: u32 = u32::MAX;

impl Prepared {
    /// The class of a place. Assignments with the same class of place and the same class of target match the same containers and schemas.
    pub(crate) fn class_of_place(&self, place: u32) -> u32 {
        class_at(&self.matching.class_of_place, place)
    }

    pub(crate) fn class_of_target(&self, target: u32) -> u32 {
        class_at(&self.matching.class_of_target, target)
    }

    /// Returns the positions of the containers and the ids of the schemas that apply to assignments of these classes, and the number of
    /// containers and schemas examined.
    pub(crate) fn matching(&self, place_class: u32, target_class: u32) -> (Vec<u32>, Vec<u32>, usize) {
        self.matching_keys(self.key_of_place_class(place_class), self.key_of_target_class(target_class))
    }

    /// The same as [`Self::matching`] for the keys of classes, which may be keys of no place or target.
    pub(crate) fn matching_keys(&self, place: &[u32], target: &[u32]) -> (Vec<u32>, Vec<u32>, usize) {
        let Matching { containers, schemas, .. } = &self.matching;
        let (target, own) = match target.iter().position(|pair| *pair == SCHEMAS_FOLLOW) {
            Some(end) => (&target[..end], &target[end + 1..]),
            None => (target, &[][..]),
        };
        let (containers, examined) = containers.matching(place, target);
        let (mut schemas, more) = schemas.matching(place, target);
        schemas.extend(own);
        (containers, schemas, examined + more)
    }

    /// The key of a class of places.
    pub(crate) fn key_of_place_class(&self, class: u32) -> &[u32] {
        self.matching.place_classes.get(class).map_or(&[][..], |pairs| pairs)
    }

    /// The key of a class of targets.
    pub(crate) fn key_of_target_class(&self, class: u32) -> &[u32] {
        self.matching.target_classes.get(class).map_or(&[][..], |key| key)
    }

    /// The class key of a place or target with this key, if a label of it had another value. None: if it had no such label.
    pub(crate) fn key_with_label(&self, key: &[u32], label: &str, value: Option<&str>) -> Vec<u32> {
        self.matching.pairs.with_label(key, label, value)
    }

    /// The class key of a target that has the schemas of a target of the fleet, and any labels.
    pub(crate) fn key_of_target(&self, target: &Target) -> Vec<u32> {
        let mut key = Vec::new();
        self.matching.pairs.of_target(target, &mut key);
        if !target.schemas.is_empty() {
            key.push(SCHEMAS_FOLLOW);
            key.extend(self.schemas.ids_of_target(target));
        }
        key
    }

    /// The containers of an assignment, in merge order, and its schemas.
    pub(crate) fn inputs_of(&self, place: u32, target: u32) -> (Vec<Arc<Container>>, Vec<&Schema>) {
        let (containers, schemas, _) = self.matching(self.class_of_place(place), self.class_of_target(target));
        let containers = self.containers_at(&containers);
        (containers, self.schemas_at(&schemas).collect())
    }

    /// The containers at these positions, which matching found.
    pub(crate) fn containers_at(&self, positions: &[u32]) -> Vec<Arc<Container>> {
        let at = |position: &u32| {
            require(self.containers.list.get(*position as usize), "a container that matches is not in the fleet")
        };
        positions.iter().map(at).map(Arc::clone).collect()
    }

    /// The schemas with these ids, which matching found.
    pub(crate) fn schemas_at<'a>(&'a self, ids: &[u32]) -> impl Iterator<Item = &'a Schema> {
        ids.iter().map(|id| require(self.schemas.get(*id), "a schema that applies is not in the fleet"))
    }

    /// Updates the classes of places and targets. `requirements_changed`: containers or schemas may require other label pairs than before.
    pub(super) fn match_labels(&mut self, requirements_changed: bool, delta: &mut Delta) {
        let Matching { pairs, containers, schemas, .. } = &mut self.matching;
        let all = requirements_changed || delta.reach == Reach::Everything;
        if all {
            *containers = Matcher::new(pairs, self.containers.list.iter().map(|container| &container.conditions));
            *schemas = Matcher::new(pairs, self.schemas.labelled.iter().map(|labelled| &labelled.conditions));
            self.matching.place_classes = Classes::default();
            self.matching.target_classes = Classes::default();
            delta.reach = delta.reach.max(Reach::Matching);
        }
        self.classify_places(all, delta);
        if all || !delta.targets.is_empty() {
            self.classify_targets();
        }
    }

    fn classify_places(&mut self, all: bool, delta: &Delta) {
        let classified = |(id, place): (u32, &Place)| {
            let mut found = Vec::new();
            self.matching.pairs.of_place(place, &mut found);
            (id, found)
        };
        let found: Vec<_> = if all {
            let places: Vec<_> = self.places.iter().collect();
            places.into_par_iter().map(classified).collect()
        } else {
            let changed = |id| classified((id, require(self.places.get(id), "a changed place is not in the fleet")));
            delta.places.iter().map(changed).collect()
        };
        let Matching { place_classes, class_of_place, .. } = &mut self.matching;
        for (id, pairs) in found {
            if class_of_place.len() <= id as usize {
                class_of_place.resize(id as usize + 1, NO_CLASS);
            }
            let class = place_classes.get_or_insert(pairs.as_slice());
            if let Some(slot) = class_of_place.get_mut(id as usize) {
                *slot = class;
            }
        }
    }

    fn classify_targets(&mut self) {
        let keys: Vec<_> =
            self.targets.iter().map(|(id, prepared)| (id, self.key_of_target(&prepared.target))).collect();
        let Matching { target_classes, class_of_target, .. } = &mut self.matching;
        for (id, key) in keys {
            if class_of_target.len() <= id as usize {
                class_of_target.resize(id as usize + 1, NO_CLASS);
            }
            let class = target_classes.get_or_insert(key.as_slice());
            if let Some(slot) = class_of_target.get_mut(id as usize) {
                *slot = class;
            }
        }
    }
}

/// The class of what has a number: everything in the fleet has one.
fn class_at(classes: &[u32], number: u32) -> u32 {
    let class = classes.get(number as usize).copied().filter(|class| *class != NO_CLASS);
    require(class, "a place or target of the fleet has no class")
}
