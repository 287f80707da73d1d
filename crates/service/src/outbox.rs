//! The requests for environments that other replicas lead, until the next round takes them along.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hub_api::leases::LeaderRequest;

/// Requests that wait for the next round. The same request waits once.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    requests: BTreeSet<LeaderRequest>,
    is_awake: bool,
}

impl Outbox {
    /// Adds a request, and asks for a round.
    pub(crate) fn add(&self, request: LeaderRequest) {
        self.state().requests.insert(request);
        self.wake();
    }

    /// Asks for a round.
    pub(crate) fn wake(&self) {
        self.state().is_awake = true;
        self.changed.notify_all();
    }

    /// Takes the requests out.
    pub(crate) fn take(&self) -> Vec<LeaderRequest> {
        std::mem::take(&mut self.state().requests).into_iter().collect()
    }

    /// Puts requests back that a round could not take along.
    pub(crate) fn put_back(&self, requests: Vec<LeaderRequest>) {
        self.state().requests.extend(requests);
    }

    /// Waits until a round is asked for, at most for a time.
    pub(crate) fn wait(&self, longest: Duration) {
        let end = Instant::now() + longest;
        let mut state = self.state();
        while !state.is_awake {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.is_awake = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
