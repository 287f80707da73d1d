//! Updates to another fleet: examines assignments that may differ, and computes those that differ.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use model::git_id::GitId;
use model::progress::ProgressPhase;
use model::tree::Tree;
use rayon::prelude::*;

use super::class_pairs::{ClassPair, PairSources};
use super::rows::{AssignmentInputs, Evaluated, Row, RowContext, Slot};
use super::{CompileUpdate, Compiled, NO_ROW, WHOLE_PLACE, problems};
use crate::invariant::require;
use crate::prepare::{Delta, Reach, folder_order};
use crate::render::RecentFiles;

/// The cache of shared files is cleared above this number of files for each assignment. Each assignment has at most three files.
const SHARED_PER_ASSIGNMENT: usize = 4;
const SHARED_MIN: usize = 10_000;

/// The number of assignments in a unit of parallel work.
const CHUNK: usize = 256;
/// The maximum number of chunks whose results are stored at the same time. They take a few megabytes, so the next ones find this memory free. New memory for the
/// results of all assignments would be slower, because the system clears each page that it gives.
const WAVE: usize = 128;

/// An assignment to evaluate. Assignments with the same values are neighbours in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    /// The beginning of the digest of its values.
    values: u64,
    place: u32,
    /// The position in the row of the place.
    position: u32,
}

impl Compiled {
    pub(super) fn advance(&mut self, delta: &Delta) {
        self.last = CompileUpdate::default();
        self.shared.bound(SHARED_PER_ASSIGNMENT * self.len() + SHARED_MIN);
        if delta.reach >= Reach::Matching {
            self.pairs.clear_classes();
        }
        let changed_pairs = self.remake_pairs(delta);
        self.remove_rows(delta);
        let mut touched = BTreeSet::from_iter(&delta.places);
        if delta.reach == Reach::Everything || delta.schedule {
            touched.extend(self.realign_rows());
        }
        let dirty = self.dirty(delta, &touched, &changed_pairs);
        self.make_missing_pairs(&dirty);
        self.progress.begin(ProgressPhase::Compiling).expect(dirty.values().map(Vec::len).sum());
        let mut before = PreviousFolders::new();
        for wave in self.by_values(&dirty).chunks(WAVE * CHUNK) {
            let found = self.evaluate(wave);
            self.store(found, &mut before);
        }
        self.last.recomputed.par_sort_unstable();
        touched.extend(dirty.keys().copied());
        self.update_folders(touched.into_iter().collect(), &before);
    }

    /// Computes the class pairs with changed containers or schemas again. Returns these pairs.
    fn remake_pairs(&mut self, delta: &Delta) -> BTreeSet<(u32, u32)> {
        let keys: BTreeSet<_> = if delta.schemas || delta.reach == Reach::Everything {
            self.pairs.keys().iter().copied().collect()
        } else {
            self.pairs.with_containers(&delta.containers)
        };
        self.make_pairs(keys.iter().copied().collect());
        keys
    }

    fn make_pairs(&mut self, keys: Vec<(u32, u32)>) {
        if keys.is_empty() {
            return;
        }
        let composing = self.progress.begin(ProgressPhase::Composing);
        let sources = PairSources { prepared: &self.prepared, memo: &self.memo, composing };
        let made = self.pairs.make(sources, keys);
        self.last.work.matches += made.matches;
        self.last.work.compositions += made.compositions;
        self.last.work.checks += made.checks;
    }

    fn make_missing_pairs(&mut self, dirty: &BTreeMap<u32, Vec<u32>>) {
        let mut missing = BTreeSet::new();
        for (place, positions) in dirty {
            let row = self.row(*place);
            let class = self.prepared.class_of_place(*place);
            for position in positions {
                let key = (class, self.prepared.class_of_target(row.at(*position).0));
                if self.pairs.position(key.0, key.1).is_none() {
                    missing.insert(key);
                }
            }
        }
        self.make_pairs(missing.into_iter().collect());
    }

    /// Removes the assignments of removed places.
    fn remove_rows(&mut self, delta: &Delta) {
        for place in &delta.removed_places {
            let targets = self.rows.remove(&place).map(|row| row.targets).unwrap_or_default();
            targets.iter().for_each(|target| self.remove_assignment((place, *target)));
        }
        let name = |place| require(self.prepared.place_name(place), "a removed place had no name");
        let names = delta.removed_places.iter().map(name);
        self.tree.edit(names.map(|name| (Arc::clone(name), None)));
    }

    fn remove_assignment(&mut self, assignment: (u32, u32)) {
        self.failures.remove(&assignment);
        self.last.removed.push(assignment);
    }

