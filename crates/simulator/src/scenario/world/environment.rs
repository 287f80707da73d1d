//! An environment of a simulation: its fleet, its commits, and the rollouts of its workloads.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::command::{Command, CommandRefusal};
use engine::promotion::report::MoveReport;
use engine::promotion::rings::Difference;
use engine::promotion::rings::wanted::MIXED;
use engine::promotion::state::{BranchPosition, Content, Decision, Revision, RolloutState};
use engine::promotion::vector::{AheadOf, Part, Vector};
use model::object::promotion::Promotion;

use crate::scenario::contents::{Commit, ContentId, Contents, NOTHING, Platform, Renderers, Sources, WorkloadFolder};
use crate::scenario::definition::WorkloadDefinition;
use crate::scenario::fleet::Fleet;
use crate::scenario::hosts::Reconcilers;

use super::lost_states::StoredStates;
use super::subject::{KEPT, PLATFORM, Renderer, Subject, UNRENDERED, Values};

/// An environment.
#[derive(Debug)]
pub(in crate::scenario) struct Environment {
    pub(in crate::scenario) name: Arc<str>,
    /// The promotion into the environment with all gates in force, and all its rings.
    pub(in crate::scenario) promotion: Option<Promotion>,
    /// The promotion at the commit that the environment has proved.
    pub(in crate::scenario) admitted_promotion: Option<Promotion>,
    pub(in crate::scenario) fleet: Fleet,
    pub(in crate::scenario) rings: RingColumns,
    /// The commits of its branch.
    pub(in crate::scenario) commits: Vec<Commit>,
    /// The numbers of commits of its branch after which the list of clusters changed.
    pub(in crate::scenario) fleet_commits: Vec<usize>,
    /// The commits that its output follows from now.
    pub(in crate::scenario) sources: Sources,
    pub(in crate::scenario) workloads: Vec<Rollout>,
    /// The commits of the main branch, and the releases of each workload, on their way into it.
    pub(in crate::scenario) subjects: Vec<Subject>,
    /// The version of the program that renders, on its way into it.
    pub(in crate::scenario) renderer: Renderer,
    /// What is stored of the states.
    pub(super) stored: StoredStates,
    /// The commits of its own branch that wait.
    pub(in crate::scenario) values: Values,
    /// The commits of each workload's application team that wait.
    pub(in crate::scenario) applications: Vec<Values>,
    /// The number of commits of its GitOps branch.
    pub(in crate::scenario) published: u64,
    /// Whether the branch is to get other content.
    pub(in crate::scenario) is_due: bool,
    /// Whether a publication is planned.
    pub(in crate::scenario) is_planned: bool,
}

/// The places of an environment, as columns for the rollouts.
#[derive(Debug, Default)]
pub(in crate::scenario) struct RingColumns {
    pub(in crate::scenario) ring: Vec<u16>,
    pub(in crate::scenario) domain: Vec<u32>,
    pub(in crate::scenario) hash: Vec<u64>,
    pub(in crate::scenario) domains: Vec<Arc<str>>,
}

impl RingColumns {
    /// The ring, the domain and the hash of a place.
    pub(in crate::scenario) fn at(&self, place: usize) -> (usize, &str, u64) {
        let domain = self.domains.get(self.domain[place] as usize).map_or("", |domain| &**domain);
        (usize::from(self.ring[place]), domain, self.hash[place])
    }
}

/// A workload in an environment.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Rollout {
    pub(in crate::scenario) reconcilers: Reconcilers,
    pub(in crate::scenario) state: RolloutState,
    /// The revision of the sources. None: the workload is not published yet.
    pub(in crate::scenario) compiled: Option<Revision>,
    pub(in crate::scenario) revisions: Revisions,
    /// The contents of the GitOps branch at the positions that the state names.
    pub(in crate::scenario) snapshots: BTreeMap<BranchPosition, Arc<[ContentId]>>,
    pub(in crate::scenario) memory: Memory,
}

impl Rollout {
    /// The command with the revision to which a rollback returns.
    pub(super) fn with_target(
        &self,
        workload: usize,
        state: &RolloutState,
        command: &Command,
    ) -> Result<Command, CommandRefusal> {
        command
            .with_target(state, |revision| self.revisions.sources(revision).map(|sources| sources.platform(workload)))
    }

