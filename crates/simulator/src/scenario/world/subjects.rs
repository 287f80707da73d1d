//! Subjects of a world: commits of the main branch, and releases of workloads, on their way into environments.

use std::sync::Arc;

use engine::promotion::evidence::{Authors, Measured};
use engine::promotion::state::{AdvanceState, BranchPosition, Proved, Revision};
use engine::promotion::step::{PlannedMove, RENDERER, Settled};
use model::object::promotion::Promotion;

use super::World;
use super::environment::{Environment, Rollout};
use super::moves::SeenMove;
use super::subject::{KEPT, PLATFORM, START, Subject, SubjectKey};
use crate::scenario::contents::effective;
use crate::scenario::definition::ChangeOrRelease;

/// Why a workload is not settled before its publication.
const UNPUBLISHED: &str = "it is not published yet";

/// Whether a promotion moves a subject. An environment without such a promotion has each revision at once.
fn moves(promotion: Option<&Promotion>, subject: usize, labels: &model::label::Labels) -> bool {
    promotion.is_some_and(|promotion| match subject {
        PLATFORM => promotion.select.platform,
        _ if promotion.from.is_empty() => false,
        _ => promotion.select.workloads.as_ref().is_some_and(|selector| selector.matches(labels)),
    })
}

impl World {
    /// The number of the version of the program that renders: it comes after the releases of all workloads.
    pub(in crate::scenario) fn renderer_subject(&self) -> usize {
        self.workloads.len() + 1
    }

    /// The number of a subject: of the releases of a workload, of the version of the program that renders, or, without a name, of the main branch.
    pub(in crate::scenario) fn subject_called(&self, name: Option<&str>) -> usize {
        match name {
            Some(RENDERER) => self.renderer_subject(),
            name => name
                .and_then(|name| self.workloads.iter().position(|known| **known == *name))
                .map_or(PLATFORM, |workload| workload + 1),
        }
    }

    /// What is recorded of a subject. None: nothing yet.
    pub(in crate::scenario) fn state_of(&self, number: usize, subject: usize) -> Option<&AdvanceState> {
        let environment = &self.environments[number];
        match environment.subjects.get(subject) {
            Some(subject) => Some(&subject.state),
            None => environment.renderer.state.as_ref(),
        }
    }

    pub(in crate::scenario) fn is_moved(&self, number: usize, subject: usize) -> bool {
        let none = model::label::Labels::default();
        let workload = subject.checked_sub(1).and_then(|workload| self.scenario.workloads.get(workload));
        let labels = workload.map_or(&none, |workload| &workload.labels);
        moves(self.environments[number].promotion.as_ref(), subject, labels)
    }

    /// Whether an environment has published its revision of a subject, and no rollout is open in it.
    pub(in crate::scenario) fn is_settled(&self, number: usize, subject: usize) -> bool {
        settled(&self.environments[number], subject).is_ok()
    }

    /// All environments have their subjects proved, at the beginning.
    pub(super) fn settle_subjects(&mut self, number: usize) {
        for subject in 0..=self.workloads.len() {
            let revision = self.revision_of(number, subject);
            let named = revision.clone();
            let proved =
                revision.map(|revision| Proved { revision, at: BranchPosition::default(), on: self.timestamp() });
            let state = AdvanceState { proved, at: named.clone(), ..AdvanceState::default() }.with_admitted();
            self.environments[number].subjects.push(Subject { state, named, ..Subject::default() });
        }
    }

    /// The revision that an environment has.
    pub(in crate::scenario) fn revision_of(&self, number: usize, subject: usize) -> Option<Revision> {
        let sources = &self.environments[number].sources;
        match subject.checked_sub(1) {
            None => Some(Revision(
                self.main[..sources.main].last().map_or_else(|| START.into(), |last| Arc::clone(&last.name)),
            )),
            Some(_) if subject == self.renderer_subject() => Some(self.renderer_of(number)),
            Some(workload) => {
                let release = sources.releases[workload].checked_sub(1)?;
                Some(Revision(Arc::clone(&self.versions[workload][release])))
            }
        }
    }

    /// The revisions of a subject, newest first. Versions of the program that renders have no order.
    pub(in crate::scenario) fn line(&self, subject: usize) -> Vec<Revision> {
        let names: Vec<_> = match subject.checked_sub(1) {
            None => {
                std::iter::once(START.into()).chain(self.main.iter().map(|commit| Arc::clone(&commit.name))).collect()
            }
            Some(_) if subject == self.renderer_subject() => Vec::new(),
            Some(workload) => {
                let versions = self.versions[workload].iter().enumerate();
                let released = versions.filter(|(release, _)| !self.by_hand.contains(&(workload, *release)));
                released.map(|(_, version)| Arc::clone(version)).collect()
            }
        };
        names.into_iter().rev().map(Revision).collect()
    }

