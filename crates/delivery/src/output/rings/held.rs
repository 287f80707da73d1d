//! What places hold where an environment has rings: the content of assignments that is not the desired one yet, with the reason.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use engine::compile::renames::Renames;
use engine::compile::{Prepared, SingleAssignments};
use engine::layout::Folder;
use engine::layout::assignment_folders::AssignmentFolders;
use engine::promotion::release::placed_release;
use engine::promotion::revision::subject;
use engine::promotion::rings::layout::layout;
use engine::promotion::rings::membership::{Membership, RingLocation};
use engine::promotion::state::{Content, Decision, GateStatus, Move, MoveStage, RolledBack, RolloutState};
use jiff::Timestamp;
use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::name::{DeploymentTargetName, PlaceName};
use model::tree::{OpenError, Sealed};

use super::newest::platform;
use crate::access::RepositoryAccess;
use crate::access::renderer::SUBJECT;
use crate::branches::branch::{Branch, folder_of};
use crate::error::DestinationError;
use crate::output::kept_folders;
use crate::sources::loaded::Loaded;
use crate::states::rollout_store::{self, RevisionSources, StoredRollout, StoredStates};

/// The content of an assignment at a place that does not have the desired one yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldContent {
    /// The ring of the place. None: the environment has no rings.
    pub ring: Option<Arc<str>>,
    /// Since when, if the state of the rollout says it.
    pub since: Option<Timestamp>,
    /// Why the place does not have the desired content.
    pub reason: Arc<str>,
    /// What the sources give now.
    pub desired: Origins,
    /// What the place has.
    pub held: PlaceHoldings,
}

/// What a content was rendered from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The release of the workload. None: no key names it.
    pub release: Option<Arc<str>>,
    /// The commit of the main branch.
    pub main: Option<GitId>,
}

/// The content that a place has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceHoldings {
    /// No folder.
    Nothing,
    /// The content of a revision: its folder is the same.
    Revision(Origins),
    /// The content of no revision that the state of the rollout knows.
    Unknown,
}

/// Finds what the places of an environment with rings hold.
pub struct HeldContents<'a> {
    loaded: &'a Loaded,
    access: &'a RepositoryAccess,
    prepared: &'a Prepared,
    /// The workloads of the deployment targets.
    workloads: HashMap<DeploymentTargetName, Arc<str>>,
    renames: Renames,
    states: StoredStates,
    membership: Membership,
    branches: Arc<[PublishedBranch]>,
    /// Earlier states of the environment. None: it can't be read.
    earlier: BTreeMap<RevisionSources, Option<Arc<Prepared>>>,
}

/// A branch of the environment.
struct PublishedBranch {
    branch: Branch,
    folder: Folder,
    /// The sources of the environment now.
    latest: Option<RevisionSources>,
    /// The version of this program, if it is not admitted and another one rendered the newest publication.
    renderer: Option<Arc<str>>,
}

/// An assignment whose published folder is not the desired one.
struct Differing<'i> {
    id: &'i AssignmentId,
    /// The name under which it is published, which may be an earlier one.
    published_id: Cow<'i, AssignmentId>,
    /// The git id of its published folder, if there is one.
    published: Option<GitId>,
    /// Whether it can't be rendered.
    has_errors: bool,
}

