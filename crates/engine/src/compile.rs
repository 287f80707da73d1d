//! From a fleet to the assignments of its environment, and from there to a changed fleet's, doing only what the change is about.
//!
//! There is one way for both. Each assignment has a digest of all that it depends on: the containers that its values are composed of, the
//! schemas that check them, and what its templates read. A change marks the assignments that may have other inputs, generously; of
//! those, the ones whose digest is another one are made anew. The first time, no digest is known.

mod advance;
mod alone;
mod assignment;
mod pairs;
mod problems;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic};
use model::digest::Digest;
use model::fleet::Fleet;
use model::git_id::GitId;
use model::name::{DeploymentTargetName, EnvironmentName, PlaceName};
use model::object::AnyObject;
use model::progress::Progress;
use model::tree::{Child, Entry, OpenError, Sealed, SealedBy, Tree};
use rayon::prelude::*;

use crate::invariant::require;
use crate::memo::{Memo, Rendering};
use crate::output::MARKER;
use crate::place::Place;
pub use crate::prepare::Prepared;
use crate::prepare::{Delta, NO_TARGET, PreparedTarget, Reach};
use crate::render::SharedFiles;
pub(crate) use alone::Alone;
pub use assignment::Assignment;
use pairs::{Pair, Pairs};
use rows::Row;
pub(crate) use rows::with_bytes;

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
    /// Files that several assignments have.
    shared: SharedFiles,
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
    /// Files that were rendered; one that several assignments have counts once.
    pub files: usize,
    /// Bytes of the files that were rendered for one assignment alone.
    pub bytes: usize,
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

impl Compiled {
    /// Compiles every assignment of a fleet. One that fails stops no other.
    pub fn new(fleet: &Arc<Fleet>) -> Self {
        Self::with(fleet, Options::default())
    }

    /// Compiles a fleet in this way.
    pub fn with(fleet: &Arc<Fleet>, options: Options) -> Self {
        Self::of(Prepared::counted(fleet, &options.progress), options)
    }

    /// Compiles what was prepared.
    pub fn of(prepared: Prepared, Options { memo, progress, is_earlier }: Options) -> Self {
        let mut compiled = Self {
            prepared,
            pairs: Pairs::default(),
            rows: BTreeMap::new(),
            failures: BTreeMap::new(),
            tree: Tree::default(),
            shared: SharedFiles::default(),
            memo,
            progress,
            mark: if is_earlier { EARLIER } else { 0 },
            last: Update::default(),
        };
        let delta = Delta { reach: Reach::Everything, schedule: true, ..Delta::default() };
        compiled.advance(&delta);
        compiled
    }

