//! Sources of environments in a world: values on their own branches, and targets of application teams. They wait for the gates that ask people or the clock.

use std::sync::Arc;

use engine::promotion::command::{Command, Refusal, apply_to_advance};
use engine::promotion::origin::for_origin;
use engine::promotion::report::ReportPhase;
use engine::promotion::source::{People, SourceInput, step};
use engine::promotion::state::Revision;
use model::object::promotion::{ChangeOrigin, Gate};

use super::World;
use super::environment::Environment;
use super::moves::SeenMove;
use super::subject::Values;
use crate::scenario::contents::Commit;
use crate::scenario::definition::{APPLICATION, VALUES};

/// The account that writes values.
pub(in crate::scenario) const AUTHOR: &str = "olga";
/// The account of application teams.
const TEAM: &str = "dora";

/// A source of an environment whose commits wait for its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scenario) enum Source {
    /// The branch of the environment.
    Values,
    /// The repository of a workload's application team.
    Application(usize),
}

impl Source {
    fn origin(self) -> ChangeOrigin {
        match self {
            Self::Values => ChangeOrigin::Values,
            Self::Application(_) => ChangeOrigin::Application,
        }
    }
}

impl Environment {
    /// The gates that a source waits for.
    pub(in crate::scenario) fn gates_of(&self, source: Source) -> Vec<Gate> {
        let promotion = self.promotion.as_ref();
        promotion.map(|promotion| for_origin(promotion, source.origin()).gates).unwrap_or_default()
    }

    /// All sources.
    pub(in crate::scenario) fn sources(&self) -> impl Iterator<Item = Source> + use<> {
        [Source::Values].into_iter().chain((0..self.applications.len()).map(Source::Application))
    }

    /// What waits of a source.
    pub(in crate::scenario) fn source(&self, source: Source) -> &Values {
        match source {
            Source::Values => &self.values,
            Source::Application(workload) => &self.applications[workload],
        }
    }

    fn source_mut(&mut self, source: Source) -> &mut Values {
        match source {
            Source::Values => &mut self.values,
            Source::Application(workload) => &mut self.applications[workload],
        }
    }
}

impl World {
    /// A commit of a source.
    pub(super) fn add_to_source(&mut self, number: usize, source: Source, commit: Commit) {
        self.environments[number].source_mut(source).pending.push(commit);
        self.step_source(number, source);
    }

    /// A commit of an application team that changes the target of a workload in an environment.
    pub(super) fn retarget(&mut self, (workload, environment): (&Arc<str>, &str), name: &Arc<str>) {
        let workload_number = self.workloads.iter().position(|known| known == workload);
        let Some((number, workload_number)) = self.number(environment).zip(workload_number) else { return };
        let scope = crate::scenario::definition::Scope { workload: Some(Arc::clone(workload)), label: None };
        let commit = Commit { name: Arc::clone(name), scope, ..Commit::default() };
        self.add_to_source(number, Source::Application(workload_number), commit);
    }

    /// Lets commits of all sources in when their gates hold. True: they need another step later.
    pub(super) fn step_sources(&mut self, number: usize) -> bool {
        let mut is_restless = false;
        for source in self.environments[number].sources() {
            is_restless |= self.step_source(number, source);
        }
        is_restless
    }

    fn step_source(&mut self, number: usize, source: Source) -> bool {
        let environment = &self.environments[number];
        let known = environment.source(source);
        let Some(newest) = known.pending.last().filter(|_| !self.system.is_service_down()) else {
            return false;
        };
        let head = Revision(newest.name.clone());
        let input = SourceInput {
            now: self.service_time(),
            gates: &environment.gates_of(source),
            head: &head,
            is_change: true,
            people: People { approvals: &[], author: Some(if source == Source::Values { AUTHOR } else { TEAM }) },
            unmerged: None,
            teams: &self.system.teams,
            hold: environment.hold(),
        };
        let found = step(&input, &known.state);
        let is_admitted = found.state.admitted.as_ref() == Some(&head);
        let waits = found.report.phase != ReportPhase::Rest || !found.report.waiting.is_empty();
        if waits || known.report.is_some() {
            self.tell_events(&self.source_name(number, source), &found.events);
        }
        let known = self.environments[number].source_mut(source);
        (known.state, known.report) = (found.state, waits.then_some(found.report));
        if is_admitted {
            for commit in std::mem::take(&mut known.pending) {
                self.commit(number, commit);
            }
        }
        waits
    }

    pub(super) fn command_source(&mut self, number: usize, source: Source, command: &Command) -> Result<(), Refusal> {
        let known = &self.environments[number].source(source).state;
        let state = apply_to_advance(known, command)?;
        let revision = state.current.as_ref().or(known.current.as_ref()).map(|current| current.revision.clone());
        self.environments[number].source_mut(source).state = state;
        self.tell_events(&self.source_name(number, source), &[command.event(revision)]);
        Ok(())
    }

    /// The moves of the sources of an environment: of the one that decisions call so, or of all.
    pub(super) fn source_moves(&self, number: usize, meant: Option<&str>) -> Vec<SeenMove> {
        let sources = self.environments[number].sources();
        let sources = sources.filter(|source| meant.is_none_or(|meant| self.subject_of(*source) == meant));
        let seen = |source| {
            let known = self.environments[number].source(source);
            let report = known.report.as_ref()?;
            Some(SeenMove::new(self.source_name(number, source), report, !known.state.rejected.is_empty()))
        };
        sources.filter_map(seen).collect()
    }

    /// The source that decisions call so. None: it is a workload.
    pub(super) fn source_called(&self, name: &str) -> Option<Source> {
        if name == VALUES && self.workloads.iter().all(|workload| **workload != *VALUES) {
            return Some(Source::Values);
        }
        let workload = name.strip_prefix(APPLICATION)?;
        self.workloads.iter().position(|known| **known == *workload).map(Source::Application)
    }

    /// The name of a source in decisions.
    pub(in crate::scenario) fn subject_of(&self, source: Source) -> String {
        match source {
            Source::Values => VALUES.to_owned(),
            Source::Application(workload) => format!("{APPLICATION}{}", self.workloads[workload]),
        }
    }

    pub(super) fn source_name(&self, number: usize, source: Source) -> String {
        format!("{} {}", self.environments[number].name, self.subject_of(source))
    }
}
