//! Values and applications on their way into an environment: reads their newest commits for a decision, and records what was decided.
//!
//! A source is recorded while a gate that asks people or the clock is for its origin, or while a person holds it. The output is rendered from the recorded commit,
//! whatever the branch has. All other sources are read at their heads.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::state::{AdvanceState, Candidate, Revision, Unmerged};
use engine::promotion::step::{Known, RevisionEvidence, SourceFacts, SourceHead, StepPlan, WaitingSource};
use git::Commit;
use git::load::{Read, RequestThreads};
use model::git_id::GitId;

use super::changes::{Change, DecidedEvents, is_worth_storing};
use super::context::{Context, Memory};
use super::line;
use super::people;
use crate::access::RepositoryAccess;
use crate::sources::found_sources::{self, FoundSource};
use crate::sources::source_difference::{Reader, SourceCommits};
use crate::states::rollout_store::{Advances, StoredSource};

/// The number of commits of a source since the admitted one whose pull requests are asked for approvals.
const COMMITS_MAX: usize = 50;

/// A source, as a decision needs it.
pub(super) fn of_step(source: &FoundSource) -> SourceFacts {
    SourceFacts { name: Arc::clone(&source.name), origin: source.origin, commit: line::revision(source.commit) }
}

/// Reads the newest commits of sources.
#[derive(Clone, Copy)]
pub(super) struct SourceReader<'a> {
    pub(super) context: &'a Context<'a>,
    /// The sources that the publication read.
    pub(super) sources: &'a [FoundSource],
    /// The stored changes on their way into the environment.
    pub(super) advances: Option<&'a Advances>,
    /// Whether the branches that clusters pull have everything that was rendered.
    pub(super) is_out: bool,
}

/// A source that waits, with its newest commit.
struct ReadSource<'a> {
    waiting: &'a WaitingSource,
    source: &'a FoundSource,
    head: &'a Commit,
}

impl SourceReader<'_> {
    /// The newest commits of sources that wait.
    pub(super) fn heads(self, waiting: &[WaitingSource], memory: &mut Memory) -> Vec<Known<SourceHead>> {
        let all: BTreeMap<_, _> = self.sources.iter().map(|source| (&source.name, source)).collect();
        let found: Vec<_> = waiting.iter().map(|one| (one, all.get(&one.source.name).copied())).collect();
        let repositories = &*self.context.access.repositories;
        let head =
            |(_, source): &(&WaitingSource, Option<&FoundSource>)| source.map(|source| source.head(repositories));
        let heads = RequestThreads::for_requests(found.len()).map(&found, head);
        let mut answers = Vec::new();
        for ((waiting, source), head) in found.into_iter().zip(heads) {
            answers.push(match (source, head) {
                (Some(source), Some(Ok(head))) => self.head(ReadSource { waiting, source, head: &head }, memory),
                (_, Some(Err(error))) => Err(error.to_string().into()),
                _ => Err("it was not read".into()),
            });
        }
        answers
    }

    fn head(self, read: ReadSource<'_>, memory: &mut Memory) -> Known<SourceHead> {
        let ReadSource { waiting: WaitingSource { gates, state, .. }, source, head } = read;
        let Context { access, environment, hosts, now, .. } = *self.context;
        let admitted = state.admitted.as_ref().and_then(line::commit).unwrap_or(source.commit);
        let is_recorded = |(_, state): &(&Arc<str>, &AdvanceState)| state.admitted.is_some();
        let releases = self.advances.map(|advances| advances.releases.iter().filter(is_recorded)).into_iter().flatten();
        let releases = releases.map(|(workload, _)| Arc::clone(workload)).collect();
        let is_change = head.id != admitted
            && memory.differences.differ(
                &*access.repositories,
                SourceCommits { old: &source.at(admitted), new: head, paths: &source.paths },
                Reader { environment, releases: &releases },
            )?;
        let needs_people = gates.iter().any(|gate| gate.kind.is_approval());
        let people_of = |newest: &Commit, since: GitId| {
            let commits = commits_since(self.context, newest, since);
            let (authors, approvals) = people::of_source(hosts, (&commits, &source.revision), now);
            RevisionEvidence { approvals, authors, ..RevisionEvidence::default() }
        };
        let is_approved = |current: &&Candidate| !current.approvals.is_empty();
        let candidate = state.current.as_ref().filter(|_| needs_people).filter(is_approved);
        let candidate = candidate.and_then(|current| line::commit(&current.revision)).filter(|id| *id != head.id);
        let is_contained = |id: &GitId| commits_since(self.context, head, admitted).iter().any(|one| one.id == *id);
        let candidate = candidate.filter(is_contained).map(|id| people_of(&source.at(id), admitted));
        let is_out = self.is_out && source.commit == admitted;
        let still = |unmerged: &Unmerged| {
            let commit = |revision: Option<&Revision>| revision.and_then(line::commit).filter(|_| needs_people);
            let ends = commit(unmerged.from.as_ref()).zip(commit(Some(&unmerged.change.revision)));
            ends.map(|(from, to)| people_of(&source.at(to), from)).unwrap_or_default()
        };
        Ok(SourceHead {
            revision: line::revision(head.id),
            is_change,
            evidence: if needs_people && is_change { people_of(head, admitted) } else { RevisionEvidence::default() },
            candidate,
            unmerged: (!is_out).then(|| state.unmerged.iter().map(still).collect()),
        })
    }
}

