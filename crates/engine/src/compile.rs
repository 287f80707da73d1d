//! From a fleet to the assignments of its environment, and from there to a changed fleet's, doing only what the change is about.
//!
//! There is one way for both. Each assignment has a digest of all that it depends on: the containers that its values are composed of, the
//! schemas that check them, and what its templates read. A change marks the assignments that may have other inputs, generously; of
//! those, the ones whose digest is another one are made anew. The first time, no digest is known.

mod pairs;
mod problems;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic};
use model::fleet::Fleet;
use model::git_id::GitId;
use model::name::{DeploymentTargetName, EnvironmentName, PlaceName, PolicyName};
use model::object::AnyObject;
use model::progress::{Phase, Progress};
use model::tree::{Child, Entry, OpenError, Sealed, SealedBy, Tree};
use rayon::prelude::*;

use crate::compose::Composition;
use crate::memo::{Memo, MemoWriter, Rendering};
use crate::output::MARKER;
use crate::place::Place;
pub use crate::prepare::Prepared;
use crate::prepare::{Delta, PreparedTarget, folder_order};
use crate::render::Files;
use pairs::{Pair, Pairs};
use rows::{Evaluated, Row, RowContext, Slot, folder_of};

/// Everything that was compiled for an environment: for each assignment the id of its folder, whose files are rendered again when they
/// are wanted.
#[derive(Debug)]
pub struct Compiled {
    prepared: Prepared,
    pairs: Pairs,
    /// By place.
    rows: BTreeMap<u32, Row>,
    /// Why assignments could not be rendered, by place and target.
    failures: BTreeMap<(u32, u32), Vec<Diagnostic>>,
    /// The folders of all places, in one folder.
    tree: Tree,
    memo: Memo,
    progress: Progress,
    /// What the keys of sealed folders have in common.
    mark: u64,
    last: Update,
}

/// What an update did.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Assignments some of whose inputs were not as before, or that are new: place and target.
    recomputed: Vec<(u32, u32)>,
    /// Of these, and of those that others' problems stop or stop no more, the ones whose folder is another one than before.
    changed: Vec<(u32, u32)>,
    /// Assignments that are gone.
    removed: Vec<(u32, u32)>,
    /// How much work it was.
    pub work: Work,
}

/// How often each expensive thing was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Containers and schemas that were looked at to see whether they match.
    pub matches: usize,
    /// Different sets of values that were composed: assignments with the same matching `ConfigMap`s share one.
    pub compositions: usize,
    /// Sets of values that were checked, each by one schema.
    pub checks: usize,
    /// Assignments whose templates were rendered.
    pub renderings: usize,
    /// Folders of places whose id was found out.
    pub folders: usize,
    /// Assignments that were known from an earlier run.
    pub saved: usize,
    /// Bytes of all files that were rendered.
    pub bytes: usize,
}

/// An assignment of a [`Compiled`].
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    compiled: &'a Compiled,
    place: u32,
    target: u32,
    slot: &'a Slot,
}

/// How to compile.
#[derive(Debug, Default)]
pub struct Options {
    /// What is known from an earlier run.
    pub memo: Memo,
    /// Where the work is counted.
    pub progress: Progress,
    /// Whether this is the earlier one of two that are compared: the keys of its sealed folders are others than those of the later one.
    pub is_earlier: bool,
}

/// The largest number of assignments of one place that one thread works on at a time.
const CHUNK: usize = 256;

impl Compiled {
    /// Compiles every assignment of a fleet. One that fails stops no other.
    pub fn new(fleet: &Arc<Fleet>) -> Self {
        Self::with(fleet, Options::default())
    }

    /// Compiles a fleet in this way.
    pub fn with(fleet: &Arc<Fleet>, options: Options) -> Self {
        Self::of(Prepared::new(fleet), options)
    }