    /// Why the revision of the sources waits for `retry`. None: it does not.
    pub(in crate::scenario) fn blocked_because(&self) -> Option<String> {
        self.state.blocked_because(self.compiled.as_ref()?)
    }
}

/// The newest values of a workload as a change of their own, with what else the sources give.
pub(super) struct Newest {
    pub(super) desired: Revision,
    pub(super) part: Part,
    /// The revision for places that the move has reached, and for the others.
    pub(super) ahead: Option<Result<(Revision, Option<Revision>), &'static str>>,
}

/// The contents that a state refers to.
struct Known<'a> {
    snapshots: &'a BTreeMap<BranchPosition, Arc<[ContentId]>>,
    columns: &'a BTreeMap<Revision, Vec<ContentId>>,
}

impl Known<'_> {
    /// The content of a place. None: it stays as it is.
    fn content(&self, state: &RolloutState, content: Content, place: usize) -> Option<ContentId> {
        let at = |column: Option<&[ContentId]>| column.and_then(|column| column.get(place)).copied().unwrap_or(NOTHING);
        let snapshot = |position: &BranchPosition| at(self.snapshots.get(position).map(|column| &**column));
        // What can't be rendered any more stays as it is.
        let rendered = |revision: &Revision| self.columns.get(revision).map(|column| at(Some(column)));
        let current = state.current.as_ref();
        match content {
            Content::Published => None,
            Content::Base => current.map(|current| snapshot(&current.base)),
            Content::Moving => current.and_then(|current| rendered(&current.revision)),
            Content::Rest => state.interrupted.as_ref().and_then(|interrupted| rendered(&interrupted.rest)),
            Content::Stable => state.stable.as_ref().and_then(|stable| {
                if stable.at == BranchPosition::default() {
                    rendered(&stable.revision)
                } else {
                    Some(snapshot(&stable.at))
                }
            }),
        }
    }
}

/// What the controller remembers between two steps. A restart loses it.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Memory {
    /// The places that the current move changes.
    pub(in crate::scenario) changed: Option<ChangedPlaces>,
    /// The contents of the revisions that the state names, where no position has them.
    pub(in crate::scenario) columns: BTreeMap<Revision, Vec<ContentId>>,
    /// The last report.
    pub(in crate::scenario) report: Option<MoveReport>,
}

/// The places that a move changes, with what it is compared with.
#[derive(Debug)]
pub(in crate::scenario) struct ChangedPlaces {
    base: BranchPosition,
    revision: Revision,
    stable: Option<Revision>,
    pub(in crate::scenario) places: Vec<bool>,
}

impl ChangedPlaces {
    pub(super) fn is_of(&self, difference: Difference<'_>) -> bool {
        let Self { base, revision, stable, .. } = self;
        difference == Difference { base, revision, stable: stable.as_ref() }
    }
}

/// The revisions of a workload: what they are rendered from.
#[derive(Debug, Default)]
pub(in crate::scenario) struct Revisions {
    /// The revision of each content of all folders.
    names: BTreeMap<FolderKey, Revision>,
    sources: BTreeMap<Revision, Sources>,
}

/// The content of all folders of a workload: by the labels of the clusters, with the number of changes of the list of clusters.
type FolderKey = (Vec<ContentId>, usize);

impl Revisions {
    /// The revision of a content. A new one gets this name, or the name with a number.
    fn name(&mut self, key: FolderKey, sources: &Sources, name: &str) -> Revision {
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        let is_free = |name: &str| !self.sources.contains_key(&Revision(name.into()));
        let numbered = (2..).map(|number| format!("{name}~{number}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default();
        let revision = Revision(free.into());
        self.names.insert(key, revision.clone());
        self.sources.insert(revision.clone(), sources.clone());
        revision
    }

    /// The commits that a revision is rendered from.
    pub(super) fn sources(&self, revision: &Revision) -> Option<&Sources> {
        self.sources.get(revision)
    }
}

/// All commits and releases, which renderings read.
pub(in crate::scenario) struct Repository<'a> {
    pub(in crate::scenario) main: &'a [Commit],
    pub(in crate::scenario) renderers: &'a Renderers,
    /// The versions of the releases of each workload.
    pub(in crate::scenario) versions: &'a [Vec<Arc<str>>],
    pub(in crate::scenario) workloads: &'a [WorkloadDefinition],
    pub(in crate::scenario) contents: &'a mut Contents,
}

impl Environment {
    /// The position of the GitOps branch.
    pub(super) fn position(&self) -> BranchPosition {
        BranchPosition(format!("gitops={}", self.published).into())
    }

