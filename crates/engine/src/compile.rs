//! Compiles a fleet to the assignments of its environment, and updates them incrementally for a changed fleet.
//!
//! Both use the same algorithm. Each assignment has a digest of all its inputs: the containers of its values, the schemas that check them,
//! and the data that its templates read. A change marks all assignments whose inputs may differ. Of these, the assignments whose digest
//! differs are computed again. On the first run, no digest is known.

mod advance;
mod assignment;
mod class_pairs;
mod duplicate_objects;
pub mod memo;
mod problems;
pub mod renames;
mod rows;
mod single;
mod update;

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

use crate::compile::memo::{Memo, Rendering};
use crate::invariant::require;
use crate::layout::own_files::MARKER;
pub use crate::prepare::Prepared;
use crate::prepare::{Delta, NO_TARGET, PreparedTarget, Reach};
pub use crate::render::FolderStore;
use crate::render::SharedFiles;
use crate::schedule::place::Place;
use crate::schedule::target::Target;
pub use assignment::Assignment;
use class_pairs::{ClassPair, ClassPairs};
pub(crate) use rows::with_bytes;
use rows::{Row, Slot};
pub use single::SingleAssignments;
pub use update::{CompileUpdate, Work};

/// An assignment has errors, so it has no folder.
#[derive(Debug)]
pub(crate) struct Failing;

/// The compiled assignments of an environment. Only the id of each assignment's folder is stored. Its files are rendered again when they are read.
#[derive(Debug)]
pub struct Compiled {
    prepared: Prepared,
    pairs: ClassPairs,
    /// The assignments by place id.
    rows: BTreeMap<u32, Row>,
    /// The reasons why assignments could not be rendered, by place id and target id.
    failures: BTreeMap<(u32, u32), Vec<Diagnostic>>,
    /// The folder that contains the folders of all places.
    tree: Tree,
    /// Files that several assignments share.
    shared: SharedFiles,
    memo: Memo,
    progress: Progress,
    /// The bits that the keys of all sealed folders have in common.
    mark: u64,
    last: CompileUpdate,
}

/// Options of a compilation.
#[derive(Debug, Default)]
pub struct CompileOptions {
    /// Results of an earlier run.
    pub memo: Memo,
    /// Receives the progress.
    pub progress: Progress,
    /// Whether this is the earlier one of two compared fleets. Its sealed folders then have other keys than those of the later one.
    pub is_earlier: bool,
    /// The number of an earlier state whose folders are used beside those of other states, from 1 to [`Compiled::STATES_MAX`]. Its sealed folders have keys of
    /// their own. 0 for the latest state and for the earlier one of two compared fleets.
    pub state: u8,
    /// Stores rendered folders that have no room in memory. Without it, they are rendered again when they are opened.
    pub folder_store: Option<Arc<dyn FolderStore>>,
}

impl Compiled {
    /// The largest number of an earlier state in [`CompileOptions::state`].
    pub const STATES_MAX: u8 = 7;

    /// Compiles every assignment of a fleet. A failing assignment does not affect other assignments.
    pub fn new(fleet: &Arc<Fleet>) -> Self {
        Self::with(fleet, CompileOptions::default())
    }

    /// Compiles a fleet with options.
    pub fn with(fleet: &Arc<Fleet>, options: CompileOptions) -> Self {
        Self::from_prepared(Prepared::with_progress(fleet, &options.progress), options)
    }

    /// Compiles a prepared fleet.
    pub fn from_prepared(
        prepared: Prepared,
        CompileOptions { memo, progress, is_earlier, state, folder_store }: CompileOptions,
    ) -> Self {
        let mut compiled = Self {
            prepared,
            pairs: ClassPairs::default(),
            rows: BTreeMap::new(),
            failures: BTreeMap::new(),
            tree: Tree::default(),
            shared: SharedFiles::new(folder_store),
            memo,
            progress,
            mark: mark(is_earlier, state),
            last: CompileUpdate::default(),
        };
        let delta = Delta { reach: Reach::Everything, schedule: true, ..Delta::default() };
        compiled.advance(&delta);
        compiled
    }

    /// Updates to another fleet, usually with small changes. The result is the same as that of a new compilation.
    pub fn update(&mut self, fleet: &Arc<Fleet>) -> &CompileUpdate {
        let delta = self.prepared.update(fleet, &self.progress);
        self.advance(&delta);
        &self.last
    }

    /// The result of the last update, or of the compilation if there was no update.
    pub fn last_update(&self) -> &CompileUpdate {
        &self.last
    }

    /// The bytes of rendered files that were read completely to check them. Other files have the same outline as one of these.
    pub fn checked_bytes(&self) -> usize {
        self.shared.checked_outlines().bytes()
    }

    /// The prepared fleet.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The compiled fleet.
    pub fn fleet(&self) -> &Arc<Fleet> {
        self.prepared.fleet()
    }