    /// Compiles what was prepared.
    pub fn of(prepared: Prepared, Options { memo, progress, is_earlier }: Options) -> Self {
        let mut compiled = Self {
            prepared,
            pairs: Pairs::default(),
            rows: BTreeMap::new(),
            failures: BTreeMap::new(),
            tree: Tree::default(),
            memo,
            progress,
            mark: if is_earlier { EARLIER } else { 0 },
            last: Update::default(),
        };
        let delta = Delta { everything: true, schedule: true, matching: true, ..Delta::default() };
        compiled.advance(&delta);
        compiled
    }

    /// Goes on to another fleet, mostly one that was changed a little. The result is as if it had been compiled from the beginning.
    pub fn update(&mut self, fleet: &Arc<Fleet>) -> &Update {
        let delta = self.prepared.update(fleet);
        self.advance(&delta);
        &self.last
    }

    /// What compiling, or the last update, did.
    pub fn last_update(&self) -> &Update {
        &self.last
    }

    /// What the fleet is made of.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The fleet.
    pub fn fleet(&self) -> &Arc<Fleet> {
        self.prepared.fleet()
    }

    /// The environment.
    pub fn environment(&self) -> &EnvironmentName {
        &self.prepared.fleet.environment
    }

    /// How many assignments there are.
    pub fn len(&self) -> usize {
        self.rows.values().map(|row| row.slots.len()).sum()
    }

    /// How many of them have nothing wrong with them, so that they have files.
    pub fn good_count(&self) -> usize {
        self.rows.values().flat_map(|row| &row.slots).filter(|slot| slot.is_shown).count()
    }

    /// Whether there is no assignment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of all places, those without assignments too, in the order of their names.
    pub fn places(&self) -> Vec<PlaceName> {
        let mut names: Vec<_> = self.prepared.places().map(|(_, place)| place.name()).collect();
        names.par_sort_unstable();
        names
    }

    /// Whether there is a place of this name.
    pub fn has_place(&self, name: &str) -> bool {
        self.prepared.place_id(name).is_some()
    }

    /// Whether there is a deployment target of this name.
    pub fn has_target(&self, name: &str) -> bool {
        self.prepared.target_id(name).is_some()
    }