    /// Whether content moves through rings.
    pub(in crate::scenario) fn has_rings(&self) -> bool {
        self.promotion.as_ref().is_some_and(|promotion| !promotion.rings.is_empty())
    }

    /// A hold of the whole environment by a person.
    pub(in crate::scenario) fn hold(&self) -> Option<&Decision> {
        self.subjects[PLATFORM].state.hold.as_ref()
    }

    /// The contents of the folders for each class of clusters.
    pub(super) fn classes(
        &self,
        workload: usize,
        sources: &Sources,
        repository: &mut Repository<'_>,
    ) -> Vec<ContentId> {
        let Some(version) = sources.releases[workload].checked_sub(1) else {
            return vec![NOTHING; self.fleet.classes.len()];
        };
        let release = &repository.versions[workload][version];
        let renderers = &repository.renderers.versions[..sources.renderer];
        let commits = [&repository.main[..sources.main], renderers, &self.commits[..sources.configuration]];
        let workload = &repository.workloads[workload];
        let contents = &mut *repository.contents;
        let render = |labels| {
            let folder = WorkloadFolder { workload: &workload.name, labels };
            contents.rendered(commits, workload.version_at(release, labels), folder)
        };
        self.fleet.classes.iter().map(render).collect()
    }

    /// The contents of the folders of all places.
    fn column(&self, workload: usize, sources: &Sources, repository: &mut Repository<'_>) -> Vec<ContentId> {
        let classes = self.classes(workload, sources, repository);
        let registered = |place: usize| self.fleet.is_registered(place, sources.configuration);
        let content = |place| if registered(place) { classes[self.fleet.class[place] as usize] } else { NOTHING };
        (0..self.fleet.len()).map(content).collect()
    }

    /// Computes the output of the sources. `name` names a new content. Returns the numbers of the workloads with another output.
    pub(super) fn compile(&mut self, name: &str, repository: &mut Repository<'_>) -> Vec<usize> {
        let sources = self.sources.clone();
        let mut changed = Vec::new();
        for workload in 0..self.workloads.len() {
            if sources.releases[workload] == 0 {
                continue;
            }
            let key = self.folder_key(workload, &sources, repository);
            let revision = self.workloads[workload].revisions.name(key, &sources, name);
            if self.workloads[workload].compiled.as_ref() != Some(&revision) {
                self.workloads[workload].compiled = Some(revision);
                changed.push(workload);
                if !self.has_rings() {
                    self.follow_sources(workload, repository);
                }
            }
        }
        changed
    }

    /// The output of the sources becomes the targets, except where the installed program can't render it.
    fn follow_sources(&mut self, workload: usize, repository: &mut Repository<'_>) {
        let kept = self.kept(workload, repository);
        let column = self.column(workload, &self.sources.clone(), repository);
        let class = std::mem::take(&mut self.fleet.class);
        self.set_targets(workload, |place, published| {
            let is_kept = |kept: &Vec<bool>| published == NOTHING || kept[class[place] as usize];
            if column[place] != NOTHING && kept.as_ref().is_some_and(is_kept) { published } else { column[place] }
        });
        self.fleet.class = class;
    }

    /// Sets the targets of all places. `content` gets a place and its published content.
    fn set_targets(&mut self, workload: usize, content: impl Fn(usize, ContentId) -> ContentId) {
        let reconcilers = &mut self.workloads[workload].reconcilers;
        for place in 0..self.fleet.len() {
            let target = content(place, reconcilers.published[place]);
            self.is_due |= reconcilers.set_target(place, target, &self.fleet) || target != reconcilers.published[place];
        }
    }

