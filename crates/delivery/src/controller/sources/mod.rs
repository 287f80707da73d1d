//! Values and applications on their way into an environment: decides which commits of their sources the output follows, and stores the decisions.
//!
//! A source is recorded while a gate that asks people or the clock is for its origin, or while a person holds it. The output is rendered from the recorded commit,
//! whatever the branch has. All other sources are read at their heads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::origin::for_origin;
use engine::promotion::report::Event;
use engine::promotion::source::{People, SourceInput, SourceStep, step};
use engine::promotion::state::{AdvanceState, Decision, Revision, Unmerged};
use git::Commit;
use git::load::{Read, RequestThreads};
use hub_api::promotions::{SubjectKind, SubjectStatus};
use model::git_id::GitId;
use model::object::Promotion;
use model::object::promotion::{ChangeOrigin, Gate, GateKind};

use super::changes::{Change, is_worth_storing};
use super::context::{Context, Memory};
use super::error::ControllerError;
use super::line;
use super::people;
use super::published::Published;
use super::status;
use crate::access::RepositoryAccess;
use crate::found_sources::{self, Source};
use crate::rollout_store::{self, Advances, StoredSource, StoredStates};
use crate::source_difference::Reader;

/// The number of commits of a source since the admitted one whose pull requests are asked for approvals.
const COMMITS_MAX: usize = 50;

/// The result of a round for all sources.
pub(super) enum SourceMoves {
    /// The output follows other commits now, or another program stored a state: everything is read again.
    Again { has_moved: bool },
    /// Where the sources stand.
    Found(FoundSources),
}

/// Where the sources stand.
#[derive(Default)]
pub(super) struct FoundSources {
    /// The sources, as the API shows them.
    pub(super) subjects: Vec<SubjectStatus>,
    /// What can't be read, and why.
    pub(super) problems: Vec<String>,
    /// Whether a newer commit waits.
    pub(super) is_moving: bool,
}

/// Decides about all sources, and stores the decisions. If the sources of the publication right before are not known, nothing changes.
pub(super) fn move_all(
    context: &Context<'_>,
    published: Option<&Published>,
    memory: &mut Memory,
) -> Result<SourceMoves, ControllerError> {
    let sources = published.and_then(|published| published.sources.as_deref());
    let (Some(sources), Some(published)) = (sources, published) else {
        return Ok(SourceMoves::Found(FoundSources::default()));
    };
    let stored = rollout_store::read(context.access, context.environment)?;
    let advances = match &stored.advances {
        // The platform says that the state can't be read.
        Some(Err(_)) => return Ok(SourceMoves::Found(FoundSources::default())),
        Some(Ok(advances)) => advances.clone(),
        None => Advances::default(),
    };
    let promotion = context.plane.in_force(context.environment, (&stored, None));
    let has_release = |(_, state): &(&Arc<str>, &AdvanceState)| state.admitted.is_some();
    let releases = advances.releases.iter().filter(has_release).map(|(workload, _)| Arc::clone(workload)).collect();
    let is_proposed = published.is_proposed();
    let round = Round { context, promotion: promotion.as_ref(), before: &advances, releases, is_proposed };
    let decided = round.decide(sources, memory);
    if !context.is_read_only && (decided.is_worth_storing(&advances) || !decided.events.is_empty()) {
        return decided.store(context, (&stored, advances));
    }
    Ok(SourceMoves::Found(decided.found))
}

/// What a round decides about the sources.
#[derive(Default)]
struct DecidedSources {
    after: BTreeMap<Arc<str>, StoredSource>,
    events: Vec<(Arc<str>, Vec<Event>)>,
    found: FoundSources,
}

impl DecidedSources {
    fn is_worth_storing(&self, before: &Advances) -> bool {
        let is_same = |(name, stored): (&Arc<str>, &StoredSource)| {
            let known = before.sources.get(name).filter(|known| known.source == stored.source);
            known.is_some_and(|known| !is_worth_storing(&known.state, &stored.state))
        };
        self.after.len() != before.sources.len() || !self.after.iter().all(is_same)
    }

