//! Sources of environments in a world: values on their own branches, and targets of application teams. They wait for the gates that ask people or the clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::report::ReportPhase;
use engine::promotion::source::SourceStep;
use engine::promotion::state::{AdvanceState, Revision};
use engine::promotion::step::PlannedSource;
use model::object::promotion::ChangeOrigin;

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
    pub(super) fn origin(self) -> ChangeOrigin {
        match self {
            Self::Values => ChangeOrigin::Values,
            Self::Application(_) => ChangeOrigin::Application,
        }
    }

    /// The account of who writes its commits.
    pub(super) fn author(self) -> &'static str {
        match self {
            Self::Values => AUTHOR,
            Self::Application(_) => TEAM,
        }
    }
}

impl Environment {
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
    /// A commit of a source. The next step of the controller sees it.
    pub(super) fn add_to_source(&mut self, number: usize, source: Source, commit: Commit) {
        self.environments[number].source_mut(source).pending.push(commit);
        self.wake();
    }

    /// A commit of an application team that changes the target of a workload in an environment.
    pub(super) fn retarget(&mut self, (workload, environment): (&Arc<str>, &str), name: &Arc<str>) {
        let workload_number = self.workloads.iter().position(|known| known == workload);
        let Some((number, workload_number)) = self.number(environment).zip(workload_number) else { return };
        let scope = crate::scenario::definition::FolderScope { workload: Some(Arc::clone(workload)), label: None };
        let commit = Commit { name: Arc::clone(name), scope, ..Commit::default() };
        self.add_to_source(number, Source::Application(workload_number), commit);
    }

    /// Keeps the states of all sources of an environment, and lets in what is admitted. A source without a decision waits for nothing. False: everything is as before.
    pub(super) fn keep_sources(&mut self, number: usize, planned: Vec<PlannedSource>) -> bool {
        let mut is_changed = false;
        let mut decided: BTreeMap<_, _> = planned.into_iter().map(|planned| (planned.name, planned.step)).collect();
        for source in self.environments[number].sources() {
            let (admitted, state) = match decided.remove(&*self.subject_of(source)) {
                Some(Ok(step)) => self.keep_source(number, source, step),
                Some(Err(state)) => (0, Some(*state)),
                None => {
                    let known = self.environments[number].source_mut(source);
                    known.report = None;
                    (known.pending.len(), None)
                }
            };
            let known = self.environments[number].source_mut(source);
            is_changed |= std::mem::replace(&mut known.state, state.clone()) != state;
            for commit in known.pending.drain(..admitted).collect::<Vec<_>>() {
                self.environments[number].source_mut(source).read = Revision(Arc::clone(&commit.name));
                self.commit(number, commit);
                is_changed = true;
            }
        }
        is_changed
    }

    /// The state of a source after a step, and how many of its commits are admitted.
    fn keep_source(&mut self, number: usize, source: Source, step: SourceStep) -> (usize, Option<AdvanceState>) {
        let SourceStep { state, report, events } = step;
        let waits = report.phase != ReportPhase::Rest || !report.waiting.is_empty();
        let known = self.environments[number].source_mut(source);
        let has_waited = std::mem::replace(&mut known.report, waits.then_some(report)).is_some();
        let is_admitted = |commit: &Commit| state.admitted.as_ref().is_some_and(|admitted| admitted.0 == commit.name);
        let admitted = known.pending.iter().rposition(is_admitted).map_or(0, |position| position + 1);
        if waits || has_waited {
            self.tell_events(&self.source_name(number, source), &events);
        }
        (admitted, Some(state))
    }

    pub(super) fn set_source(&mut self, number: usize, source: Source, state: AdvanceState) {
        self.environments[number].source_mut(source).state = Some(state);
    }

    /// The moves of the sources of an environment: of the one that decisions call so, or of all.
    pub(super) fn source_moves(&self, number: usize, meant: Option<&str>) -> Vec<SeenMove> {
        let sources = self.environments[number].sources();
        let sources = sources.filter(|source| meant.is_none_or(|meant| self.subject_of(*source) == meant));
        let seen = |source| {
            let known = self.environments[number].source(source);
            let report = known.report.as_ref()?;
            let is_rejected = known.state.as_ref().is_some_and(|state| !state.rejected.is_empty());
            Some(SeenMove::new(self.source_name(number, source), report, is_rejected))
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
