//! Values that nothing uses: no schema asks for them, and no template can read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::supply::EntryAt;
use super::{Contracts, GivenValue};
use crate::compose::container::Container;
use crate::render::Templates;

/// The maximum number of unused values that are listed.
const LISTED_MAX: usize = 100;
/// The maximum number of labels of a container that targets can meet. The values of a container with more labels count as used.
const LABELS_MAX: usize = 6;

/// The templates of cluster types, with their places.
type Readers<'p> = Vec<(&'p Arc<Templates>, RoaringBitmap)>;

/// A value that nothing uses, and the places that get it.
type Unused<'k> = (EntryAt, &'k str, RoaringBitmap);

impl<'p> Contracts<'p> {
    /// The first values that nothing uses, and their number. Only values whose use is certain are contained: a template that prints all values may use
    /// each, and so may a value that is a template itself.
    pub(super) fn unused(&self) -> (Vec<GivenValue>, usize) {
        let is_template = self.prepared.containers.list.iter().any(|container| container.has_nested);
        if is_template || self.scope.workload.is_some() || self.scope.place.is_some() {
            return (Vec::new(), 0);
        }
        let readers = self.readers();
        let keys = self.supply.keys().filter(|key| !self.checks.is_asked(key));
        let unread = keys.map(|key| (key, without_reader(&readers, key)));
        let unread: Vec<_> = unread.filter(|(_, places)| !places.is_empty()).collect();
        if unread.is_empty() {
            return (Vec::new(), 0);
        }
        let list = &self.prepared.containers.list;
        let reached: Vec<_> = list.par_iter().map(|container| self.reached(container)).collect();
        let mut unused: Vec<_> =
            unread.iter().flat_map(|(key, places)| self.unused_of(key, places, &reached)).collect();
        unused.sort_unstable_by_key(|(at, ..)| *at);
        let count = unused.len();
        let given = |(at, key, places): &Unused<'_>| self.given(key, *at, self.count(places));
        (unused.iter().take(LISTED_MAX).map(given).collect(), count)
    }

    /// The templates of all places that have usable ones.
    fn readers(&self) -> Readers<'p> {
        let mut readers: BTreeMap<*const Templates, (&'p Arc<Templates>, RoaringBitmap)> = BTreeMap::new();
        for (id, place) in self.prepared.places() {
            if let Ok(templates) = self.prepared.templates(place) {
                let (_, places) = readers.entry(Arc::as_ptr(templates)).or_insert((templates, RoaringBitmap::new()));
                places.insert(id);
            }
        }
        readers.into_values().collect()
    }

    /// The values of a key that reach assignments only at places whose templates do not read the key.
    fn unused_of<'k>(
        &self,
        key: &'k str,
        unread: &RoaringBitmap,
        reached: &[Option<RoaringBitmap>],
    ) -> Vec<Unused<'k>> {
        let unused = self.supply.entries(key).iter().filter_map(|at| {
            let places = reached.get(at.container as usize)?.as_ref()?;
            (!places.is_empty() && places.is_subset(unread)).then(|| (*at, key, places.clone()))
        });
        unused.collect()
    }

    /// The places of the assignments that a container applies to. None if it has too many labels.
    fn reached(&self, container: &Container) -> Option<RoaringBitmap> {
        let mut places = Arc::clone(&self.reach.all);
        let mut of_both = Vec::new();
        for (key, value) in container.conditions.iter() {
            let with = self.reach.with(key, value);
            if self.reach.is_of_targets(key, value) {
                of_both.push((self.targets_with(key, value), with));
            } else {
                places = Arc::new(&*places & &*with);
            }
        }
        (of_both.len() <= LABELS_MAX).then(|| self.reached_by(&of_both, &self.targets, &places))
    }

    /// The places where one of these targets is assigned, and each of the labels is met by the place or the target.
    fn reached_by(
        &self,
        labels: &[(RoaringBitmap, super::reach::Places)],
        targets: &RoaringBitmap,
        places: &RoaringBitmap,
    ) -> RoaringBitmap {
        if targets.is_empty() || places.is_empty() {
            return RoaringBitmap::new();
        }
        match labels.split_first() {
            None => places & self.prepared.schedule.places_of_any(targets),
            Some(((of_targets, of_places), rest)) => {
                let by_targets = self.reached_by(rest, &(targets & of_targets), places);
                by_targets | self.reached_by(rest, &(targets - of_targets), &(places & &**of_places))
            }
        }
    }

    /// The targets that meet a condition.
    fn targets_with(&self, key: &str, value: &str) -> RoaringBitmap {
        match key {
            "deployment-target" => self.prepared.target_id(value).into_iter().collect(),
            _ => self.prepared.target_index.with(key, value),
        }
    }
}

/// The places whose templates do not read a key.
fn without_reader(readers: &Readers<'_>, key: &str) -> RoaringBitmap {
    let unread = readers.iter().filter(|(templates, _)| !templates.reads_value(key));
    unread.fold(RoaringBitmap::new(), |all, (_, places)| all | places)
}
