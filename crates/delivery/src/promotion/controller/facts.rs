//! What a step knows of its environment: read from git, from the hub and from the git hosts, where the decision asks for it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::advance::FromEnvironment;
use engine::promotion::evidence::{Approver, Authors, Measured};
use engine::promotion::gates::Teams;
use engine::promotion::graph::StepSource;
use engine::promotion::state::{AdvanceState, BranchPosition, Revision, RolloutState};
use engine::promotion::step::{
    Facts, Known, ReleaseFacts, Renderer, RevisionEvidence, RolloutFacts, Settled, SourceFacts, SourceHead, State,
    Subject, WaitingSource,
};
use git::Commit;
use jiff::Timestamp;
use model::object::Promotion;

use super::before::BeforeEnvironment;
use super::branch_move::ProposingBranch;
use super::commit_move::proposing_branch;
use super::context::{Context, Memory};
use super::evidence::CheckRequest;
use super::line;
use super::people;
use super::plane::EnvironmentStanding;
use super::platform::PlatformMove;
use super::published::PublicationFacts;
use super::published_folders::{GitOpsCommit, PublishedFolders};
use super::release_facts::PublishedRelease;
use super::releases::ReleaseMove;
use super::rollouts::{Destination, Workload};
use super::settled::ShownOutput;
use super::sources::{self, SourceReader};
use super::states;
use super::statuses;
use crate::access::renderer::SUBJECT;
use crate::publication::publish::{End, Outcome, PlaceOutcome};
use crate::states::rollout_position;
use crate::states::rollout_store::{Advances, StateFileError, StoredStates};

/// What rendered an environment whose publications do not name a version.
const UNKNOWN_RENDERER: &str = "earlier";

/// What a step knows of its environment.
pub(super) struct StepFacts<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) standing: &'a EnvironmentStanding,
    pub(super) stored: &'a StoredStates,
    /// The stored changes on their way into the environment. None: they can't be read.
    pub(super) advances: Option<Advances>,
    /// Whether what it has is published, and where.
    shown: ShownOutput,
    baseline: Option<Revision>,
    destinations: Vec<Destination<'a>>,
    position: BranchPosition,
    memory: RefCell<&'a mut Memory>,
    before: RefCell<BTreeMap<Arc<str>, BeforeEnvironment>>,
}

impl<'a> StepFacts<'a> {
    /// After a round that admitted something, nothing about the environment itself is known.
    pub(super) fn new(
        context: &'a Context<'a>,
        standing: &'a EnvironmentStanding,
        stored: &'a StoredStates,
        memory: &'a mut Memory,
    ) -> Self {
        let is_known = context.plane.problem.is_none()
            && context.plane.step(context.environment).is_none_or(|step| step.problem.is_none());
        let destinations = context.output.filter(|_| is_known).map(Destination::all).unwrap_or_default();
        let has_rings = context.published.is_some_and(PublicationFacts::has_rings);
        Self {
            shown: match shown(context, standing) {
                shown if shown.settled.problem.is_some() => shown,
                _ if context.has_moved => nothing("the change that was admitted just now is not published yet"),
                _ if has_rings && !is_known => nothing("its rollouts can't be evaluated"),
                shown => shown,
            },
            baseline: baseline(context.output),
            position: rollout_position::from_heads(destinations.iter().filter_map(|destination| destination.head())),
            destinations,
            memory: RefCell::new(memory),
            before: RefCell::default(),
            advances: stored.known_advances().ok(),
            context,
            standing,
            stored,
        }
    }

    /// The stored states. A source with another repository or branch than before begins anew.
    pub(super) fn state(&self) -> State {
        let mut state = states::of_stored(self.stored);
        let recorded = self.advances.as_ref().map(|advances| &advances.sources);
        for source in self.published_sources() {
            let is_same = recorded.and_then(|recorded| recorded.get(&source.name));
            if is_same.is_some_and(|recorded| recorded.source != source.source_name()) {
                state.sources.remove(&source.name);
            }
        }
        state
    }