    /// Sets all places to the output of the sources, as proved for a long time.
    pub(super) fn settle(&mut self, now: jiff::Timestamp, repository: &mut Repository<'_>) {
        self.compile("start", repository);
        let (sources, position) = (self.sources.clone(), self.position());
        for workload in 0..self.workloads.len() {
            let column = self.column(workload, &sources, repository);
            self.set_targets(workload, |place, _| column[place]);
            let (has_rings, rollout) = (self.has_rings(), &mut self.workloads[workload]);
            rollout.reconcilers.settle(&self.fleet);
            if has_rings && let Some(revision) = rollout.compiled.clone() {
                let proved = engine::promotion::state::Proved { revision, at: position.clone(), on: now };
                rollout.snapshots.insert(position.clone(), rollout.reconcilers.published.clone().into());
                rollout.state.stable = Some(proved);
            }
        }
        self.is_due = false;
    }

    /// The contents that the sources, or the state of a rollout, demand become the targets.
    pub(super) fn follow(&mut self, workload: usize, repository: &mut Repository<'_>) {
        if !self.has_rings() {
            return self.follow_sources(workload, repository);
        }
        self.remember_columns(workload, repository);
        let rings = std::mem::take(&mut self.rings);
        let rollout = &mut self.workloads[workload];
        let (state, snapshots) = (rollout.state.clone(), std::mem::take(&mut rollout.snapshots));
        let columns = std::mem::take(&mut rollout.memory.columns);
        let known = Known { snapshots: &snapshots, columns: &columns };
        self.set_targets(workload, |place, published| {
            let (ring, domain, hash) = rings.at(place);
            known.content(&state, state.content(ring, domain, hash), place).unwrap_or(published)
        });
        let rollout = &mut self.workloads[workload];
        (rollout.snapshots, rollout.memory.columns) = (snapshots, columns);
        self.rings = rings;
    }

    /// Renders the revisions that the state names, where that is not done yet.
    fn remember_columns(&mut self, workload: usize, repository: &mut Repository<'_>) {
        let state = &self.workloads[workload].state;
        let moving = state.current.as_ref().map(|current| &current.revision);
        let rest = state.interrupted.as_ref().map(|interrupted| &interrupted.rest);
        let stable = state.stable.as_ref().filter(|stable| stable.at == BranchPosition::default());
        let named: Vec<_> =
            [moving, rest, stable.map(|stable| &stable.revision)].into_iter().flatten().cloned().collect();
        let mut columns = std::mem::take(&mut self.workloads[workload].memory.columns);
        columns.retain(|revision, column| named.contains(revision) && column.len() == self.fleet.len());
        for revision in named {
            let sources = self.workloads[workload].revisions.sources(&revision).cloned();
            let is_new =
                |sources: &Sources| !columns.contains_key(&revision) && self.can_render(workload, sources, repository);
            if let Some(sources) = sources.filter(is_new) {
                columns.insert(revision, self.column(workload, &sources, repository));
            }
        }
        self.workloads[workload].memory.columns = columns;
    }

    /// Finds the places that the current move changes.
    pub(super) fn remember_changed(&mut self, workload: usize, repository: &mut Repository<'_>) {
        let rollout = &self.workloads[workload];
        let Some(difference) = rollout.state.difference() else {
            self.workloads[workload].memory.changed = None;
            return;
        };
        let places = self.fleet.len();
        let is_current = |known: &ChangedPlaces| known.is_of(difference) && known.places.len() == places;
        if rollout.memory.changed.as_ref().is_some_and(is_current) {
            return;
        }
        let (base, revision) = (difference.base.clone(), difference.revision.clone());
        let stable = difference.stable.cloned();
        self.remember_columns(workload, repository);
        let rollout = &self.workloads[workload];
        let state = &rollout.state;
        let known = Known { snapshots: &rollout.snapshots, columns: &rollout.memory.columns };
        let is_changed = |place: usize| {
            let (ring, domain, hash) = self.rings.at(place);
            let of = |content| known.content(state, content, place);
            let released = of(state.released_content(ring, domain, hash));
            // A removed cluster proves nothing: only the removal of its folder is a change.
            let is_proof = self.fleet.is_there(place) || released == Some(NOTHING);
            // What goes ahead of another move is proved by itself only.
            let has_stable = state.stable.is_some() && state.interrupted.is_none();
            let is_other = |stable: Option<ContentId>| Some(stable.unwrap_or(NOTHING)) != released;
            // What can't be rendered any more counts as changed, except where nothing was and nothing comes.
            is_proof
                && (released.is_none()
                    || of(Content::Base) != released
                    || (has_stable && is_other(of(Content::Stable))))
        };
        let places = (0..places).map(is_changed).collect();
        let rollout = &mut self.workloads[workload];
        rollout.memory.changed = Some(ChangedPlaces { base, revision, stable, places });
    }

