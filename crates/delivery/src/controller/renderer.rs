//! A version of Kalypso that changes output, on its way into an environment: decides, and stores the decision.

use std::sync::Arc;

use engine::promotion::advance::{self, AdvanceInput, AdvanceStep, FromEnvironment};
use engine::promotion::origin::for_origin;
use engine::promotion::report::Report;
use engine::promotion::state::{AdvanceState, CandidatePhase, Decision, Revision};
use model::object::promotion::{ChangeOrigin, OnFailure, Promotion};

use super::changes::{Change, is_worth_storing};
use super::context::{Context, Memory};
use super::error::ControllerError;
use super::evidence::CheckSubject;
use super::platform::Own;
use super::published_folders::GitOpsCommit;
use super::release_moves::{ReleaseMoves, known};
use super::releases::Before;
use super::status;
use crate::publish::{End, Outcome};
use crate::renderer::{Pending, SUBJECT};
use crate::rollout_store::{self, StoredStates};

/// What rendered an environment whose publications do not name a version.
const UNKNOWN: &str = "earlier";
/// The transitions from a waiting version to an admitted one.
const TRANSITIONS_MAX: usize = 4;

/// Moves this version of Kalypso into an environment whose output it changes. Without a complete `output`, it is not known whether it does: then no move begins, and one
/// that began goes on. A version that changes nothing needs no gate.
pub(super) fn move_renderer(
    context: &Context<'_>,
    (promotion, before): (&Promotion, &StoredStates),
    (output, own): (Option<&Outcome>, &Own<'_>),
    memory: &mut Memory,
) -> Result<ReleaseMoves, ControllerError> {
    let none = ReleaseMoves::Found { steps: Vec::new(), subjects: Vec::new(), problems: Vec::new() };
    let is_known = output.is_some_and(is_complete);
    let pending = output.filter(|_| is_known);
    let pending = pending.and_then(|output| output.places.iter().find_map(|place| place.planned.renderer.as_ref()));
    let has_state = before.advances.iter().flatten().any(|advances| advances.releases.contains_key(SUBJECT));
    if pending.is_none() && !has_state {
        return Ok(none);
    }
    // Releases may have moved since.
    let stored = rollout_store::read(context.access, context.environment)?;
    let advances = match known(&stored) {
        Ok(advances) => advances,
        Err(problem) => {
            return Ok(ReleaseMoves::Found { steps: Vec::new(), subjects: Vec::new(), problems: vec![problem] });
        }
    };
    let version = Revision(Arc::clone(&context.access.renderer));
    let before = match (advances.releases.get(SUBJECT), pending) {
        (None, None) => return Ok(none),
        (None, Some(pending)) => baseline(pending),
        (Some(state), _) => state.clone(),
    };
    let is_admitted = before.admitted.as_ref() == Some(&version);
    let decided = if is_admitted || pending.is_some() || !is_known {
        RendererMove { context, promotion, own, hold: stored.hold(), version: &version }.decide(&before, memory)
    } else {
        let state = AdvanceState { at: Some(version.clone()), admitted: Some(version), ..without_candidate(&before) };
        AdvanceStep { state, report: Report::at_rest(), action: None, events: Vec::new() }
    };
    if context.is_read_only {
        return Ok(found(decided));
    }
    let is_news = is_worth_storing(&before, &decided.state) || !decided.events.is_empty();
    if is_news || !advances.releases.contains_key(SUBJECT) {
        let mut change = Change::new(&stored, advances);
        change.set_release(context.environment, (&SUBJECT.into(), &decided.state), &decided.events);
        if !change.store(context)? {
            return Ok(ReleaseMoves::Again { has_moved: false });
        }
        if decided.state.admitted != before.admitted {
            return Ok(ReleaseMoves::Again { has_moved: true });
        }
    }
    Ok(found(decided))
}

fn found(decided: AdvanceStep) -> ReleaseMoves {
    let at = decided.state.admitted.as_ref();
    let subjects = vec![status::of_release(SUBJECT, at, (&decided.state, &decided.report))];
    ReleaseMoves::Found { steps: vec![decided], subjects, problems: Vec::new() }
}

/// Whether it is known of all destinations what this version changes there.
fn is_complete(output: &Outcome) -> bool {
    matches!(output.end, End::Complete) && output.failures.is_empty() && !output.places.is_empty()
}

/// The environment has what rendered its output.
fn baseline(pending: &Pending) -> AdvanceState {
    let published = Revision(pending.published.clone().unwrap_or_else(|| UNKNOWN.into()));
    AdvanceState { at: Some(published.clone()), admitted: Some(published), ..AdvanceState::default() }
}

fn without_candidate(state: &AdvanceState) -> AdvanceState {
    AdvanceState { current: None, waiting: Vec::new(), ..state.clone() }
}

/// This version, on its way into the environment.
struct RendererMove<'a> {
    context: &'a Context<'a>,
    promotion: &'a Promotion,
    own: &'a Own<'a>,
    /// A hold of the whole environment.
    hold: Option<&'a Decision>,
    version: &'a Revision,
}

