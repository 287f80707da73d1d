//! Pull requests: what may wait in one for the reviews of people, and whether output that waits in one may be merged.

use model::object::Promotion;
use model::object::promotion::{ChangeDelivery, Gate, GateKind};
use model::object::release::shown;

use super::advance::AdvanceStep;
use super::report::ReportPhase;
use super::state::{
    AdvanceState, Candidate, CandidatePhase, GateRecord, GateStatus, MoveStage, Revision, RolloutState,
};

/// The revision whose gates all hold except those that people decide: its pull request is the place for their reviews.
pub fn proposed_early<'s>(promotion: &Promotion, step: &'s AdvanceStep) -> Option<&'s Revision> {
    let current = step.state.current.as_ref().filter(|_| step.report.phase == ReportPhase::Gated)?;
    if promotion.delivery != ChangeDelivery::PullRequest || step.report.is_held {
        return None;
    }
    let is_of_people = |record: &GateRecord| {
        promotion.gates.iter().any(|gate| gate.name == record.name && matches!(gate.kind, GateKind::Approval(_)))
    };
    let mut waiting = current.gates.iter().filter(|record| !record.holds()).peekable();
    (waiting.peek().is_some() && waiting.all(is_of_people)).then_some(&current.revision)
}

/// The stored states of what a pull request brings into an environment.
#[derive(Clone, Debug, Default)]
pub struct ProposalStates<'a> {
    /// The commits of the main branch, whether or not the pull request brings one. A hold of the environment is here.
    pub platform: Option<&'a AdvanceState>,
    /// Whether the pull request brings another commit of the main branch.
    pub brings_main: bool,
    /// The releases and the sources that it brings, by the names that people use.
    pub subjects: Vec<(&'a str, &'a AdvanceState)>,
    /// The workloads that move in rings, and whose folders it changes.
    pub rollouts: Vec<(&'a str, &'a RolloutState)>,
}

/// A reason why a pull request must not be merged now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// What it brings is not admitted any more: the reason, in words.
    Refused(String),
    /// It waits only for the clock: the reason, in words.
    Waits(String),
}

/// The first reason why a pull request must not be merged now. A refusal comes before what only waits. `gates` are those of the promotion in force. None: it may
/// be merged. A rollback passes holds.
pub fn objection(states: &ProposalStates<'_>, gates: &[Gate]) -> Option<Objection> {
    let hold = states.platform.filter(|state| !rolls_back(state)).and_then(|state| held("the environment", state));
    let main = states.platform.filter(|_| states.brings_main).into_iter();
    let main = main.flat_map(|state| of_revision("main", state, gates));
    let subjects = states.subjects.iter().flat_map(|(name, state)| {
        held(name, state).filter(|_| !rolls_back(state)).into_iter().chain(of_revision(name, state, gates))
    });
    let rollouts = states.rollouts.iter().filter_map(|(workload, state)| of_rollout(workload, state));
    let mut all: Vec<_> = hold.into_iter().chain(main).chain(subjects).chain(rollouts).collect();
    let first = all.iter().position(|objection| matches!(objection, Objection::Refused(_))).unwrap_or_default();
    (!all.is_empty()).then(|| all.swap_remove(first))
}

/// The changes that a pull request brings past their gates by an override.
pub fn overridden<'a>(states: &ProposalStates<'a>) -> Vec<(&'a str, &'a Candidate)> {
    let main = states.platform.filter(|_| states.brings_main).map(|state| ("main", state));
    let all = main.into_iter().chain(states.subjects.iter().copied());
    let changes = |(name, state): (&'a str, &'a AdvanceState)| {
        let unmerged = state.unmerged.iter().map(|unmerged| &unmerged.change);
        let admitted = state.current.iter().filter(|current| Some(&current.revision) == state.admitted.as_ref());
        unmerged.chain(admitted).map(move |change| (name, change))
    };
    all.flat_map(changes).filter(|(_, change)| change.overridden.is_some()).collect()
}

/// The first change whose override has expired while a gate does not hold, with the reason in words.
pub fn expired(states: &ProposalStates<'_>) -> Option<String> {
    overridden(states).into_iter().find_map(|(name, change)| {
        let (decision, open) = (&change.overridden.as_ref()?.decision, change.entry.iter().find(|gate| !gate.holds())?);
        let (revision, by, gate) = (shown(&change.revision.0), &decision.by, &open.name);
        Some(format!(
            "the override of {name} {revision} by {by} has expired, and gate {gate} does not hold: {}",
            open.text
        ))
    })
}

