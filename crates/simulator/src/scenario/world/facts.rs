//! What the controller of a world knows of an environment.

use std::borrow::Cow;
use std::sync::Arc;

use engine::promotion::advance::FromEnvironment;
use engine::promotion::evidence::{Authors, Measured};
use engine::promotion::gates::Teams;
use engine::promotion::state::{AdvanceState, Revision, RolloutState};
use engine::promotion::step::{
    Facts, Known, ReleaseFacts, Renderer, RevisionEvidence, RolloutFacts, Settled, SourceFacts, SourceHead, State,
    Subject, WaitingSource,
};
use engine::promotion::vector::Part;
use jiff::Timestamp;
use model::object::promotion::{Promotion, Ring};

use super::World;
use super::environment::{Environment, Newest};
use super::subject::{KEPT, PLATFORM, SubjectKey, UNRENDERED};
use super::subjects::{published, settled};

/// What the controller of a world knows of an environment.
pub(super) struct WorldFacts<'a> {
    world: &'a World,
    number: usize,
    line: Vec<Revision>,
    /// What was rendered for each workload before.
    rendered: &'a [Rendered],
}

/// What the newest sources of a workload give, and the revision to which a rollback returns.
pub(super) struct Rendered {
    newest: Option<Newest>,
    back: Option<Result<Revision, &'static str>>,
    is_lost: bool,
}

impl World {
    /// Renders what a decision about the rollouts of an environment needs.
    pub(super) fn render(&mut self, number: usize) -> Vec<Rendered> {
        let has_rings = self.environments[number].has_rings();
        let workloads = if has_rings { 0..self.workloads.len() } else { 0..0 };
        let (environment, mut repository) = self.environment(number);
        let render = |workload| {
            environment.remember_changed(workload, &mut repository);
            let present = environment.workloads[workload].state.present().cloned();
            let is_kept = environment.renderer.kept.contains(&workload);
            let newest = match present.filter(|_| is_kept) {
                Some(desired) => Some(Newest { desired, part: Part::Both, ahead: Some(Err(KEPT)) }),
                None => environment.wanted(workload, &mut repository),
            };
            let back = environment.back(workload, &mut repository);
            Rendered { newest, back, is_lost: environment.is_lost(workload, &mut repository) }
        };
        workloads.map(render).collect()
    }

    /// The stored states of an environment.
    pub(super) fn stored(&self, number: usize) -> State {
        let environment = &self.environments[number];
        let rollouts = self.workloads.iter().zip(&environment.workloads).filter(|_| environment.has_rings());
        let rollouts = rollouts.map(|(name, rollout)| (Arc::clone(name), rollout.state.clone()));
        let recorded = |source| {
            let state = environment.source(source).state.clone()?;
            Some((self.subject_of(source).into(), state))
        };
        // Only releases that a promotion moves are recorded.
        let moved = (1..=self.workloads.len()).filter(|subject| self.is_moved(number, *subject));
        let releases = moved.map(|subject| (Arc::clone(&self.workloads[subject - 1]), subject));
        let releases = releases.map(|(name, subject)| (name, environment.subjects[subject].state.clone()));
        State {
            main: environment.subjects.get(PLATFORM).map(|subject| subject.state.clone()),
            releases: releases.collect(),
            renderer: environment.renderer.state.clone(),
            sources: environment.sources().filter_map(recorded).collect(),
            rollouts: rollouts.collect(),
            promotion: environment.admitted_promotion.clone(),
        }
    }

    /// The number of a subject.
    pub(super) fn subject_number(&self, subject: &Subject) -> usize {
        match subject {
            Subject::Release(workload) => self.subject_called(Some(workload)),
            Subject::Main => PLATFORM,
            Subject::Renderer => self.renderer_subject(),
        }
    }

    pub(super) fn workload_number(&self, name: &Arc<str>) -> Option<usize> {
        self.workloads.iter().position(|known| known == name)
    }
}

impl<'a> WorldFacts<'a> {
    pub(super) fn new(world: &'a World, number: usize, rendered: &'a [Rendered]) -> Self {
        Self { line: world.line(PLATFORM), world, number, rendered }
    }