    /// The sources beside the main branch that the publication read. Empty: they are not known.
    pub(super) fn published_sources(&self) -> &'a [crate::sources::found_sources::FoundSource] {
        self.context.published.and_then(|published| published.sources.as_deref()).unwrap_or_default()
    }

    /// A workload in the rings.
    pub(super) fn workload<'s>(&'s self, name: &'s Arc<str>) -> Workload<'s> {
        Workload { context: self.context, name, destinations: &self.destinations, position: &self.position }
    }

    /// The commits of the main branch on their way into the environment.
    pub(super) fn platform(&self) -> PlatformMove<'_> {
        PlatformMove { context: self.context, standing: self.standing }
    }

    /// The release of a workload on its way into the environment. None: it is not published.
    pub(super) fn release<'s>(&'s self, workload: &'s Arc<str>, promotion: &'s Promotion) -> Option<ReleaseMove<'s>> {
        let published: &PublishedRelease = self.context.published?.releases.get(workload)?;
        Some(ReleaseMove { context: self.context, promotion, workload, published, standing: self.standing })
    }

    /// The commits of the GitOps branches with the output of the environment. None: it is not published.
    pub(super) fn gitops(&self) -> Option<&[GitOpsCommit]> {
        self.shown.published()
    }

    fn with_before<T>(&self, name: &Arc<str>, look: impl FnOnce(&BeforeEnvironment) -> T) -> T {
        let mut known = self.before.borrow_mut();
        let read = || BeforeEnvironment::read(self.context, name, &mut self.memory.borrow_mut().branches);
        look(known.entry(Arc::clone(name)).or_insert_with(read))
    }
}

