//! The sources of values and applications of an environment.

use std::sync::Arc;

use super::facts::{Facts, RevisionEvidence, SourceHead, WaitingSource};
use super::{PlannedSource, State, StepPlan};
use crate::promotion::origin::for_origin;
use crate::promotion::source::{self, People, SourceInput, SourceStep};
use crate::promotion::state::AdvanceState;

/// Decides which commits of its sources the output follows. A source is recorded while a gate is for its origin, or while a person holds it. All others are read at their
/// heads. One that was not read keeps its state: when it is back, its newest commit is no beginning.
pub(super) fn plan(facts: &dyn Facts, state: &State, plan: &mut StepPlan) {
    let Some(sources) = facts.sources() else { return };
    let gates =
        |origin| plan.promotion.as_ref().map(|promotion| for_origin(promotion, origin).gates).unwrap_or_default();
    let mut waiting = Vec::new();
    for source in sources {
        let recorded = state.sources.get(&source.name);
        let is_held = recorded.and_then(|recorded| recorded.hold.as_ref()).or(state.hold()).is_some();
        let gates = gates(source.origin);
        if is_held || !gates.is_empty() {
            let state = recorded.cloned().unwrap_or_else(|| AdvanceState::beginning(source.commit.clone()));
            waiting.push(WaitingSource { source, gates, state });
        } else if recorded.is_some() {
            plan.released_sources.push(source.name);
        }
    }
    let heads = facts.heads(&waiting);
    for (waiting, head) in waiting.into_iter().zip(heads) {
        let name = Arc::clone(&waiting.source.name);
        let step = match head {
            Ok(head) => Ok(decide(facts, state, (&waiting, &head))),
            Err(problem) => {
                plan.problems.push(format!("{name}: {problem}"));
                Err(Box::new(waiting.state))
            }
        };
        plan.sources.push(PlannedSource { name, step });
    }
}

fn decide(facts: &dyn Facts, state: &State, (waiting, head): (&WaitingSource, &SourceHead)) -> SourceStep {
    let unmerged: Option<Vec<_>> = head.unmerged.as_ref().map(|all| all.iter().map(people).collect());
    let input = SourceInput {
        now: facts.now(),
        gates: &waiting.gates,
        head: &head.revision,
        is_change: head.is_change,
        people: people(&head.evidence),
        candidate: head.candidate.as_ref().map(people),
        unmerged: unmerged.as_deref(),
        teams: facts.teams(),
        hold: state.hold(),
    };
    source::step(&input, &waiting.state)
}

fn people(evidence: &RevisionEvidence) -> People<'_> {
    People { approvals: &evidence.approvals, authors: &evidence.authors }
}
