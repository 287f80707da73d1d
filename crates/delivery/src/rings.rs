//! The rings of an environment at one destination: the stored states of its rollouts, and the folders that they give each place.
//!
//! This module only applies the states. The controller decides about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::compile::Compiled;
use engine::output::PlaceFolders;
use engine::output::rings::{Folders, MoveContents, RingContents, RingProgress, RingTree, apply};
use engine::promotion::membership::Membership;
use engine::promotion::revision::{self, Revisions};
use engine::promotion::state::{Content, Phase, Position, Revision, RolloutState};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::tree::{OpenError, Sealed, Tree};

use crate::compilation::KnownResults;
use crate::error::DestinationError;
use crate::gitops_destination::GitOpsDestination;
use crate::loaded::Loaded;
use crate::rollout_position;
use crate::rollout_store::{self, RevisionSources, StoredRollout, StoredStates};

/// The rings of an environment at one destination.
pub struct Rings {
    /// The ring of each place.
    pub membership: Membership,
    /// The stored states.
    pub states: StoredStates,
    /// The revisions that the sources give now.
    pub revisions: Revisions,
    /// How far each move is, as the states say.
    pub progress: Vec<RingProgress>,
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
}

/// A workload with the origin of its folders.
struct Movement {
    workload: Arc<str>,
    state: RolloutState,
    targets: BTreeSet<Arc<str>>,
    moving: Origin,
    base: Origin,
    stable: Origin,
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

/// The environment as it is compiled now, with the results of earlier runs.
pub type CompiledNow<'a> = (&'a Arc<Compiled>, &'a mut KnownResults);

impl Rings {
    /// Reads the states of an environment, and the folders that they refer to. None if the environment has no rings. `newest` is the environment at the newest
    /// publication, if it is known.
    ///
    /// # Errors
    /// If the states or the branch can't be read. A single state or revision that can't be read is a problem of its workload.
    pub fn read(
        loaded: &Loaded,
        compiled: CompiledNow<'_>,
        target: &GitOpsDestination,
        newest: Option<&Compiled>,
    ) -> Result<Option<Self>, DestinationError> {
        let environment = &loaded.fleet.environment;
        let (Some(access), promotion) = (&loaded.access, loaded.graph.promotion(environment.as_str())) else {
            return Ok(None);
        };
        let has_rings = promotion.is_some_and(|promotion| !promotion.rings.is_empty());
        if !has_rings && loaded.declarations.are_known() {
            return Ok(None);
        }
        let states = rollout_store::read(access, environment).map_err(DestinationError::Rollouts)?;
        if !has_rings && states.rollouts.is_empty() {
            return Ok(None);
        }
        Self::with_states(loaded, compiled, (target, newest), states).map(Some)
    }

    /// Applies these states. If the rings of the environment are not known, nothing changes.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn with_states(
        loaded: &Loaded,
        (compiled, known): CompiledNow<'_>,
        (target, newest): (&GitOpsDestination, Option<&Compiled>),
        states: StoredStates,
    ) -> Result<Self, DestinationError> {
        let promotion = loaded.graph.promotion(loaded.fleet.environment.as_str());
        let membership = promotion.and_then(|promotion| Membership::new(&loaded.fleet, promotion));
        let is_known = membership.is_some();
        let open = |sealed: &Sealed| target.branch.open(sealed);
        let mut rings = Self {
            membership: membership.unwrap_or_else(|| Membership::in_one_ring(&loaded.fleet)),
            revisions: Revisions::of(compiled),
            progress: Vec::new(),
            problems: Vec::new(),
            earlier: Vec::new(),
            published: BTreeMap::new(),
            head: PlaceFolders::of(&target.branch.tree, &target.folder, &open)?,
            nothing: PlaceFolders::default(),
            moves: Vec::new(),
            states,
        };
        let mut reader = Reader { loaded, compiled, known, target, sources: Vec::new() };
        let newest = newest.map(revision::targets).unwrap_or_default();
        for (workload, stored) in rings.states.rollouts.clone() {
            match stored {
                Ok(stored) if is_known => rings.add(&mut reader, (workload, &stored), &newest),
                Ok(_) => {}
                Err(error) => rings.problems.push((workload, error.to_string())),
            }
        }
        Ok(rings)
    }

