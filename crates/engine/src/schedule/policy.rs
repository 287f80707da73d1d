//! Applies scheduling policies: which targets are assigned to which places.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use model::diagnostic::Code;
use model::fleet::Fleet;
use model::name::PolicyName;
use model::object::deployment_target::WORKSPACE_LABEL;
use model::object::{AnyObject, Object, SchedulingPolicy};
use roaring::RoaringBitmap;

use crate::schedule::index::LabelIndex;

/// The assignments of targets to places. Places that the same policies select form one group and have the same targets.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    selections: Vec<Selection>,
    groups: Vec<Group>,
    group_of: Vec<u32>,
}

/// The places and targets that a policy selects.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) policy: Arc<Object<SchedulingPolicy>>,
    pub(crate) places: RoaringBitmap,
    pub(crate) targets: RoaringBitmap,
    /// Whether the policy exists more than once. It is then undefined what it selects.
    pub(crate) is_unclear: bool,
}

/// Places that the same policies select.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The numbers of the selections, ascending.
    pub(crate) selections: Vec<u32>,
    /// The ids of the targets, in the order of their folders.
    pub(crate) targets: Arc<[u32]>,
}

/// Places with the same targets.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) places: RoaringBitmap,
    pub(crate) targets: RoaringBitmap,
}

/// The places and targets that policies select from.
pub(crate) struct Candidates<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) places: &'a LabelIndex,
    pub(crate) targets: &'a LabelIndex,
    /// The position of a target among all, in the order of their folders.
    pub(crate) rank: &'a dyn Fn(u32) -> u32,
}

impl Schedule {
    /// Applies all policies. The result is the union of their selections, each pair of place and target once. Unchanged lists of targets are
    /// shared with `before`.
    pub(crate) fn new(candidates: &Candidates<'_>, before: &Self) -> Self {
        let mut schedule = Self::default();
        for policy in candidates.fleet.policies.values() {
            schedule.select(candidates, policy, false);
        }
        for copy in candidates.fleet.duplicates.values().flatten() {
            if let AnyObject::SchedulingPolicy(policy) = copy {
                let of_same_name =
                    schedule.selections.iter_mut().filter(|selection| selection.policy.name == policy.name);
                of_same_name.for_each(|selection| selection.is_unclear = true);
                schedule.select(candidates, policy, true);
            }
        }
        schedule.group_places(candidates);
        let known: HashMap<&[u32], &Arc<[u32]>> =
            before.groups.iter().map(|group| (&*group.targets, &group.targets)).collect();
        for group in &mut schedule.groups {
            if let Some(same) = known.get(&*group.targets) {
                group.targets = Arc::clone(same);
            }
        }
        schedule
    }

    /// The ids of the targets on a place, in the order of their folders.
    pub(crate) fn targets_on(&self, place: u32) -> &Arc<[u32]> {
        static NONE: std::sync::LazyLock<Arc<[u32]>> = std::sync::LazyLock::new(Arc::default);
        self.group_with(place).map_or(&NONE, |group| &group.targets)
    }

    /// The policies that assign a target to a place, by name.
    pub(crate) fn policies(&self, place: u32, target: u32) -> impl Iterator<Item = &Arc<Object<SchedulingPolicy>>> {
        self.selections(place)
            .filter(move |selection| selection.targets.contains(target))
            .map(|selection| &selection.policy)
    }

    /// The policies that assign a target to a place and exist more than once.
    pub(crate) fn unclear(&self, place: u32, target: u32) -> BTreeSet<PolicyName> {
        let unclear =
            self.selections(place).filter(|selection| selection.is_unclear && selection.targets.contains(target));
        unclear.map(|selection| selection.policy.name.clone()).collect()
    }

    /// The policies that select no place, or no target, in the order of their names.
    pub(crate) fn without_effect(&self) -> impl Iterator<Item = (&Object<SchedulingPolicy>, Code)> {
        self.selections.iter().flat_map(|selection| {
            let places = selection.places.is_empty().then_some(Code::NoClusterTypeSelected);
            let targets = selection.targets.is_empty().then_some(Code::NoTargetSelected);
            places.into_iter().chain(targets).map(|code| (&*selection.policy, code))
        })
    }

    /// The targets that are assigned to at least one place.
    pub(crate) fn assigned(&self) -> RoaringBitmap {
        let selections = self.selections.iter().filter(|selection| !selection.places.is_empty());
        selections.fold(RoaringBitmap::new(), |all, selection| all | &selection.targets)
    }

