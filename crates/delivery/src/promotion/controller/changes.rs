//! A change of the stored states with its events, as one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::report::MoveEvent;
use engine::promotion::state::{AdvanceState, GateRecord};
use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, Person};
use hub_api::promotions::PromotionEvent;
use model::name::EnvironmentName;

use super::context::Context;
use super::events;
use crate::access::RepositoryAccess;
use crate::states::rollout_store::{
    self, AdmissionChange, Advances, StateChange, StoreError, StoredRollout, StoredSource, StoredStates, Written,
};
use crate::write_lease::WriteLease;

/// Events of one subject, with who decided.
#[derive(Clone, Copy)]
pub(super) struct DecidedEvents<'a> {
    events: &'a [MoveEvent],
    /// The person. None: the controller.
    by: Option<&'a str>,
}

impl<'a> DecidedEvents<'a> {
    /// The events of a step.
    pub(super) fn by_controller(events: &'a [MoveEvent]) -> Self {
        Self { events, by: None }
    }

    /// The event of a decision of a person.
    pub(super) fn by_person(event: &'a MoveEvent, by: &'a str) -> Self {
        Self { events: std::slice::from_ref(event), by: Some(by) }
    }
}

/// The author and the time of a commit, as git has them.
#[derive(Clone, Copy)]
pub(super) struct Signature<'a> {
    pub(super) author: &'a Person,
    /// Since 1970.
    pub(super) seconds: i64,
}

/// A change of the stored states of an environment.
pub(super) struct Change {
    environment: EnvironmentName,
    before: Option<Commit>,
    advances: Advances,
    has_advances: bool,
    rollouts: BTreeMap<Arc<str>, Option<StoredRollout>>,
    promotion: AdmissionChange,
    events: Vec<PromotionEvent>,
}

impl Change {
    pub(super) fn new(environment: &EnvironmentName, stored: &StoredStates, advances: Advances) -> Self {
        Self {
            environment: environment.clone(),
            before: stored.head.clone(),
            advances,
            has_advances: false,
            rollouts: BTreeMap::new(),
            promotion: AdmissionChange::Keep,
            events: Vec::new(),
        }
    }

    /// The commits of the main branch on their way into the environment.
    pub(super) fn platform(&self) -> Option<&AdvanceState> {
        self.advances.platform.as_ref()
    }

    /// Sets the state of the platform's commits.
    pub(super) fn set_platform(&mut self, state: AdvanceState, events: DecidedEvents<'_>) {
        self.advances.platform = Some(state);
        self.has_advances = true;
        self.add_events(None, events);
    }

    /// Sets the admitted promotion.
    pub(super) fn set_promotion(&mut self, promotion: AdmissionChange) {
        self.promotion = promotion;
    }

    /// Sets the state of a workload's release.
    pub(super) fn set_release(&mut self, workload: &Arc<str>, state: AdvanceState, events: DecidedEvents<'_>) {
        self.advances.releases.insert(Arc::clone(workload), state);
        self.has_advances = true;
        self.add_events(Some(workload), events);
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

    /// Sets the commits of a source.
    pub(super) fn set_source(&mut self, name: &Arc<str>, source: StoredSource, events: DecidedEvents<'_>) {
        self.advances.sources.insert(Arc::clone(name), source);
        self.has_advances = true;
        self.add_events(Some(name), events);
    }

    /// Sets the state of a workload's rollout. None removes it.
    pub(super) fn set_rollout(
        &mut self,
        workload: &Arc<str>,
        rollout: Option<StoredRollout>,
        events: DecidedEvents<'_>,
    ) {
        self.rollouts.insert(Arc::clone(workload), rollout);
        self.add_events(Some(workload), events);
    }

    /// Adds what happened to a subject. None: the commits of the main branch.
    pub(super) fn add_events(&mut self, subject: Option<&str>, DecidedEvents { events, by }: DecidedEvents<'_>) {
        let environment = &self.environment;
        self.events.extend(events.iter().map(|event| events::promotion_event(environment, subject, event, by)));
    }

    /// Whether there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_advances && self.rollouts.is_empty() && self.promotion == AdmissionChange::Keep
    }

    /// Stores the change as the controller. False: another program moved the branch, and nothing is stored.
    pub(super) fn store(self, context: &Context<'_>) -> Result<bool, StoreError> {
        let author = Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() };
        let signature = Signature { author: &author, seconds: context.now.as_second() };
        self.write(context.access, signature, context.lease)
    }

    /// Stores the change. False: another program moved the branch, and nothing is stored.
    pub(super) fn write(
        self,
        access: &RepositoryAccess,
        Signature { author, seconds }: Signature<'_>,
        lease: Option<&WriteLease>,
    ) -> Result<bool, StoreError> {
        let message = events::message(&self.environment, &self.events);
        let change = StateChange {
            rollouts: self.rollouts,
            advances: self.has_advances.then_some(self.advances),
            promotion: self.promotion,
            message: &message,
            author,
            seconds,
            lease,
        };
        let written = rollout_store::write(access, &self.environment, self.before.as_ref(), &change)?;
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