    /// The newest values of a workload as a change of their own, with what else the sources give.
    pub(super) fn wanted(&mut self, workload: usize, repository: &mut Repository<'_>) -> Option<Newest> {
        let rollout = &self.workloads[workload];
        let desired = rollout.compiled.clone()?;
        let vector =
            |sources: &Sources| Vector { platform: sources.platform(workload), configuration: sources.configuration };
        let vector_of = |revision: &Revision| rollout.revisions.sources(revision).map(vector);
        let latest = vector_of(&desired).map(|_| vector(&self.sources))?;
        let wanted = rollout.state.wanted((&desired, &latest), vector_of);
        let Some(AheadOf { moving, rest }) = wanted.ahead else {
            return Some(Newest { desired: wanted.desired, part: wanted.part, ahead: None });
        };
        let base = rest.as_ref().unwrap_or(&moving).clone();
        if !self.can_render(workload, &self.sources_of(workload, &base), repository) {
            return Some(Newest { desired: wanted.desired, part: wanted.part, ahead: Some(Err(UNRENDERED)) });
        }
        let [moving, base] = [moving, base].map(|vector| {
            let sources = self.sources_of(workload, &vector);
            let key = self.folder_key(workload, &sources, repository);
            self.workloads[workload].revisions.name(key, &sources, &desired.0)
        });
        let is_mixed = !self.is_stable_below(workload, repository);
        let rest = rest.map(|_| base.clone());
        // Values that no folder has are no change.
        let state = &self.workloads[workload].state;
        let is_there =
            state.present() == Some(&moving) && state.stable.as_ref().is_some_and(|stable| stable.revision == base);
        let ahead = (!is_there).then_some(if is_mixed { Err(MIXED) } else { Ok((moving, rest)) });
        Some(Newest { desired: wanted.desired, part: wanted.part, ahead })
    }

    /// The revision to which a rollback returns with the present values. None: no rollback begins.
    pub(super) fn back(
        &mut self,
        workload: usize,
        repository: &mut Repository<'_>,
    ) -> Option<Result<Revision, &'static str>> {
        let rollout = &self.workloads[workload];
        let proved = rollout.state.rolled_back.as_ref()?.target.as_ref()?;
        let target = proved.revision.clone();
        let present = rollout.state.stable.as_ref()?.revision.clone();
        let (Some(of_target), Some(of_present)) =
            (rollout.revisions.sources(&target), rollout.revisions.sources(&present))
        else {
            return Some(Err("its commits are not known"));
        };
        if of_target.configuration == of_present.configuration {
            let is_there = proved.at != BranchPosition::default() || self.can_render(workload, of_target, repository);
            return Some(if is_there { Ok(target) } else { Err(UNRENDERED) });
        }
        if self.renderer.kept.contains(&workload) {
            return Some(Err(KEPT));
        }
        // The admitted version renders it.
        let platform = Platform { renderer: self.sources.renderer, ..of_target.platform(workload) };
        let vector = Vector { platform, configuration: of_present.configuration };
        let sources = self.sources_of(workload, &vector);
        let key = self.folder_key(workload, &sources, repository);
        Some(Ok(self.workloads[workload].revisions.name(key, &sources, &target.0)))
    }

    /// What tells revisions of a workload apart: the contents of its folders, and how often the list of clusters changed.
    fn folder_key(&self, workload: usize, sources: &Sources, repository: &mut Repository<'_>) -> FolderKey {
        let fleet_changes = self.fleet_commits.iter().filter(|commits| **commits <= sources.configuration).count();
        (self.classes(workload, sources, repository), fleet_changes)
    }