    /// Who wrote a revision of a subject, without those that it contains. None: it is not known.
    pub(in crate::scenario) fn author_of(&self, subject: usize, revision: &Revision) -> Option<Arc<str>> {
        match subject.checked_sub(1) {
            None => self.main.iter().find(|commit| commit.name == revision.0).and_then(|commit| commit.author.clone()),
            Some(_) if subject == self.renderer_subject() => None,
            Some(workload) => {
                let release = self.versions[workload].iter().rposition(|version| *version == revision.0)?;
                self.authors[workload][release].clone()
            }
        }
    }

    /// Who wrote what a revision of a subject brings to an environment: of the commits of the main branch, all since the admitted one.
    pub(super) fn authors_of(&self, number: usize, subject: usize, revision: &Revision) -> Authors {
        let admitted = self.state_of(number, subject).and_then(|state| state.admitted.as_ref());
        let position = |wanted: &Revision| self.main.iter().position(|commit| commit.name == wanted.0);
        let Some(end) = position(revision).filter(|_| subject == PLATFORM) else {
            return Authors::one(self.author_of(subject, revision));
        };
        let start = match admitted {
            None => end,
            Some(admitted) => position(admitted).map_or(0, |admitted| admitted + 1).min(end),
        };
        let authors: Vec<_> = self.main[start..=end].iter().map(|commit| commit.author.clone()).collect();
        Authors { has_unknown: authors.contains(&None), accounts: authors.into_iter().flatten().collect() }
    }

    /// The newest revision of a subject that no promotion moves is there at once.
    pub(super) fn follow_newest(&mut self, number: usize, subject: usize) {
        self.environments[number].subjects[subject].report = None;
        let newest = self.line(subject).into_iter().next();
        if let Some(newest) = newest.filter(|_| subject != PLATFORM || !self.main.is_empty()) {
            self.write(number, subject, &newest);
        }
    }

    /// Keeps the state of a subject, and carries out what is to be written. False: everything is as before.
    pub(super) fn keep_subject(&mut self, number: usize, planned: PlannedMove) -> bool {
        let PlannedMove { subject, step, write, .. } = planned;
        let subject = self.subject_number(&subject);
        let place = self.subject_name(number, subject);
        self.tell_events(&place, &step.events);
        let known = &mut self.environments[number].subjects[subject];
        let is_changed = known.state != step.state;
        known.state = step.state;
        known.report = Some(step.report);
        let has_acted =
            self.render_admitted(number, subject) | self.act(SubjectKey { environment: number, subject }, write);
        is_changed || has_acted
    }

    /// The name of a subject in the story.
    pub(in crate::scenario) fn subject_name(&self, number: usize, subject: usize) -> String {
        let environment = &self.environments[number].name;
        match subject.checked_sub(1) {
            None => environment.to_string(),
            Some(_) if subject == self.renderer_subject() => format!("{environment} {RENDERER}"),
            Some(workload) => format!("{environment} {} release", self.workloads[workload]),
        }
    }

    /// The commit that an environment has proved, and whose effect a commit of the main branch has again.
    pub(in crate::scenario) fn reverts_to(&self, key: SubjectKey, head: &Revision) -> Option<Revision> {
        let SubjectKey { environment, subject } = key;
        let effect = |revision: &Revision| {
            let end = self.main.iter().position(|commit| commit.name == revision.0).map_or(0, |at| at + 1);
            effective(&self.main[..end]).map(|commit| Arc::clone(&commit.name)).collect::<Vec<_>>()
        };
        if subject != PLATFORM {
            return None;
        }
        let wanted = effect(head);
        let proofs = self.environments[environment].subjects[subject].state.proofs.iter().rev();
        proofs.map(|proof| &proof.revision).find(|proof| *proof != head && effect(proof) == wanted).cloned()
    }

    /// The state of all places of an environment, for the workloads that a subject concerns.
    pub(in crate::scenario) fn measured(&self, number: usize, subject: usize) -> Result<Measured, Arc<str>> {
        if self.system.is_hub_down() {
            return Err("the hub can't be reached".into());
        }
        let mut measured = Measured::default();
        for rollout in concerned(&self.environments[number], subject) {
            rollout.reconcilers.states.iter().for_each(|state| measured.add(*state));
        }
        Ok(measured)
    }

    /// The sources of an environment name a revision. True: they named another one.
    pub(super) fn name(&mut self, number: usize, subject: usize, revision: Revision) -> bool {
        self.wake();
        let named = &mut self.environments[number].subjects[subject].named;
        named.replace(revision.clone()) != Some(revision)
    }

    /// The output of an environment gets the admitted revision. True: it had another one.
    pub(super) fn render_admitted(&mut self, number: usize, subject: usize) -> bool {
        let admitted = self.environments[number].subjects[subject].state.admitted.clone();
        admitted.is_some_and(|admitted| self.write(number, subject, &admitted))
    }

