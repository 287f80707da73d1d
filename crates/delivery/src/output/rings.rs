//! The rings of an environment at one destination: the stored states of its rollouts, and the folders that they give each place.
//!
//! This module only applies the states. The controller decides about them.

mod held;
mod newest;
mod origins;
mod text;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::compile::Compiled;
use engine::compile::renames::Renames;
use engine::output::PlaceFolders;
use engine::output::rings::{Folders, MoveContents, MoveProgress, PlaceContents, RingContents, RingTree, apply};
use engine::promotion::revision::{self, Revisions};
use engine::promotion::rings::membership::Membership;
use engine::promotion::state::{Content, RolloutState};
use git::publications::PublishedCommit;
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::object::Promotion;
use model::tree::{OpenError, Sealed, Tree};

pub use self::held::{HeldContent, HeldContents, Origins, PlaceHoldings};
pub(crate) use self::newest::platform;
pub use self::newest::{Newest, Returning};
use self::origins::Reader;
use crate::access::renderer::{Kept, Pending};
use crate::error::DestinationError;
use crate::output::compilation::{CompiledEnvironment, PublishedEnvironment};
use crate::output::gitops_destination::{BranchSide, GitOpsDestination};
use crate::output::kept_folders;
use crate::sources::loaded::Loaded;
use crate::states::rollout_store::{self, StoredRollout, StoredStates};

/// The rings of an environment at one destination.
pub struct Rings {
    /// The ring of each place.
    pub membership: Membership,
    /// The stored states.
    pub states: StoredStates,
    /// The revisions that the sources give now.
    pub revisions: Revisions,
    /// How far each move is, as the states say.
    pub progress: Vec<MoveProgress>,
    /// What can't be applied, so that its folders stay as they are: a workload, and the reason.
    pub problems: Vec<(Arc<str>, String)>,
    /// Earlier states of the environment, from which moving revisions are rendered again.
    earlier: Vec<Compiled>,
    /// The folders at earlier commits of the branch.
    published: BTreeMap<GitId, PlaceFolders>,
    /// The folders of the branch now.
    head: PlaceFolders,
    nothing: PlaceFolders,
    moves: Vec<Movement>,
    /// The workloads whose moving revision can't be rendered any more.
    lost: BTreeSet<Arc<str>>,
    /// Why the folders that places are to have now can't be read, by workload.
    unknown: BTreeMap<Arc<str>, String>,
    /// The names that workloads had before.
    renames: Renames,
    /// The targets of the newest publication, by workload: those of a renamed workload under its present name.
    newest: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// What the sources give workloads that move, or a part of which was rejected.
    values: BTreeMap<Arc<str>, Newest>,
    /// The version of this program, if it is not admitted, and others rendered what is published.
    renderer: Option<Arc<str>>,
    /// The workloads whose folders it changes. They stay as they are.
    kept: BTreeSet<Arc<str>>,
    /// What the rollbacks return to that begin, or why it can't be rendered.
    returning: BTreeMap<Arc<str>, Result<Returning, Arc<str>>>,
}

/// The places of a workload, in columns. The places are in no particular order.
#[derive(Clone, Debug, Default)]
pub struct WorkloadPlaces {
    /// The names.
    pub places: Vec<Arc<str>>,
    /// The index of the ring of each place.
    pub ring: Vec<u16>,
    /// The index of the failure domain of each place, in `domains`.
    pub domain: Vec<u32>,
    /// The hash that orders the places of a ring.
    pub hash: Vec<u64>,
    /// The keys of all failure domains, each once.
    pub domains: Vec<Arc<str>>,
}

impl WorkloadPlaces {
    fn add(&mut self, membership: &Membership, name: &Arc<str>) {
        let location = membership.locate(name);
        let known = membership.index(name).and_then(|at| membership.domain.get(at).copied());
        let domain = known.unwrap_or_else(|| self.domain_of_removed(&location.domain));
        self.places.push(Arc::clone(name));
        self.ring.push(location.ring as u16);
        self.domain.push(domain);
        self.hash.push(location.hash);
    }

    /// The domain of a removed place. All removed places are in one.
    fn domain_of_removed(&mut self, key: &Arc<str>) -> u32 {
        let known = self.domains.iter().position(|domain| domain == key);
        known.unwrap_or_else(|| {
            self.domains.push(Arc::clone(key));
            self.domains.len() - 1
        }) as u32
    }
}

