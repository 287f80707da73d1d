//! Versions of the program that renders, in a world: an environment with gates keeps what the installed one changes, until it is admitted.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::promotion::state::{AdvanceState, BranchPosition, MoveStage, Revision};
use engine::promotion::step::{PlannedMove, RENDERER};

use super::World;
use super::environment::{Environment, Repository, Rollout};
use super::moves::SeenMove;
use super::subject::START;
use crate::scenario::contents::{Commit, ContentId, NOTHING, Sources, WorkloadFolder};
use crate::scenario::definition::FolderScope;

impl Environment {
    /// Whether the installed program renders the same folders from these sources as the one that rendered them.
    pub(super) fn can_render(&self, workload: usize, sources: &Sources, repository: &mut Repository<'_>) -> bool {
        let installed = Sources { renderer: repository.renderers.installed, ..sources.clone() };
        installed.renderer == sources.renderer
            || self.classes(workload, sources, repository) == self.classes(workload, &installed, repository)
    }

    /// Whether the installed program can't render what moves, or what it returns to.
    pub(super) fn is_lost(&self, workload: usize, repository: &mut Repository<'_>) -> bool {
        let Rollout { state, revisions, .. } = &self.workloads[workload];
        let Some(current) = &state.current else { return false };
        let (is_back, returns) = match current.phase {
            MoveStage::RollingBack { .. } => (true, true),
            MoveStage::Stopped { is_withdrawn, .. } => (false, is_withdrawn),
            MoveStage::Moving => (false, false),
        };
        let moving = Some(&current.revision).filter(|_| !is_back);
        let stable = state.stable.as_ref().filter(|stable| returns && stable.at == BranchPosition::default());
        let needed = moving.into_iter().chain(stable.map(|stable| &stable.revision));
        needed
            .filter_map(|revision| revisions.sources(revision))
            .any(|sources| !self.can_render(workload, sources, repository))
    }

    /// The classes of clusters whose published folders of a workload the installed program renders differently. None: it renders all of them the same.
    pub(super) fn kept(&self, workload: usize, repository: &mut Repository<'_>) -> Option<Vec<bool>> {
        let installed = Sources { renderer: repository.renderers.installed, ..self.sources.clone() };
        if installed.renderer == self.sources.renderer || self.sources.releases[workload] == 0 {
            return None;
        }
        let before = self.classes(workload, &self.sources, repository);
        let now = self.classes(workload, &installed, repository);
        let differs: Vec<_> = before.iter().zip(&now).map(|(before, now)| before != now).collect();
        let published = self.workloads[workload].reconcilers.published.iter().enumerate();
        let mut published = published.filter(|(_, content)| **content != NOTHING);
        published.any(|(place, _)| differs[self.fleet.class[place] as usize]).then_some(differs)
    }
}

impl World {
    /// A version of the program that renders is installed: a new one, or one that was there before.
    pub(super) fn install(&mut self, version: &Arc<str>, scope: &FolderScope) {
        let known = self.renderers.versions.iter().position(|known| known.name == *version);
        self.renderers.installed = known.map_or(self.renderers.versions.len(), |known| known) + 1;
        if known.is_none() {
            let commit = Commit { name: Arc::clone(version), scope: scope.clone(), ..Commit::default() };
            self.renderers.versions.push(commit);
        }
        self.forget();
        for number in 0..self.environments.len() {
            self.follow_renderer(number);
            let (environment, mut repository) = self.environment(number);
            for workload in 0..environment.workloads.len() {
                environment.follow(workload, &mut repository);
            }
        }
    }

    /// The revision of a number of versions.
    fn renderer_called(&self, versions: usize) -> Revision {
        let last = versions.checked_sub(1).and_then(|last| self.renderers.versions.get(last));
        Revision(last.map_or_else(|| START.into(), |last| Arc::clone(&last.name)))
    }

    /// The version that rendered what an environment has.
    pub(in crate::scenario) fn renderer_of(&self, number: usize) -> Revision {
        self.renderer_called(self.environments[number].sources.renderer)
    }

    /// The installed version.
    pub(super) fn installed_renderer(&self) -> Revision {
        self.renderer_called(self.renderers.installed)
    }

    /// The versions that change a folder, of those up to a number.
    pub(in crate::scenario) fn versions_at(&self, folder: WorkloadFolder<'_>, versions: usize) -> BTreeSet<&str> {
        let all = self.renderers.versions[..versions].iter();
        all.filter(|version| version.affects(folder)).map(|version| &*version.name).collect()
    }

    /// The versions whose changes a content has.
    pub(in crate::scenario) fn versions_in(&self, content: ContentId) -> BTreeSet<&str> {
        let content = self.contents.get(content);
        let has = |version: &&Commit| content.is_some_and(|content| content.changes.contains(&version.name));
        self.renderers.versions.iter().filter(has).map(|version| &*version.name).collect()
    }

    /// Compares what an environment has with what the installed version renders. A version that changes nothing there is admitted at once, and so is each one where no
    /// promotion leads to.
    pub(super) fn follow_renderer(&mut self, number: usize) {
        let installed = self.renderers.installed;
        let (environment, mut repository) = self.environment(number);
        let all = 0..environment.workloads.len();
        let kept: BTreeSet<_> = if environment.promotion.is_some() {
            all.filter(|workload| environment.kept(*workload, &mut repository).is_some()).collect()
        } else {
            BTreeSet::new()
        };
        let is_there = kept.is_empty() && environment.sources.renderer != installed;
        environment.renderer.kept = kept;
        if is_there {
            self.render_with(number, installed);
        }
    }

    /// The output of an environment is rendered by another version.
    fn render_with(&mut self, number: usize, versions: usize) {
        self.environments[number].sources.renderer = versions;
        let name = self.renderer_called(versions);
        self.compile(number, &name.0);
    }

    /// Keeps the state of the version, and renders with the admitted one. False: everything is as before.
    pub(super) fn keep_renderer(&mut self, number: usize, planned: PlannedMove) -> bool {
        let PlannedMove { step, .. } = planned;
        self.tell_events(&self.subject_name(number, self.renderer_subject()), &step.events);
        let known = &mut self.environments[number].renderer;
        let is_changed = known.state.as_ref() != Some(&step.state);
        known.report = Some(step.report);
        is_changed | self.set_renderer(number, step.state)
    }

    /// The state of the version is another one. True: the output is rendered by another version.
    pub(super) fn set_renderer(&mut self, number: usize, state: AdvanceState) -> bool {
        let is_admitted = state.admitted.as_ref() == Some(&self.installed_renderer());
        let installed = self.renderers.installed;
        let environment = &mut self.environments[number];
        environment.renderer.state = Some(state);
        let is_new = is_admitted && environment.sources.renderer != installed;
        if is_new {
            environment.renderer.kept.clear();
            self.render_with(number, installed);
        }
        is_new
    }

    /// The move of the version into an environment: if it is meant, or all are.
    pub(super) fn renderer_move(&self, number: usize, meant: Option<&str>) -> Option<SeenMove> {
        let known = &self.environments[number].renderer;
        let report = known.report.as_ref().filter(|_| meant.is_none_or(|meant| meant == RENDERER))?;
        let is_rejected = known.state.as_ref().is_some_and(|state| !state.rejected.is_empty());
        Some(SeenMove::new(self.subject_name(number, self.renderer_subject()), report, is_rejected))
    }
}