    /// Updates the targets of every place to the current schedule. Returns the places whose targets changed.
    fn realign_rows(&mut self) -> Vec<u32> {
        let ids = self.prepared.places().map(|(id, _)| id);
        let is_other = |place: &u32| {
            let old = self.rows.get(place);
            old.is_none_or(|old| !Arc::ptr_eq(&old.targets, self.prepared.schedule.targets_on(*place)))
        };
        let others: Vec<u32> = ids.filter(is_other).collect();
        for place in &others {
            let targets = self.prepared.schedule.targets_on(*place);
            let (row, removed) = Row::realigned(targets, self.rows.get(place));
            self.rows.insert(*place, row);
            removed.into_iter().for_each(|target| self.remove_assignment((*place, target)));
        }
        others
    }

    /// The assignments whose inputs may have changed: the positions in the row, by place id. Only `touched` places may have assignments that were
    /// not evaluated before.
    fn dirty(
        &self,
        delta: &Delta,
        touched: &BTreeSet<u32>,
        changed_pairs: &BTreeSet<(u32, u32)>,
    ) -> BTreeMap<u32, Vec<u32>> {
        let mut of_class: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (place, target) in changed_pairs {
            of_class.entry(*place).or_default().insert(*target);
        }
        let all = delta.reach >= Reach::Matching;
        let of_row = |(place, row): (&u32, &Row)| {
            let at = self.place(*place);
            let is_whole =
                all || delta.places.contains(*place) || delta.templates.contains(at.cluster_type.name.as_arc());
            let classes = of_class.get(&self.prepared.class_of_place(*place));
            if !is_whole && classes.is_none() && delta.targets.is_empty() && !touched.contains(place) {
                return None;
            }
            let is_dirty = |(target, slot): (&u32, &Slot)| {
                is_whole
                    || !slot.is_known
                    || delta.targets.contains(*target)
                    || classes.is_some_and(|classes| classes.contains(&self.prepared.class_of_target(*target)))
            };
            let numbered = row.targets.iter().zip(&row.slots).enumerate();
            let positions: Vec<u32> =
                numbered.filter(|(_, slot)| is_dirty(*slot)).map(|(position, _)| position as u32).collect();
            (!positions.is_empty()).then_some((*place, positions))
        };
        self.rows.par_iter().filter_map(of_row).collect()
    }