/// The commits from the newest one to the one after the admitted one, along the first parents. Empty: the admitted one is not among the last.
fn commits_since(context: &Context<'_>, head: &Commit, admitted: GitId) -> Vec<Commit> {
    let history = context.access.repositories.history(head, COMMITS_MAX).unwrap_or_default();
    let end = history.iter().position(|commit| commit.id == admitted);
    end.map(|end| history.into_iter().take(end).collect()).unwrap_or_default()
}

/// Adds what was decided about all sources to a change. Returns whether the output follows other commits now. What is recorded for the first time is published already.
pub(super) fn record(sources: &[FoundSource], plan: &StepPlan, before: &Advances, change: &mut Change) -> bool {
    let mut after = before.sources.clone();
    after.retain(|name, _| !plan.released_sources.contains(name));
    let places: BTreeMap<_, _> = sources.iter().map(|source| (&source.name, source.source_name())).collect();
    for planned in &plan.sources {
        let Some(place) = places.get(&planned.name) else { continue };
        let stored = StoredSource { source: place.clone(), state: planned.state().clone() };
        after.insert(Arc::clone(&planned.name), stored);
    }
    let events = plan.sources.iter().filter_map(|planned| Some((&planned.name, &planned.step.as_ref().ok()?.events)));
    let events: Vec<_> = events.filter(|(_, events)| !events.is_empty()).collect();
    let is_same = |(name, stored): (&Arc<str>, &StoredSource)| {
        let known = before.sources.get(name).filter(|known| known.source == stored.source);
        known.is_some_and(|known| !is_worth_storing(&known.state, &stored.state))
    };
    if events.is_empty() && after.len() == before.sources.len() && after.iter().all(is_same) {
        return false;
    }
    let admitted = |sources: &BTreeMap<Arc<str>, StoredSource>| {
        let of = |found: &StoredSource| (found.source.clone(), found.state.admitted.clone());
        sources.values().map(of).collect::<BTreeMap<_, _>>()
    };
    let known = admitted(&before.sources);
    let mut now = admitted(&after);
    now.retain(|source, _| known.contains_key(source));
    change.set_sources(after);
    for (name, events) in events {
        change.add_events(Some(name), DecidedEvents::by_controller(events));
    }
    known != now
}

/// The sources that a publication read, as they are recorded for the first time.
pub(super) fn begun(access: &RepositoryAccess, reads: &[Read]) -> BTreeMap<Arc<str>, StoredSource> {
    let stored = |source: FoundSource| {
        let state = AdvanceState::beginning(line::revision(source.commit));
        (Arc::clone(&source.name), StoredSource { source: source.source_name(), state })
    };
    found_sources::of_reads(access, reads).into_iter().map(stored).collect()
}