    /// The progress of the work on this fleet.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The environment of the fleet.
    pub fn environment(&self) -> &EnvironmentName {
        &self.prepared.fleet.environment
    }

    /// The number of assignments.
    pub fn len(&self) -> usize {
        self.rows.values().map(|row| row.slots.len()).sum()
    }

    /// The number of assignments without errors. Only these have files.
    pub fn rendered_count(&self) -> usize {
        self.rows.values().flat_map(|row| &row.slots).filter(|slot| slot.is_rendered).count()
    }

    /// Whether there is no assignment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of all places in alphabetical order, including places without assignments.
    pub fn places(&self) -> Vec<PlaceName> {
        let mut names: Vec<_> = self.prepared.places().map(|(_, place)| place.name()).collect();
        names.par_sort_unstable();
        names
    }

    /// The assignments with errors. They have no files.
    pub fn failing(&self) -> impl Iterator<Item = AssignmentId> {
        let failing = self.assignments().filter(|assignment| !assignment.is_rendered());
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

    /// The assignment with this name. None if it does not exist.
    pub fn get(&self, id: &AssignmentId) -> Option<Assignment<'_>> {
        let (place, target) =
            (self.prepared.place_id(id.place.as_str())?, self.prepared.target_id(id.target.as_str())?);
        self.assignment(place, target)
    }

    /// The ids and names of all places.
    pub(crate) fn place_ids(&self) -> Vec<(u32, &Arc<str>)> {
        self.prepared.places().map(|(id, place)| (id, place.name_text())).collect()
    }

    /// The targets of the environment, with their ids.
    pub(crate) fn targets_by_id(&self) -> impl Iterator<Item = (u32, &Target)> {
        self.prepared.targets_by_id()
    }

    /// The ids of a place's targets, each with the git id of the assignment's folder. None: the assignment has errors.
    pub(crate) fn folder_ids(&self, place: u32) -> impl Iterator<Item = (u32, Option<GitId>)> {
        let row = self.rows.get(&place).into_iter();
        row.flat_map(|row| row.targets.iter().zip(&row.slots))
            .map(|(target, slot)| (*target, slot.tree.filter(|_| slot.is_rendered)))
    }

    /// The names of the places that have an assignment of one of these targets.
    pub fn places_with(&self, targets: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
        let ids: BTreeSet<_> = targets.iter().filter_map(|target| self.prepared.target_id(target)).collect();
        let has = |place: u32| self.folder_ids(place).any(|(target, _)| ids.contains(&target));
        let places = self.prepared.places().filter(|(id, _)| has(*id));
        places.map(|(_, place)| Arc::clone(place.name_text())).collect()
    }

    /// The folder of an assignment, sealed. None: there is no such assignment.
    ///
    /// # Errors
    /// If the assignment has errors.
    pub(crate) fn folder_child(&self, place: &str, target: &str) -> Result<Option<Child>, Failing> {
        let ids = (self.prepared.place_id(place), self.prepared.target_id(target));
        let (Some(place), Some(target)) = ids else { return Ok(None) };
        let Some(assignment) = self.assignment(place, target) else { return Ok(None) };
        let id = assignment.folder().ok_or(Failing)?;
        Ok(Some(self.sealed(id, place, target)))
    }

    /// The folder that contains the folders of all places. The ids of these folders are known. [`Compiled::open`] opens them.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The folders of a place's assignments that have files, with the targets' names, in the order of a git tree.
    pub fn folders_on(&self, place: &str) -> Vec<(Arc<str>, Child)> {
        let good = self.assignments_on(place).filter(|assignment| assignment.slot.is_rendered);
        let folder = |Assignment { place, target, slot, .. }| {
            let id = require(slot.tree, "a rendered assignment has no folder");
            (Arc::clone(self.target(target).target.name.as_arc()), self.sealed(id, place, target))
        };
        good.map(folder).collect()
    }