impl Facts for StepFacts<'_> {
    fn now(&self) -> Timestamp {
        self.context.now
    }

    fn teams(&self) -> &Teams {
        self.context.evidence.teams
    }

    fn promotion(&self, commit: Option<&Revision>) -> Option<Promotion> {
        self.context.plane.promotion(self.context.environment, commit)
    }

    fn problem(&self, promotion: &Promotion) -> Option<Arc<str>> {
        problem(self.context, (promotion, self.stored), self.standing)
    }

    fn line(&self) -> &[Revision] {
        &self.context.plane.line.commits
    }

    fn named(&self) -> Option<&Revision> {
        self.standing.at.as_ref()
    }

    fn baseline(&self) -> Option<&Revision> {
        self.baseline.as_ref()
    }

    fn reverts_to(&self, state: &AdvanceState) -> Option<Revision> {
        reverts_to(self.context, state)
    }

    fn settled(&self) -> Settled {
        self.shown.settled.clone()
    }

    fn is_proposed(&self) -> bool {
        self.context.published.is_some_and(PublicationFacts::is_proposed)
    }

    fn is_published(&self) -> bool {
        self.context.published.is_some_and(|published| published.has_state(self.stored.head.as_ref()))
    }

    fn before(&self, environment: &Arc<str>, subject: &Subject) -> FromEnvironment {
        self.with_before(environment, |before| before.shows(subject))
    }

    fn measured(&self, before: Option<&Arc<str>>, subject: &Subject) -> Known<Measured> {
        let workload = match subject {
            Subject::Release(workload) => Some(&**workload),
            Subject::Main | Subject::Renderer => None,
        };
        let measured = |name: &str, commit: Option<&Revision>, shown: &ShownOutput| -> Known<Measured> {
            let Context { access, evidence, .. } = self.context;
            let is_by_status = evidence.hub.is_none() && !evidence.status_accounts.is_empty();
            // A status counts only about a commit that is published.
            let commits = shown.gitops(subject)?;
            if let Some(commit) = commit.and_then(line::commit).filter(|_| is_by_status && *subject == Subject::Main) {
                return statuses::measured(self.context, (name, commit), evidence.status_accounts);
            }
            let rows = evidence.places(name, workload)?;
            let folders = PublishedFolders::read(access, commits)?;
            Ok(if workload.is_some() { folders.workload(&rows) } else { folders.measured(&rows) })
        };
        match before {
            None => measured(self.context.environment.as_str(), self.standing.has(), &self.shown),
            Some(name) => self.with_before(name, |before| measured(name, before.commit(), &before.shown)),
        }
    }

    fn evidence(&self, subject: &Subject, revision: &Revision, promotion: &Promotion) -> RevisionEvidence {
        let workload = match subject {
            Subject::Main => None,
            Subject::Release(workload) => Some(&**workload),
            Subject::Renderer => Some(SUBJECT),
        };
        let environment = self.context.environment.as_str();
        let of_check = CheckRequest { environment, workload, revision: &revision.0, ring: None };
        let checks = self.context.evidence.checks(&promotion.gates, of_check);
        let needs_people = promotion.gates.iter().any(|gate| gate.kind.is_approval());
        let (authors, approvals) = match subject {
            _ if !needs_people => (Authors::default(), Vec::new()),
            Subject::Main => self.people_of(revision),
            Subject::Release(workload) => {
                let approvals = self.release(workload, promotion).map(|release| release.approvals(&revision.0));
                (Authors::default(), approvals.unwrap_or_default())
            }
            Subject::Renderer => (Authors::default(), Vec::new()),
        };
        RevisionEvidence { checks, approvals, authors }
    }

    fn releases(&self) -> Option<Vec<ReleaseFacts>> {
        let releases = self.context.published?.releases.iter();
        let one = |(workload, release): (&Arc<str>, &PublishedRelease)| ReleaseFacts {
            workload: Arc::clone(workload),
            labels: release.labels.clone(),
        };
        Some(releases.map(one).collect())
    }

    fn named_release(&self, workload: &Arc<str>, promotion: &Promotion) -> Option<Revision> {
        self.release(workload, promotion)?.at()
    }

    fn renderer(&self) -> Option<Renderer> {
        let is_known = self.context.output.is_some_and(is_complete);
        let places = self.context.output.filter(|_| is_known).map(|output| output.places.as_slice());
        let pending = places.unwrap_or_default().iter().find_map(|place| place.planned.renderer.as_ref());
        let published = |pending: &crate::access::renderer::Pending| pending.published.clone();
        let changes = pending.map(|pending| Revision(published(pending).unwrap_or_else(|| UNKNOWN_RENDERER.into())));
        Some(Renderer { version: Revision(Arc::clone(&self.context.access.renderer)), changes, is_known })
    }

    fn sources(&self) -> Option<Vec<SourceFacts>> {
        self.advances.as_ref()?;
        let sources = self.context.published?.sources.as_ref()?;
        Some(sources.iter().map(sources::of_step).collect())
    }

    fn heads(&self, waiting: &[WaitingSource]) -> Vec<Known<SourceHead>> {
        let reader = SourceReader {
            context: self.context,
            sources: self.published_sources(),
            advances: self.advances.as_ref(),
            is_out: self.context.published.is_some_and(PublicationFacts::is_out),
        };
        reader.heads(waiting, &mut self.memory.borrow_mut())
    }

    fn rollouts(&self) -> Vec<Arc<str>> {
        self.destinations.first().map(|first| first.rings.workloads()).into_iter().flatten().collect()
    }

    fn rollout(&self, workload: &Arc<str>, _: &RolloutState, promotion: &Promotion) -> Known<RolloutFacts<'_>> {
        if let Some(Err(error)) = self.stored.rollouts.get(workload) {
            return Err(error.to_string().into());
        }
        self.workload(workload).facts(self.stored, promotion, &mut self.memory.borrow_mut())
    }
}