/// A workload with its stored rollout.
#[derive(Clone, Copy)]
struct WorkloadRollout<'a> {
    workload: &'a Arc<str>,
    stored: &'a StoredRollout,
}

/// A workload with the origin of its folders.
#[derive(Clone)]
struct Movement {
    workload: Arc<str>,
    state: RolloutState,
    targets: BTreeSet<Arc<str>>,
    moving: Origin,
    base: Origin,
    stable: Origin,
    rest: Origin,
}

impl Movement {
    fn at_rest(workload: Arc<str>, state: RolloutState, targets: BTreeSet<Arc<str>>) -> Self {
        let unknown = Origin::Unknown;
        Self { workload, state, targets, moving: unknown, base: unknown, stable: unknown, rest: unknown }
    }
}

/// Where folders come from.
#[derive(Clone, Copy)]
enum Origin {
    Nothing,
    Latest,
    Earlier(usize),
    Published(GitId),
    Unknown,
}

/// The targets of a publication, by the present name of their workload.
fn newest_targets(compiled: &Compiled, renames: &Renames) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut found: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
    for (workload, targets) in revision::targets(compiled) {
        let present = renames.workloads().get(&workload).cloned().unwrap_or(workload);
        found.entry(present).or_default().extend(targets);
    }
    found
}

impl Rings {
    /// Reads the states of an environment, and the folders that they refer to. None if the environment has no rings. `newest` is the environment at the newest
    /// publication, if it is known.
    ///
    /// # Errors
    /// If the states or the branch can't be read. A single state or revision that can't be read is a problem of its workload.
    pub fn read(
        loaded: &Loaded,
        compiled: CompiledEnvironment<'_>,
        target: &GitOpsDestination,
        newest: Option<PublishedEnvironment<'_>>,
    ) -> Result<Option<Self>, DestinationError> {
        let environment = &loaded.fleet.environment;
        let Some(access) = &loaded.access else { return Ok(None) };
        let has_rings = |promotion: Option<&Promotion>| promotion.is_some_and(|found| !found.rings.is_empty());
        let declared = loaded.graph.promotion(environment.as_str()).map(|promotion| &**promotion);
        // A promotion that can't be read, or leads to no environment, may be the one with the rings.
        let is_known = loaded.declarations.are_known() && loaded.graph.is_complete();
        if !has_rings(declared) && is_known && loaded.admission.is_none() {
            return Ok(None);
        }
        let states = rollout_store::read(access, environment)
            .map_err(|error| DestinationError::Rollouts { reason: error.to_string() })?;
        if let Some(Err(error)) = &states.promotion {
            return Err(DestinationError::Rollouts { reason: error.to_string() });
        }
        let has_rings = has_rings(states.admitted_promotion().or(declared));
        if !has_rings && is_known {
            return Ok(None);
        }
        if !has_rings && states.rollouts.is_empty() {
            return Ok(None);
        }
        Self::with_states(Reader::new(loaded, compiled, target), newest, states).map(Some)
    }

    /// Applies these states. If the rings of the environment are not known, nothing changes.
    ///
    /// # Errors
    /// If the branch can't be read.
    fn with_states(
        mut reader: Reader<'_>,
        newest: Option<PublishedEnvironment<'_>>,
        states: StoredStates,
    ) -> Result<Self, DestinationError> {
        let Reader { loaded, compiled, target, .. } = reader;
        let renames = Renames::new(compiled.prepared());
        let states = states.following(renames.workloads());
        let step = loaded.graph.step(loaded.fleet.environment.as_str()).filter(|step| step.problem.is_none());
        let promotion = states.admitted_promotion().or(step.map(|step| &*step.promotion));
        let membership = promotion.and_then(|promotion| Membership::new(&loaded.fleet, promotion));
        let is_known = membership.is_some();
        let open = |sealed: &Sealed| target.branch.open(sealed);
        let mut rings = Self {
            membership: membership.unwrap_or_else(|| Membership::in_one_ring(&loaded.fleet)),
            revisions: Revisions::new(compiled),
            progress: Vec::new(),
            problems: Vec::new(),
            earlier: Vec::new(),
            published: BTreeMap::new(),
            head: PlaceFolders::read(&target.branch.tree, &target.folder, &open)?,
            nothing: PlaceFolders::default(),
            moves: Vec::new(),
            unknown: BTreeMap::new(),
            lost: BTreeSet::new(),
            newest: newest.map(|newest| newest_targets(newest.compiled, &renames)).unwrap_or_default(),
            renames,
            renderer: newest.and_then(|newest| kept_folders::undecided(loaded, newest.publication)),
            kept: BTreeSet::new(),
            values: BTreeMap::new(),
            returning: BTreeMap::new(),
            states,
        };
        for (workload, stored) in rings.states.rollouts.clone() {
            match stored {
                Ok(stored) if is_known => {
                    let rollout = WorkloadRollout { workload: &workload, stored: &stored };
                    rings.add(&mut reader, rollout);
                    let kept = rings.keep(&mut reader, rollout);
                    let newest = kept.or_else(|| rings.find_newest(&mut reader, rollout));
                    let returning = rings.find_returning(&mut reader, rollout);
                    rings.returning.extend(returning.map(|returning| (Arc::clone(&workload), returning)));
                    rings.values.extend(newest.map(|newest| (workload, newest)));
                }
                Ok(_) => {}
                Err(error) => rings.problems.push((workload, error.to_string())),
            }
        }
        Ok(rings)
    }