impl RendererMove<'_> {
    fn decide(&self, before: &AdvanceState, memory: &mut Memory) -> AdvanceStep {
        // An earlier version can't be rendered: people install it again.
        let promotion = Promotion { on_failure: OnFailure::Stop, ..for_origin(self.promotion, ChangeOrigin::Main) };
        let from = self.from(&promotion, before, memory);
        let mut step = self.step(&promotion, &from, before);
        for _ in 0..TRANSITIONS_MAX {
            let next = self.step(&promotion, &from, &step.state);
            let is_same = next.state == step.state;
            let events = [std::mem::take(&mut step.events), next.events.clone()].concat();
            step = AdvanceStep { events, ..next };
            if is_same {
                break;
            }
        }
        step
    }

    /// The environments before. One with another version shows nothing of this one.
    fn from(&self, promotion: &Promotion, state: &AdvanceState, memory: &mut Memory) -> Vec<FromEnvironment> {
        let measure = |name: &str, settled: &Result<Vec<GitOpsCommit>, Arc<str>>| {
            self.context.published((name, None), settled.as_deref().map_err(Arc::clone))
        };
        let mut from = Before::read(self.context, promotion, memory).of(SUBJECT, &measure);
        for before in &mut from {
            if before.has.as_ref().is_some_and(|has| has != self.version) {
                before.has.clone_from(&state.admitted);
            }
        }
        from
    }

    fn step(&self, promotion: &Promotion, from: &[FromEnvironment], state: &AdvanceState) -> AdvanceStep {
        let Self { context, own, version, .. } = *self;
        let environment = context.environment.as_str();
        // No file names the version: what enters is there.
        let entering = state.current.as_ref().filter(|found| matches!(found.phase, CandidatePhase::Entering { .. }));
        let at = entering.map(|found| &found.revision).or(state.admitted.as_ref());
        // As long as it waits, it is what keeps the environment from being settled.
        let is_waiting = state.admitted.as_ref() != Some(version);
        let settled = if is_waiting { Ok(()) } else { own.settled.as_ref().map(|_| ()).map_err(Arc::clone) };
        let subject = CheckSubject { environment, workload: Some(SUBJECT), revision: &version.0, ring: None };
        let input = AdvanceInput {
            now: context.now,
            promotion,
            hold: self.hold,
            // No version contains another one.
            line: &[],
            head: Some(version),
            from,
            at,
            baseline: None,
            reverts_to: Some(version).filter(|version| state.has_proved(version)),
            to_settled: settled,
            to_failed: own.failed.clone().filter(|_| !is_waiting),
            is_proposed: own.is_proposed,
            to_measured: context.published((environment, None), own.settled.as_deref().map_err(Arc::clone)),
            checks: &context.evidence.checks(&promotion.gates, subject),
            approvals: &[],
            author: None,
            teams: context.evidence.teams,
        };
        advance::step(&input, state)
    }
}
