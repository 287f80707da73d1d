//! The changes that publishing an environment would make at one destination.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use engine::compile::{Assignment, Compiled};
use engine::hold::HeldFolder;
use engine::layout::assignment_folders::AssignmentFolders;
use engine::output::rings::RingTree;
use engine::output::{Adoption, Contents, Destination, Output, Relocation, assemble, assemble_contents};
use engine::plan::{ChangeKind, FileChange, Plan, PlanDestination, PlanInput, PlannedId};
use engine::schedule::place::Place;
use git::Commit;
use model::diagnostic::{AssignmentId, Diagnostic};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{OpenError, Sealed, SealedBy, Tree};

use crate::access::renderer::Pending;
use crate::error::DestinationError;
use crate::output::compilation::{self, CompiledEnvironment, PublishedEnvironment};
pub(crate) use crate::output::gitops_destination::each_target;
pub use crate::output::gitops_destination::{BranchSide, GitOpsDestination, first_layout, planned_targets, targets};
use crate::output::held_assignments::{self, Failing, HeldNow};
use crate::output::kept_folders;
use crate::output::left_outputs;
use crate::output::open_proposal::{self, OpenProposal};
use crate::output::rings::Rings;
use crate::sources::loaded::Loaded;

/// The plan for one destination.
pub struct Planned {
    /// The environment, compiled.
    pub compiled: Arc<Compiled>,
    /// The destination.
    pub target: GitOpsDestination,
    /// The tree that the destination is to have.
    pub output: Output,
    /// The changes.
    pub plan: Plan,
    /// The environment at the newest publication. None if it can't be read.
    pub earlier: Option<Earlier>,
    /// The rings of the environment. None if it has none.
    pub rings: Option<Rings>,
    /// This version of Kalypso, if it changes output and is not admitted yet.
    pub renderer: Option<Pending>,
    /// The plan with the removals that [`Self::plan`] leaves out until they are confirmed. None: it leaves out nothing.
    waiting: Option<Box<Plan>>,
    /// The paths of the values that are sensitive before or after the change. Both count: a value is often marked later than it is added, and a removed mark still
    /// applies to the old value.
    sensitive: BTreeSet<FieldPath>,
    /// The assignments that were held at the newest publication, with the commits of the publications that they were rendered from.
    held_before: BTreeMap<AssignmentId, GitId>,
    /// The output on the proposing branch, if a part of it stays because its application can't be read.
    proposed: Option<OpenProposal>,
    /// The newest publication on the branch, which has the last good output. None: there is none, or no branch was read.
    published: Option<GitId>,
    /// The warnings about output that no `GitOpsRepo` names any more.
    left: Vec<Diagnostic>,
}

/// An earlier state of an environment, compiled from its sources.
pub struct Earlier {
    /// The environment.
    pub loaded: Arc<Loaded>,
    /// The compiled environment.
    pub compiled: Compiled,
}

/// What a compiled environment is compared with, and what its output depends on.
struct Sides {
    target: GitOpsDestination,
    earlier: Option<Earlier>,
    held: HeldNow,
    rings: Option<Rings>,
    /// What stays because of another version of Kalypso, with all folders.
    kept: Option<(Pending, RingTree)>,
    /// What is proposed already, if an application can't be read.
    proposed: Option<OpenProposal>,
    /// The move of the output to another path.
    relocation: Option<Relocation>,
}

