//! The controller of a world: it lets [`engine::promotion::step()`] decide, keeps the states, and carries out what is to be written.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::promotion::report::{EventKind, MoveEvent, MoveReport, ReportPhase};
use engine::promotion::state::Revision;
use engine::promotion::step;
use engine::promotion::step::{PlannedRollout, StepPlan, Subject};
use jiff::Timestamp;

use super::environment::Memory;
use super::facts::WorldFacts;
use super::{World, seconds};
use crate::scenario::MeasuredDecision;
use crate::scenario::task::Task;

/// The largest number of steps of one environment in one step of the controller.
const REPEATS_MAX: usize = 8;

impl World {
    /// The time of the service's clock.
    pub(super) fn service_time(&self) -> Timestamp {
        Timestamp::from_second(self.now + self.system.skew()).unwrap_or(Timestamp::MAX)
    }

    /// A step of the controller for all environments.
    pub(super) fn step(&mut self) {
        self.is_awake = false;
        if self.system.is_service_down() {
            return;
        }
        self.decisions += 1;
        if self.system.is_killed_at_every_step {
            self.forget();
        }
        let mut is_restless = false;
        // The last one first: an environment sees what those before it had shown before this step.
        for number in (0..self.environments.len()).rev() {
            // Without its states, nothing is known of what it may have.
            if self.environments[number].stored.is_gone() {
                continue;
            }
            is_restless |= self.step_environment(number);
            self.plan_publication(number);
        }
        self.check_soon();
        if is_restless {
            self.wake();
        }
    }

    /// Steps of an environment, until its states stay the same. True: it needs another one later.
    fn step_environment(&mut self, number: usize) -> bool {
        let mut is_changed = false;
        for _ in 0..REPEATS_MAX {
            self.follow_renderer(number);
            let rendered = self.render(number);
            let state = self.stored(number);
            let start = self.probe.as_ref().map(|probe| probe.seconds());
            let plan = step(&WorldFacts::new(self, number, &rendered), &state);
            if let (Some(start), Some(probe)) = (start, &self.probe) {
                let seconds = probe.seconds() - start;
                for PlannedRollout { workload, step, .. } in &plan.rollouts {
                    let environment = &self.environments[number].name;
                    probe.decided(MeasuredDecision { environment, workload, state: &step.state, seconds });
                }
            }
            if !self.carry_out(number, plan) {
                break;
            }
            is_changed = true;
        }
        is_changed || self.is_restless(number)
    }

    /// Keeps the states of a plan, and carries out what it writes. False: everything is as before.
    fn carry_out(&mut self, number: usize, plan: StepPlan) -> bool {
        let StepPlan { rollouts, moves, sources, admits, .. } = plan;
        let mut is_changed = self.keep_sources(number, sources);
        for planned in rollouts {
            is_changed |= self.keep_rollout(number, planned);
        }
        let (renderer, moves): (Vec<_>, Vec<_>) =
            moves.into_iter().partition(|planned| planned.subject == Subject::Renderer);
        for planned in renderer {
            is_changed |= self.keep_renderer(number, planned);
        }
        let moved: Vec<_> = moves.iter().map(|planned| self.subject_number(&planned.subject)).collect();
        for planned in moves {
            is_changed |= self.keep_subject(number, planned);
        }
        self.admit_promotion(number, admits.as_ref());
        for subject in (0..=self.workloads.len()).filter(|subject| !moved.contains(subject)) {
            self.follow_newest(number, subject);
        }
        is_changed
    }

    fn keep_rollout(&mut self, number: usize, PlannedRollout { workload, step, .. }: PlannedRollout) -> bool {
        let Some(workload) = self.workload_number(&workload) else { return false };
        let place = format!("{} {}", self.environments[number].name, self.workloads[workload]);
        self.tell_events(&place, &step.events);
        let rollout = &mut self.environments[number].workloads[workload];
        rollout.memory.report = Some(step.report);
        if step.state == rollout.state {
            return false;
        }
        rollout.state = step.state;
        let (environment, mut repository) = self.environment(number);
        environment.keep_positions(workload);
        environment.follow(workload, &mut repository);
        true
    }

    /// Whether something in an environment can go on by the time alone.
    fn is_restless(&self, number: usize) -> bool {
        let environment = &self.environments[number];
        let sources = environment.sources().filter_map(|source| environment.source(source).report.as_ref());
        let rollouts = environment.workloads.iter().filter_map(|rollout| rollout.memory.report.as_ref());
        let subjects = environment.subjects.iter().filter_map(|subject| subject.report.as_ref());
        sources.count() > 0 || rollouts.chain(subjects).chain(&environment.renderer.report).any(is_restless)
    }

    /// The service is killed: what it had only in memory is lost.
    pub(super) fn forget(&mut self) {
        for environment in &mut self.environments {
            for rollout in &mut environment.workloads {
                rollout.memory = Memory { report: rollout.memory.report.take(), ..Memory::default() };
            }
        }
    }

    /// Plans to publish, if the branch is to get other content.
    fn plan_publication(&mut self, number: usize) {
        let environment = &mut self.environments[number];
        if environment.is_due && !std::mem::replace(&mut environment.is_planned, true) {
            self.queue.add(self.now + seconds(self.pace.publish), Task::Publish { environment: number as u16 });
        }
    }

    /// The author of the change that brought a revision.
    pub(super) fn author(&self, workload: usize, revision: &Revision) -> Option<Arc<str>> {
        let name = revision.0.split('~').next().unwrap_or_default();
        if let Some(commit) = self.main.iter().rev().find(|commit| *commit.name == *name) {
            return commit.author.clone();
        }
        let version = self.versions[workload].iter().rposition(|version| **version == *name);
        version.map_or_else(|| Some("olga".into()), |version| self.authors[workload][version].clone())
    }

    /// Writes what changed into the story.
    pub(super) fn tell_events(&mut self, place: &str, events: &[MoveEvent]) {
        if self.is_quiet {
            return;
        }
        for event in events {
            let revision = event.revision.as_ref().map_or_else(String::new, |revision| format!("{}: ", revision.0));
            let waits = if event.kind == EventKind::Waiting { "waits for " } else { "" };
            let mut text = format!("{revision}{waits}{}", event.text);
            if matches!(event.kind, EventKind::RingDone | EventKind::Promoted | EventKind::Proved) {
                for gate in &event.gates {
                    let _ = write!(text, "\n{}: {}", gate.name, gate.text);
                }
            }
            self.tell((place, event.kind.name()), text);
        }
    }
}

/// Whether a move can go on by the time alone.
fn is_restless(report: &MoveReport) -> bool {
    match report.phase {
        ReportPhase::RollingBack => true,
        ReportPhase::Rest | ReportPhase::Stopped => false,
        _ => !report.is_held,
    }
}