fn held(name: &str, state: &AdvanceState) -> Option<Objection> {
    let hold = state.hold.as_ref()?;
    Some(Objection::Refused(format!("{name} is held by {}: {}", hold.by, hold.reason)))
}

fn rolls_back(state: &AdvanceState) -> bool {
    state.current.as_ref().is_some_and(|current| matches!(current.phase, CandidatePhase::RollingBack { .. }))
}

/// What is against the admitted revision of a subject.
fn of_revision(name: &str, state: &AdvanceState, gates: &[Gate]) -> Vec<Objection> {
    let Some(admitted) = &state.admitted else { return Vec::new() };
    let revision = shown(&admitted.0);
    if let Some(rejected) = state.rejected.iter().rfind(|rejected| rejected.revision == *admitted) {
        return vec![Objection::Refused(format!("{name} {revision} is rejected: {}", rejected.reason))];
    }
    let unmerged = state.unmerged.iter().map(|unmerged| &unmerged.change);
    // The admitted revision contains all of them.
    let unmerged = unmerged.flat_map(|change| of_entry(name, change, gates));
    let Some(current) = state.current.as_ref().filter(|current| current.revision == *admitted) else {
        return unmerged.collect();
    };
    if let CandidatePhase::Stopped { reason, .. } = &current.phase {
        return vec![Objection::Refused(format!("{name} {revision} stopped: {reason}"))];
    }
    unmerged.chain(of_entry(name, current, gates)).collect()
}

/// The gates of an admitted change that do not hold any more.
fn of_entry(name: &str, change: &Candidate, gates: &[Gate]) -> impl Iterator<Item = Objection> {
    let open = change.entry.iter().filter(|record| !record.holds());
    open.map(move |record| of_gate((name, shown(&change.revision.0)), record, gates))
}

fn of_gate((name, revision): (&str, &str), record: &GateRecord, gates: &[Gate]) -> Objection {
    let mut windows = gates.iter().filter(|gate| matches!(gate.kind, GateKind::Window(_)));
    let is_of_clock = record.status == GateStatus::Waiting && windows.any(|gate| gate.name == record.name);
    if is_of_clock {
        return Objection::Waits(format!("{name} {revision} waits for gate {}: {}", record.name, record.text));
    }
    Objection::Refused(format!("gate {} of {name} {revision} does not hold any more: {}", record.name, record.text))
}

