//! One environment: its state, and the thread that syncs it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use delivery::compilation::KnownResults;
use delivery::hub_publication::Receiver;
use delivery::publish::{Options, Outcome, PublicationError, Request, publish_again};
use hub_api::syncs::{EnvironmentSync, EnvironmentSyncDetail, SyncPhase, SyncResult};
use hub_api::timestamp::Timestamp;
use model::name::EnvironmentName;
use retry::Jitter;

use crate::dependencies::Dependencies;
use crate::limits::RETRY;
use crate::results::{Failure, SyncReport};
use crate::shared::Shared;
use crate::trigger::{Reason, Trigger};

/// An environment of the control plane.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) name: EnvironmentName,
    pub(crate) trigger: Trigger,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_syncing: bool,
    failures: u32,
    next_on: Option<Timestamp>,
    report: Option<SyncReport>,
    dependencies: Dependencies,
    /// The words of the confirmed removals.
    confirmed: BTreeSet<String>,
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Syncs an environment again and again.
pub(crate) struct Worker<'a> {
    shared: &'a Arc<Shared>,
    environment: &'a Environment,
    known: KnownResults,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(shared: &'a Arc<Shared>, environment: &'a Environment) -> Self {
        let file = shared.settings.control_plane.memo_file(&environment.name);
        Self { shared, environment, known: KnownResults::new(Some(file)) }
    }

    /// Runs until the environment is stopped.
    pub(crate) fn run(mut self) {
        let timing = self.shared.settings.timing;
        let mut later = (Instant::now() + timing.resync, Reason::Resync);
        while let Some(reason) = self.environment.trigger.wait((timing.settle, timing.settle_max), later) {
            let failures = self.sync(reason);
            let (pause, reason) = match failures {
                0 => (Jitter::HALF.vary(timing.resync), Reason::Resync),
                failures => (RETRY.pause(failures), Reason::Retry),
            };
            later = (Instant::now() + pause, reason);
            self.environment.lock().next_on = Some(Timestamp::now().after(pause));
        }
    }

    /// Syncs once, and returns the number of failures since the last good sync.
    fn sync(&mut self, reason: Reason) -> u32 {
        let (started, started_on) = (Instant::now(), Timestamp::now());
        self.environment.lock().is_syncing = true;
        let confirmed: Vec<_> = self.environment.lock().confirmed.iter().cloned().collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.publish(&confirmed)));
        let outcome = match outcome {
            Ok(outcome) => outcome.map_err(|error| Failure::of(&error)),
            Err(_) => {
                // The results of a compilation that did not end may be incomplete.
                self.known = KnownResults::new(None);
                Err(Failure::bug())
            }
        };
        let report = SyncReport::new(&outcome, (started_on, started.elapsed(), reason));
        self.log(&report, started.elapsed());
        self.shared.metrics.sync(self.environment.name.as_str(), &report, started.elapsed());
        self.record(outcome.ok().as_ref(), report, &confirmed)
    }

    fn publish(&mut self, confirmed: &[String]) -> Result<Outcome, PublicationError> {
        let settings = &self.shared.settings;
        let hosts = (!self.shared.hosts.is_empty()).then_some(&self.shared.hosts);
        let request = Request {
            environment: &self.environment.name,
            gitops_repo: None,
            options: Options { confirmed, hosts, ..Options::default() },
            hub: settings.hub.as_deref().map(|hub| Receiver { hub, environments: &settings.environments }),
            is_hub_only: false,
        };
        publish_again(&self.shared.access(), &request, &mut self.known, &|_, _| {})
    }

    /// Stores the result. Returns the number of failures since the last good sync.
    fn record(&self, outcome: Option<&Outcome>, report: SyncReport, confirmed: &[String]) -> u32 {
        let mut state = self.environment.lock();
        state.is_syncing = false;
        state.failures = if report.is_retried { state.failures + 1 } else { 0 };
        if let Some(outcome) = outcome {
            let mut dependencies = Dependencies::of(outcome);
            if report.result.error.is_some() {
                dependencies.extend(&state.dependencies);
            }
            state.dependencies = dependencies;
            // A confirmation is for one set of removals: when this set is gone, it is void.
            let words: BTreeSet<_> =
                report.result.destinations.iter().filter_map(|destination| destination.confirmation.clone()).collect();
            state.confirmed.retain(|word| words.contains(word) || !confirmed.contains(word));
        }
        let failures = state.failures;
        let kept = state.report.take().filter(|_| outcome.is_none());
        state.report = Some(report.with_plans_of(kept));
        drop(state);
        self.shared.update_polls();
        failures
    }

    fn log(&self, report: &SyncReport, took: Duration) {
        let (environment, result) = (self.environment.name.as_str(), &report.result);
        let took_ms = took.as_millis() as u64;
        match &result.error {
            Some(error) => tracing::warn!(environment, reason = result.reason, took_ms, error, "not synced"),
            None => {
                let done: Vec<_> = result.destinations.iter().map(|found| found.description.as_str()).collect();
                tracing::info!(
                    environment,
                    reason = result.reason,
                    took_ms,
                    assignments = result.assignments,
                    recomputed = result.recomputed,
                    errors = result.errors,
                    "synced: {}",
                    done.join("; ")
                );
            }
        }
        for message in &report.warnings {
            tracing::warn!(environment, "{message}");
        }
    }
}
