//! Renews the leases of this process, in one round for all environments.
//!
//! A round also stores the states of the environments that this process leads, reads those of the others, and passes on requests in both directions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hub_api::leases::{LeaderAction, LeaseAnswer, LeaseRound, Leases, ReceivedRequest, WantedLease};
use hub_api::promotions::PromotionStatus;
use hub_api::syncs::EnvironmentSync;

use crate::environment::Environment;
use crate::lease::{LeaseChange, round_pause};
use crate::limits::ROUND_PAUSE_MIN;
use crate::shared::Shared;
use crate::trigger::Reason;

/// What the other replicas show of an environment.
type Shown = (EnvironmentSync, Option<PromotionStatus>);

/// What one round leaves to the next one.
struct Renewer<'a> {
    shared: &'a Shared,
    leases: &'a dyn Leases,
    control_plane: String,
    /// The environments that this process may lead, also while the syncs of former ones end.
    environments: BTreeMap<String, Arc<Environment>>,
    /// The states that the other replicas can read.
    stored: BTreeMap<String, Shown>,
    /// The received requests that are handled.
    handled: Vec<i64>,
    /// The end of the last good round.
    succeeded: Option<Instant>,
    /// The error of the last round.
    failed_with: Option<String>,
}

/// Renews leases until the service stops and no sync runs.
pub(crate) fn run(shared: &Shared, leases: &dyn Leases) {
    let mut renewer = Renewer {
        shared,
        leases,
        control_plane: shared.settings.control_plane.subject(),
        environments: BTreeMap::new(),
        stored: BTreeMap::new(),
        handled: Vec::new(),
        succeeded: None,
        failed_with: None,
    };
    loop {
        let started = Instant::now();
        let pause = renewer.round();
        if shared.is_stopping() && renewer.environments.is_empty() {
            break;
        }
        shared.outbox.wait(pause);
        if !shared.is_stopping() {
            std::thread::sleep(ROUND_PAUSE_MIN.saturating_sub(started.elapsed()));
        }
    }
    shared.set_renewing(false);
}

impl Renewer<'_> {
    /// Runs a round, and returns the pause until the next one.
    fn round(&mut self) -> Duration {
        let given_up = self.update_environments();
        let is_stopping = self.shared.is_stopping();
        let states: BTreeMap<_, _> = self.environments.iter().filter(|_| !is_stopping).filter_map(changed).collect();
        let states: BTreeMap<_, _> =
            states.into_iter().filter(|(name, state)| self.stored.get(*name) != Some(state)).collect();
        let wanted = |(name, environment): (&String, &Arc<Environment>)| WantedLease {
            environment: name.clone(),
            state: states.contains_key(name).then(|| environment.leader_state()),
            known: environment.lease.number(),
        };
        let requests = self.shared.outbox.take();
        let round = LeaseRound {
            control_plane: self.control_plane.clone(),
            wanted: self.environments.iter().map(wanted).collect(),
            given_up,
            requests: requests.clone(),
            handled: self.handled.clone(),
        };
        // The time before the round: the lease of the storage begins later, so this process never believes longer than the storage that it leads.
        let sent = Instant::now();
        match self.leases.exchange(round) {
            Ok(answer) => {
                self.stored.extend(states.into_iter().map(|(name, state)| (name.clone(), state)));
                self.handled.clear();
                self.succeeded = Some(Instant::now());
                self.failed_with = None;
                self.take(answer, sent)
            }
            Err(error) => {
                // A lasting error is logged once.
                if self.failed_with.replace(error.to_string()).as_ref() != Some(&error.to_string()) {
                    tracing::warn!(%error, "leases can't be renewed");
                }
                self.shared.outbox.put_back(requests);
                self.forget_leaders();
                self.leases.duration() / 10
            }
        }
    }

    /// Adds new environments. Removes those whose threads have ended, and returns the leases to give up.
    fn update_environments(&mut self) -> Vec<String> {
        for environment in self.shared.all() {
            if !environment.has_ended.load(Ordering::Relaxed) {
                self.environments.insert(environment.name.to_string(), environment);
            }
        }
        let mut ended = Vec::new();
        self.environments.retain(|name, environment| {
            let has_ended = environment.has_ended.load(Ordering::Relaxed);
            if has_ended {
                environment.lease.writes.give_up();
                ended.push(name.clone());
            }
            !has_ended
        });
        // With other settings, the same process keeps its leases.
        if self.shared.is_replaced.load(Ordering::Relaxed) { Vec::new() } else { ended }
    }

    /// Takes over the answer of a round. Returns the pause until the next one.
    fn take(&mut self, answer: LeaseAnswer, sent: Instant) -> Duration {
        let duration = self.leases.duration();
        let mut pause = round_pause(duration);
        for lease in answer.leases {
            let (name, term, holder) = (lease.environment.clone(), lease.term, lease.holder.clone());
            let Some(environment) = self.environments.get(&name) else { continue };
            if !lease.is_own {
                // The lease of another replica is taken as soon as it ends.
                pause = pause.min(lease.rest + Duration::from_millis(1));
            }
            match environment.lease.update(lease, (sent, duration)) {
                LeaseChange::None => {}
                LeaseChange::First => environment.trigger.request(Reason::Start),
                LeaseChange::Takeover => {
                    tracing::info!(environment = name, term, "this replica leads the environment now");
                    self.stored.remove(&name);
                    environment.trigger.request(Reason::Takeover);
                }
                LeaseChange::OtherLeads => {
                    self.stored.remove(&name);
                    if environment.resign() {
                        tracing::info!(
                            environment = name,
                            term,
                            leader = holder,
                            "another replica leads the environment now"
                        );
                        self.shared.update_polls();
                    }
                }
            }
        }
        if !self.shared.is_stopping() {
            answer.requests.into_iter().for_each(|received| self.handle(received));
        }
        // What is handled is deleted soon, so that it is not received again.
        if self.handled.is_empty() { pause } else { ROUND_PAUSE_MIN }
    }

    /// Does what another replica passed on.
    fn handle(&mut self, ReceivedRequest { id, request }: ReceivedRequest) {
        self.handled.push(id);
        let Some(environment) = self.environments.get(&request.environment) else { return };
        match request.action {
            LeaderAction::Sync => environment.trigger.request(Reason::Api),
            LeaderAction::SyncAfterWebhook => environment.trigger.request(Reason::Webhook),
            LeaderAction::Confirm { word, by } => {
                if !environment.confirm(&word, &by) {
                    let environment = &request.environment;
                    tracing::info!(environment, word, by, "the confirmation is void: the removals have changed");
                }
            }
        }
    }

    /// After a lease's time without a good round, it is not known who leads.
    fn forget_leaders(&self) {
        let is_long = self.succeeded.is_none_or(|succeeded| succeeded.elapsed() > self.leases.duration());
        for (name, environment) in self.environments.iter().filter(|_| is_long) {
            if environment.lease.forget_leader() {
                tracing::warn!(environment = name, "it is not known which replica leads: this one writes nothing");
            }
        }
    }
}

/// The state of an environment that this process leads, after its first sync.
fn changed<'e>((name, environment): (&'e String, &Arc<Environment>)) -> Option<(&'e String, Shown)> {
    // The time of the last step alone is no change: it would be another one in each round.
    let promotion = || environment.promotion().map(|status| PromotionStatus { evaluated_on: None, ..status });
    (environment.lease.is_held() && environment.is_known()).then(|| (name, (environment.state(), promotion())))
}
