//! The thread of one environment: syncs it again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use delivery::output::compilation::KnownResults;
use delivery::promotion::controller::command::{Confirmed, note_confirmation};
use delivery::promotion::controller::published::PublicationFacts;
use delivery::publication::hub_publication::{HubReceiver, send_branch};
use delivery::publication::publish::{Outcome, PublicationFailure, PublishOptions, Request, publish_again};
use hub_api::promotions::PromotionStatus;
use hub_api::syncs::{SyncDestination, SyncResult};
use hub_api::timestamp::Timestamp;
use model::git_id::GitId;
use retry::Jitter;

use crate::dependencies::Dependencies;
use crate::environment::Environment;
use crate::limits::RETRY;
use crate::logged::Logged;
use crate::promotion::PromotionSteps;
use crate::results::{Failure, SyncReport};
use crate::settle::SettlePeriod;
use crate::shared::Shared;
use crate::trigger::{Due, Reason, ScheduledSync};

/// Syncs an environment again and again.
pub(crate) struct Worker<'a> {
    shared: &'a Arc<Shared>,
    environment: &'a Environment,
    known: KnownResults,
    promotion: PromotionSteps,
    logged: Logged,
    /// The commits of the branches that clusters pull, as the hub knows them, by the name of the `GitOpsRepo`.
    sent: BTreeMap<String, GitId>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(shared: &'a Arc<Shared>, environment: &'a Environment) -> Self {
        let file = shared.settings.control_plane.memo_file(&environment.name);
        let promotion = PromotionSteps::default();
        let logged = Logged::default();
        Self { shared, environment, known: KnownResults::new(Some(file)), promotion, logged, sent: BTreeMap::new() }
    }

    /// Runs until the environment is stopped.
    pub(crate) fn run(mut self) {
        let timing = self.shared.settings.timing;
        let resync = || ScheduledSync { at: Instant::now() + timing.resync, reason: Reason::Resync };
        let mut later = resync();
        let period = SettlePeriod { quiet: timing.settle, longest: timing.settle_max };
        while let Some(due) = self.environment.trigger.wait(period, later, self.promotion.next()) {
            if !self.environment.lease.is_held() {
                // Another replica leads. What it sends to the hub is not known here.
                self.sent.clear();
                self.promotion = PromotionSteps::default();
                later = resync();
                continue;
            }
            let reason = match due {
                Due::Sync(reason) => reason,
                Due::Step if self.promotion.needs_sync() => Reason::Promotion,
                Due::Step => {
                    self.promotion.step(self.shared, self.environment, None);
                    continue;
                }
            };
            let failures = self.sync_apart(reason);
            let (pause, reason) = match failures {
                0 => (Jitter::HALF.vary(timing.resync), Reason::Resync),
                // A cause that is gone, such as a rule of the git host, is noticed as soon as a new commit would be.
                failures => (RETRY.pause(failures).min(timing.poll.max(RETRY.first)), Reason::Retry),
            };
            later = ScheduledSync { at: Instant::now() + pause, reason };
            self.environment.lock().next_on = Some(Timestamp::now().after(pause));
            self.shared.outbox.wake();
        }
    }

    /// Syncs once, in a thread that ends afterwards, because the allocator gives back the memory of a thread that has ended. The threads of the environments
    /// live as long as the service: each would keep the memory of its largest sync.
    fn sync_apart(&mut self, reason: Reason) -> u32 {
        let name = self.environment.shown.clone();
        let spawned = thread::scope(|scope| {
            let thread = thread::Builder::new().name(name).spawn_scoped(scope, || self.sync(reason));
            thread.map(ScopedJoinHandle::join)
        });
        match spawned {
            Ok(Ok(failures)) => failures,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(error) => {
                tracing::warn!(%error, "no thread can be started for a sync");
                self.sync(reason)
            }
        }
    }

    /// Syncs once, and returns the number of failures since the last good sync.
    #[tracing::instrument(name = "sync", skip_all, fields(environment = self.environment.shown, %reason))]
    fn sync(&mut self, reason: Reason) -> u32 {
        let (started, started_on) = (Instant::now(), Timestamp::now());
        self.environment.lock().is_syncing = true;
        self.note_confirmations();
        let confirmed: Vec<_> = self.environment.lock().confirmed.iter().cloned().collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.publish(&confirmed)));
        let mut outcome = outcome.map_or_else(
            |_| {
                // The results of a compilation that did not end may be incomplete.
                self.known = KnownResults::new(None);
                Err(Failure::bug())
            },
            |outcome| outcome.map_err(|error| Failure::from_error(&error)),
        );
        if let Ok(outcome) = &mut outcome {
            self.send_branches(outcome);
            self.environment.lock().unnoted.extend(Confirmed::by_labels(outcome, jiff::Timestamp::now()));
            self.note_confirmations();
        }
        self.promotion.note(outcome.as_ref().ok().map(PublicationFacts::from_outcome));
        let report = SyncReport::new(&outcome, (started_on, started.elapsed(), reason));
        self.log(&report, started.elapsed());
        self.shared.metrics.sync(&self.environment.shown, &report, started.elapsed());
        let outcome = outcome.ok();
        let failures = self.record(outcome.as_ref(), report, &confirmed);
        self.promotion.step(self.shared, self.environment, outcome.as_ref());
        failures
    }

    /// Notes who confirmed removals, where the environment has a history of decisions. What can't be noted now is noted by the next sync.
    fn note_confirmations(&self) {
        let unnoted = std::mem::take(&mut self.environment.lock().unnoted);
        for confirmed in unnoted {
            let lease = Some(&self.environment.lease.writes);
            if let Err(error) = note_confirmation(&self.shared.access(), &self.environment.name, &confirmed, lease) {
                tracing::warn!(environment = self.environment.shown, %error, "a confirmation is not noted in the history yet");
                self.environment.lock().unnoted.push(confirmed);
            }
        }
    }

    fn publish(&mut self, confirmed: &[String]) -> Result<Outcome, PublicationFailure> {
        let settings = &self.shared.settings;
        let hosts = (!self.shared.hosts.is_empty()).then_some(&self.shared.hosts);
        let (promotion, problems) = {
            let state = self.environment.lock();
            (state.promotion.clone(), state.promotion_problems.clone())
        };
        let waits: Vec<_> = promotion.iter().flat_map(PromotionStatus::waits).cloned().collect();
        let lease = Some(&self.environment.lease.writes);
        let request = Request {
            environment: &self.environment.name,
            gitops_repo: None,
            options: PublishOptions {
                confirmed,
                hosts,
                lease,
                waits: &waits,
                problems: &problems,
                ..PublishOptions::default()
            },
            hub: settings.hub.as_deref().map(|hub| HubReceiver { hub, environments: &settings.environments }),
            is_hub_only: false,
        };
        publish_again(&self.shared.access(), &request, &mut self.known, &|_, _| {})
    }

    /// Sends the content of branches that have moved since the last sync to the hub, for example after a merge.
    fn send_branches(&mut self, outcome: &mut Outcome) {
        let settings = &self.shared.settings;
        let Some(hub) = settings.hub.as_deref() else { return };
        for place in &mut outcome.places {
            let branch = &place.planned.target.branch;
            let (name, Some(commit)) = (place.planned.target.name.clone(), branch.commit()) else { continue };
            if self.sent.get(&name) == Some(&commit) || matches!(place.hub, Some(Err(_))) {
                continue;
            }
            if self.environment.lease.writes.check().is_err() {
                return;
            }
            let receiver = HubReceiver { hub, environments: &settings.environments };
            match send_branch(receiver, &place.loaded, &place.planned) {
                Ok(_) => drop(self.sent.insert(name, commit)),
                Err(error) => place.hub = Some(Err(error)),
            }
        }
    }

    /// Stores the result. Returns the number of failures since the last good sync.
    fn record(&self, outcome: Option<&Outcome>, report: SyncReport, confirmed: &[String]) -> u32 {
        let mut state = self.environment.lock();
        state.is_syncing = false;
        state.failures = if report.is_retried { state.failures + 1 } else { 0 };
        if let Some(outcome) = outcome {
            let mut dependencies = Dependencies::from_outcome(outcome);
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

    fn log(&mut self, report: &SyncReport, took: Duration) {
        let (environment, result) = (self.environment.shown.as_str(), &report.result);
        let took_ms = took.as_millis() as u64;
        let lasting = result.error.iter().map(|error| not_synced(error)).chain(report.warnings.iter().cloned());
        let new = self.logged.replace(lasting);
        if let Some(error) = &result.error {
            // It is tried again and again: a lasting error is logged once.
            if new.contains(&not_synced(error)) {
                tracing::warn!(environment, reason = result.reason, took_ms, error, "not synced");
            } else {
                tracing::debug!(environment, reason = result.reason, took_ms, error, "not synced");
            }
        } else {
            let done: Vec<_> = result.destinations.iter().map(done).collect();
            let done = done.join("; ");
            if is_quiet(result) {
                tracing::debug!(environment, took_ms, "synced: {done}");
            } else {
                let SyncResult { reason, assignments, recomputed, errors, .. } = result;
                tracing::info!(environment, reason, took_ms, assignments, recomputed, errors, "synced: {done}");
            }
        }
        let error = result.error.as_deref().map(not_synced);
        for message in new.iter().filter(|message| Some(*message) != error.as_ref()) {
            tracing::warn!(environment, "{message}");
        }
    }
}

/// The error of a sync among the lasting warnings.
fn not_synced(error: &str) -> String {
    format!("not synced: {error}")
}

/// Whether a sync looked for the next step of a promotion, and changed nothing. It comes every few seconds.
fn is_quiet(result: &SyncResult) -> bool {
    let is_unchanged = |one: &SyncDestination| one.changed + one.added + one.renamed + one.removed == 0;
    result.reason == Reason::Promotion.to_string() && result.destinations.iter().all(is_unchanged)
}

/// What happened to a destination, with the page of its pull request.
fn done(destination: &SyncDestination) -> String {
    match &destination.pull_request {
        Some(link) if destination.is_proposed => format!("{} ({})", destination.description, link.url),
        _ => destination.description.clone(),
    }
}