impl<'a> HeldContents<'a> {
    /// Reads the states of the rollouts, and the branches. `prepared` is the environment as it is desired. None: the environment has no rings.
    ///
    /// # Errors
    /// If the states or a branch can't be read.
    pub fn read(loaded: &'a Loaded, prepared: &'a Prepared) -> Result<Option<Self>, DestinationError> {
        let Some(access) = loaded.access.as_deref().filter(|_| loaded.is_guarded()) else { return Ok(None) };
        let environment = &loaded.fleet.environment;
        let states = rollout_store::read(access, environment)
            .map_err(|error| DestinationError::Rollouts { reason: error.to_string() })?;
        let renames = Renames::new(prepared);
        let states = states.following(renames.workloads());
        let declared = loaded.graph.promotion(environment.as_str()).map(|promotion| &**promotion);
        let promotion = states.admitted_promotion().or(declared).filter(|promotion| !promotion.rings.is_empty());
        let Some(membership) = promotion.and_then(|promotion| Membership::new(&loaded.fleet, promotion)) else {
            return Ok(None);
        };
        let mut branches = Vec::new();
        for object in loaded.fleet.gitops_repos.values() {
            let branch = Branch::read(loaded, (object.name.as_str(), &object.spec.place), None)?;
            let published = branch.publications(loaded, 1)?;
            let newest = published.as_ref().and_then(|published| published.newest());
            branches.push(PublishedBranch {
                folder: folder_of(object)?,
                latest: RevisionSources::read(loaded, &branch).ok(),
                renderer: newest.and_then(|newest| kept_folders::undecided(loaded, newest)),
                branch,
            });
        }
        let targets = prepared.targets().iter();
        let workloads = targets.map(|target| (target.name.clone(), subject(target))).collect();
        let earlier = BTreeMap::new();
        let branches = branches.into();
        Ok(Some(Self { loaded, access, prepared, workloads, renames, states, membership, branches, earlier }))
    }

