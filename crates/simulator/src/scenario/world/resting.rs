//! How a world comes to rest: the end of all faults, and what people still have to decide.

use engine::promotion::answer::Answer;
use engine::promotion::report::{MoveReport, ReportPhase, Waiting};
use engine::promotion::state::{MoveStage, Revision};
use engine::promotion::step::RENDERER;

use super::World;
use crate::scenario::definition::VALUES;

/// Everybody who may approve.
const APPROVERS: [&str; 4] = ["ana", "ben", "carl", "eve"];

/// A wait that a person can end.
#[derive(Clone)]
pub(in crate::scenario) struct AnsweredWait {
    /// What waits: the words of scenarios.
    pub(in crate::scenario) about: String,
    /// The revision that waits.
    revision: Option<Revision>,
    /// Why.
    pub(in crate::scenario) waiting: Waiting,
    /// The decisions that the reason names, as events: those of everybody who may decide.
    pub(in crate::scenario) events: Vec<String>,
}

impl World {
    /// All faults end.
    pub(in crate::scenario) fn repair_everything(&mut self) {
        self.system.repair();
        self.learn_publications();
        self.repair_all();
        self.wake();
    }

    /// The moves that do not rest, and what they wait for.
    pub(in crate::scenario) fn open_moves(&self) -> Vec<String> {
        self.reports().filter_map(|(about, report, is_open)| open_move(&about, report, is_open)).collect()
    }

    /// What waits for the decision of a person.
    pub(in crate::scenario) fn answered_waits(&self) -> Vec<AnsweredWait> {
        self.reports().flat_map(|(about, report, _)| answered(about, report)).collect()
    }

    /// Whether something still waits for the same reason.
    pub(in crate::scenario) fn still_waits(&self, wait: &AnsweredWait) -> bool {
        let parts = |wait: &AnsweredWait| {
            let AnsweredWait { about, revision, waiting, .. } = wait.clone();
            (about, revision, waiting.what, waiting.text, waiting.answer)
        };
        self.answered_waits().iter().any(|found| parts(found) == parts(wait))
    }

    /// The reports of everything that moves, by the words of scenarios, and whether it does not rest although its report says so.
    fn reports(&self) -> impl Iterator<Item = (String, &MoveReport, bool)> {
        self.environments.iter().flat_map(|environment| {
            let rollouts = environment.workloads.iter().zip(&self.workloads).filter_map(|(rollout, name)| {
                let phase = rollout.state.current.as_ref().map(|current| &current.phase);
                let is_back = matches!(phase, Some(MoveStage::Stopped { is_withdrawn: true, .. }));
                let is_open = is_back || (phase.is_none() && rollout.blocked_because().is_some());
                Some((format!("{} {name}", environment.name), rollout.memory.report.as_ref()?, is_open))
            });
            let sources = environment.sources().filter_map(|source| {
                let report = environment.source(source).report.as_ref()?;
                Some((format!("{} {}", environment.name, self.subject_of(source)), report, false))
            });
            let renderer = environment.renderer.report.iter();
            let renderer = renderer.map(|report| (format!("{} {RENDERER}", environment.name), report, false));
            let subjects = environment.subjects.iter().enumerate().filter_map(|(number, subject)| {
                let about = match number.checked_sub(1) {
                    None => environment.name.to_string(),
                    Some(workload) => format!("{} {}", environment.name, self.workloads[workload]),
                };
                Some((about, subject.report.as_ref()?, false))
            });
            rollouts.chain(sources).chain(renderer).chain(subjects)
        })
    }
}

fn open_move(about: &str, report: &MoveReport, is_open: bool) -> Option<String> {
    let is_rejected = report.waiting.iter().any(|waiting| matches!(&*waiting.what, "rejected" | "stopped"));
    if report.phase == ReportPhase::Rest && !report.is_held && !is_rejected && !is_open {
        return None;
    }
    let reasons: Vec<_> = report.waiting.iter().map(|waiting| format!("{}: {}", waiting.what, waiting.text)).collect();
    Some(format!("{about} {}: {}", report.phase.name(), reasons.join(", ")))
}

fn answered(about: String, report: &MoveReport) -> impl Iterator<Item = AnsweredWait> {
    report.waiting.iter().filter_map(move |waiting| {
        // Only workloads have gates in rings and before the environment.
        let revision = report.revision.as_ref().filter(|_| !is_source(&about));
        let events = events(&about, (waiting.answer?, &waiting.what), revision);
        Some(AnsweredWait { about: about.clone(), revision: report.revision.clone(), waiting: waiting.clone(), events })
    })
}

/// Whether these are the words for values or for an application.
fn is_source(about: &str) -> bool {
    about.split(' ').nth(1).is_some_and(|name| name == VALUES || name.starts_with("application/"))
}

/// The decisions that answer a wait.
fn events(about: &str, (answer, gate): (Answer, &str), revision: Option<&Revision>) -> Vec<String> {
    let why = "because the walk ends";
    let environment = about.split(' ').next().unwrap_or(about);
    let named = |word: &str| revision.map_or_else(String::new, |revision| format!(" {word} {}", revision.0));
    match answer {
        Answer::Approve => APPROVERS.map(|person| format!("approve {about} by {person}")).to_vec(),
        Answer::Skip => vec![format!("skip {about} gate {gate}{} by ana {why}", named("of"))],
        Answer::Promote => vec![format!("promote {about}{} by ana {why}", named("to"))],
        Answer::Resume => vec![format!("resume {about} by ana")],
        Answer::ResumeEnvironment => vec![format!("resume {environment} by ana")],
        Answer::Retry => vec![format!("retry {about} by ana")],
    }
}
