//! Answers about the assignments of a fleet: how many there are, which of them an object reaches, and which values they have.
//!
//! No answer visits each assignment. Places that the same policies select form a block, with the same targets. So a set of assignments is counted
//! block by block, with compressed bitmaps.

mod config_map;
mod order;
mod partition;
mod selection;
mod set;
mod value_reach;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roaring::RoaringBitmap;

pub use self::config_map::{ConfigMapFacts, ConfigMapValue};
pub use self::order::Assigned;
pub use self::set::AssignmentSet;
pub use self::value_reach::{OverrideReason, OverridingValue, ValueReach};
pub use self::values::{HeldValue, ValueOrigin};
use crate::prepare::Prepared;
use crate::schedule::Block;

/// The assignments of a prepared fleet, ready for queries.
#[derive(Debug)]
pub struct Inventory<'p> {
    prepared: &'p Prepared,
    places: RoaringBitmap,
    targets: RoaringBitmap,
    /// The places that are clusters. The others are cluster types.
    clusters: RoaringBitmap,
    blocks: Vec<Block>,
    /// The position of a place's block, by place id.
    block_of: Vec<u32>,
}

/// The size of a set of assignments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssignmentCounts {
    /// The number of assignments.
    pub assignments: usize,
    /// The number of cluster types with at least one of the assignments of their own.
    pub cluster_types: usize,
    /// The number of clusters with at least one of the assignments.
    pub clusters: usize,
    /// The number of deployment targets with at least one of the assignments.
    pub targets: usize,
    /// The number of workloads of these targets.
    pub workloads: usize,
}

/// The names of the objects in a set of assignments.
#[derive(Clone, Debug, Default)]
pub struct AssignmentMembers {
    /// Cluster types and clusters.
    pub places: BTreeSet<Arc<str>>,
    /// Deployment targets.
    pub targets: BTreeSet<Arc<str>>,
    /// Workloads. Targets without a workload have the empty name.
    pub workloads: BTreeSet<Arc<str>>,
}

impl<'p> Inventory<'p> {
    /// Prepares queries about a fleet.
    pub fn new(prepared: &'p Prepared) -> Self {
        let (places, targets) = (prepared.place_index.all().clone(), prepared.target_index.all().clone());
        let (blocks, block_of) = prepared.schedule.blocks(&places);
        Self { prepared, clusters: prepared.all_clusters(), blocks, block_of, places, targets }
    }

    /// The prepared fleet.
    pub fn prepared(&self) -> &'p Prepared {
        self.prepared
    }

    /// The number of assignments of a set.
    pub fn len(&self, set: &AssignmentSet) -> usize {
        let of_block = |(block, product): (&Block, &set::Product)| {
            let places = block.places.intersection_len(&product.places);
            if places == 0 { 0 } else { places * block.targets.intersection_len(&product.targets) }
        };
        self.pairs(set).map(of_block).sum::<u64>() as usize
    }

    /// The number of clusters of a cluster type.
    pub fn clusters_of(&self, cluster_type: &str) -> usize {
        self.prepared.places_of_type(cluster_type).intersection_len(&self.clusters) as usize
    }

    /// Whether a set contains no assignment.
    pub fn is_empty(&self, set: &AssignmentSet) -> bool {
        self.len(set) == 0
    }

    /// The size of a set.
    pub fn counts(&self, set: &AssignmentSet) -> AssignmentCounts {
        let (mut places, mut targets, mut assignments) = (RoaringBitmap::new(), RoaringBitmap::new(), 0);
        self.for_each_product(set, |of_places, of_targets| {
            assignments += of_places.len() * of_targets.len();
            places |= of_places;
            targets |= of_targets;
        });
        let clusters = places.intersection_len(&self.clusters);
        let workloads: BTreeSet<&str> =
            targets.iter().filter_map(|id| Some(self.prepared.target(id)?.target.workload())).collect();
        AssignmentCounts {
            assignments: assignments as usize,
            cluster_types: (places.len() - clusters) as usize,
            clusters: clusters as usize,
            targets: targets.len() as usize,
            workloads: workloads.into_iter().filter(|name| !name.is_empty()).count(),
        }
    }

    /// The names of the places, targets and workloads of a set. A cluster type is a member through its clusters, too.
    pub fn members(&self, set: &AssignmentSet) -> AssignmentMembers {
        let (mut places, mut targets) = (RoaringBitmap::new(), RoaringBitmap::new());
        self.for_each_product(set, |of_places, of_targets| {
            places |= of_places;
            targets |= of_targets;
        });
        let mut members = AssignmentMembers::default();
        for place in places.iter().filter_map(|id| self.prepared.place(id)) {
            members.places.insert(Arc::clone(place.name_text()));
            members.places.insert(Arc::clone(place.cluster_type.name.as_arc()));
        }
        for target in targets.iter().filter_map(|id| self.prepared.target(id)).map(|target| &target.target) {
            members.targets.insert(Arc::clone(target.name.as_arc()));
            members.workloads.insert(target.workload().into());
        }
        members
    }

    /// The number of assignments of a set for each workload. Targets without a workload have the empty name.
    pub fn by_workload(&self, set: &AssignmentSet) -> BTreeMap<Arc<str>, usize> {
        let mut found: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        self.for_each_product(set, |places, targets| {
            for target in targets.iter().filter_map(|id| self.prepared.target(id)) {
                *found.entry(target.target.workload().into()).or_default() += places.len() as usize;
            }
        });
        found
    }

    /// The number of assignments of a set for each deployment target.
    pub fn by_target(&self, set: &AssignmentSet) -> BTreeMap<Arc<str>, usize> {
        let mut found: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        self.for_each_product(set, |places, targets| {
            for target in targets.iter().filter_map(|id| self.prepared.target(id)) {
                *found.entry(Arc::clone(target.target.name.as_arc())).or_default() += places.len() as usize;
            }
        });
        found
    }

    /// The number of assignments of a set for each cluster type, with those of its clusters.
    pub fn by_cluster_type(&self, set: &AssignmentSet) -> BTreeMap<Arc<str>, usize> {
        let mut found: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        self.for_each_product(set, |places, targets| {
            for place in places.iter().filter_map(|id| self.prepared.place(id)) {
                let name = place.cluster_type.name.as_arc();
                match found.get_mut(name) {
                    Some(count) => *count += targets.len() as usize,
                    None => drop(found.insert(Arc::clone(name), targets.len() as usize)),
                }
            }
        });
        found
    }

    /// The pairs of blocks and products of a set.
    fn pairs<'a>(&'a self, set: &'a AssignmentSet) -> impl Iterator<Item = (&'a Block, &'a set::Product)> {
        set.products.iter().flat_map(|product| self.blocks.iter().map(move |block| (block, product)))
    }

    /// Calls a function with the places and targets of a set, block by block. Each place is assigned to each of the targets.
    fn for_each_product(&self, set: &AssignmentSet, mut each: impl FnMut(&RoaringBitmap, &RoaringBitmap)) {
        for (block, product) in self.pairs(set) {
            if block.places.is_disjoint(&product.places) {
                continue;
            }
            let targets = &block.targets & &product.targets;
            if !targets.is_empty() {
                each(&(&block.places & &product.places), &targets);
            }
        }
    }
}

impl AssignmentCounts {
    /// The number of places: cluster types and clusters.
    pub fn places(self) -> usize {
        self.cluster_types + self.clusters
    }
}