    /// The assignments whose published folder is not the desired one. `desired` has the git id of the folder of each assignment. An assignment without one has errors.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn find(
        &mut self,
        ids: &[AssignmentId],
        desired: &[Option<GitId>],
    ) -> Result<BTreeMap<AssignmentId, HeldContent>, OpenError> {
        let mut found = BTreeMap::new();
        for at in Arc::clone(&self.branches).iter() {
            let open = |sealed: &Sealed| at.branch.open(sealed);
            let mut folders = AssignmentFolders::new(&at.branch.tree, &at.folder, &open)?;
            let mut differing = Vec::new();
            for (id, desired) in ids.iter().zip(desired) {
                let published = folders.find(id)?;
                if published != *desired {
                    let earlier = if published.is_none() { self.earlier_folder(id, &mut folders)? } else { None };
                    let (published_id, published) = match earlier {
                        Some((earlier, folder)) => (Cow::Owned(earlier), Some(folder)),
                        None => (Cow::Borrowed(id), published),
                    };
                    differing.push(Differing { id, published_id, published, has_errors: desired.is_none() });
                }
            }
            let origins = self.origins_of(&at.branch, &differing);
            let contents = differing.iter().filter_map(|one| Some((one.id.clone(), self.content(at, one, &origins)?)));
            found.extend(contents);
        }
        Ok(found)
    }

    /// The published folder of an assignment under an earlier name.
    fn earlier_folder(
        &self,
        id: &AssignmentId,
        folders: &mut AssignmentFolders<'_>,
    ) -> Result<Option<(AssignmentId, GitId)>, OpenError> {
        for (place, target) in self.renames.predecessors(id.place.as_str(), id.target.as_str()) {
            let (Ok(place), Ok(target)) = (PlaceName::new(place), DeploymentTargetName::new(target)) else { continue };
            let earlier = AssignmentId { place, target };
            if let Some(folder) = folders.find(&earlier)? {
                return Ok(Some((earlier, folder)));
            }
        }
        Ok(None)
    }

    fn content(
        &self,
        at: &PublishedBranch,
        Differing { id, published_id, published, has_errors }: &Differing<'_>,
        origins: &BTreeMap<AssignmentId, Origins>,
    ) -> Option<HeldContent> {
        let location = self.membership.locate(id.place.as_str());
        let ring = self.membership.rings.get(location.ring)?;
        let held = match (published, origins.get(&**published_id)) {
            (None, _) => PlaceHoldings::Nothing,
            (Some(_), Some(found)) => PlaceHoldings::Revision(found.clone()),
            (Some(_), None) => PlaceHoldings::Unknown,
        };
        let (reason, since) = match &at.renderer {
            Some(version) if held == PlaceHoldings::Unknown && self.has_proved_sources(id) => {
                (format!("{SUBJECT} {version} is not admitted yet").into(), None)
            }
            _ if *has_errors => ("it has errors".into(), None),
            _ => self.reason(self.workloads.get(&id.target)?, &location),
        };
        let desired = self.origins(id, (self.prepared, at.latest.as_ref()));
        Some(HeldContent { ring: Some(Arc::clone(&ring.name)), since, reason, desired, held })
    }

    fn origins(&self, id: &AssignmentId, (prepared, sources): (&Prepared, Option<&RevisionSources>)) -> Origins {
        let of_both = sources.zip(self.workloads.get(&id.target));
        Origins {
            release: placed_release(prepared, id).map(|placed| placed.release.text()),
            main: of_both.and_then(|(sources, workload)| platform(self.access, workload, sources).main),
        }
    }

    /// What published folders were rendered from: the first revision of the rollout's state that gives the same folder, beginning with the proved one.
    fn origins_of(&mut self, branch: &Branch, differing: &[Differing<'_>]) -> BTreeMap<AssignmentId, Origins> {
        let published: BTreeMap<_, _> = differing.iter().map(|one| (&*one.published_id, one.published)).collect();
        let mut found = BTreeMap::new();
        for (sources, mut ids) in self.candidates(differing) {
            ids.retain(|id| !found.contains_key(id));
            if ids.is_empty() {
                continue;
            }
            let Some(prepared) = self.earlier(branch, &sources) else { continue };
            let folders = SingleAssignments::new(&prepared, ids.iter()).folders(&ids);
            let same = ids.into_iter().zip(folders).filter(|(id, folder)| published.get(id) == Some(folder));
            found.extend(same.map(|(id, _)| {
                let origins = self.origins(&id, (&prepared, Some(&sources)));
                (id, origins)
            }));
        }
        found
    }

    /// The sources of the revisions that each assignment with a folder may have, the proved ones first.
    fn candidates(&self, differing: &[Differing<'_>]) -> Vec<(RevisionSources, Vec<AssignmentId>)> {
        let mut found: [BTreeMap<&RevisionSources, BTreeSet<&AssignmentId>>; 2] = Default::default();
        for Differing { id, published_id, .. } in differing.iter().filter(|one| one.published.is_some()) {
            let Some(stored) = self.stored(id) else { continue };
            let proved = stored.state.stable.as_ref().map(|stable| &stable.revision);
            for (revision, sources) in &stored.revisions {
                let [of_proved, of_others] = &mut found;
                let of_kind = if proved == Some(revision) { of_proved } else { of_others };
                of_kind.entry(sources).or_default().insert(&**published_id);
            }
        }
        let all = found.into_iter().flatten();
        all.map(|(sources, ids)| (sources.clone(), ids.into_iter().cloned().collect())).collect()
    }

    fn stored(&self, id: &AssignmentId) -> Option<&StoredRollout> {
        self.states.rollouts.get(self.workloads.get(&id.target)?)?.as_ref().ok()
    }

    /// Whether the sources of the proved revision are known: then only another version of Kalypso renders other folders from them.
    fn has_proved_sources(&self, id: &AssignmentId) -> bool {
        let of_both = self.stored(id).and_then(|stored| Some((stored, &stored.state.stable.as_ref()?.revision)));
        of_both.is_some_and(|(stored, proved)| stored.revisions.contains_key(proved))
    }

    /// An earlier state of the environment, which is read once.
    fn earlier(&mut self, branch: &Branch, sources: &RevisionSources) -> Option<Arc<Prepared>> {
        if let Some(known) = self.earlier.get(sources) {
            return known.clone();
        }
        let read = branch.load_at(self.loaded, vec![sources.publication()]).ok();
        let prepare = |earlier: Loaded| Arc::new(Prepared::with_progress(&earlier.fleet, &self.access.progress));
        let prepared = read.map(prepare);
        self.earlier.insert(sources.clone(), prepared.clone());
        prepared
    }

    /// Why a place does not have the desired content of a workload, and since when.
    fn reason(&self, workload: &str, location: &RingLocation) -> (Arc<str>, Option<Timestamp>) {
        let stored = match self.states.rollouts.get(workload) {
            None => return ("its first rollout has not begun".into(), None),
            Some(Err(error)) => return (format!("the state of its rollout can't be read: {error}").into(), None),
            Some(Ok(stored)) => stored,
        };
        let state = &stored.state;
        if !state.is_of(&layout(&self.membership.rings)) {
            return ("the rings changed, and the rollout begins again".into(), None);
        }
        let (reason, since) = match state.content(location.ring, &location.domain, location.hash) {
            Content::Moving | Content::Rest => ("it is not published yet".into(), None),
            Content::Published => at_rest(state),
            Content::Base | Content::Stable => self.behind(state, location),
        };
        let hold = self.states.hold().or(state.hold.as_ref());
        let on_hold = hold.map(|hold| format!("{reason}; held by {}: {}", hold.by, hold.reason).into());
        (on_hold.unwrap_or(reason), since)
    }

    /// Why a place does not have what moves.
    fn behind(&self, state: &RolloutState, location: &RingLocation) -> (Arc<str>, Option<Timestamp>) {
        let interrupted = state.interrupted.as_ref().map(|interrupted| &interrupted.movement);
        let Some(movement) = interrupted.or(state.current.as_ref()) else { return at_rest(state) };
        let Move { phase, ring, started, gates, .. } = movement;
        match phase {
            MoveStage::RollingBack { reason, since } => (format!("it is rolled back: {reason}").into(), Some(*since)),
            MoveStage::Stopped { reason, since, .. } => (format!("the rollout stopped: {reason}").into(), Some(*since)),
            MoveStage::Moving => {
                let at = self.membership.rings.get(*ring).map_or("", |ring| &ring.name);
                let waiting = gates.iter().find(|gate| gate.status == GateStatus::Waiting);
                let waits = waiting.map(|gate| format!("waits for {}: {}", gate.name, gate.text));
                let reason = match (waits, *ring < location.ring) {
                    (Some(waits), true) => format!("the rollout is in ring {at}, and {waits}"),
                    (None, true) => format!("the rollout is in ring {at}"),
                    (Some(waits), false) => waits,
                    (None, false) => "the rollout in this ring has not reached the place".to_owned(),
                };
                (reason.into(), Some(*started))
            }
        }
    }
}

/// Why a place does not have the desired content of a workload that does not move.
fn at_rest(state: &RolloutState) -> (Arc<str>, Option<Timestamp>) {
    if let Some(RolledBack { decision: Decision { by, at, reason }, .. }) = &state.rolled_back {
        return (format!("rolled back by {by}: {reason}").into(), Some(*at));
    }
    match state.rejected.last() {
        Some(rejection) => (format!("its rollout ended: {}", rejection.reason).into(), rejection.at),
        None => ("its rollout has not begun".into(), None),
    }
}

impl Origins {
    /// What differs from another content, in words: the release, or else the commit of the main branch. Empty if only values differ.
    fn difference(&self, other: &Self) -> String {
        let release = self.release.as_ref().filter(|_| self.release != other.release).map(ToString::to_string);
        let main =
            || self.main.filter(|_| self.main != other.main).map(|main| format!("commit {} of main", main.short()));
        release.or_else(main).unwrap_or_default()
    }
}

/// Writes `2.4.0 desired, 2.3.0 published in ring clinics`.
impl fmt::Display for HeldContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: String, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text };
        let desired = || self.desired.difference(&Origins::default());
        let (desired, held) = match &self.held {
            PlaceHoldings::Nothing => (desired(), "nothing".to_owned()),
            PlaceHoldings::Unknown => (desired(), "other content".to_owned()),
            PlaceHoldings::Revision(held) => {
                (self.desired.difference(held), or(held.difference(&self.desired), "the earlier content"))
            }
        };
        write!(f, "{} desired, {held} published", or(desired, "newer content"))?;
        self.ring.as_ref().map_or(Ok(()), |ring| write!(f, " in ring {ring}"))
    }
}