impl Planned {
    /// Compares a compiled environment with a destination and with its newest publication. `adopt`: the folders without a marker that are taken over.
    ///
    /// # Errors
    /// If the destination or its history can't be read.
    pub fn new(
        loaded: &Loaded,
        CompiledEnvironment { compiled, known }: CompiledEnvironment<'_>,
        mut target: GitOpsDestination,
        adopt: &Adoption,
    ) -> Result<Self, DestinationError> {
        let newest = target.branch.newest_publication(loaded);
        let published = newest.as_ref().map(|newest| newest.commit);
        let earlier = newest.and_then(|newest| Some((target.branch.load_publication(loaded, &newest)?, newest)));
        let earlier = earlier.map(|(earlier, publication)| {
            let compiled = known.compile_earlier(&earlier, compiled);
            (publication, Earlier { loaded: Arc::new(earlier), compiled })
        });
        let before = earlier.as_ref().map(|(_, earlier)| &*earlier.loaded);
        let relocation = before.map(|before| target.relocate((before, loaded))).transpose()?.flatten();
        let left = left_outputs::diagnostics(loaded, &target, before)?;
        let ids = || compiled.failing().collect();
        let failing = Failing { loaded, prepared: compiled.prepared(), ids: &ids };
        let newest = earlier.as_ref().map(|(publication, earlier)| (publication.commit, earlier.compiled.prepared()));
        let held = held_assignments::on_branch(failing, &target.branch, &target.folder, newest)?;
        let newest = earlier
            .as_ref()
            .map(|(publication, earlier)| PublishedEnvironment { publication, compiled: &earlier.compiled });
        let rings = Rings::read(loaded, CompiledEnvironment { compiled, known }, &target, newest)?;
        let kept = match (&rings, newest) {
            (Some(rings), Some(newest)) => rings.pending(newest.publication).map(|kept| (kept, RingTree::default())),
            (None, Some(newest)) => {
                let earlier = earlier.as_ref().map(|(_, earlier)| earlier);
                let fleets = Fleets { compiled, earlier, rings: None, target: &target };
                let side = BranchSide { compiled, target: &target };
                kept_folders::kept(loaded, side, newest, &|sealed| fleets.open(sealed))?
            }
            (_, None) => None,
        };
        let earlier = earlier.map(|(_, earlier)| earlier);
        // With rings, the states of the rollouts say what each place has.
        let proposed = if rings.is_none() { open_proposal::read(loaded, &target)? } else { None };
        let sides = Sides { target, earlier, held, rings, kept, proposed, relocation };
        Ok(Self { published, left, ..Self::compared(loaded, compiled, sides, adopt)? })
    }

    /// Compares two states of an environment, both compiled from their sources. `name` is the name of the earlier state.
    ///
    /// # Errors
    /// If the path of a `GitOpsRepo` leads out of its repository, or output can't be opened.
    pub fn between(
        earlier: Earlier,
        (loaded, compiled): (&Loaded, &Arc<Compiled>),
        name: &str,
    ) -> Result<Self, DestinationError> {
        let (folder, layout) = first_layout(loaded)?;
        let (old_folder, old_layout) = first_layout(&earlier.loaded)?;
        let promoted_commit = earlier.loaded.fleet.promoted_commit().cloned();
        let adopt = Adoption::Nothing;
        let destination = Destination { folder: folder.clone(), layout: old_layout, promoted_commit, adopt };
        let open = |sealed: &Sealed| earlier.compiled.open(sealed);
        let previous = assemble(&earlier.compiled, &Tree::default(), &destination, &open)?.tree;
        let relocation = if old_folder == folder {
            None
        } else {
            let inside = previous.folder(folder.as_str(), &open)?.unwrap_or_default();
            Relocation::of_all(&inside, (&old_folder, &folder), &open)?
        };
        let mut target = GitOpsDestination::of_tree(name, previous, (folder, layout));
        target.branch.is_published = false;
        let (earlier, held) = (Some(earlier), HeldNow::default());
        let sides = Sides { target, earlier, held, rings: None, kept: None, proposed: None, relocation };
        Ok(Self::compared(loaded, compiled, sides, &Adoption::Nothing)?)
    }

    fn compared(
        loaded: &Loaded,
        compiled: &Arc<Compiled>,
        Sides { target, earlier, held: HeldNow { held, before }, mut rings, kept, proposed, relocation }: Sides,
        adopt: &Adoption,
    ) -> Result<Self, OpenError> {
        let promoted_commit = loaded.fleet.promoted_commit().cloned();
        let (folder, layout, adopt) = (target.folder.clone(), target.layout, adopt.clone());
        let destination = Destination { folder, layout, promoted_commit, adopt };
        let (renderer, kept) = kept.unzip();
        let tree = rings.as_mut().map(|rings| rings.tree(compiled, &target)).transpose()?.or(kept);
        let fleets = Fleets { compiled, earlier: earlier.as_ref(), rings: rings.as_ref(), target: &target };
        let open = |sealed: &Sealed| fleets.open(sealed);
        let previous = &target.branch.tree;
        let folders = proposed.as_ref().map(|proposed| &proposed.folders);
        let contents = Contents { compiled, held: &held, rings: tree.as_ref(), proposed: folders };
        let output = assemble_contents(&contents, previous, &destination, &open)?;
        let mut plan = fleets.plan(&output)?;
        plan.relocation = relocation;
        if let Some(rings) = &rings {
            // A workload that other places keep is not removed yet.
            plan.removed_workloads.workloads.retain(|workload| !rings.is_kept_somewhere(workload));
        }
        let sides = [Some(&**compiled), earlier.as_ref().map(|earlier| &earlier.compiled)].into_iter().flatten();
        let mut sensitive: BTreeSet<_> = sides.flat_map(|side| side.prepared().sensitive()).cloned().collect();
        sensitive.extend(output.held.values().flat_map(|held| &held.sensitive).cloned());
        sensitive.extend(rings.iter().flat_map(Rings::sensitive).cloned());
        let compiled = Arc::clone(compiled);
        Ok(Self {
            compiled,
            target,
            output,
            plan,
            earlier,
            rings,
            renderer,
            waiting: None,
            sensitive,
            held_before: before,
            proposed,
            published: None,
            left: Vec::new(),
        })
    }

