//! The lease of one environment: whether this process leads it, and what is known if another one does.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use delivery::write_lease::WriteLease;
use hub_api::leases::Leases;
use hub_api::syncs::EnvironmentSyncDetail;

/// The lease of an environment.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The permission to write.
    pub(crate) writes: WriteLease,
    view: Mutex<View>,
}

/// What the last round showed.
#[derive(Debug, Default)]
struct View {
    leader: Option<String>,
    /// Whether the environment was led before, by this process or by another one.
    was_led: bool,
    /// The number of the state that another replica has stored.
    number: i64,
    stored: Option<EnvironmentSyncDetail>,
}

/// What a round changed for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseChange {
    /// Nothing.
    None,
    /// It leads now, and nobody is known to have led before.
    First,
    /// It leads now, and did not before.
    Takeover,
    /// Another replica leads.
    OtherLeads,
}

impl Lease {
    /// The lease before the first round. Without leases, there is one replica, and it always leads.
    pub(crate) fn new(leases: Option<&dyn Leases>) -> Self {
        let writes = leases.map_or_else(WriteLease::unlimited, |leases| WriteLease::new(margin(leases.duration())));
        Self { writes, view: Mutex::default() }
    }

    /// Whether this process leads the environment.
    pub(crate) fn is_held(&self) -> bool {
        self.writes.is_held()
    }

    /// The name of the replica that leads, as far as it is known.
    pub(crate) fn leader(&self) -> Option<String> {
        self.view().leader.clone()
    }

    /// The state that another replica has stored.
    pub(crate) fn stored(&self) -> Option<EnvironmentSyncDetail> {
        self.view().stored.clone()
    }

    /// The number of this state.
    pub(crate) fn number(&self) -> i64 {
        self.view().number
    }

    /// Takes over what a round showed. `sent` is the time before the round: from then on, this process measures how long its lease lasts.
    pub(crate) fn update(&self, lease: hub_api::leases::Lease, (sent, duration): (Instant, Duration)) -> LeaseChange {
        let was_held = self.is_held();
        let mut view = self.view();
        let was_led = std::mem::replace(&mut view.was_led, true);
        view.leader = Some(lease.holder).filter(|_| lease.is_own || !lease.rest.is_zero());
        if lease.is_own {
            // The next leader's first state has another number than the own ones, which are not read.
            view.number = lease.number;
            self.writes.extend(sent + duration);
            return match (was_held, was_led) {
                (true, _) => LeaseChange::None,
                (false, true) => LeaseChange::Takeover,
                (false, false) => LeaseChange::First,
            };
        }
        if lease.state.is_some() || lease.number != view.number {
            (view.number, view.stored) = (lease.number, lease.state);
        }
        self.writes.give_up();
        LeaseChange::OtherLeads
    }

    /// Keeps a state of this process until the next leader has stored one.
    pub(crate) fn keep(&self, state: EnvironmentSyncDetail) {
        self.view().stored = Some(state);
    }

    /// Notes that the leader is not known any more. Returns whether it was known.
    pub(crate) fn forget_leader(&self) -> bool {
        !self.is_held() && self.view().leader.take().is_some()
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pause between two rounds: so often that one may fail.
pub(crate) fn round_pause(duration: Duration) -> Duration {
    duration * 3 / 10
}

/// The time of a lease that must be left when a write begins. Most writes have then ended before another replica leads.
fn margin(duration: Duration) -> Duration {
    duration * 3 / 10
}