fn of_rollout(workload: &str, state: &RolloutState) -> Option<Objection> {
    let hold = state.hold.as_ref().filter(|_| state.current.is_some())?;
    let is_rollback = matches!(state.current.as_ref()?.phase, MoveStage::RollingBack { .. });
    let text = format!("{workload} is held by {}: {}", hold.by, hold.reason);
    (!is_rollback).then_some(Objection::Refused(text))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use jiff::Timestamp;
    use model::object::promotion::Window;

    use super::*;
    use crate::promotion::state::{BranchPosition, Decision, Move, Rejection, Unmerged};
    use crate::promotion::vector::Part;

    fn decision() -> Decision {
        Decision { by: "ann".into(), at: Timestamp::UNIX_EPOCH, reason: "an outage".into() }
    }

    /// The admitted revision `r2`, on its way with these gates.
    fn moving(entry: &[(&str, GateStatus)]) -> AdvanceState {
        let record = |(name, status): &(&str, GateStatus)| GateRecord {
            name: Arc::from(*name),
            status: status.clone(),
            since: Timestamp::UNIX_EPOCH,
            text: "0 of 1".into(),
        };
        let phase = CandidatePhase::Proving { since: Timestamp::UNIX_EPOCH };
        let current = Candidate::new(Revision("r2".into()), Timestamp::UNIX_EPOCH, phase);
        let current = Candidate { entry: entry.iter().map(record).collect(), ..current };
        let admitted = Some(Revision("r2".into()));
        AdvanceState { admitted, current: Some(current), ..AdvanceState::default() }
    }

    fn text(states: &ProposalStates<'_>) -> String {
        let midnight = jiff::civil::Time::midnight();
        let window = Window {
            zone: None,
            zone_label: None,
            days: Vec::new(),
            from: midnight,
            until: midnight,
            except: BTreeSet::new(),
        };
        let gates = [Gate::new("night".into(), GateKind::Window(window))];
        match objection(states, &gates) {
            None => "none".to_owned(),
            Some(Objection::Refused(text)) => format!("refused: {text}"),
            Some(Objection::Waits(text)) => format!("waits: {text}"),
        }
    }

    fn of_main(state: &AdvanceState) -> String {
        text(&ProposalStates { platform: Some(state), brings_main: true, ..ProposalStates::default() })
    }

    #[test]
    fn lost_gates_refuse_and_closed_windows_wait() {
        use GateStatus::{Failed, Passed, Waiting};
        assert_eq!(of_main(&moving(&[("people", Passed), ("night", Passed)])), "none");
        assert_eq!(of_main(&moving(&[("night", Waiting)])), "waits: main r2 waits for gate night: 0 of 1");
        let refused = "refused: gate people of main r2 does not hold any more: 0 of 1";
        assert_eq!(of_main(&moving(&[("night", Waiting), ("people", Waiting)])), refused);
        assert_eq!(of_main(&moving(&[("night", Waiting), ("people", Failed)])), refused);
        let state = moving(&[("people", Waiting)]);
        assert_eq!(text(&ProposalStates { platform: Some(&state), ..ProposalStates::default() }), "none");
    }

    #[test]
    fn the_gates_of_values_hold_until_the_merge() {
        let AdvanceState { admitted, current, .. } = moving(&[("people", GateStatus::Waiting)]);
        let unmerged = current.map(|change| Unmerged { change, from: None }).into_iter().collect();
        let current = Some(Candidate::new(Revision("r3".into()), Timestamp::UNIX_EPOCH, CandidatePhase::Gated));
        let values = AdvanceState { admitted, current, unmerged, ..AdvanceState::default() };
        let states = ProposalStates { subjects: vec![("values", &values)], ..ProposalStates::default() };
        assert_eq!(text(&states), "refused: gate people of values r2 does not hold any more: 0 of 1");
    }

    #[test]
    fn rejected_or_failed_revisions_are_refused() {
        let rejected = Rejection {
            revision: Revision("r2".into()),
            reason: "abort by ann: wrong".into(),
            part: Part::Both,
            at: None,
        };
        let state = AdvanceState { rejected: vec![rejected], ..moving(&[]) };
        assert_eq!(of_main(&state), "refused: main r2 is rejected: abort by ann: wrong");
        let mut state = moving(&[]);
        let phase = CandidatePhase::Stopped { reason: "2 failed".into(), since: Timestamp::UNIX_EPOCH };
        state.current.iter_mut().for_each(|current| current.phase = phase.clone());
        assert_eq!(of_main(&state), "refused: main r2 stopped: 2 failed");
    }

    #[test]
    fn a_hold_stops_everything_but_a_rollback() {
        let mut state = AdvanceState { hold: Some(decision()), ..moving(&[]) };
        let held = "refused: the environment is held by ann: an outage";
        assert_eq!(text(&ProposalStates { platform: Some(&state), ..ProposalStates::default() }), held);
        let phase = CandidatePhase::RollingBack { reason: "x".into(), since: Timestamp::UNIX_EPOCH };
        state.current.iter_mut().for_each(|current| current.phase = phase.clone());
        assert_eq!(of_main(&state), "none");
    }

    #[test]
    fn a_held_workload_does_not_stop_others() {
        let state = AdvanceState { hold: Some(decision()), ..AdvanceState::default() };
        let states = ProposalStates { subjects: vec![("shop", &state)], ..ProposalStates::default() };
        assert_eq!(text(&states), "refused: shop is held by ann: an outage");
        let at_rest = RolloutState { hold: Some(decision()), ..RolloutState::default() };
        let current = Move {
            part: Part::Both,
            is_due: false,
            revision: Revision("r2".into()),
            started: Timestamp::UNIX_EPOCH,
            base: BranchPosition::default(),
            phase: MoveStage::Moving,
            layout: "".into(),
            ring: 0,
            ring_started: Timestamp::UNIX_EPOCH,
            released: BTreeMap::new(),
            good_since: None,
            gates: Vec::new(),
            approvals: Vec::new(),
            authors: None,
            done: Vec::new(),
        };
        let moves = RolloutState { current: Some(current), ..at_rest.clone() };
        let states = |state| ProposalStates { rollouts: vec![("shop", state)], ..ProposalStates::default() };
        assert_eq!(text(&states(&at_rest)), "none");
        assert_eq!(text(&states(&moves)), "refused: shop is held by ann: an outage");
    }
}
