//! The controller of a world: it collects evidence, lets the state machines decide, keeps their states and performs their decisions.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::promotion::report::{Event, EventKind, Report, ReportPhase};
use engine::promotion::rollout::{self, Changed, RingPlaces, RolloutInput};
use engine::promotion::state::Revision;
use jiff::Timestamp;
use model::object::promotion::Ring;

use super::environment::{Environment, Memory};
use super::{World, seconds};
use crate::scenario::task::Task;

/// The largest number of steps of one rollout or one subject in one step of the controller.
const REPEATS_MAX: usize = 8;

impl World {
    /// The time of the service's clock.
    pub(super) fn service_time(&self) -> Timestamp {
        Timestamp::from_second(self.now + self.system.skew()).unwrap_or(Timestamp::MAX)
    }

    /// A step of the controller: all subjects, then all rollouts, of all environments.
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
        for number in 0..self.environments.len() {
            is_restless |= self.step_subjects(number) | self.step_sources(number);
        }
        for number in 0..self.environments.len() {
            for workload in 0..self.workloads.len() {
                if self.environments[number].has_rings() {
                    is_restless |= self.step_rollout(number, workload);
                }
            }
            self.plan_publication(number);
        }
        self.check_soon();
        if is_restless {
            self.wake();
        }
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

    /// Steps of a rollout, until its state stays the same. True: it needs another one later.
    fn step_rollout(&mut self, number: usize, workload: usize) -> bool {
        let mut is_changed = false;
        for _ in 0..REPEATS_MAX {
            let Some(step) = self.decide_rollout(number, workload) else { return is_changed };
            let is_same = step.state == self.environments[number].workloads[workload].state;
            let place = format!("{} {}", self.environments[number].name, self.workloads[workload]);
            self.tell_events(&place, &step.events);
            let rollout = &mut self.environments[number].workloads[workload];
            rollout.memory.report = Some(step.report);
            if is_same {
                break;
            }
            is_changed = true;
            rollout.state = step.state;
            let (environment, mut repository) = self.environment(number);
            environment.keep_positions(workload);
            environment.follow(workload, &mut repository);
        }
        let report = self.environments[number].workloads[workload].memory.report.as_ref();
        is_changed || report.is_some_and(is_restless)
    }

    fn decide_rollout(&mut self, number: usize, workload: usize) -> Option<rollout::RolloutStep> {
        let (now, is_hub_down) = (self.service_time(), self.system.is_hub_down());
        let (environment, mut repository) = self.environment(number);
        environment.remember_changed(workload, &mut repository);
        let newest = environment.wanted(workload, &mut repository);
        let back = environment.back(workload, &mut repository);
        let environment = &self.environments[number];
        let rollout = &environment.workloads[workload];
        if rollout.compiled.is_none() && rollout.state.current.is_none() {
            return None;
        }
        let promotion = environment.promotion.as_ref()?;
        let ring = rollout.state.current.as_ref().and_then(|current| promotion.rings.get(current.ring));
        let gates: Vec<_> = ring.into_iter().flat_map(Ring::gates).cloned().collect();
        let checks = self.system.results(&gates, now.as_second());
        let live = Live::new(environment, workload);
        let changed = live.pick(rollout.memory.changed.as_ref().map_or(&[][..], |(.., places)| places));
        let states = live.pick(&rollout.reconcilers.states);
        let columns = &environment.rings;
        let (rings, domains, hashes) = (live.pick(&columns.ring), live.pick(&columns.domain), live.pick(&columns.hash));
        let moving = rollout.state.current.as_ref().map(|current| &current.revision);
        let author = moving.or(rollout.compiled.as_ref()).and_then(|revision| self.author(workload, revision));
        let input = RolloutInput {
            now,
            promotion,
            hold: environment.hold(),
            desired: newest.as_ref().map(|newest| &newest.desired),
            part: newest.as_ref().map(|newest| newest.part).unwrap_or_default(),
            is_lost: false,
            ahead: newest.as_ref().and_then(|newest| newest.ahead()),
            back: back.as_ref().map(|back| back.as_ref().map_err(|why| *why)),
            position: &environment.position(),
            places: RingPlaces {
                ring: &rings,
                domain: &domains,
                hash: &hashes,
                domains: &columns.domains,
                failing: &[],
            },
            measured: if is_hub_down { Err("the hub can't be reached".into()) } else { Ok(&states) },
            changed: rollout.memory.changed.as_ref().map(|(base, revision, _)| Changed {
                base,
                revision,
                places: &changed,
                is_only_new: environment.is_only_new(workload),
            }),
            checks: &checks,
            approvals: &[],
            author: author.as_deref(),
            teams: &self.system.teams,
        };
        let start = self.probe.as_ref().map(|probe| probe.seconds());
        let step = rollout::step(&input, &rollout.state);
        if let (Some(start), Some(probe)) = (start, &self.probe) {
            let seconds = probe.seconds() - start;
            probe.decided((&environment.name, &self.workloads[workload]), &step.state, seconds);
        }
        Some(step)
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
    pub(super) fn tell_events(&mut self, place: &str, events: &[Event]) {
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

/// The places that a workload has or had, without clusters that are gone.
struct Live {
    /// None: all.
    places: Option<Vec<usize>>,
}

impl Live {
    fn new(environment: &Environment, workload: usize) -> Self {
        let published = &environment.workloads[workload].reconcilers.published;
        let is_live = |place: &usize| environment.fleet.is_there(*place) || published[*place] != 0;
        let has_removed = environment.fleet.removed.iter().any(|removed| *removed != crate::scenario::fleet::NEVER);
        Self { places: has_removed.then(|| (0..environment.fleet.len()).filter(is_live).collect()) }
    }

    fn pick<'c, T: Copy>(&self, column: &'c [T]) -> std::borrow::Cow<'c, [T]> {
        match &self.places {
            Some(places) => places.iter().filter_map(|place| column.get(*place).copied()).collect(),
            None => column.into(),
        }
    }
}

/// Whether a move can go on by the time alone.
pub(super) fn is_restless(report: &Report) -> bool {
    match report.phase {
        ReportPhase::RollingBack => true,
        ReportPhase::Rest | ReportPhase::Stopped => false,
        _ => !report.is_held,
    }
}