impl StepFacts<'_> {
    /// Who wrote what a commit of the main branch brings to the environment, and who approved it.
    fn people_of(&self, commit: &Revision) -> (Authors, Vec<Approver>) {
        let Context { access, hosts, environment, now, plane, .. } = *self.context;
        let state = self.advances.as_ref().and_then(|advances| advances.platform.as_ref());
        let current = state.and_then(|state| state.current.as_ref()).filter(|current| current.revision == *commit);
        // What a candidate brings stays the same: the git host is not asked for each commit in each run.
        let known = current.and_then(|current| current.authors.clone()).filter(|authors| !authors.has_unknown);
        let authors = known.unwrap_or_else(|| {
            let brought = plane.line.brought(commit, state.and_then(|state| state.admitted.as_ref()));
            self.memory.borrow_mut().authors.authors(access, hosts, brought)
        });
        let branch = proposing_branch(environment);
        let branch = ProposingBranch { hosts, into: &self.standing.promoted.head, name: &branch };
        (authors, people::approvals(branch, &commit.0, now))
    }
}

/// Whether what the environment has is published, and where.
fn shown(context: &Context<'_>, standing: &EnvironmentStanding) -> ShownOutput {
    let recorded = || ShownOutput::recorded(context.plane.settled(context.environment, standing));
    let Some(published) = context.published else { return recorded() };
    if published.has_rings() && context.output.is_none() {
        return recorded();
    }
    if published.commit != standing.commit() || published.head != Some(standing.head()) {
        return nothing("its newest commits are not published yet");
    }
    ShownOutput::new(published.settled.clone(), published.gitops.clone())
}

fn nothing(why: &str) -> ShownOutput {
    ShownOutput::recorded(Err(why.into()))
}

/// What the environment had published before, if its last publication was refused: the refused commit is not there.
fn baseline(output: Option<&Outcome>) -> Option<Revision> {
    let refused = |place: &&PlaceOutcome| !place.refusals.is_empty();
    let refused = output?.places.iter().find(refused)?;
    let commit = refused.planned.earlier.as_ref()?.loaded.fleet.promoted_commit()?;
    Some(Revision(Arc::clone(commit)))
}

/// Whether it is known of all destinations what the version of this program changes there.
fn is_complete(output: &Outcome) -> bool {
    matches!(output.end, End::Complete) && output.failures.is_empty() && !output.places.is_empty()
}

/// Why no change can move into the environment. None: changes can.
fn problem(
    context: &Context<'_>,
    (promotion, stored): (&Promotion, &StoredStates),
    standing: &EnvironmentStanding,
) -> Option<Arc<str>> {
    let environment = context.environment;
    let step = context.plane.step(environment);
    let text = |error: &StateFileError| Some(error.to_string().into());
    if let Some(Err(error)) = &stored.promotion {
        return text(error);
    }
    if let Some(Err(error)) = &stored.advances {
        return text(error);
    }
    // Behind a gate, an environment that follows the head of the main branch could only have what the gate has not let in yet.
    let is_declared = step.is_none_or(|step| matches!(step.source, StepSource::Object(_)));
    let is_gated = || is_declared && promotion.is_gate_of_commits();
    let follows_head = standing.promoted.is_declared() && standing.promoted.commit.is_none();
    let without_commit = || {
        let text = format!(
            "BaseRepo `main` has no commit, although a promotion moves the main branch into `{environment}`: `kalypso check -e {environment}` shows the commit to write"
        );
        (follows_head && is_gated()).then(|| text.into())
    };
    context.plane.problem.clone().or_else(|| step?.problem.clone()).or_else(without_commit)
}

/// The commit that the environment has proved, and whose files the head of the main branch has again. None: there is none, or it can't be read.
fn reverts_to(context: &Context<'_>, state: &AdvanceState) -> Option<Revision> {
    let head = context.plane.line.head()?;
    let settings = &context.access.settings;
    let repositories = &*context.access.repositories;
    let tree = |revision: &Revision| {
        let id = line::commit(revision)?;
        let revision = git::Revision::Commit { id, branch: Some(settings.branch.as_str().into()) };
        Some(repositories.info(&Commit { url: settings.repo.clone(), revision, id }).ok()?.tree)
    };
    let wanted = tree(head)?;
    let proofs = state.proofs.iter().rev().map(|proof| &proof.revision);
    proofs.filter(|proof| *proof != head).find(|proof| tree(proof) == Some(wanted)).cloned()
}