    fn environment(&self) -> &'a Environment {
        &self.world.environments[self.number]
    }

    fn source(&self, name: &str) -> Option<super::values::Source> {
        self.environment().sources().find(|source| self.world.subject_of(*source) == name)
    }
}

impl Facts for WorldFacts<'_> {
    fn now(&self) -> Timestamp {
        self.world.service_time()
    }

    fn teams(&self) -> &Teams {
        &self.world.system.teams
    }

    fn promotion(&self, commit: Option<&Revision>) -> Option<Promotion> {
        self.world.promotion_of(self.number, commit).cloned()
    }

    fn problem(&self, _: &Promotion) -> Option<Arc<str>> {
        None
    }

    fn line(&self) -> &[Revision] {
        &self.line
    }

    fn named(&self) -> Option<&Revision> {
        self.environment().subjects[PLATFORM].named.as_ref()
    }

    fn baseline(&self) -> Option<&Revision> {
        None
    }

    fn reverts_to(&self, _: &AdvanceState) -> Option<Revision> {
        let key = SubjectKey { environment: self.number, subject: PLATFORM };
        self.world.reverts_to(key, self.line.first()?)
    }

    fn settled(&self) -> Settled {
        published(self.environment(), &self.world.workloads)
    }

    /// Its GitOps branches have no pull requests.
    fn is_proposed(&self) -> bool {
        false
    }

    fn is_published(&self) -> bool {
        true
    }

    fn before(&self, environment: &Arc<str>, subject: &Subject) -> FromEnvironment {
        let Some(number) = self.world.number(environment) else {
            return FromEnvironment::new(Arc::clone(environment), (None, Err("it does not exist".into())), None);
        };
        let before = &self.world.environments[number];
        let subject = self.world.subject_number(subject);
        let settled = settled(before, subject);
        let has = self.world.revision_of(number, subject);
        let state = self.world.state_of(number, subject).filter(|_| !before.stored.is_gone());
        FromEnvironment::new(Arc::clone(environment), (has, settled), state)
    }

    fn measured(&self, before: Option<&Arc<str>>, subject: &Subject) -> Known<Measured> {
        let number = before.map_or(Some(self.number), |name| self.world.number(name));
        let subject = self.world.subject_number(subject);
        number.map_or_else(|| Err("it does not exist".into()), |number| self.world.measured(number, subject))
    }

    fn evidence(&self, subject: &Subject, revision: &Revision, promotion: &Promotion) -> RevisionEvidence {
        RevisionEvidence {
            checks: self.world.system.results(&promotion.gates, self.now().as_second()),
            approvals: Vec::new(),
            authors: self.world.authors_of(self.number, self.world.subject_number(subject), revision),
        }
    }

    fn releases(&self) -> Option<Vec<ReleaseFacts>> {
        let workloads = self.world.scenario.workloads.iter();
        let one = |workload: &crate::scenario::definition::WorkloadDefinition| ReleaseFacts {
            workload: Arc::clone(&workload.name),
            labels: Some(workload.labels.clone()),
        };
        Some(workloads.map(one).collect())
    }

    fn named_release(&self, workload: &Arc<str>, _: &Promotion) -> Option<Revision> {
        let workload = self.world.workload_number(workload)?;
        self.environment().subjects[workload + 1].named.clone()
    }

    fn renderer(&self) -> Option<Renderer> {
        self.environment().promotion.as_ref()?;
        let is_kept = !self.environment().renderer.kept.is_empty();
        let changes = is_kept.then(|| self.world.renderer_of(self.number));
        Some(Renderer { version: self.world.installed_renderer(), changes, is_known: true })
    }

    fn sources(&self) -> Option<Vec<SourceFacts>> {
        let one = |source| SourceFacts {
            name: self.world.subject_of(source).into(),
            origin: source.origin(),
            commit: self.environment().source(source).read.clone(),
        };
        Some(self.environment().sources().map(one).collect())
    }

    fn heads(&self, waiting: &[WaitingSource]) -> Vec<Known<SourceHead>> {
        let one = |waiting: &WaitingSource| {
            let source = self.source(&waiting.source.name).ok_or("it does not exist")?;
            let known = self.environment().source(source);
            let newest = known.pending.last();
            let people = || RevisionEvidence {
                authors: Authors::one(Some(source.author().into())),
                ..RevisionEvidence::default()
            };
            let candidate = waiting.state.current.as_ref().filter(|current| !current.approvals.is_empty());
            let is_pending = |name: &str| known.pending.iter().rev().skip(1).any(|commit| *commit.name == *name);
            Ok(SourceHead {
                revision: newest.map_or_else(|| known.read.clone(), |newest| Revision(Arc::clone(&newest.name))),
                is_change: newest.is_some(),
                evidence: people(),
                candidate: candidate.filter(|current| is_pending(&current.revision.0)).map(|_| people()),
                unmerged: None,
            })
        };
        waiting.iter().map(one).collect()
    }

    fn rollouts(&self) -> Vec<Arc<str>> {
        let environment = self.environment();
        let rollouts = self.world.workloads.iter().zip(&environment.workloads).filter(|_| environment.has_rings());
        let is_there =
            |(_, rollout): &(&Arc<str>, &super::Rollout)| rollout.compiled.is_some() || rollout.state.current.is_some();
        rollouts.filter(is_there).map(|(name, _)| Arc::clone(name)).collect()
    }

    fn rollout(&self, name: &Arc<str>, state: &RolloutState, promotion: &Promotion) -> Known<RolloutFacts<'_>> {
        let workload = self.world.workload_number(name).ok_or("it does not exist")?;
        let (environment, rendered) = (self.environment(), self.rendered.get(workload).ok_or("it is not rendered")?);
        let rollout = &environment.workloads[workload];
        let live = Live::new(environment, workload);
        let columns = &environment.rings;
        let changed = rollout.memory.changed.as_ref();
        let changed = changed.filter(|changed| state.difference().is_some_and(|difference| changed.is_of(difference)));
        let measured = if self.world.system.is_hub_down() {
            Err("the hub can't be reached".into())
        } else if rendered.is_lost {
            Err(UNRENDERED.into())
        } else {
            Ok(live.pick(&rollout.reconcilers.states))
        };
        let ring = state.current.as_ref().and_then(|current| promotion.rings.get(current.ring));
        let gates: Vec<_> = ring.into_iter().flat_map(Ring::gates).cloned().collect();
        let moving = state.current.as_ref().map(|current| &current.revision).or(rollout.compiled.as_ref());
        let newest = rendered.newest.as_ref();
        let ahead = newest.and_then(|newest| newest.ahead.clone());
        Ok(RolloutFacts {
            desired: newest.map(|newest| newest.desired.clone()),
            part: newest.map(|newest| newest.part).unwrap_or_default(),
            is_lost: rendered.is_lost,
            is_kept: environment.renderer.kept.contains(&workload),
            ahead: ahead.map(|ahead| ahead.map_err(Arc::from)),
            back: rendered.back.clone().map(|back| back.map_err(Arc::from)),
            position: environment.position(),
            ring: live.pick(&columns.ring),
            domain: live.pick(&columns.domain),
            hash: live.pick(&columns.hash),
            domains: (&columns.domains).into(),
            failing: Vec::new(),
            measured,
            changed: changed.map(|changed| live.pick(&changed.places)),
            is_only_new: environment.is_only_new(workload),
            evidence: RevisionEvidence {
                checks: self.world.system.results(&gates, self.now().as_second()),
                approvals: Vec::new(),
                authors: Authors::one(moving.and_then(|revision| self.world.author(workload, revision))),
            },
        })
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

    fn pick<'c, T: Copy>(&self, column: &'c [T]) -> Cow<'c, [T]> {
        match &self.places {
            Some(places) => places.iter().filter_map(|place| column.get(*place).copied()).collect(),
            None => column.into(),
        }
    }
}