    /// Opens a folder of [`Compiled::tree`], or a folder inside of it. The files are rendered again, unless they are still in memory or in
    /// [`CompileOptions::folder_store`].
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        let SealedBy::Generator(key) = sealed.by else { return Err(OpenError::unknown(sealed)) };
        if key & MARKS != self.mark {
            return Err(OpenError::unknown(sealed));
        }
        let (place, target) = (((key & !MARKS) >> 32) as u32, key as u32);
        let opened = if target == WHOLE_PLACE {
            self.prepared.place(place).map(|at| self.place_folder(at))
        } else {
            let rendered = || Some(with_bytes(self.assignment(place, target)?.files().ok()?));
            self.shared.folder_cache().folder(sealed.id).or_else(rendered)
        };
        opened.ok_or_else(|| OpenError::unknown(sealed))
    }

    /// All diagnostics of the fleet and its assignments.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        problems::all(self)
    }

    /// Whether the workloads of some registrations are not known. A target without an assignment may then belong to one of them.
    pub fn is_incomplete(&self) -> bool {
        !self.prepared.fleet.unavailable.is_empty()
    }

    /// Names of places whose definition is unclear: cluster types or clusters that exist more than once, and clusters whose cluster type does not exist.
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

    /// Targets with a problem in their definition, for example because they, or their workload, exist more than once.
    pub fn unclear_targets(&self) -> BTreeSet<DeploymentTargetName> {
        let unclear = self.prepared.targets().iter().filter(|target| target.problem.is_some());
        unclear.map(|target| target.name.clone()).collect()
    }

    /// Results by the digests of their inputs, for later runs. Failures are not included. They are computed again in each run.
    pub fn results(&self) -> Memo {
        let mut memo = Memo::default();
        for pair in self.pairs.all().filter(|pair| !pair.has_diagnostics) {
            memo.set_values(pair.values.inputs, pair.values.digest);
            memo.set_checked(pair.validation, pair.checked.has_sensitive);
        }
        self.renderings().for_each(|(inputs, rendering)| memo.set_rendering(inputs, rendering));
        memo
    }

    /// The results of [`Self::results`], in the format that [`Memo::read`] reads.
    pub fn save(&self) -> Vec<u8> {
        self.results().write()
    }

    /// Whether [`Compiled::results`] contains an assignment that the memo in the options does not contain.
    pub fn has_new_results(&self) -> bool {
        self.renderings().any(|(inputs, _)| self.memo.rendering(inputs).is_none())
    }

    /// Returns the memo of the options. Later updates do not use it.
    pub fn take_memo(&mut self) -> Memo {
        std::mem::take(&mut self.memo)
    }

    fn renderings(&self) -> impl Iterator<Item = (Digest, Rendering)> {
        let slots = self.rows.values().flat_map(|row| &row.slots);
        let rendering =
            |slot: &Slot| Some(Rendering { tree: slot.tree?, is_wide: slot.is_wide, warnings: slot.warnings });
        slots.filter_map(move |slot| Some((slot.inputs, rendering(slot)?)))
    }

    fn assignment(&self, place: u32, target: u32) -> Option<Assignment<'_>> {
        let row = self.rows.get(&place)?;
        let rank = |target| Some(self.prepared.target(target)?.rank);
        let position = row.targets.binary_search_by_key(&rank(target), |other| rank(*other)).ok()?;
        Some(Assignment { compiled: self, place, target, slot: row.at(position as u32).1 })
    }

    /// The name of an assignment of a place of the fleet and a target on it, including removed assignments.
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
        Child::Sealed(Sealed { id, by: SealedBy::Generator(key) })
    }

    fn pair(&self, place: u32, target: u32) -> Option<&ClassPair> {
        self.pairs.get(self.prepared.class_of_place(place), self.prepared.class_of_target(target))
    }

    /// The folder of a place: the marker, and a folder for each assignment without errors.
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

/// In the key of a sealed folder: the bits that tell compiled states apart. The ids of places are smaller than 2^28.
const MARKS: u64 = 0b1111 << 60;

/// The bits of a compiled state.
fn mark(is_earlier: bool, state: u8) -> u64 {
    u64::from(is_earlier) << 63 | u64::from(state.min(Compiled::STATES_MAX)) << 60
}

#[cfg(test)]
mod tests {
    use testkit::generator::{self, ENVIRONMENT, Size};

    use super::*;

    fn compiled(targets: usize) -> Compiled {
        let size = Size { cluster_types: 2, targets, config_maps: 2, schemas: 1 };
        let files = generator::fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
        let (fleet, _) = testkit::directory::fleet_of(files, ENVIRONMENT).unwrap();
        Compiled::new(&Arc::new(fleet))
    }

    #[test]
    fn a_small_fleet_is_rendered_once() {
        let compiled = compiled(4);
        for assignment in compiled.assignments() {
            let cached = compiled.shared.folder_cache().folder(assignment.folder().unwrap()).unwrap();
            let rendered = with_bytes(assignment.files().unwrap());
            assert_eq!(cached, rendered);
            let bytes = |tree: &Tree| {
                let files = tree.children().map(|(_, child)| child.as_file().unwrap().blob.bytes().unwrap().clone());
                files.collect::<Vec<_>>()
            };
            assert_eq!(bytes(&cached), bytes(&rendered));
        }
        assert_eq!(compiled.len(), 8);
    }

    #[test]
    #[should_panic(expected = "broken invariant: the classes of an assignment have no values")]
    fn an_assignment_without_values_is_a_broken_invariant() {
        let mut compiled = compiled(4);
        compiled.pairs.clear_classes();
        compiled.diagnostics();
    }
}
