//! One environment: its state.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hub_api::syncs::{EnvironmentSync, EnvironmentSyncDetail, SyncPhase, SyncResult};
use hub_api::timestamp::Timestamp;
use model::name::EnvironmentName;

use crate::dependencies::Dependencies;
use crate::results::SyncReport;
use crate::trigger::Trigger;

/// An environment of the control plane.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) name: EnvironmentName,
    pub(crate) trigger: Trigger,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) is_syncing: bool,
    /// The number of syncs that failed since the last good one.
    pub(crate) failures: u32,
    pub(crate) next_on: Option<Timestamp>,
    pub(crate) report: Option<SyncReport>,
    pub(crate) dependencies: Dependencies,
    /// The words of the confirmed removals.
    pub(crate) confirmed: BTreeSet<String>,
}

impl Environment {
    pub(crate) fn new(name: EnvironmentName) -> Self {
        Self { name, trigger: Trigger::default(), state: Mutex::default() }
    }

    /// The state, as the API shows it.
    pub(crate) fn state(&self) -> EnvironmentSync {
        let phase = |is_syncing| match (is_syncing, self.trigger.is_pending()) {
            (true, _) => SyncPhase::Syncing,
            (false, true) => SyncPhase::Settling,
            (false, false) => SyncPhase::Waiting,
        };
        let state = self.lock();
        EnvironmentSync {
            environment: self.name.to_string(),
            phase: phase(state.is_syncing),
            last: state.report.as_ref().map(|report| report.result.clone()),
            failures: state.failures,
            next_on: state.next_on,
        }
    }

    /// The state with plans and problems.
    pub(crate) fn detail(&self) -> EnvironmentSyncDetail {
        let state = self.state();
        let report = self.lock().report.clone();
        let (plans, problems) = report.map(|report| (report.plans, report.problems)).unwrap_or_default();
        EnvironmentSyncDetail { state, plans, problems }
    }

    /// What it depended on at its last sync.
    pub(crate) fn dependencies(&self) -> Dependencies {
        self.lock().dependencies.clone()
    }

    /// Whether it depends on what changed.
    pub(crate) fn depends(&self, is_changed: impl FnOnce(&Dependencies) -> bool) -> bool {
        is_changed(&self.lock().dependencies)
    }

    /// Whether the first sync has ended.
    pub(crate) fn is_known(&self) -> bool {
        self.lock().report.is_some()
    }

    /// Confirms the removals with a word. False if the last plan has no such removals.
    pub(crate) fn confirm(&self, word: &str) -> bool {
        let mut state = self.lock();
        let is_needed = |result: &SyncResult| {
            result.destinations.iter().any(|destination| destination.confirmation.as_deref() == Some(word))
        };
        let is_needed = state.report.as_ref().is_some_and(|report| is_needed(&report.result));
        if is_needed {
            state.confirmed.insert(word.to_owned());
        }
        is_needed
    }

    /// The state. Others wait while it is held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
