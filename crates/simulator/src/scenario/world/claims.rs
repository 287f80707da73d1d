//! Claims about a world: whether they hold now, and what is found instead.

use std::sync::Arc;
use std::time::Duration;

use engine::promotion::report::ReportPhase;

use super::moves::SeenMove;
use super::{World, seconds};
use crate::scenario::contents::{ContentId, FolderContent, NOTHING, WorkloadFolder};
use crate::scenario::definition::{ChangeOrRelease, Claim, MoveState, ScenarioExpectation, When, Who};
use crate::scenario::story::ExpectationResult;

/// An expectation with its result, as soon as it is decided.
#[derive(Debug)]
pub(super) struct Watched {
    expectation: ScenarioExpectation,
    /// Whether it was met, when, and what was found.
    result: Option<(bool, i64, Arc<str>)>,
}

/// Whether a claim holds, or what is found instead.
type Holds = Result<(), String>;

impl Watched {
    pub(super) fn new(expectation: ScenarioExpectation) -> Self {
        Self { expectation, result: None }
    }

    /// The time at which it is decided at the latest. None: the end, or at all times.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.expectation.when {
            When::At(at) | When::By(at) => Some(at),
            When::End | When::Always => None,
        }
    }

    fn is_open(&self) -> bool {
        self.result.is_none()
    }
}

impl World {
    /// The next time at which an expectation is decided, in seconds since 1970.
    pub(super) fn next_deadline(&self) -> Option<i64> {
        let open = self.watched.iter().filter(|watched| watched.is_open());
        open.filter_map(Watched::deadline).map(|deadline| self.start + seconds(deadline)).min()
    }

    /// Decides the expectations of this time.
    pub(super) fn check_deadlines(&mut self) {
        let elapsed = self.elapsed();
        self.check(|watched| watched.deadline().is_some_and(|deadline| seconds(deadline) <= elapsed), true);
    }

    /// Decides expectations that became true.
    pub(super) fn check_soon(&mut self) {
        self.check(|watched| matches!(watched.expectation.when, When::By(_)), false);
    }

    /// Checks what must hold at all times.
    pub(super) fn check_always(&mut self) {
        let elapsed = self.elapsed();
        for number in 0..self.watched.len() {
            let watched = &self.watched[number];
            if watched.is_open()
                && watched.expectation.when == When::Always
                && let Err(found) = self.holds(&watched.expectation.claim)
            {
                self.watched[number].result = Some((false, elapsed, found.into()));
            }
        }
    }

    fn check(&mut self, is_meant: impl Fn(&Watched) -> bool, is_last: bool) {
        let elapsed = self.elapsed();
        for number in 0..self.watched.len() {
            let watched = &self.watched[number];
            if !watched.is_open() || !is_meant(watched) {
                continue;
            }
            match self.holds(&watched.expectation.claim) {
                Ok(()) => self.watched[number].result = Some((true, elapsed, "".into())),
                Err(found) if is_last => self.watched[number].result = Some((false, elapsed, found.into())),
                Err(_) => {}
            }
        }
    }

    /// Decides all expectations that are left, and writes the results into the story.
    pub(super) fn end_story(&mut self) {
        self.story.ended_s = self.elapsed();
        self.check(|watched| matches!(watched.expectation.when, When::End | When::Always), true);
        let result = |watched: &Watched| ExpectationResult {
            text: Arc::clone(&watched.expectation.text),
            line: watched.expectation.line,
            is_met: watched.result.as_ref().map(|(is_met, ..)| *is_met),
            at_s: watched.result.as_ref().map_or(self.elapsed(), |(_, at, _)| *at),
            found: watched.result.as_ref().map_or_else(|| "".into(), |(.., found)| Arc::clone(found)),
        };
        self.story.expectations = self.watched.iter().map(result).collect();
    }

    fn holds(&self, claim: &Claim) -> Holds {
        match claim {
            Claim::Has { who, what } => self.has(who, what),
            Claim::Lacks { who, what } => self.lacks(who, what),
            Claim::AtOnce { limit, who } => self.at_once(*limit, who),
            Claim::Rest => match self.restless() {
                Some(found) => Err(found),
                None => Ok(()),
            },
            Claim::State { environment, workload, state } => self.state(environment, workload.as_deref(), state),
        }
    }

