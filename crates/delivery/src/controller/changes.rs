//! A change of the stored states with its events, as one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::report::Event;
use engine::promotion::state::{AdvanceState, GateRecord};
use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, Person};
use hub_api::promotions::PromotionEvent;
use model::name::EnvironmentName;

use super::context::Context;
use super::events;
use crate::access::RepositoryAccess;
use crate::rollout_store::{
    self, Advances, PromotionChange, StateChange, StoreError, StoredRollout, StoredSource, StoredStates, Written,
};
use crate::write_lease::WriteLease;

/// What events are about, and who decided. None: the commits of the main branch, and the controller.
type Subject<'a> = (Option<&'a str>, Option<&'a str>);

/// A change of the stored states.
pub(super) struct Change {
    before: Option<Commit>,
    advances: Advances,
    has_advances: bool,
    rollouts: BTreeMap<Arc<str>, Option<StoredRollout>>,
    promotion: PromotionChange,
    events: Vec<PromotionEvent>,
}

impl Change {
    pub(super) fn new(stored: &StoredStates, advances: Advances) -> Self {
        let (before, rollouts) = (stored.head.clone(), BTreeMap::new());
        let promotion = PromotionChange::Keep;
        Self { before, advances, has_advances: false, rollouts, promotion, events: Vec::new() }
    }

    /// Sets the state of the platform's commits.
    pub(super) fn set_platform(&mut self, context: &Context<'_>, state: &AdvanceState, events: &[Event]) {
        self.advances.platform = Some(state.clone());
        self.has_advances = true;
        self.add_events(context.environment, (None, None), events);
    }

    /// Sets the admitted promotion.
    pub(super) fn set_promotion(&mut self, promotion: PromotionChange) {
        self.promotion = promotion;
    }

    /// Sets the state of a workload's release.
    pub(super) fn set_release(
        &mut self,
        environment: &EnvironmentName,
        (workload, state): (&Arc<str>, &AdvanceState),
        events: &[Event],
    ) {
        self.advances.releases.insert(Arc::clone(workload), state.clone());
        self.has_advances = true;
        self.add_events(environment, (Some(workload), None), events);
    }

    /// Removes the states of workloads' releases.
    pub(super) fn forget_releases(&mut self, workloads: &[Arc<str>]) {
        self.has_advances |= !workloads.is_empty();
        self.advances.releases.retain(|workload, _| !workloads.contains(workload));
    }

    /// Sets the commits of all sources beside the main branch.
    pub(super) fn set_sources(&mut self, sources: BTreeMap<Arc<str>, StoredSource>) {
        self.advances.sources = sources;
        self.has_advances = true;
    }

    /// Adds what happened to a source.
    pub(super) fn add_source_events(&mut self, environment: &EnvironmentName, name: &str, events: &[Event]) {
        self.add_events(environment, (Some(name), None), events);
    }

    /// Sets the commits of a source after a decision of a person.
    pub(super) fn decide_source(
        &mut self,
        environment: &EnvironmentName,
        (name, source): (&Arc<str>, StoredSource),
        (event, by): (&Event, &str),
    ) {
        self.advances.sources.insert(Arc::clone(name), source);
        self.has_advances = true;
        self.add_events(environment, (Some(name), Some(by)), std::slice::from_ref(event));
    }

    /// Sets the state of a workload's release after a decision of a person.
    pub(super) fn decide_release(
        &mut self,
        environment: &EnvironmentName,
        (workload, state): (&Arc<str>, AdvanceState),
        (event, by): (&Event, &str),
    ) {
        self.advances.releases.insert(Arc::clone(workload), state);
        self.has_advances = true;
        self.add_events(environment, (Some(workload), Some(by)), std::slice::from_ref(event));
    }

    /// The commits of the main branch on their way into the environment.
    pub(super) fn platform(&self) -> Option<&AdvanceState> {
        self.advances.platform.as_ref()
    }

    /// Sets the state of a workload's rollout. None removes it.
    pub(super) fn set_rollout(
        &mut self,
        environment: &EnvironmentName,
        (workload, rollout): (&Arc<str>, Option<StoredRollout>),
        events: &[Event],
    ) {
        self.rollouts.insert(Arc::clone(workload), rollout);
        self.add_events(environment, (Some(workload), None), events);
    }

    /// Sets the state of the platform's commits after a decision of a person.
    pub(super) fn decide_platform(
        &mut self,
        environment: &EnvironmentName,
        state: AdvanceState,
        (event, by): (&Event, &str),
    ) {
        self.advances.platform = Some(state);
        self.has_advances = true;
        self.add_events(environment, (None, Some(by)), std::slice::from_ref(event));
    }

    /// Sets the state of a workload's rollout after a decision of a person.
    pub(super) fn decide_rollout(
        &mut self,
        environment: &EnvironmentName,
        (workload, rollout): (&Arc<str>, StoredRollout),
        (event, by): (&Event, &str),
    ) {
        self.rollouts.insert(Arc::clone(workload), Some(rollout));
        self.add_events(environment, (Some(workload), Some(by)), std::slice::from_ref(event));
    }

    fn add_events(&mut self, environment: &EnvironmentName, (subject, by): Subject<'_>, events: &[Event]) {
        self.events.extend(events.iter().map(|event| events::of(environment, subject, event, by)));
    }

    /// Whether there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_advances && self.rollouts.is_empty() && self.promotion == PromotionChange::Keep
    }

    /// Stores the change as the controller. False: another program moved the branch, and nothing is stored.
    pub(super) fn store(self, context: &Context<'_>) -> Result<bool, StoreError> {
        let author = Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() };
        let seconds = context.now.as_second();
        self.write((context.access, context.environment), (&author, seconds), context.lease)
    }

    /// Stores the change. False: another program moved the branch, and nothing is stored.
    pub(super) fn write(
        self,
        (access, environment): (&RepositoryAccess, &EnvironmentName),
        (author, seconds): (&Person, i64),
        lease: Option<&WriteLease>,
    ) -> Result<bool, StoreError> {
        let message = events::message(environment, &self.events);
        let change = StateChange {
            rollouts: self.rollouts,
            advances: self.has_advances.then_some(self.advances),
            promotion: self.promotion,
            message: &message,
            author,
            seconds,
            lease,
        };
        let written = rollout_store::write(access, environment, self.before.as_ref(), &change)?;
        Ok(!matches!(written, Written::LostRace))
    }
}

/// Whether a new state differs from the stored one in more than the texts of gates. The texts change with every report, and each commit would be one of many.
pub(super) fn is_worth_storing(before: &AdvanceState, after: &AdvanceState) -> bool {
    without_texts(before) != without_texts(after)
}

fn without_texts(state: &AdvanceState) -> AdvanceState {
    let mut state = state.clone();
    let unmerged = state.unmerged.iter_mut().map(|unmerged| &mut unmerged.change);
    for candidate in state.current.iter_mut().chain(unmerged) {
        forget_texts(&mut candidate.gates);
        forget_texts(&mut candidate.entry);
    }
    state
}

/// Removes the texts of gates.
pub(super) fn forget_texts(gates: &mut [GateRecord]) {
    gates.iter_mut().for_each(|record| record.text = "".into());
}