    /// The selections of all policies, by their numbers: in the order of the policies' names, then those of further copies.
    pub(crate) fn all_selections(&self) -> &[Selection] {
        &self.selections
    }

    /// The number of the group of a place.
    pub(crate) fn group_number(&self, place: u32) -> u32 {
        self.group_of.get(place as usize).copied().unwrap_or_default()
    }

    /// The group with a number.
    pub(crate) fn group(&self, number: u32) -> Option<&Group> {
        self.groups.get(number as usize)
    }

    /// The places that a target is assigned to.
    pub(crate) fn places_of(&self, target: u32) -> RoaringBitmap {
        let selecting = self.selections.iter().filter(|selection| selection.targets.contains(target));
        selecting.fold(RoaringBitmap::new(), |all, selection| all | &selection.places)
    }

    /// The places to which policies assign one of these targets.
    pub(crate) fn places_of_any(&self, targets: &RoaringBitmap) -> RoaringBitmap {
        let selections = self.selections.iter().filter(|selection| !selection.targets.is_disjoint(targets));
        selections.fold(RoaringBitmap::new(), |all, selection| all | &selection.places)
    }

    /// Whether any policy exists more than once.
    pub(crate) fn has_unclear(&self) -> bool {
        self.selections.iter().any(|selection| selection.is_unclear)
    }

    /// Divides places into blocks with the same targets. Also returns the position of each place's block, by place id.
    pub(crate) fn blocks(&self, places: &RoaringBitmap) -> (Vec<Block>, Vec<u32>) {
        let mut of_targets: HashMap<&[u32], u32> = HashMap::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut of_group: Vec<u32> = Vec::new();
        for group in &self.groups {
            let block = of_targets.entry(&group.targets).or_insert_with(|| {
                let targets = group.targets.iter().copied().collect();
                blocks.push(Block { places: RoaringBitmap::new(), targets });
                blocks.len() as u32 - 1
            });
            of_group.push(*block);
        }
        let block_of = |group: &u32| of_group.get(*group as usize).copied().unwrap_or_default();
        let block_of: Vec<u32> = self.group_of.iter().map(block_of).collect();
        for place in places {
            let block = block_of.get(place as usize).and_then(|block| blocks.get_mut(*block as usize));
            if let Some(block) = block {
                block.places.insert(place);
            }
        }
        (blocks, block_of)
    }

    fn group_with(&self, place: u32) -> Option<&Group> {
        self.groups.get(*self.group_of.get(place as usize)? as usize)
    }

    fn selections(&self, place: u32) -> impl Iterator<Item = &Selection> {
        let numbers = self.group_with(place).into_iter().flat_map(|group| &group.selections);
        numbers.filter_map(|number| self.selections.get(*number as usize))
    }

    fn select(&mut self, candidates: &Candidates<'_>, policy: &Arc<Object<SchedulingPolicy>>, is_unclear: bool) {
        let spec = &policy.spec;
        let places = candidates.places.select(&spec.cluster_types);
        let mut targets = candidates.targets.select(&spec.targets);
        if !spec.workspace.is_empty() {
            targets &= candidates.targets.with(WORKSPACE_LABEL, &spec.workspace);
        }
        self.selections.push(Selection { policy: Arc::clone(policy), places, targets, is_unclear });
    }

    /// Groups places that the same policies select. Each policy divides the groups of the previous policies.
    fn group_places(&mut self, candidates: &Candidates<'_>) {
        const NONE: u32 = 0;
        let mut group_of = vec![NONE; candidates.places.id_bound()];
        let mut members: Vec<Vec<u32>> = vec![Vec::new()];
        for (number, selection) in self.selections.iter().enumerate() {
            let mut divided: HashMap<u32, u32> = HashMap::new();
            for place in &selection.places {
                let Some(group) = group_of.get_mut(place as usize) else { continue };
                *group = *divided.entry(*group).or_insert_with(|| {
                    let mut selections = members.get(*group as usize).cloned().unwrap_or_default();
                    selections.push(number as u32);
                    members.push(selections);
                    members.len() as u32 - 1
                });
            }
        }
        let of_members = |selections: Vec<u32>| {
            let targets = selections.iter().filter_map(|number| self.selections.get(*number as usize));
            let targets = targets.fold(RoaringBitmap::new(), |all, selection| all | &selection.targets);
            let mut targets: Vec<u32> = targets.into_iter().collect();
            targets.sort_by_cached_key(|target| (candidates.rank)(*target));
            Group { selections, targets: targets.into() }
        };
        self.groups = members.into_iter().map(of_members).collect();
        self.group_of = group_of;
    }
}