    /// Adds a workload with its state.
    fn add(
        &mut self,
        reader: &mut Reader<'_>,
        (workload, stored): (Arc<str>, &StoredRollout),
        newest: &BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    ) {
        let mut targets = stored.targets.clone();
        targets.extend(self.revisions.get(&workload).into_iter().flat_map(|found| found.targets.iter().cloned()));
        targets.extend(newest.get(&workload).into_iter().flatten().cloned());
        let state = stored.state.clone();
        let Some(current) = &stored.state.current else {
            let (moving, base, stable) = (Origin::Unknown, Origin::Unknown, Origin::Unknown);
            self.moves.push(Movement { workload, state, targets, moving, base, stable });
            return;
        };
        let returns = !matches!(current.phase, Phase::Moving | Phase::Stopped { is_withdrawn: false, .. });
        let base = self.position(reader, (&workload, &current.base));
        let stable = match &stored.state.stable {
            Some(stable) if returns => self.position(reader, (&workload, &stable.at)),
            // Before the first proved revision, a workload returns to what was there before.
            _ => base,
        };
        let moving = match &current.phase {
            Phase::RollingBack { .. } => Origin::Unknown,
            _ => self.revision(reader, (&workload, stored), &current.revision),
        };
        self.moves.push(Movement { workload, state, targets, moving, base, stable });
    }

    /// The folders at a position.
    fn position(&mut self, reader: &Reader<'_>, (workload, position): (&Arc<str>, &Position)) -> Origin {
        let target = reader.target;
        let Some(commit) = rollout_position::commit(position, &target.name) else {
            let reason = format!("its state names no commit of {}", target.branch.name);
            self.problems.push((Arc::clone(workload), reason));
            return Origin::Unknown;
        };
        if !self.published.contains_key(&commit) {
            let open = |sealed: &Sealed| target.branch.open(sealed);
            let tree = target.branch.tree_at(commit);
            match tree.and_then(|tree| PlaceFolders::of(&tree, &target.folder, &open)) {
                Ok(folders) => drop(self.published.insert(commit, folders)),
                Err(error) => {
                    self.problems.push((Arc::clone(workload), error.to_string()));
                    return Origin::Unknown;
                }
            }
        }
        Origin::Published(commit)
    }

    /// The folders of a revision.
    fn revision(
        &mut self,
        reader: &mut Reader<'_>,
        (workload, stored): (&Arc<str>, &StoredRollout),
        revision: &Revision,
    ) -> Origin {
        if self.revisions.desired(workload).as_ref() == Some(revision) {
            return Origin::Latest;
        }
        if *revision == revision::empty() {
            return Origin::Nothing;
        }
        let found = match stored.revisions.get(revision) {
            Some(sources) => reader.render(sources, &mut self.earlier),
            None => Err("its state does not name the sources of the moving revision".to_owned()),
        };
        let found = found.and_then(|index| {
            let is_same = |compiled: &Compiled| Revisions::of(compiled).desired(workload).as_ref() == Some(revision);
            let is_rendered = self.earlier.get(index).is_some_and(is_same);
            is_rendered.then_some(index).ok_or_else(|| "its sources give another revision than before".to_owned())
        });
        match found {
            Ok(index) => Origin::Earlier(index),
            Err(reason) => {
                self.problems.push((Arc::clone(workload), reason));
                Origin::Unknown
            }
        }
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
            targets: each.targets.clone(),
            moving: self.folders(each.moving),
            base: self.folders(each.base),
            stable: self.folders(each.stable),
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

/// Reads the sources of revisions.
struct Reader<'a> {
    loaded: &'a Loaded,
    compiled: &'a Arc<Compiled>,
    known: &'a mut KnownResults,
    target: &'a GitOpsDestination,
    /// The sources that were read, in the order of the compiled states.
    sources: Vec<RevisionSources>,
}

impl Reader<'_> {
    /// Renders the environment from these sources, or finds it among the rendered ones. Returns its index.
    fn render(&mut self, sources: &RevisionSources, earlier: &mut Vec<Compiled>) -> Result<usize, String> {
        if let Some(index) = self.sources.iter().position(|known| known == sources) {
            return Ok(index);
        }
        let state = u8::try_from(earlier.len() + 1).ok().filter(|state| *state <= Compiled::STATES_MAX);
        let Some(state) = state else {
            return Err(format!(
                "more than {} different states of the sources are moving at once; this one waits",
                Compiled::STATES_MAX
            ));
        };
        let loaded = self.target.branch.load_at(self.loaded, vec![sources.publication()])?;
        earlier.push(self.known.compile_state(&loaded, state, self.compiled));
        self.sources.push(sources.clone());
        Ok(earlier.len() - 1)
    }
}