    /// All assignments, place by place in the order of their names.
    pub fn assignments(&self) -> impl Iterator<Item = Assignment<'_>> {
        let mut places: Vec<_> = self.prepared.places().map(|(id, place)| (place.name_text(), id)).collect();
        places.par_sort_unstable();
        places.into_iter().flat_map(|(_, place)| self.assignments_at(Some(place)))
    }

    /// The assignments of one place, in the order of their folders.
    pub fn assignments_on(&self, place: &str) -> impl Iterator<Item = Assignment<'_>> {
        self.assignments_at(self.prepared.place_id(place))
    }

    fn assignments_at(&self, place: Option<u32>) -> impl Iterator<Item = Assignment<'_>> {
        let row = place.and_then(|place| Some((place, self.rows.get(&place)?)));
        row.into_iter().flat_map(move |(place, row)| {
            let both = row.targets.iter().zip(&row.slots);
            both.map(move |(target, slot)| Assignment { compiled: self, place, target: *target, slot })
        })
    }

    /// An assignment, if there is one of this name.
    pub fn get(&self, id: &AssignmentId) -> Option<Assignment<'_>> {
        let (place, target) =
            (self.prepared.place_id(id.place.as_str())?, self.prepared.target_id(id.target.as_str())?);
        self.assignment(place, target)
    }

    /// The folder of each place, whose id is known and which [`Compiled::open`] opens, in one folder.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The folders of the assignments of a place that have files, by the target's name, in the order of a tree.
    pub fn folders_on(&self, place: &str) -> Vec<(Arc<str>, Child)> {
        let good = self.assignments_on(place).filter(|assignment| assignment.slot.is_shown);
        good.filter_map(|assignment| {
            Some((Arc::clone(assignment.prepared_target()?.target.name.as_arc()), assignment.child()?))
        })
        .collect()
    }

    /// Opens a folder of [`Compiled::tree`], or one in it: the files are rendered.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        let SealedBy::Maker(key) = sealed.by else { return Err(OpenError::unknown(sealed)) };
        if key & EARLIER != self.mark {
            return Err(OpenError::unknown(sealed));
        }
        let (place, target) = (((key & !EARLIER) >> 32) as u32, key as u32);
        let opened = if target == WHOLE_PLACE {
            self.prepared.place(place).map(|at| self.place_folder(at))
        } else {
            self.assignment(place, target).and_then(|assignment| assignment.files().ok()).map(folder_of)
        };
        opened.ok_or_else(|| OpenError::unknown(sealed))
    }

    /// What is wrong.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        problems::all(self)
    }

    /// Whether there are registrations whose workloads are not known, so that targets that nobody wants may only be unknown.
    pub fn is_incomplete(&self) -> bool {
        !self.prepared.fleet.unavailable.is_empty()
    }

    /// Names of which it is not clear what their place is: cluster types or clusters that exist more than once, and clusters whose cluster
    /// type is not there.
    pub fn unclear_places(&self) -> BTreeSet<Arc<str>> {
        let fleet = &self.prepared.fleet;
        let of_copy = |copy: &AnyObject| match copy {
            AnyObject::ClusterType(object) => Some(Arc::clone(object.name.as_arc())),
            AnyObject::Cluster(object) => Some(Arc::clone(object.name.as_arc())),
            _ => None,
        };
        let copies = fleet.duplicates.values().flatten().filter_map(of_copy);
        let is_lost = |cluster: &&Arc<model::object::Object<model::object::Cluster>>| {
            !fleet.cluster_types.contains_key(&*cluster.spec.cluster_type)
        };
        let lost = fleet.clusters.values().filter(is_lost).map(|cluster| Arc::clone(cluster.name.as_arc()));
        copies.chain(lost).collect()
    }

    /// Targets of which it is not clear what they are, because they, or their workload, exist more than once.
    pub fn unclear_targets(&self) -> BTreeSet<DeploymentTargetName> {
        let unclear = self.prepared.targets().iter().filter(|target| target.problem.is_some());
        unclear.map(|target| target.name.clone()).collect()
    }

    /// What is known, in a form that [`Memo::read`] reads.
    pub fn save(&self) -> Vec<u8> {
        let mut writer = MemoWriter::new(self.len());
        let clean = || self.pairs.known().filter(|pair| !pair.is_troubled);
        let compositions: BTreeMap<_, _> = clean().map(|pair| (pair.values.inputs, pair.values.digest)).collect();
        compositions.into_iter().for_each(|(inputs, values)| writer.composition(inputs, values));
        writer.next_table();
        let checks: BTreeMap<_, _> = clean().map(|pair| (pair.validation, pair.checked.has_sensitive)).collect();
        checks.into_iter().for_each(|(validation, has_sensitive)| writer.check(validation, has_sensitive));
        writer.next_table();
        for slot in self.rows.values().flat_map(|row| &row.slots) {
            if let Some(tree) = slot.tree {
                writer.rendering(slot.inputs, Rendering { tree, is_wide: slot.is_wide });
            }
        }
        writer.finish()
    }

    fn assignment(&self, place: u32, target: u32) -> Option<Assignment<'_>> {
        let row = self.rows.get(&place)?;
        let position = row.targets.iter().position(|other| *other == target)?;
        Some(Assignment { compiled: self, place, target, slot: row.slots.get(position)? })
    }

    fn sealed(&self, id: GitId, place: u32, target: u32) -> Child {
        let key = self.mark | u64::from(place) << 32 | u64::from(target);
        Child::Sealed(Sealed { id, by: SealedBy::Maker(key) })
    }

    fn pair(&self, place: u32, target: u32) -> Option<&Pair> {
        self.pairs.get(self.prepared.class_of_place(place), self.prepared.class_of_target(target))
    }

    /// The folder of a place: the marker, and a folder for each assignment with which nothing is wrong.
    fn place_folder(&self, place: &Place) -> Tree {
        let folders = self.folders_on(place.name_text());
        let readme: (Arc<str>, Child) = ("README.md".into(), Child::File(Entry::file(MARKER.as_bytes())));
        let position = folders.partition_point(|(name, _)| **name < *readme.0);
        let (before, after) = folders.split_at(position);
        Tree::from_children(before.iter().cloned().chain([readme]).chain(after.iter().cloned()))
    }
}