    /// Goes on to another fleet, mostly one that was changed a little. The result is as if it had been compiled from the beginning.
    pub fn update(&mut self, fleet: &Arc<Fleet>) -> &Update {
        let delta = self.prepared.update(fleet, &self.progress);
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

    /// Where the work on it is counted.
    pub fn progress(&self) -> &Progress {
        &self.progress
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

    /// The assignments that something is wrong with, so that they have no files.
    pub fn failing(&self) -> impl Iterator<Item = AssignmentId> {
        let failing = self.assignments().filter(|assignment| !assignment.is_good());
        failing.map(|assignment| self.id(assignment.place, assignment.target))
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
        let folder = |Assignment { place, target, slot, .. }| {
            let id = require(slot.tree, "an assignment that is shown has no folder");
            (Arc::clone(self.target(target).target.name.as_arc()), self.sealed(id, place, target))
        };
        good.map(folder).collect()
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
            self.assignment(place, target).and_then(|assignment| assignment.files().ok()).map(with_bytes)
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

    /// Results by the digests of their inputs, for other runs. Of what failed nothing is in it: that is looked at each time.
    pub fn known(&self) -> Memo {
        let mut memo = Memo::default();
        for pair in self.pairs.all().filter(|pair| !pair.is_troubled) {
            memo.set_values(pair.values.inputs, pair.values.digest);
            memo.set_checked(pair.validation, pair.checked.has_sensitive);
        }
        self.renderings().for_each(|(inputs, rendering)| memo.set_rendering(inputs, rendering));
        memo
    }

    /// What is known, in a form that [`Memo::read`] reads.
    pub fn save(&self) -> Vec<u8> {
        self.known().write()
    }

    /// Whether [`Compiled::known`] knows an assignment that the memo that was given did not.
    pub fn has_news(&self) -> bool {
        self.renderings().any(|(inputs, _)| self.memo.rendering(inputs).is_none())
    }

    /// Gives back the memo that was given. Later updates go without.
    pub fn take_memo(&mut self) -> Memo {
        std::mem::take(&mut self.memo)
    }

    fn renderings(&self) -> impl Iterator<Item = (Digest, Rendering)> {
        let slots = self.rows.values().flat_map(|row| &row.slots);
        slots.filter_map(|slot| Some((slot.inputs, Rendering { tree: slot.tree?, is_wide: slot.is_wide })))
    }

    fn assignment(&self, place: u32, target: u32) -> Option<Assignment<'_>> {
        let row = self.rows.get(&place)?;
        let rank = |target| Some(self.prepared.target(target)?.rank);
        let position = row.targets.binary_search_by_key(&rank(target), |other| rank(*other)).ok()?;
        Some(Assignment { compiled: self, place, target, slot: row.at(position as u32).1 })
    }

    /// The name of an assignment of a place of the fleet and a target on it, also of those that are gone.
    fn id(&self, place: u32, target: u32) -> AssignmentId {
        require(self.prepared.assignment_id(place, target), "an assignment has no name")
    }

    /// A place of the fleet.
    fn place(&self, place: u32) -> &Place {
        require(self.prepared.place(place), "a place of an assignment is not in the fleet")
    }

    /// A target of an assignment.
    fn target(&self, target: u32) -> &PreparedTarget {
        require(self.prepared.target(target), NO_TARGET)
    }

    /// The assignments of a place of the fleet.
    fn row(&self, place: u32) -> &Row {
        require(self.rows.get(&place), NO_ROW)
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

/// What is broken if a place of the fleet has no row.
const NO_ROW: &str = "a place has no row of assignments";

/// In the key of a sealed folder, in place of a target: the folder of the whole place.
const WHOLE_PLACE: u32 = u32::MAX;

/// In the key of a sealed folder: it is one of the earlier of two that are compared.
const EARLIER: u64 = 1 << 63;

impl Update {
    /// The assignments some of whose inputs were not as before, or that are new.
    pub fn recomputed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.recomputed.iter().map(|(place, target)| compiled.id(*place, *target))
    }

    /// How many these are.
    pub fn recomputed_count(&self) -> usize {
        self.recomputed.len()
    }

    /// The assignments whose folder is another one than before.
    pub fn changed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.changed.iter().map(|(place, target)| compiled.id(*place, *target))
    }

    /// How many these are.
    pub fn changed_count(&self) -> usize {
        self.changed.len()
    }

    /// The assignments that are gone.
    pub fn removed<'c>(&'c self, compiled: &'c Compiled) -> impl Iterator<Item = AssignmentId> + 'c {
        self.removed.iter().map(|(place, target)| compiled.id(*place, *target))
    }
}

#[cfg(test)]
mod tests {
    use testkit::generator::{self, ENVIRONMENT, Size};

    use super::*;

    #[test]
    #[should_panic(expected = "broken invariant: the classes of an assignment have no values")]
    fn an_assignment_without_values_is_not_left_out() {
        let size = Size { cluster_types: 2, targets: 4, config_maps: 2, schemas: 1 };
        let files = generator::fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
        let (fleet, _) = testkit::directory::fleet_of(files, ENVIRONMENT).unwrap();
        let mut compiled = Compiled::new(&Arc::new(fleet));
        assert_eq!(compiled.len(), 8);
        compiled.pairs.forget_classes();
        compiled.diagnostics();
    }
}