    fn store(
        self,
        context: &Context<'_>,
        (stored, before): (&StoredStates, Advances),
    ) -> Result<SourceMoves, ControllerError> {
        let admitted = |sources: &BTreeMap<Arc<str>, StoredSource>| {
            let of = |found: &StoredSource| (found.source.clone(), found.state.admitted.clone());
            sources.values().map(of).collect::<BTreeMap<_, _>>()
        };
        // What is recorded for the first time is published already.
        let known = admitted(&before.sources);
        let mut now = admitted(&self.after);
        now.retain(|source, _| known.contains_key(source));
        let has_moved = known != now;
        let mut change = Change::new(stored, before);
        change.set_sources(self.after);
        for (name, events) in &self.events {
            change.add_source_events(context.environment, name, events);
        }
        let is_stored = change.store(context)?;
        if !is_stored || has_moved {
            return Ok(SourceMoves::Again { has_moved: is_stored });
        }
        Ok(SourceMoves::Found(self.found))
    }
}

/// A source whose newer commits wait for gates, or for the end of a hold.
struct GatedSource<'s> {
    source: &'s Source,
    gates: Vec<Gate>,
    state: AdvanceState,
}

struct Round<'a> {
    context: &'a Context<'a>,
    promotion: Option<&'a Promotion>,
    before: &'a Advances,
    /// The workloads whose releases are admitted.
    releases: BTreeSet<Arc<str>>,
    /// Whether a change of the output waits in a pull request.
    is_proposed: bool,
}