    /// The newest publication on the branch. None: there is none, or no branch was read.
    pub fn published(&self) -> Option<GitId> {
        self.published
    }

    /// The commit of the proposing branch of which output stays, because its application can't be read. None: there is none.
    pub(crate) fn proposed_at(&self) -> Option<&Commit> {
        self.proposed.as_ref().map(|proposed| &proposed.head)
    }

    /// All diagnostics of reading, compiling and assembling.
    pub fn diagnostics(&self, loaded: &Loaded) -> Vec<Diagnostic> {
        let mut found = compilation::diagnostics(loaded, &self.compiled, &self.output);
        found.extend(self.rings.iter().flat_map(Rings::diagnostics));
        found.extend(self.left.iter().cloned());
        found
    }

    /// How far the rollout of each workload is, and what stays because of this version of Kalypso, in lines for people. None: the environment has no rings, and nothing
    /// stays.
    pub fn rollout_lines(&self) -> Option<Vec<String>> {
        let lines = self.rings.as_ref().map(Rings::lines);
        let Some(pending) = &self.renderer else { return lines };
        let line = format!("{pending}, which stay as they were published");
        Some(lines.into_iter().flatten().chain([line]).collect())
    }

    /// The plan with all removals, also with those that wait for their confirmation.
    pub fn whole_plan(&self) -> &Plan {
        self.waiting.as_deref().unwrap_or(&self.plan)
    }

    /// Whether removals are left out until they are confirmed.
    pub fn has_waiting_removals(&self) -> bool {
        self.waiting.is_some()
    }