    /// The assignments at these positions of the rows. Those with the same values are neighbours: what they have in common is rendered and checked
    /// once, and is not kept afterwards.
    fn by_values(&self, dirty: &BTreeMap<u32, Vec<u32>>) -> Vec<Pending> {
        let of_place = |(place, positions): (&u32, &Vec<u32>)| {
            let row = self.row(*place);
            let pending = |position: &u32| {
                let digest = self.pair_of(*place, row.at(*position).0).values.digest;
                let [beginning @ .., _, _, _, _, _, _, _, _] = *digest.as_bytes();
                Pending { values: u64::from_be_bytes(beginning), place: *place, position: *position }
            };
            positions.iter().map(pending).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = dirty.par_iter().flat_map_iter(of_place).collect();
        all.par_sort_unstable();
        all
    }

    /// The values and findings of an assignment.
    fn pair_of(&self, place: u32, target: u32) -> &ClassPair {
        self.pairs.required(self.prepared.class_of_place(place), self.prepared.class_of_target(target))
    }

    /// Evaluates assignments. Returns the assignments whose inputs changed.
    fn evaluate(&self, all: &[Pending]) -> Vec<Vec<(Pending, Evaluated)>> {
        let counter = self.progress.begin(ProgressPhase::Compiling);
        let of_chunk = |chunk: &[Pending]| {
            let with_equal_values = chunk.chunk_by(|one, next| one.values == next.values);
            let recent_files = Rc::<RecentFiles>::default();
            let mut found = Vec::with_capacity(chunk.len());
            with_equal_values.for_each(|pending| self.evaluate_equal(pending, &recent_files, &mut found));
            // After a small change, most inputs are as before.
            if found.len() < chunk.len() / 2 {
                found.shrink_to_fit();
            }
            counter.advance(chunk.len());
            found
        };
        all.par_chunks(CHUNK).map(of_chunk).collect()
    }

    /// Evaluates assignments with the same values. The results of those whose inputs changed are added to `found`.
    fn evaluate_equal(&self, all: &[Pending], recent_files: &Rc<RecentFiles>, found: &mut Vec<(Pending, Evaluated)>) {
        let Some(first) = all.first() else { return };
        let values = &self.pair_of(first.place, self.row(first.place).at(first.position).0).values;
        if all.len() > 1 {
            values.keep_parts();
        }
        for at_place in all.chunk_by(|one, next| one.place == next.place) {
            let Some(Pending { place, .. }) = at_place.first().copied() else { continue };
            let context = RowContext::new(&self.prepared, &self.shared, self.place(place)).sharing(recent_files);
            let row = self.row(place);
            found.extend(at_place.iter().filter_map(|pending| {
                let (target, before) = row.at(pending.position);
                let assignment = AssignmentInputs { target: self.target(target), pair: self.pair_of(place, target) };
                Some((*pending, context.evaluate(&assignment, before, &self.memo)?))
            }));
        }
        values.forget_parts();
    }

    /// Stores results. Adds the previous folders of assignments to `changed` where the folders differ.
    fn store(&mut self, found: Vec<Vec<(Pending, Evaluated)>>, changed: &mut PreviousFolders) {
        for (Pending { place, position, .. }, evaluated) in found.into_iter().flatten() {
            let Evaluated { slot, failures, was_rendered, was_saved, files, bytes } = evaluated;
            let (target, known) = require(self.rows.get_mut(&place), NO_ROW).at_mut(position);
            let key = (place, target);
            match failures {
                Some(failures) if failures.is_empty() => {
                    self.failures.remove(&key);
                }
                Some(failures) => {
                    self.failures.insert(key, failures);
                }
                None => {}
            }
            if !was_saved {
                self.last.recomputed.push(key);
            }
            self.last.work.saved += usize::from(was_saved);
            self.last.work.renderings += usize::from(was_rendered);
            self.last.work.files += files;
            self.last.work.bytes += bytes;
            if known.is_known && known.tree != slot.tree {
                changed.insert(key, known.tree.filter(|_| known.is_rendered));
            }
            *known = Slot { is_rendered: known.is_rendered, ..slot };
        }
        self.last.work.files += self.shared.take_rendered();
    }

    /// Updates the folders of places. Their assignments may have other folders than before, or may be stopped by other problems.
    fn update_folders(&mut self, places: Vec<u32>, before: &PreviousFolders) {
        let emptied: BTreeSet<u32> = self.last.removed.iter().map(|(place, _)| *place).collect();
        let update = |place| {
            let mut update = self.folder_update(place, before);
            update.is_current &= !emptied.contains(&place);
            (place, update)
        };
        let found: Vec<_> = places.into_par_iter().map(update).collect();
        let is_new = self.tree.is_empty();
        let mut children = Vec::new();
        for (place, FolderUpdate { rendered, changed, is_current }) in found {
            let row = require(self.rows.get_mut(&place), NO_ROW);
            row.slots.iter_mut().zip(rendered).for_each(|(slot, is_rendered)| slot.is_rendered = is_rendered);
            self.last.changed.extend(changed.into_iter().map(|target| (place, target)));
            if !is_current {
                children.push(place);
            }
        }
        self.last.work.folders += children.len();
        let folders = |place: u32| {
            let at = self.place(place);
            let id = self.place_folder(at).id();
            (Arc::clone(at.name_text()), self.sealed(id, place, WHOLE_PLACE))
        };
        let mut folders: Vec<_> = children.into_par_iter().map(folders).collect();
        if is_new {
            folders.par_sort_unstable_by(|(one, _), (other, _)| folder_order(one).cmp(folder_order(other)));
            self.tree = Tree::from_children(folders);
        } else {
            for (name, child) in folders {
                self.tree.set(name, child);
            }
        }
    }

    /// Finds the assignments in the folder of a place.
    fn folder_update(&self, place: u32, before: &PreviousFolders) -> FolderUpdate {
        let (at, row) = (self.place(place), self.row(place));
        let is_stopped = problems::of_place(&self.prepared, at).next().is_some();
        let class = self.prepared.class_of_place(place);
        let mut update =
            FolderUpdate { rendered: Vec::with_capacity(row.slots.len()), changed: Vec::new(), is_current: true };
        for (target, slot) in row.targets.iter().zip(&row.slots) {
            let pair = self.pairs.required(class, self.prepared.class_of_target(*target));
            let is_rendered = !is_stopped
                && slot.tree.is_some()
                && !pair.is_failing
                && problems::of_target(&self.prepared, place, *target).next().is_none();
            let old = before.get(&(place, *target)).copied().unwrap_or(slot.tree.filter(|_| slot.is_rendered));
            if old != slot.tree.filter(|_| is_rendered) {
                update.changed.push(*target);
            }
            update.rendered.push(is_rendered);
        }
        update.is_current = update.changed.is_empty() && self.tree.child(at.name_text()).is_some();
        update
    }
}

/// The previous folders of assignments, by place id and target id.
type PreviousFolders = BTreeMap<(u32, u32), Option<GitId>>;

/// The assignments in the folder of a place.
struct FolderUpdate {
    rendered: Vec<bool>,
    /// The targets whose folders changed.
    changed: Vec<u32>,
    is_current: bool,
}
