//! A version of the program that renders, on its way into an environment whose output it changes.

use jiff::Timestamp;
use model::object::Promotion;
use model::object::promotion::{ChangeOrigin, OnFailure};

use super::facts::Renderer;
use super::moves::Move;
use super::{PlannedMove, Settled, StepInput, Subject, Write};
use crate::promotion::advance::AdvanceStep;
use crate::promotion::origin::for_origin;
use crate::promotion::report::{EventKind, MoveEvent, MoveReport};
use crate::promotion::state::{AdvanceState, Candidate, CandidatePhase, MoveRequest, Revision};

/// The transitions from a waiting version to an admitted one.
const TRANSITIONS_MAX: usize = 5;

/// Decides about the version. As long as it is not known what it changes, no move begins, and one that began goes on. A version that changes nothing needs no gate. None:
/// nothing was ever recorded, and it changes nothing.
pub(super) fn of_renderer(input: StepInput<'_>, settled: &Settled) -> Option<PlannedMove> {
    let StepInput { facts, state, .. } = input;
    let renderer = facts.renderer()?;
    let changes = renderer.changes.as_ref().filter(|_| renderer.is_known);
    let before = match (&state.renderer, changes) {
        (None, None) => return None,
        // The environment has what rendered its output.
        (None, Some(published)) => AdvanceState::beginning(published.clone()),
        (Some(state), _) => state.clone(),
    };
    let is_admitted = before.admitted.as_ref() == Some(&renderer.version);
    let step = if is_admitted || changes.is_some() || !renderer.is_known {
        moved(input, settled, &renderer, &before)
    } else {
        let version = Some(renderer.version);
        let state = AdvanceState {
            at: version.clone(),
            admitted: version,
            current: None,
            waiting: Vec::new(),
            ..before.clone()
        };
        AdvanceStep { state, report: MoveReport::at_rest(), action: None, events: Vec::new() }
    };
    Some(PlannedMove { subject: Subject::Renderer, before, step, write: Write::Nothing })
}

/// Ends what another version began: only the installed one renders, so no folder of the other one proves anything any more.
fn of_installed(before: &AdvanceState, installed: &Revision, now: Timestamp) -> (AdvanceState, Vec<MoveEvent>) {
    let mut state = before.clone();
    let is_other = |current: &mut Candidate| current.revision != *installed;
    let ended = state.current.take_if(is_other);
    let dropped = state.requested.take_if(|request| request.revision != *installed);
    state.waiting.clear();
    let event = |revision, text: String, gates| MoveEvent {
        at: now,
        kind: EventKind::Superseded,
        revision: Some(revision),
        text: text.into(),
        gates,
    };
    let ended = ended.map(|ended| event(ended.revision, format!("`{}` is installed now", installed.0), ended.gates));
    let dropped = dropped.map(|MoveRequest { revision, decision, .. }| {
        let text =
            format!("{} asked for it, but `{}` is installed: only that version can move", decision.by, installed.0);
        event(revision, text, Vec::new())
    });
    (state, ended.into_iter().chain(dropped).collect())
}

/// Transitions until the state stays the same: nothing has to be written for them.
fn moved(input: StepInput<'_>, settled: &Settled, renderer: &Renderer, before: &AdvanceState) -> AdvanceStep {
    let StepInput { facts, state, promotion } = input;
    let (before, ended) = of_installed(before, &renderer.version, facts.now());
    // An earlier version can't be rendered: people install it again.
    let promotion = Promotion { on_failure: OnFailure::Stop, ..for_origin(promotion, ChangeOrigin::Main) };
    let one = |before: &AdvanceState| {
        // No file names the version: what enters is there.
        let entering = before.current.as_ref().filter(|found| matches!(found.phase, CandidatePhase::Entering { .. }));
        // As long as it waits, it is what keeps the environment from being settled.
        let is_waiting = before.admitted.as_ref() != Some(&renderer.version);
        let settled = if is_waiting { &Settled::default() } else { settled };
        let one = Move {
            facts,
            subject: &Subject::Renderer,
            state: before,
            settled,
            hold: state.hold(),
            // No version contains another one.
            line: &[],
            head: Some(&renderer.version),
            at: entering.map(|found| &found.revision).or(before.admitted.as_ref()),
            baseline: None,
            reverts_to: Some(&renderer.version).filter(|version| before.has_proved(version)),
        };
        one.decide(&promotion, |_| None).1
    };
    let mut step = one(&before);
    step.events.splice(0..0, ended);
    for _ in 1..TRANSITIONS_MAX {
        let next = one(&step.state);
        let is_same = next.state == step.state;
        let events = [std::mem::take(&mut step.events), next.events.clone()].concat();
        step = AdvanceStep { events, ..next };
        if is_same {
            break;
        }
    }
    step
}