    /// The workloads that a content is about, with the clusters that it affects.
    fn concerned(&self, who: &Who, what: &ChangeOrRelease) -> Vec<(usize, usize, usize)> {
        let mut all = Vec::new();
        for (number, environment) in self.environments.iter().enumerate() {
            if who.environment.as_ref().is_some_and(|name| *name != environment.name) {
                continue;
            }
            let commits = || self.main.iter().chain(&self.renderers.versions).chain(&environment.commits);
            for place in environment.fleet.select(who) {
                let labels = environment.fleet.labels(place);
                for (workload, name) in self.workloads.iter().enumerate() {
                    let is_concerned = match what {
                        ChangeOrRelease::Release(meant, _) => meant == name,
                        ChangeOrRelease::Change(change) => {
                            let folder = WorkloadFolder { workload: name, labels };
                            let mut commits = commits().filter(|commit| commit.name == *change);
                            commits.any(|commit| commit.affects(folder))
                                && environment.workloads[workload].compiled.is_some()
                        }
                    };
                    if is_concerned {
                        all.push((number, workload, place));
                    }
                }
            }
        }
        all
    }

    fn is_in(&self, content: ContentId, what: &ChangeOrRelease) -> bool {
        let has = |folder: &FolderContent| match what {
            ChangeOrRelease::Change(change) => folder.changes.contains(change),
            ChangeOrRelease::Release(_, version) => folder.release == *version,
        };
        self.contents.get(content).is_some_and(has)
    }

    fn has(&self, who: &Who, what: &ChangeOrRelease) -> Holds {
        let concerned = self.concerned(who, what);
        let has = |(number, workload, place): &&(usize, usize, usize)| {
            let environment = &self.environments[*number];
            let hosts = &environment.workloads[*workload].reconcilers.hosts;
            environment.fleet.hosts(*place).all(|host| self.is_in(hosts[host as usize].applied, what))
        };
        let count = concerned.iter().filter(has).count();
        if count == concerned.len() && count > 0 {
            return Ok(());
        }
        Err(format!("{count} of {} folders are applied with it", concerned.len()))
    }

    fn lacks(&self, who: &Who, what: &ChangeOrRelease) -> Holds {
        let concerned = self.concerned(who, what);
        let has = |(number, workload, place): &&(usize, usize, usize)| {
            let environment = &self.environments[*number];
            let reconcilers = &environment.workloads[*workload].reconcilers;
            let hosts = environment.fleet.hosts(*place).map(|host| reconcilers.hosts[host as usize].applied);
            self.is_in(reconcilers.published[*place], what)
                || hosts.into_iter().any(|applied| self.is_in(applied, what))
        };
        match concerned.iter().filter(has).count() {
            0 => Ok(()),
            count => Err(format!("{count} of {} folders have it", concerned.len())),
        }
    }

    fn at_once(&self, limit: usize, who: &Who) -> Holds {
        let mut most = 0;
        for (number, environment) in self.environments.iter().enumerate() {
            if who.environment.as_ref().is_some_and(|name| *name != environment.name) {
                continue;
            }
            for rollout in &environment.workloads {
                let is_changing = |place: &&usize| {
                    let published = rollout.reconcilers.published[**place];
                    let mut hosts = environment.fleet.hosts(**place);
                    published != NOTHING
                        && hosts.any(|host| rollout.reconcilers.hosts[host as usize].applied != published)
                };
                let places = environment.fleet.select(who);
                most = most.max(places.iter().filter(is_changing).count());
            }
            let _ = number;
        }
        if most <= limit { Ok(()) } else { Err(format!("{most} change at once")) }
    }

    fn state(&self, environment: &str, workload: Option<&str>, state: &MoveState) -> Holds {
        let Some(number) = self.number(environment) else { return Err("there is no such environment".to_owned()) };
        let moves = self.moves(number, workload);
        let found = |name: &str| {
            let all: Vec<_> = moves.iter().map(SeenMove::in_words).collect();
            Err(format!("{name}: {}", if all.is_empty() { "nothing moves".to_owned() } else { all.join("; ") }))
        };
        let is_in = |holds: bool, name: &str| if holds { Ok(()) } else { found(name) };
        match state {
            MoveState::Rests => is_in(moves.iter().all(|found| found.phase == ReportPhase::Rest), "it does not rest"),
            MoveState::Held => is_in(moves.iter().any(|found| found.is_held), "it is not held"),
            MoveState::Rejected => is_in(moves.iter().any(|found| found.is_rejected), "nothing is rejected"),
            MoveState::RollsBack => {
                is_in(moves.iter().any(|found| found.phase == ReportPhase::RollingBack), "it does not roll back")
            }
            MoveState::Stopped(text) => is_in(
                moves.iter().any(|found| found.phase == ReportPhase::Stopped && found.mentions(text)),
                "it did not stop for that",
            ),
            MoveState::Waits(text) => is_in(
                moves.iter().any(|found| !found.waiting.is_empty() && found.mentions(text)),
                "it does not wait for that",
            ),
        }
    }
}
