//! Values that nothing uses: no schema asks for them, and no template can read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::supply::EntryAt;
use super::{Contracts, GivenValue};
use crate::render::Templates;
use crate::target::Target;

/// The maximum number of unused values that are listed.
const LISTED_MAX: usize = 100;

/// The templates of cluster types, with their places.
type Readers<'p> = Vec<(&'p Arc<Templates>, RoaringBitmap)>;

/// A target with its places and the ids of its schemas.
struct AssignedTarget<'t> {
    target: &'t Target,
    places: RoaringBitmap,
    schemas: Vec<u32>,
}

/// The places whose templates do not read a key.
fn without_reader(readers: &Readers<'_>, key: &str) -> RoaringBitmap {
    let unread = readers.iter().filter(|(templates, _)| !templates.reads_value(key));
    unread.fold(RoaringBitmap::new(), |all, (_, places)| all | places)
}

impl<'p> Contracts<'p> {
    /// The first values that nothing uses, and their number. Only values whose use is certain are contained: a template that prints all values may use
    /// each, and so may a value that is a template itself.
    pub(super) fn unused(&self) -> (Vec<GivenValue>, usize) {
        let is_template = self.prepared.containers.list.iter().any(|container| container.has_nested);
        if is_template || self.scope.workload.is_some() || self.scope.place.is_some() {
            return (Vec::new(), 0);
        }
        let readers = self.readers();
        let unread: Vec<_> = self.supply.keys().map(|key| (key, without_reader(&readers, key))).collect();
        let unread: Vec<_> = unread.into_iter().filter(|(_, places)| !places.is_empty()).collect();
        if unread.is_empty() {
            return (Vec::new(), 0);
        }
        let targets: Vec<_> =
            self.prepared.targets().iter().filter_map(|target| self.assigned_target(target)).collect();
        let mut unused: Vec<_> =
            unread.iter().flat_map(|(key, places)| self.unused_of(key, places, &targets)).collect();
        unused.sort_unstable_by_key(|(at, ..)| *at);
        let count = unused.len();
        let given = |(at, key, places): &(EntryAt, &str, RoaringBitmap)| self.given(key, *at, self.count(places));
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

    fn assigned_target<'t>(&self, target: &'t Target) -> Option<AssignedTarget<'t>> {
        let places = self.assigned(self.prepared.target_id(target.name.as_str())?);
        let schemas = self.schemas_of(target).into_iter().map(|(id, _)| id).collect();
        (!places.is_empty()).then_some(AssignedTarget { target, places, schemas })
    }

    /// The values of a key that apply to assignments, and that none of them uses. `unread` are the places whose templates do not read the key.
    fn unused_of<'k>(
        &self,
        key: &'k str,
        unread: &RoaringBitmap,
        targets: &[AssignedTarget<'_>],
    ) -> Vec<(EntryAt, &'k str, RoaringBitmap)> {
        let mut reached: BTreeMap<EntryAt, (RoaringBitmap, bool)> = BTreeMap::new();
        for AssignedTarget { target, places, schemas } in targets {
            let is_asked = schemas.iter().any(|schema| self.asks(*schema, key));
            for (at, with) in &self.supply.of(key, target).by {
                let here = places & &**with;
                if !here.is_empty() {
                    let (all, is_used) = reached.entry(*at).or_default();
                    *is_used |= is_asked || !here.is_subset(unread);
                    *all |= here;
                }
            }
        }
        let unused = reached.into_iter().filter(|(_, (_, is_used))| !is_used);
        unused.map(|(at, (places, _))| (at, key, places)).collect()
    }
}