/// In the key of a sealed folder, in place of a target: the folder of the whole place.
const WHOLE_PLACE: u32 = u32::MAX;

/// In the key of a sealed folder: it is one of the earlier of two that are compared.
const EARLIER: u64 = 1 << 63;

impl Update {
    /// The assignments some of whose inputs were not as before, or that are new.
    pub fn recomputed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.recomputed.iter().filter_map(|(place, target)| compiled.prepared.assignment_id(*place, *target))
    }

    /// How many these are.
    pub fn recomputed_count(&self) -> usize {
        self.recomputed.len()
    }

    /// The assignments whose folder is another one than before.
    pub fn changed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.changed.iter().filter_map(|(place, target)| compiled.prepared.assignment_id(*place, *target))
    }

    /// How many these are.
    pub fn changed_count(&self) -> usize {
        self.changed.len()
    }

    /// The assignments that are gone.
    pub fn removed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.removed.iter().filter_map(|(place, target)| compiled.prepared.assignment_id(*place, *target))
    }
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
    pub fn target(&self) -> Option<&'a crate::target::Target> {
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
    pub fn values(&self) -> Option<model::digest::Digest> {
        Some(self.pair()?.values.digest)
    }

    /// What its values are made of: assignments whose values come from the same places have the same.
    pub fn composition_inputs(&self) -> Option<model::digest::Digest> {
        Some(self.pair()?.values.inputs)
    }

    /// Everything that it depends on: assignments with other inputs have another.
    pub fn inputs(&self) -> model::digest::Digest {
        self.slot.inputs
    }

    /// Its values.
    pub fn composition(&self) -> Option<Arc<Composition>> {
        let pair = self.pair()?;
        Some(Arc::clone(pair.values.composition(|| self.compiled.prepared.containers_at(&pair.containers))))
    }

    /// Its files, rendered again.
    ///
    /// # Errors
    /// Why it can't be rendered.
    pub fn files(&self) -> Result<Files, Vec<Diagnostic>> {
        let (Some(place), Some(target), Some(pair)) = (self.place(), self.prepared_target(), self.pair()) else {
            return Err(Vec::new());
        };
        RowContext::new(&self.compiled.prepared, place).files(target, pair)
    }

    fn child(&self) -> Option<Child> {
        Some(self.compiled.sealed(self.slot.tree?, self.place, self.target))
    }

    fn pair(&self) -> Option<&'a Pair> {
        self.compiled.pair(self.place, self.target)
    }

    fn prepared_target(&self) -> Option<&'a PreparedTarget> {
        self.compiled.prepared.target(self.target)
    }
}

/// Going on.
impl Compiled {
    fn advance(&mut self, delta: &Delta) {
        self.last = Update::default();
        if delta.matching {
            self.pairs.forget_classes();
        }
        let changed_pairs = self.remake_pairs(delta);
        self.remove_rows(delta);
        let mut touched = BTreeSet::from_iter(&delta.places);
        if delta.everything || delta.schedule {
            touched.extend(self.realign_rows());
        }
        let dirty = self.dirty(delta, &changed_pairs);
        self.make_missing_pairs(&dirty);
        self.progress.begin(Phase::Compiling).expect(dirty.values().map(Vec::len).sum());
        let found = self.evaluate(&dirty);
        touched.extend(dirty.into_keys());
        let before = self.take_over(found);
        self.show(touched.into_iter().collect(), &before);
    }

