//! One environment: its state.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use delivery::promotion::controller::command::Confirmed;
use hub_api::leases::LeaderState;
use hub_api::promotions::PromotionStatus;
use hub_api::syncs::{EnvironmentSync, EnvironmentSyncDetail, SyncPhase, SyncResult};
use hub_api::timestamp::Timestamp;
use model::name::EnvironmentName;

use crate::dependencies::Dependencies;
use crate::lease::Lease;
use crate::results::SyncReport;
use crate::trigger::{Reason, Trigger};

/// An environment of the control plane.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) name: EnvironmentName,
    /// The name in answers, metrics and logs: after that of the control plane, if that is not the main one.
    pub(crate) shown: String,
    pub(crate) trigger: Trigger,
    pub(crate) lease: Lease,
    /// Whether its thread has ended.
    pub(crate) has_ended: AtomicBool,
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
    /// Where the changes into the environment stand. None: it is in no promotion, or no step was made yet.
    pub(crate) promotion: Option<PromotionStatus>,
    /// What keeps promotions from being carried out.
    pub(crate) promotion_problems: Vec<String>,
    /// The words of the confirmed removals.
    pub(crate) confirmed: BTreeSet<String>,
    /// The confirmations that the history does not have yet.
    pub(crate) unnoted: Vec<Confirmed>,
}

impl Environment {
    pub(crate) fn new(control_plane: Option<&str>, name: EnvironmentName, lease: Lease) -> Self {
        let has_ended = AtomicBool::new(false);
        let shown = control_plane.map_or_else(|| name.to_string(), |control_plane| format!("{control_plane}:{name}"));
        Self { name, shown, trigger: Trigger::default(), lease, has_ended, state: Mutex::default() }
    }

    /// The state, as the API shows it. If another replica leads, it is the state that this replica has stored.
    pub(crate) fn state(&self) -> EnvironmentSync {
        let leader = self.lease.leader();
        let stored = self.lease.stored().map(|stored| stored.sync.state);
        if self.lease.is_held() {
            let own = self.own_state();
            let last = own.last.or_else(|| stored?.last);
            return EnvironmentSync { leader, last, ..own };
        }
        match stored {
            Some(stored) => EnvironmentSync { leader, ..stored },
            None => EnvironmentSync { leader, ..self.own_state() },
        }
    }

    /// The state in this process.
    fn own_state(&self) -> EnvironmentSync {
        let phase = |is_syncing| match (is_syncing, self.trigger.is_pending()) {
            (true, _) => SyncPhase::Syncing,
            (false, true) => SyncPhase::Settling,
            (false, false) => SyncPhase::Waiting,
        };
        let state = self.lock();
        EnvironmentSync {
            environment: self.shown.clone(),
            phase: phase(state.is_syncing),
            leader: None,
            last: state.report.as_ref().map(|report| report.result.clone()),
            failures: state.failures,
            next_on: state.next_on,
        }
    }

    /// The state with plans and problems.
    pub(crate) fn detail(&self) -> EnvironmentSyncDetail {
        let state = self.state();
        let report = self.lock().report.clone().filter(|_| self.lease.is_held());
        let own = report.map(|report| (report.plans, report.problems));
        let stored = || self.lease.stored().map(|stored| (stored.sync.plans, stored.sync.problems));
        let (plans, problems) = own.or_else(stored).unwrap_or_default();
        EnvironmentSyncDetail { state, plans, problems }
    }

    /// Where the changes into the environment stand. If another replica leads, it is what this replica has stored; also after a takeover, until the first step.
    pub(crate) fn promotion(&self) -> Option<PromotionStatus> {
        let own = self.lock().promotion.clone().filter(|_| self.lease.is_held());
        own.or_else(|| self.lease.stored()?.promotion)
    }

    /// The state for the other replicas.
    pub(crate) fn leader_state(&self) -> LeaderState {
        LeaderState { sync: self.detail(), promotion: self.promotion() }
    }

    /// Another replica leads the environment now. Returns whether this process had synced it before.
    pub(crate) fn resign(&self) -> bool {
        let own = self.own_state();
        let former = std::mem::take(&mut *self.lock());
        let Some(report) = former.report else { return false };
        let sync = EnvironmentSyncDetail { state: own, plans: report.plans, problems: report.problems };
        self.lease.keep(LeaderState { sync, promotion: former.promotion });
        true
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

    /// Whether the last plan has removals with a word.
    pub(crate) fn needs(&self, word: &str) -> bool {
        let is_needed = |result: &SyncResult| {
            result.destinations.iter().any(|destination| destination.confirmation.as_deref() == Some(word))
        };
        self.state().last.is_some_and(|last| is_needed(&last))
    }

    /// Confirms the removals with a word, and requests a sync. False if the last plan has no such removals.
    pub(crate) fn confirm(&self, word: &str, by: &str) -> bool {
        let is_needed = self.needs(word);
        if is_needed {
            let mut state = self.lock();
            if state.confirmed.insert(word.to_owned()) {
                state.unnoted.push(Confirmed { word: word.to_owned(), by: by.to_owned(), at: jiff::Timestamp::now() });
            }
            drop(state);
            tracing::info!(environment = self.shown, word, by, "removals are confirmed");
            self.trigger.request(Reason::Confirmation);
        }
        is_needed
    }

    /// The state. Others wait while it is held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