    /// The sources of a vector of a workload.
    fn sources_of(&self, workload: usize, vector: &Vector<Platform, usize>) -> Sources {
        let Vector { platform: Platform { main, release, renderer }, configuration } = *vector;
        let mut sources = Sources { main, configuration, renderer, releases: self.sources.releases.clone() };
        sources.releases[workload] = release;
        sources
    }

    /// Whether all places that the move has not reached have the stable revision.
    fn is_stable_below(&mut self, workload: usize, repository: &mut Repository<'_>) -> bool {
        self.remember_columns(workload, repository);
        let rollout = &self.workloads[workload];
        let state = &rollout.state;
        let known = Known { snapshots: &rollout.snapshots, columns: &rollout.memory.columns };
        let below = (0..self.fleet.len()).filter(|place| {
            let (ring, domain, hash) = self.rings.at(*place);
            !state.is_reached(ring, domain, hash)
        });
        let content = if state.current.is_some() { Content::Base } else { Content::Published };
        let published = &rollout.reconcilers.published;
        let mut below = below.map(|place| {
            let has = known.content(state, content, place).unwrap_or(published[place]);
            known.content(state, Content::Stable, place) == Some(has)
        });
        below.all(|is_stable| is_stable)
    }

    /// The contents of the moving revision.
    pub(in crate::scenario) fn column_of_moving(&self, workload: usize) -> Option<&[ContentId]> {
        let rollout = &self.workloads[workload];
        let current = rollout.state.current.as_ref().filter(|_| rollout.state.interrupted.is_some())?;
        Some(rollout.memory.columns.get(&current.revision)?)
    }

    /// The content that each place gets when the current move releases it. None: nothing moves.
    pub(in crate::scenario) fn released(&self, workload: usize) -> Option<Vec<ContentId>> {
        let rollout = &self.workloads[workload];
        let state = &rollout.state;
        rollout.memory.columns.get(&state.current.as_ref()?.revision)?;
        let known = Known { snapshots: &rollout.snapshots, columns: &rollout.memory.columns };
        let content = |place: usize| {
            let (ring, domain, hash) = self.rings.at(place);
            known.content(state, state.released_content(ring, domain, hash), place).unwrap_or(NOTHING)
        };
        Some((0..self.fleet.len()).map(content).collect())
    }

    /// Whether all places that the current move changes had nothing before.
    pub(in crate::scenario) fn is_only_new(&self, workload: usize) -> bool {
        let rollout = &self.workloads[workload];
        let Some(ChangedPlaces { base, places: changed, .. }) = &rollout.memory.changed else { return false };
        let column = rollout.snapshots.get(base);
        let is_new = |place: usize| column.and_then(|column| column.get(place)).is_none_or(|before| *before == NOTHING);
        rollout.state.stable.is_some()
            && changed.iter().enumerate().all(|(place, is_changed)| !is_changed || is_new(place))
    }

    /// Keeps the contents of the positions that a state names, and only these.
    pub(super) fn keep_positions(&mut self, workload: usize) {
        let position = self.position();
        let rollout = &self.workloads[workload];
        let base = rollout.state.current.as_ref().map(|current| current.base.clone());
        let interrupted = rollout.state.interrupted.as_ref().map(|interrupted| interrupted.movement.base.clone());
        let stable = rollout.state.stable.as_ref().map(|stable| stable.at.clone());
        let earlier: Vec<_> = rollout.state.earlier.iter().map(|earlier| earlier.at.clone()).collect();
        let named = |wanted: &BranchPosition| {
            self.stored.positions().any(|stored| stored == wanted)
                || [&base, &interrupted].into_iter().flatten().any(|base| base == wanted)
                || stable.as_ref() == Some(wanted)
                || earlier.contains(wanted)
        };
        let is_named = named(&position);
        let unnamed: Vec<_> = rollout.snapshots.keys().filter(|known| !named(known)).cloned().collect();
        let rollout = &mut self.workloads[workload];
        if is_named && !rollout.snapshots.contains_key(&position) {
            rollout.snapshots.insert(position, rollout.reconcilers.published.clone().into());
        }
        rollout.snapshots.retain(|known, _| !unnamed.contains(known));
    }
}