    /// Leaves out what the plan removes until it is confirmed: these folders stay as they are. False: nothing else changes, or it can't be separated, and the plan
    /// stays as it is.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub(crate) fn leave_removals(&mut self) -> Result<bool, OpenError> {
        let open = |sealed: &Sealed| self.open(sealed);
        let tree = self.plan.with_removed(&self.target.branch.tree, &self.output.tree, &open)?;
        let assignments = self.output.assignments + self.plan.count(ChangeKind::Removed);
        let output = Output { tree, assignments, ..self.output.clone() };
        let rest = self.fleets().plan(&output)?;
        // In a new layout or at a new path, a folder is not where it was. A renamed folder under both names would run twice.
        if rest.is_empty() || !rest.removals().is_empty() || self.plan.relocation.is_some() {
            return Ok(false);
        }
        self.output = output;
        self.waiting = Some(Box::new(std::mem::replace(&mut self.plan, rest)));
        Ok(true)
    }

    /// The word that confirms the removals. None if no confirmation is needed, or if there is no repository.
    pub fn confirmation_word(&self) -> Option<String> {
        let place = &self.target.place;
        let environment = self.compiled.fleet().environment.as_str();
        let destination = PlanDestination { repository: &place.repo, branch: &place.branch, environment };
        let plan = self.whole_plan();
        (plan.needs_confirmation() && !place.repo.is_empty()).then(|| plan.confirmation_word(destination))
    }

    /// The assignments of the output that are rendered from earlier publications, with the commits of these. The next run reads them from the trailers.
    ///
    /// # Errors
    /// If a folder of the output can't be opened.
    pub fn held_publications(&self) -> Result<BTreeMap<AssignmentId, GitId>, OpenError> {
        let open = |sealed: &Sealed| self.open(sealed);
        let mut folders = AssignmentFolders::new(&self.output.tree, &self.target.folder, &open)?;
        let mut stays = BTreeSet::new();
        for id in self.held_before.keys() {
            // A good assignment is rendered from its own sources. A missing assignment may only be unknown, so its folder decides.
            let is_rendered = self.compiled.get(id).is_some_and(|assignment| assignment.is_rendered());
            if !is_rendered && folders.find(id)?.is_some() {
                stays.insert(id.clone());
            }
        }
        Ok(self.output.held_publications(self.held_before.clone(), |id| stays.contains(id)))
    }

    /// The paths of the values that are sensitive before or after the change.
    pub fn sensitive(&self) -> &BTreeSet<FieldPath> {
        &self.sensitive
    }

    /// The changed files of an assignment.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn files(&self, id: &PlannedId) -> Result<Vec<FileChange>, OpenError> {
        self.plan.files(id, &|sealed| self.open(sealed))
    }

    /// Opens a sealed folder of the current or the new tree.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        self.fleets().open(sealed)
    }

    fn fleets(&self) -> Fleets<'_> {
        let (earlier, rings) = (self.earlier.as_ref(), self.rings.as_ref());
        Fleets { compiled: &self.compiled, earlier, rings, target: &self.target }
    }

    /// The output without the files of others in the branch: the folders of places, and the files that Kalypso writes beside them.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn rendered_tree(&self) -> Result<Tree, OpenError> {
        let open = |sealed: &Sealed| self.open(sealed);
        engine::output::own_tree(&self.output.tree, &self.target.folder, &open)
    }

    /// The place with this name, in the new fleet or else in the published one.
    pub fn place(&self, name: &str) -> Option<Place> {
        self.sides().find_map(|side| Place::find(side.fleet(), name))
    }

    /// Whether a place is a cluster, in the new fleet or in the published one.
    pub fn is_cluster(&self, name: &str) -> bool {
        self.sides().any(|side| side.fleet().clusters.contains_key(name))
    }

    /// The assignment with this id whose output is this folder, in the new or the published fleet. If neither has this output, the first one that has the
    /// assignment.
    pub fn assignment(&self, id: &AssignmentId, folder: GitId) -> Option<Assignment<'_>> {
        let all = || self.sides().filter_map(|side| side.get(id));
        all().find(|assignment| assignment.folder() == Some(folder)).or_else(|| all().next())
    }

    /// A held assignment, by its names. None if its folder is another one.
    pub fn held(&self, place: &str, target: Option<&Arc<str>>, folder: Option<GitId>) -> Option<&HeldFolder> {
        let id = PlannedId { place: place.into(), target: Arc::clone(target?) }.assignment()?;
        self.output.held.get(&id).map(|held| &**held).filter(|held| Some(held.tree.id()) == folder)
    }

    /// The new fleet, those of moving revisions that differ from it, and the published one if it is known.
    pub fn sides(&self) -> impl Iterator<Item = &Compiled> {
        let moving = self.rings.iter().flat_map(Rings::earlier);
        iter::once(&*self.compiled).chain(moving).chain(self.earlier.as_ref().map(|earlier| &earlier.compiled))
    }

    /// The destination, with the environment that is published to it.
    pub fn branch_side(&self) -> BranchSide<'_> {
        BranchSide { compiled: &self.compiled, target: &self.target }
    }

    /// The progress of the run.
    pub fn progress(&self) -> &Progress {
        self.compiled.progress()
    }
}

/// The fleets that a tree is rendered from, and its destination.
#[derive(Clone, Copy)]
struct Fleets<'a> {
    compiled: &'a Compiled,
    earlier: Option<&'a Earlier>,
    rings: Option<&'a Rings>,
    target: &'a GitOpsDestination,
}

impl Fleets<'_> {
    /// The changes that an output makes at its destination.
    fn plan(&self, output: &Output) -> Result<Plan, OpenError> {
        let branch = &self.target.branch;
        engine::plan::plan(&PlanInput {
            previous: &branch.tree,
            is_published: branch.is_published,
            output,
            folder: &self.target.folder,
            new: self.compiled,
            old: self.earlier.map(|earlier| &earlier.compiled),
            open: &|sealed| self.open(sealed),
            content: &|id| branch.content(id),
        })
    }

    /// Opens a sealed folder: from the repository, or rendered from one of the fleets.
    fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        match sealed.by {
            SealedBy::Repository => self.target.branch.open(sealed),
            SealedBy::Generator(_) => self.compiled.open(sealed).or_else(|error| {
                let earlier = self.earlier.and_then(|earlier| earlier.compiled.open(sealed).ok());
                earlier.or_else(|| self.rings?.open(sealed)).ok_or(error)
            }),
        }
    }
}