    /// Makes the values of pairs of classes anew that have changed containers, or schemas. Which these are.
    fn remake_pairs(&mut self, delta: &Delta) -> BTreeSet<(u32, u32)> {
        let keys: BTreeSet<_> = if delta.schemas || delta.everything {
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
        let made = self.pairs.make(&self.prepared, keys, &self.memo);
        self.last.work.matches += made.matches;
        self.last.work.compositions += made.compositions;
        self.last.work.checks += made.checks;
    }

    fn make_missing_pairs(&mut self, dirty: &BTreeMap<u32, Vec<u32>>) {
        let mut missing = BTreeSet::new();
        for (place, positions) in dirty {
            let Some(row) = self.rows.get(place) else { continue };
            let class = self.prepared.class_of_place(*place);
            for target in positions.iter().filter_map(|position| row.targets.get(*position as usize)) {
                let key = (class, self.prepared.class_of_target(*target));
                if self.pairs.position(key.0, key.1).is_none() {
                    missing.insert(key);
                }
            }
        }
        self.make_pairs(missing.into_iter().collect());
    }

    /// Forgets the assignments of places that are gone.
    fn remove_rows(&mut self, delta: &Delta) {
        for place in &delta.places_gone {
            let targets = self.rows.remove(&place).map(|row| row.targets).unwrap_or_default();
            targets.iter().for_each(|target| self.forget((place, *target)));
            if let Some(id) = self.prepared.assignment_id(place, WHOLE_PLACE) {
                self.tree.take(id.place.as_str());
            }
        }
    }

    fn forget(&mut self, assignment: (u32, u32)) {
        self.failures.remove(&assignment);
        self.last.removed.push(assignment);
    }

    /// Gives every place the targets that are scheduled on it now. The places that have others than before.
    fn realign_rows(&mut self) -> Vec<u32> {
        let ids = self.prepared.places().map(|(id, _)| id);
        let is_other = |place: &u32| {
            let old = self.rows.get(place);
            old.is_none_or(|old| !Arc::ptr_eq(&old.targets, self.prepared.schedule.targets_on(*place)))
        };
        let others: Vec<u32> = ids.filter(is_other).collect();
        for place in &others {
            let targets = self.prepared.schedule.targets_on(*place);
            let (row, gone) = Row::realigned(targets, self.rows.get(place));
            self.rows.insert(*place, row);
            gone.into_iter().for_each(|target| self.forget((*place, target)));
        }
        others
    }

    /// The assignments that may have other inputs than before: by place, the positions in its row.
    fn dirty(&self, delta: &Delta, changed_pairs: &BTreeSet<(u32, u32)>) -> BTreeMap<u32, Vec<u32>> {
        let mut of_class: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (place, target) in changed_pairs {
            of_class.entry(*place).or_default().insert(*target);
        }
        let all = delta.everything || delta.matching;
        let of_row = |(place, row): (&u32, &Row)| {
            let at = self.prepared.place(*place)?;
            let is_whole =
                all || delta.places.contains(*place) || delta.templates.contains(at.cluster_type.name.as_arc());
            let classes = of_class.get(&self.prepared.class_of_place(*place));
            if !is_whole && classes.is_none() && delta.targets.is_empty() && !delta.schedule {
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

    fn evaluate(&self, dirty: &BTreeMap<u32, Vec<u32>>) -> Vec<(u32, u32, Evaluated)> {
        let chunks: Vec<_> =
            dirty.iter().flat_map(|(place, positions)| positions.chunks(CHUNK).map(|chunk| (*place, chunk))).collect();
        let counter = self.progress.begin(Phase::Compiling);
        let of_chunk = |(place, positions): (u32, &[u32])| {
            let found = self.evaluate_chunk(place, positions).unwrap_or_default();
            counter.advance(positions.len());
            found
        };
        chunks.into_par_iter().flat_map_iter(of_chunk).collect()
    }

    fn evaluate_chunk(&self, place: u32, positions: &[u32]) -> Option<Vec<(u32, u32, Evaluated)>> {
        let row = self.rows.get(&place)?;
        let class = self.prepared.class_of_place(place);
        let context = RowContext::new(&self.prepared, self.prepared.place(place)?);
        let of_one = |position: &u32| {
            let (target, before) = (row.targets.get(*position as usize)?, row.slots.get(*position as usize)?);
            let pair = self.pairs.get(class, self.prepared.class_of_target(*target))?;
            let evaluated = context.evaluate(self.prepared.target(*target)?, pair, before, &self.memo)?;
            Some((place, *position, evaluated))
        };
        Some(positions.iter().filter_map(of_one).collect())
    }

    /// Takes over what was found. The folders that assignments had, where these are other ones now.
    fn take_over(&mut self, found: Vec<(u32, u32, Evaluated)>) -> Before {
        let mut changed = Before::new();
        for (place, position, Evaluated { slot, failures, was_rendered, was_saved, bytes }) in found {
            let Some(row) = self.rows.get_mut(&place) else { continue };
            let (target, known) = (row.targets.get(position as usize), row.slots.get_mut(position as usize));
            let (Some(target), Some(known)) = (target, known) else { continue };
            let key = (place, *target);
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
            self.last.work.bytes += bytes;
            if known.is_known && known.tree != slot.tree {
                changed.insert(key, known.tree.filter(|_| known.is_shown));
            }
            *known = Slot { is_shown: known.is_shown, ..slot };
        }
        changed
    }

    /// Finds out the folders of places, some of whose assignments may have other folders, or be stopped by something else, than before.
    fn show(&mut self, places: Vec<u32>, before: &Before) {
        let found: Vec<_> =
            places.into_par_iter().filter_map(|place| Some((place, self.shown(place, before)?))).collect();
        let is_new = self.tree.is_empty();
        let mut children = Vec::new();
        for (place, Shown { is_shown, changed, is_folder_known }) in found {
            let Some(row) = self.rows.get_mut(&place) else { continue };
            row.slots.iter_mut().zip(is_shown).for_each(|(slot, is_shown)| slot.is_shown = is_shown);
            self.last.changed.extend(changed.into_iter().map(|target| (place, target)));
            if !is_folder_known {
                children.push(place);
            }
        }
        self.last.work.folders += children.len();
        let folders = |place: u32| {
            let at = self.prepared.place(place)?;
            let id = self.place_folder(at).id();
            Some((Arc::clone(at.name_text()), self.sealed(id, place, WHOLE_PLACE)))
        };
        let mut folders: Vec<_> = children.into_par_iter().filter_map(folders).collect();
        if is_new {
            folders.par_sort_unstable_by(|(one, _), (other, _)| folder_order(one).cmp(folder_order(other)));
            self.tree = Tree::from_children(folders);
        } else {
            for (name, child) in folders {
                self.tree.set(name, child);
            }
        }
    }

    /// Which assignments of a place are in its folder. None if there is no such place.
    fn shown(&self, place: u32, before: &Before) -> Option<Shown> {
        let (at, row) = (self.prepared.place(place)?, self.rows.get(&place)?);
        let is_stopped = problems::of_place(&self.prepared, at).next().is_some();
        let class = self.prepared.class_of_place(place);
        let mut shown =
            Shown { is_shown: Vec::with_capacity(row.slots.len()), changed: Vec::new(), is_folder_known: true };
        for (target, slot) in row.targets.iter().zip(&row.slots) {
            let pair = self.pairs.get(class, self.prepared.class_of_target(*target));
            let is_good = !is_stopped
                && slot.tree.is_some()
                && pair.is_some_and(|pair| !pair.is_failing)
                && problems::of_target(&self.prepared, place, *target).next().is_none();
            let old = before.get(&(place, *target)).copied().unwrap_or(slot.tree.filter(|_| slot.is_shown));
            if old != slot.tree.filter(|_| is_good) {
                shown.changed.push(*target);
            }
            shown.is_shown.push(is_good);
        }
        shown.is_folder_known =
            shown.changed.is_empty() && self.tree.child(at.name_text()).is_some() && self.last.removed.is_empty();
        Some(shown)
    }
}

/// The folders that assignments had, by place and target.
type Before = BTreeMap<(u32, u32), Option<GitId>>;

/// What is in the folder of a place.
struct Shown {
    is_shown: Vec<bool>,
    /// The targets whose folders are other ones than before.
    changed: Vec<u32>,
    is_folder_known: bool,
}