impl Round<'_> {
    fn decide(&self, sources: &[Source], memory: &mut Memory) -> DecidedSources {
        let gated: Vec<_> = sources.iter().filter_map(|source| self.gated(source)).collect();
        let repositories = &*self.context.access.repositories;
        let heads = RequestThreads::for_requests(gated.len()).map(&gated, |gated| gated.source.head(repositories));
        let mut decided = DecidedSources { after: self.unseen(sources), ..DecidedSources::default() };
        for (gated, head) in gated.into_iter().zip(heads) {
            let source = gated.source;
            let step = head.map_err(|error| error.to_string()).and_then(|head| self.step(&gated, &head, memory));
            match step {
                Ok(step) => decided.add(source, step),
                Err(problem) => {
                    decided.found.problems.push(format!("{}: {problem}", source.name));
                    let stored = StoredSource { source: source.source_name(), state: gated.state };
                    decided.after.insert(Arc::clone(&source.name), stored);
                }
            }
        }
        decided
    }

    /// The recorded sources that were not read, for example because their repository is down. They keep their commits: when they are back, their newest commits are no
    /// beginning.
    fn unseen(&self, sources: &[Source]) -> BTreeMap<Arc<str>, StoredSource> {
        let is_unseen = |name: &Arc<str>| sources.iter().all(|source| source.name != *name);
        let recorded = self.before.sources.iter().filter(|(name, _)| is_unseen(name));
        recorded.map(|(name, stored)| (Arc::clone(name), stored.clone())).collect()
    }

    /// A source with its gates and its state. None: nothing holds it.
    fn gated<'s>(&self, source: &'s Source) -> Option<GatedSource<'s>> {
        let before = self.before.sources.get(&source.name).filter(|known| known.source == source.source_name());
        let gates = self.promotion.map(|promotion| for_origin(promotion, source.origin).gates).unwrap_or_default();
        let own_hold = before.and_then(|before| before.state.hold.as_ref());
        let is_held = own_hold.or(self.hold()).is_some();
        let state = before.map_or_else(|| baseline(source), |before| before.state.clone());
        (!gates.is_empty() || is_held).then_some(GatedSource { source, gates, state })
    }

    /// A hold of the whole environment.
    fn hold(&self) -> Option<&Decision> {
        self.before.hold()
    }

    fn step(&self, gated: &GatedSource<'_>, head: &Commit, memory: &mut Memory) -> Result<SourceStep, String> {
        let GatedSource { source, gates, state } = gated;
        let Context { access, environment, .. } = *self.context;
        let repositories = &*access.repositories;
        let admitted = state.admitted.as_ref().and_then(line::commit).unwrap_or(source.commit);
        let is_newer = head.id != admitted;
        let is_change = is_newer
            && memory.differences.differ(
                repositories,
                (&source.at(admitted), head),
                (&source.paths, Reader { environment, releases: &self.releases }),
            )?;
        let needs_people = gates.iter().any(is_approval);
        let people_of = |newest: &Commit, since: GitId| {
            let commits = self.commits_since(newest, since);
            people::of_source(self.context.hosts, (&commits, &source.revision), self.context.now)
        };
        let (author, approvals) =
            if needs_people && is_change { people_of(head, admitted) } else { (None, Vec::new()) };
        let is_out = !self.is_proposed && source.commit == admitted;
        let still = |unmerged: &Unmerged| {
            let commit = |revision: Option<&Revision>| revision.and_then(line::commit).filter(|_| needs_people);
            let ends = commit(unmerged.from.as_ref()).zip(commit(Some(&unmerged.change.revision)));
            ends.map(|(from, to)| people_of(&source.at(to), from)).unwrap_or_default()
        };
        let still: Vec<_> = state.unmerged.iter().filter(|_| !is_out).map(still).collect();
        let still: Vec<_> =
            still.iter().map(|(author, approvals)| People { approvals, author: author.as_deref() }).collect();
        let input = SourceInput {
            now: self.context.now,
            gates,
            head: &line::revision(head.id),
            is_change,
            people: People { approvals: &approvals, author: author.as_deref() },
            unmerged: (!is_out).then_some(&still),
            teams: self.context.evidence.teams,
            hold: self.hold(),
        };
        Ok(step(&input, state))
    }

    /// The commits from the newest one to the one after the admitted one, along the first parents. Empty: the admitted one is not among the last.
    fn commits_since(&self, head: &Commit, admitted: GitId) -> Vec<Commit> {
        let history = self.context.access.repositories.history(head, COMMITS_MAX).unwrap_or_default();
        let end = history.iter().position(|commit| commit.id == admitted);
        end.map(|end| history.into_iter().take(end).collect()).unwrap_or_default()
    }
}

impl DecidedSources {
    fn add(&mut self, source: &Source, step: SourceStep) {
        let SourceStep { state, report, events } = step;
        self.found.is_moving |= state.current.is_some();
        if report.revision.is_some() || !report.waiting.is_empty() {
            self.found.subjects.push(status::of_source(&source.name, kind(source.origin), (&state, &report)));
        }
        if !events.is_empty() {
            self.events.push((Arc::clone(&source.name), events));
        }
        self.after.insert(Arc::clone(&source.name), StoredSource { source: source.source_name(), state });
    }
}

fn is_approval(gate: &Gate) -> bool {
    matches!(gate.kind, GateKind::Approval(_))
}

/// The sources that a publication read, as they are recorded for the first time.
pub(super) fn begun(access: &RepositoryAccess, reads: &[Read]) -> BTreeMap<Arc<str>, StoredSource> {
    let stored = |source: Source| {
        (Arc::clone(&source.name), StoredSource { source: source.source_name(), state: baseline(&source) })
    };
    found_sources::of_reads(access, reads).into_iter().map(stored).collect()
}

/// A source that is recorded for the first time: the output has what was read.
fn baseline(source: &Source) -> AdvanceState {
    let at: Revision = line::revision(source.commit);
    AdvanceState { at: Some(at.clone()), admitted: Some(at), ..AdvanceState::default() }
}

fn kind(origin: ChangeOrigin) -> SubjectKind {
    match origin {
        ChangeOrigin::Application => SubjectKind::Application,
        _ => SubjectKind::Values,
    }
}
