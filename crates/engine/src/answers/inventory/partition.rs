//! Divides a set of assignments by the containers that match them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::{AssignmentSet, Inventory};
use crate::compose::container::Container;
use crate::schedule::matching::{LabelPairs, Matcher};

/// The positions of matching containers, ascending.
pub(super) type Matching = Vec<u32>;

/// Ids of places or targets by the label pairs that they have.
type Cells = BTreeMap<Arc<[u32]>, RoaringBitmap>;

/// Divides a set into parts that match the same ones of these containers. Each part has at least one assignment.
pub(super) fn partition(
    inventory: &Inventory<'_>,
    containers: &[Arc<Container>],
    set: &AssignmentSet,
) -> BTreeMap<Matching, AssignmentSet> {
    let mut pairs = LabelPairs::default();
    let matcher = Matcher::new(&mut pairs, containers.iter().map(|container| &container.conditions));
    let mut classes = PairsOfClasses { inventory, pairs: &pairs, places: HashMap::new(), targets: HashMap::new() };
    let mut work = Vec::new();
    inventory.for_each_product(set, |places, targets| {
        let targets = Arc::new(classes.cells_of_targets(targets));
        work.extend(classes.cells_of_places(places).into_iter().map(|cell| (cell, Arc::clone(&targets))));
    });
    let divide = |((pairs, places), targets): ((Arc<[u32]>, RoaringBitmap), Arc<Cells>)| {
        let mut by_matching: BTreeMap<Matching, RoaringBitmap> = BTreeMap::new();
        for (of_target, targets) in &*targets {
            *by_matching.entry(matcher.matching(&pairs, of_target).0).or_default() |= targets;
        }
        (places, by_matching)
    };
    let divided: Vec<_> = work.into_par_iter().map(divide).collect();
    let mut parts: BTreeMap<Matching, AssignmentSet> = BTreeMap::new();
    for (places, by_matching) in divided {
        for (matching, targets) in by_matching {
            parts.entry(matching).or_default().push(places.clone(), targets);
        }
    }
    parts
}

/// The label pairs of places and targets, found once for each class of places and of targets in the fleet.
struct PairsOfClasses<'a, 'p> {
    inventory: &'a Inventory<'p>,
    pairs: &'a LabelPairs,
    places: HashMap<u32, Arc<[u32]>>,
    targets: HashMap<u32, Arc<[u32]>>,
}

impl PairsOfClasses<'_, '_> {
    fn cells_of_places(&mut self, ids: &RoaringBitmap) -> Cells {
        let prepared = self.inventory.prepared;
        let mut cells = Cells::new();
        for id in ids {
            let found = self.places.entry(prepared.class_of_place(id)).or_insert_with(|| {
                let mut found = Vec::new();
                if let Some(place) = prepared.place(id) {
                    self.pairs.of_place(place, &mut found);
                }
                found.into()
            });
            add(&mut cells, found, id);
        }
        cells
    }

    fn cells_of_targets(&mut self, ids: &RoaringBitmap) -> Cells {
        let prepared = self.inventory.prepared;
        let mut cells = Cells::new();
        for id in ids {
            let found = self.targets.entry(prepared.class_of_target(id)).or_insert_with(|| {
                let mut found = Vec::new();
                if let Some(target) = prepared.target(id) {
                    self.pairs.of_target(&target.target, &mut found);
                }
                found.into()
            });
            add(&mut cells, found, id);
        }
        cells
    }
}

fn add(cells: &mut Cells, pairs: &Arc<[u32]>, id: u32) {
    match cells.get_mut(pairs) {
        Some(cell) => {
            cell.insert(id);
        }
        None => {
            cells.insert(Arc::clone(pairs), RoaringBitmap::from_iter([id]));
        }
    }
}
