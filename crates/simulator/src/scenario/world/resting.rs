//! How a world comes to rest: the end of all faults, and what people still have to decide.

use engine::promotion::report::{Report, ReportPhase};
use engine::promotion::state::Phase;
use engine::promotion::step::RENDERER;
use model::object::promotion::{Gate, GateKind, Ring};

use super::World;

/// A move that does not rest.
pub(in crate::scenario) struct OpenMove {
    /// What it is, and what it waits for.
    pub(in crate::scenario) text: String,
    /// The decisions of people that let it go on, as events.
    pub(in crate::scenario) answers: Vec<String>,
}

impl World {
    /// All faults end.
    pub(in crate::scenario) fn repair_everything(&mut self) {
        self.system.repair();
        self.learn_publications();
        self.repair_all();
        self.wake();
    }

    /// The moves that do not rest. After a rollback, people try the revision again.
    pub(in crate::scenario) fn open_moves(&self) -> Vec<OpenMove> {
        let mut open = Vec::new();
        for environment in &self.environments {
            for (rollout, name) in environment.workloads.iter().zip(&self.workloads) {
                let Some(report) = &rollout.memory.report else { continue };
                let phase = rollout.state.current.as_ref().map(|current| &current.phase);
                let has_returned = matches!(phase, Some(Phase::Stopped { is_withdrawn: true, .. }));
                let is_rejected = rollout.blocked_because().is_some();
                let about = format!("{} {name}", environment.name);
                if has_returned || (phase.is_none() && is_rejected) {
                    let answers = vec![format!("resume {about} by ana"), format!("retry {about} by ana")];
                    open.push(OpenMove { text: format!("{about} returned to the proved revision"), answers });
                } else {
                    let ring = rollout.state.current.as_ref().map_or(0, |current| current.ring);
                    let ring = environment.promotion.as_ref().and_then(|promotion| promotion.rings.get(ring));
                    let gates: Vec<_> = ring.into_iter().flat_map(Ring::gates).cloned().collect();
                    open.extend(open_move(&about, report, &gates));
                }
            }
            for source in environment.sources() {
                let Some(report) = &environment.source(source).report else { continue };
                let is_held = environment.hold().is_some();
                let answers = is_held.then(|| format!("resume {} by ana", environment.name));
                let text = format!("the hold of {}", environment.name);
                open.extend(answers.map(|answer| OpenMove { text, answers: vec![answer] }));
                let about = format!("{} {}", environment.name, self.subject_of(source));
                open.extend(open_move(&about, report, &environment.gates_of(source)));
            }
            let gates = environment.promotion.as_ref().map_or(&[][..], |promotion| &promotion.gates);
            let of_renderer = environment.renderer.report.iter();
            open.extend(
                of_renderer.filter_map(|report| open_move(&format!("{} {RENDERER}", environment.name), report, gates)),
            );
            for (number, subject) in environment.subjects.iter().enumerate() {
                let Some(report) = &subject.report else { continue };
                let about = match number.checked_sub(1) {
                    None => environment.name.to_string(),
                    Some(workload) => format!("{} {}", environment.name, self.workloads[workload]),
                };
                let mut found = open_move(&about, report, gates);
                // A commit that was rolled back because of a workload moves when both are retried.
                for found in found.iter_mut().filter(|found| found.answers.contains(&format!("retry {about} by ana"))) {
                    let rollouts = environment.workloads.iter().zip(&self.workloads);
                    let back = rollouts.filter(|(rollout, _)| rollout.state.rolled_back.is_some());
                    found.answers.extend(back.map(|(_, name)| format!("retry {} {name} by ana", environment.name)));
                }
                open.extend(found);
            }
        }
        open
    }
}

fn open_move(about: &str, report: &Report, gates: &[Gate]) -> Option<OpenMove> {
    let mut answers = Vec::new();
    if report.is_held {
        answers.push(format!("resume {about} by ana"));
    }
    let is_rejected = report.waiting.iter().any(|waiting| matches!(&*waiting.what, "rejected" | "stopped"));
    if report.phase == ReportPhase::Rest && !report.is_held && !is_rejected {
        return None;
    }
    if is_rejected {
        answers.push(format!("retry {about} by ana"));
    }
    let is_behind =
        |text: &str| text.contains("does not contain the revision") || text.contains("has not proved this one");
    if report.waiting.iter().any(|waiting| is_behind(&waiting.text)) {
        answers.push(format!("override {about} by ana because the walk ends"));
    }
    for waiting in &report.waiting {
        let is_meant = |gate: &&Gate| waiting.what.rsplit('/').next() == Some(&*gate.name);
        match gates.iter().find(is_meant).map(|gate| &gate.kind) {
            Some(GateKind::Approval(_)) => {
                answers.extend(["ana", "ben", "carl", "eve"].map(|person| format!("approve {about} by {person}")));
            }
            Some(GateKind::Manual) => {
                answers.push(format!("skip {about} gate {} by ana because the walk ends", waiting.what));
            }
            _ if *waiting.what == *"request" => {
                answers.push(format!("promote {about} by ana because the walk ends"));
            }
            _ => {}
        }
    }
    let reasons: Vec<_> = report.waiting.iter().map(|waiting| format!("{}: {}", waiting.what, waiting.text)).collect();
    Some(OpenMove { text: format!("{about} {}: {}", report.phase.name(), reasons.join(", ")), answers })
}