    /// The version of this program, if it is not admitted and changes folders, which stay.
    pub(crate) fn pending(&self, newest: &PublishedCommit) -> Option<Pending> {
        let version = Arc::clone(self.renderer.as_ref().filter(|_| !self.kept.is_empty())?);
        let published = newest.renderer.as_deref().map(Arc::from);
        Some(Pending { version, published, kept: Kept::Workloads(self.kept.clone()) })
    }

    /// The moves, with their folders.
    pub(crate) fn contents(&self) -> RingContents<'_> {
        let moves = self.moves.iter().filter(|each| each.state.current.is_some());
        RingContents { membership: &self.membership, moves: moves.map(|each| self.move_contents(each)).collect() }
    }

    fn move_contents<'a>(&'a self, each: &'a Movement) -> MoveContents<'a> {
        MoveContents {
            workload: Arc::clone(&each.workload),
            state: &each.state,
            targets: &each.targets,
            moving: self.folders(each.moving),
            base: self.folders(each.base),
            stable: self.folders(each.stable),
            rest: self.folders(each.rest),
        }
    }

    fn folders(&self, origin: Origin) -> Folders<'_> {
        match origin {
            Origin::Nothing => Folders::Published(&self.nothing),
            Origin::Latest => Folders::Latest,
            Origin::Earlier(index) => self.earlier.get(index).map_or(Folders::Unknown, Folders::Earlier),
            Origin::Published(commit) => self.published.get(&commit).map_or(Folders::Unknown, Folders::Published),
            Origin::Unknown => Folders::Unknown,
        }
    }

    /// The places of a workload, with their positions in the rings.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn places(&self, side: BranchSide<'_>, workload: &str) -> Result<WorkloadPlaces, OpenError> {
        let mut found = WorkloadPlaces { domains: self.membership.domains.clone(), ..WorkloadPlaces::default() };
        let movement = self.movement(workload);
        let each = self.move_contents(&movement);
        let open = |sealed: &Sealed| side.target.branch.open(sealed);
        let contents = PlaceContents { movement: &each, compiled: side.compiled, published: &self.head, open: &open };
        let compiled = side.compiled.places_with(each.targets);
        let others = if each.state.current.is_some() || each.has_removed_target(side.compiled) {
            contents.other_places(&self.membership.places)
        } else {
            Vec::new()
        };
        let removed = self.published_names(&each).filter(|name| !side.compiled.has_place(name)).cloned();
        let names: BTreeSet<Arc<str>> =
            others.into_iter().chain(removed).filter(|name| !compiled.contains(name)).collect();
        for name in &names {
            if contents.has_workload(name)? {
                found.add(&self.membership, name);
            }
        }
        compiled.iter().for_each(|name| found.add(&self.membership, name));
        Ok(found)
    }

    /// Whether the folders of a workload at each of these places differ between the moving revision and the beginning of the move, or the stable revision: what an
    /// earlier move left there was not proved. Before the first stable revision nothing is proved, so a move that changes one place changes all. The result stays
    /// the same as long as the move has the same base and revision. What can't be read counts as changed. None: the workload does not move.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn changed(
        &self,
        side: BranchSide<'_>,
        (workload, places): (&str, &[Arc<str>]),
    ) -> Result<Option<Vec<bool>>, OpenError> {
        let movement = self.movement(workload);
        if movement.state.current.is_none() {
            return Ok(None);
        }
        let each = self.move_contents(&movement);
        let open = |sealed: &Sealed| side.target.branch.open(sealed);
        let contents = PlaceContents { movement: &each, compiled: side.compiled, published: &self.head, open: &open };
        let is_changed = |place: &Arc<str>| contents.is_changed(place, self.released_content(each.state, place));
        let changed: Vec<_> = places.iter().map(is_changed).collect::<Result<_, _>>()?;
        let is_first = movement.state.stable.is_none() && changed.contains(&true);
        Ok(Some(if is_first { vec![true; changed.len()] } else { changed }))
    }

    /// Whether a place had no folder at the beginning of a move of a workload that was proved before, also not under an earlier name: it is new in the
    /// environment.
    pub fn is_new(&self, workload: &str, place: &str) -> bool {
        let movement = self.movement(workload);
        let Folders::Published(base) = self.folders(movement.base) else { return false };
        let earlier = self.membership.renamed.iter().filter(|(_, present)| ***present == *place);
        let had_folder =
            base.get(place).is_some() || earlier.into_iter().any(|(earlier, _)| base.get(earlier).is_some());
        movement.state.stable.is_some() && !had_folder
    }

    /// Whether the moving revision of a workload has an assignment with errors at each of these places. Empty: at none.
    pub fn failing(&self, side: BranchSide<'_>, (workload, places): (&str, &[Arc<str>])) -> Vec<bool> {
        let movement = self.movement(workload);
        let has_errors = match movement.moving {
            Origin::Latest => self.revisions.get(workload).is_some_and(|found| found.failing > 0),
            Origin::Earlier(_) => true,
            _ => false,
        };
        if movement.state.current.is_none() || !has_errors {
            return Vec::new();
        }
        let each = self.move_contents(&movement);
        let open = |sealed: &Sealed| side.target.branch.open(sealed);
        let contents = PlaceContents { movement: &each, compiled: side.compiled, published: &self.head, open: &open };
        let fails = |place: &Arc<str>| contents.fails(place, self.released_content(each.state, place));
        places.iter().map(fails).collect()
    }

    /// Why the folders that the places of a workload are to have now can't be read, so that they stay as they are. None: they can be read.
    pub fn unknown(&self, workload: &str) -> Option<&str> {
        self.unknown.get(workload).map(String::as_str)
    }

    /// Whether the moving revision of a workload, or what its places return to, can't be rendered any more, because its sources give another one now.
    pub fn is_lost(&self, workload: &str) -> bool {
        self.lost.contains(workload)
    }

    /// Whether the places of a workload keep what they have, because this version of Kalypso changes it, and is not admitted.
    pub fn is_kept(&self, workload: &str) -> bool {
        self.kept.contains(workload)
    }

    /// The ids of the folders that each of these places is to have now of a workload, by target: what the hub shows as desired once it is published.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn expected<'p>(
        &self,
        side: BranchSide<'_>,
        workload: &str,
        places: impl IntoIterator<Item = &'p Arc<str>>,
    ) -> Result<Vec<BTreeMap<Arc<str>, GitId>>, OpenError> {
        let movement = self.movement(workload);
        let each = self.move_contents(&movement);
        let open = |sealed: &Sealed| side.target.branch.open(sealed);
        let contents = PlaceContents { movement: &each, compiled: side.compiled, published: &self.head, open: &open };
        let of = |place: &Arc<str>| contents.folders(place, self.content(each.state, place));
        places.into_iter().map(of).collect()
    }

    /// The workloads that have a target or a state, by name. A workload with a broken state is among them.
    pub fn workloads(&self) -> BTreeSet<Arc<str>> {
        let states = self.states.rollouts.keys().cloned();
        let all = states.chain(self.revisions.workloads().map(|(name, _)| Arc::clone(name)));
        all.chain(self.newest.keys().cloned()).collect()
    }

    /// The names of all targets of a workload: those of the sources, of its state, and of the newest publication. The controller stores them.
    pub fn targets(&self, workload: &str) -> BTreeSet<Arc<str>> {
        self.movement(workload).targets.clone()
    }

    /// The workload with its state. A workload without a state has a state at rest.
    fn movement(&self, workload: &str) -> Cow<'_, Movement> {
        if let Some(found) = self.moves.iter().find(|each| *each.workload == *workload) {
            return Cow::Borrowed(found);
        }
        let targets = self.all_targets(workload, &BTreeSet::new());
        Cow::Owned(Movement::at_rest(workload.into(), RolloutState::default(), targets))
    }

    /// The targets of a workload. A target that another workload has in the present sources is left out, because its folder moves with that workload.
    fn all_targets(&self, workload: &str, stored: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
        let latest = self.revisions.get(workload).map(|found| &found.targets);
        let known = [Some(stored), latest, self.newest.get(workload)];
        let is_of_another = |target: &&Arc<str>| self.revisions.owner(target).is_some_and(|owner| **owner != *workload);
        known.into_iter().flatten().flatten().filter(|target| !is_of_another(target)).cloned().collect()
    }

    /// The name of a workload, and the names that it had before.
    fn all_names<'a>(&'a self, workload: &'a str) -> impl Iterator<Item = &'a str> {
        let earlier = self.renames.workloads().iter().filter(move |(_, present)| ***present == *workload);
        [workload].into_iter().chain(earlier.map(|(earlier, _)| &**earlier))
    }

    fn content(&self, state: &RolloutState, place: &str) -> Content {
        let location = self.membership.locate(place);
        state.content(location.ring, &location.domain, location.hash)
    }

    fn released_content(&self, state: &RolloutState, place: &str) -> Content {
        let location = self.membership.locate(place);
        state.released_content(location.ring, &location.domain, location.hash)
    }

    /// What the sources give a workload that moves, or a part of which was rejected. None: only the revision of the sources counts.
    pub fn newest_values(&self, workload: &str) -> Option<&Newest> {
        self.values.get(workload)
    }

    /// What the rollback of a workload returns to, or why it can't be rendered. None: no rollback begins.
    pub fn returning(&self, workload: &str) -> Option<Result<&Returning, &str>> {
        self.returning.get(workload).map(|found| found.as_ref().map_err(|why| &**why))
    }

    /// The names of all places that the branch has, or had at the beginning of a move.
    fn published_names<'a>(&'a self, each: &MoveContents<'a>) -> impl Iterator<Item = &'a Arc<str>> {
        let base = match each.base {
            Folders::Published(folders) => Some(folders),
            _ => None,
        };
        self.head.names().chain(base.into_iter().flat_map(PlaceFolders::names))
    }

    /// The folders of all places, as the states give them.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub(crate) fn tree(&mut self, compiled: &Compiled, target: &GitOpsDestination) -> Result<RingTree, OpenError> {
        let open = |sealed: &Sealed| target.branch.open(sealed);
        let tree = apply(&self.contents(), compiled, &self.head, &open)?;
        self.progress.clone_from(&tree.progress);
        Ok(tree)
    }

    /// The present names of workloads, by earlier names.
    pub(crate) fn renamed_workloads(&self) -> &BTreeMap<Arc<str>, Arc<str>> {
        self.renames.workloads()
    }

    /// The commit with the states. None: there is no state yet.
    pub fn commit(&self) -> Option<GitId> {
        self.states.head.as_ref().map(|head| head.id)
    }

    /// Whether places that do not get the moving revision of a workload yet may have an earlier one.
    pub(crate) fn is_kept_somewhere(&self, workload: &str) -> bool {
        let moving = self.moves.iter().find(|each| *each.workload == *workload);
        let Some(each) = moving.filter(|each| each.state.current.is_some()) else { return true };
        self.membership.places.iter().any(|place| {
            let location = self.membership.locate(place);
            each.state.content(location.ring, &location.domain, location.hash) != Content::Moving
        })
    }

    /// The earlier states of the environment that moving revisions are rendered from.
    pub fn earlier(&self) -> impl Iterator<Item = &Compiled> {
        self.earlier.iter()
    }

    /// The paths of the values that are sensitive in the earlier states.
    pub(crate) fn sensitive(&self) -> impl Iterator<Item = &FieldPath> {
        self.earlier.iter().flat_map(|compiled| compiled.prepared().sensitive())
    }

    /// Opens a folder of an earlier state.
    pub(crate) fn open(&self, sealed: &Sealed) -> Option<Tree> {
        self.earlier.iter().find_map(|compiled| compiled.open(sealed).ok())
    }
}