    /// The output of an environment gets a revision. True: it had another one.
    fn write(&mut self, number: usize, subject: usize, revision: &Revision) -> bool {
        let position = match subject.checked_sub(1) {
            None if *revision.0 == *START => Some(0),
            None => self.main.iter().position(|commit| commit.name == revision.0).map(|at| at + 1),
            Some(workload) => {
                self.versions[workload].iter().rposition(|version| *version == revision.0).map(|at| at + 1)
            }
        };
        let Some(position) = position else { return false };
        let sources = &mut self.environments[number].sources;
        let place = match subject.checked_sub(1) {
            None => &mut sources.main,
            Some(workload) => &mut sources.releases[workload],
        };
        if std::mem::replace(place, position) == position {
            return false;
        }
        self.compile(number, &revision.0);
        true
    }

    /// A person writes a commit of the main branch or a release into an environment.
    pub(super) fn move_by_hand(&mut self, environment: &str, what: &ChangeOrRelease) {
        let Some(number) = self.number(environment) else { return };
        let (subject, revision) = match what {
            ChangeOrRelease::Change(commit) => (PLATFORM, Revision(Arc::clone(commit))),
            ChangeOrRelease::Release(workload, version) => {
                let Some(workload) = self.workloads.iter().position(|name| name == workload) else { return };
                if !self.versions[workload].contains(version) {
                    self.by_hand.insert((workload, self.versions[workload].len()));
                    self.versions[workload].push(Arc::clone(version));
                    self.authors[workload].push(None);
                }
                (workload + 1, Revision(Arc::clone(version)))
            }
        };
        if self.is_moved(number, subject) {
            self.name(number, subject, revision);
        } else {
            self.write(number, subject, &revision);
        }
    }

    /// The moves of the subjects of an environment: of one workload, or of all.
    pub(super) fn subject_moves(&self, number: usize, workload: Option<&str>) -> Vec<SeenMove> {
        let subjects = self.environments[number].subjects.iter().enumerate();
        let is_meant = |subject: usize| match (workload, subject.checked_sub(1)) {
            (None, _) => true,
            (Some(meant), Some(workload)) => *self.workloads[workload] == *meant,
            (Some(_), None) => false,
        };
        let meant = subjects.filter(|(subject, _)| is_meant(*subject));
        meant
            .filter_map(|(subject, known)| {
                let report = known.report.as_ref()?;
                Some(SeenMove::new(self.subject_name(number, subject), report, !known.state.rejected.is_empty()))
            })
            .collect()
    }
}

/// The rollouts of the workloads that a subject concerns.
fn concerned(environment: &Environment, subject: usize) -> impl Iterator<Item = &Rollout> {
    let all = environment.workloads.iter().enumerate();
    let is_release = subject != PLATFORM && subject <= environment.workloads.len();
    let meant = all.filter(move |(workload, _)| !is_release || *workload + 1 == subject);
    meant.map(|(_, rollout)| rollout).filter(|rollout| rollout.compiled.is_some())
}

/// Whether an environment has published its revision, and no rollout is open in it, or why not.
pub(super) fn settled(environment: &Environment, subject: usize) -> Result<(), Arc<str>> {
    for rollout in concerned(environment, subject).filter(|_| environment.has_rings()) {
        let stable = rollout.state.stable.as_ref().map(|stable| &stable.revision);
        if rollout.state.current.is_some() {
            return Err("a rollout is open".into());
        }
        if stable != rollout.compiled.as_ref() {
            return Err("a rollout has not begun, or its revision was rejected".into());
        }
    }
    if let Some(problem) = problem(environment) {
        return Err(problem.into());
    }
    let is_waiting = concerned(environment, subject).any(|rollout| is_waiting(environment, rollout));
    if is_waiting { Err(UNPUBLISHED.into()) } else { Ok(()) }
}

/// Whether an environment has published what it has. Open rollouts do not count.
pub(super) fn published(environment: &Environment, workloads: &[Arc<str>]) -> Settled {
    if let Some(problem) = problem(environment) {
        return Settled::nothing(problem);
    }
    let rollouts = workloads.iter().zip(&environment.workloads).filter(|(_, rollout)| rollout.compiled.is_some());
    let waiting = rollouts.filter(|(_, rollout)| is_waiting(environment, rollout));
    let open = waiting.map(|(name, _)| (Arc::clone(name), UNPUBLISHED.into()));
    Settled { open: open.collect(), ..Settled::default() }
}

/// Why nothing of an environment is settled.
fn problem(environment: &Environment) -> Option<&'static str> {
    if environment.stored.is_gone() {
        return Some("its stored states can't be read");
    }
    (!environment.renderer.kept.is_empty()).then_some(KEPT)
}

/// Whether what a workload has is not published yet.
fn is_waiting(environment: &Environment, rollout: &Rollout) -> bool {
    environment.is_due || rollout.reconcilers.target != rollout.reconcilers.published
}
