//! The lease of one environment: whether this process leads it, and what is known if another one does.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use delivery::write_lease::WriteLease;
use hub_api::leases::{LeaderState, Leases};

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
    stored: Option<LeaderState>,
}

/// What a round changed for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseChange {
    /// Nothing.
    None,
    /// It leads now, and no earlier leader is known.
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
    pub(crate) fn stored(&self) -> Option<LeaderState> {
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
    pub(crate) fn keep(&self, state: LeaderState) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DURATION: Duration = Duration::from_secs(10);

    /// A round of a replica, in milliseconds: the pause before it, the time until the storage decides, and until the answer is there. None: the answer is lost.
    type Round = (u64, u64, Option<u64>);

    /// What happens at a time, to a replica.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Event {
        Decided { round: usize },
        Answered { round: usize },
    }

    fn rounds() -> impl Strategy<Value = Vec<Round>> {
        let round = (0_u64..9_000, 0_u64..6_000, proptest::option::weighted(0.8, 0_u64..6_000));
        proptest::collection::vec(round, 1..30)
    }

    /// All events in the order of time, each with its replica and the time when its round was sent. A replica sends a round after the one before has ended.
    fn events(replicas: &[Vec<Round>; 2]) -> Vec<(u64, usize, Event, u64)> {
        let mut events = Vec::new();
        for (replica, rounds) in replicas.iter().enumerate() {
            let mut now = 0;
            for (round, (pause, decide, answer)) in rounds.iter().enumerate() {
                let sent = now + pause;
                now = sent + decide;
                events.push((now, replica, Event::Decided { round }, sent));
                // Without an answer, the replica waits for some time.
                now += answer.unwrap_or(3_000);
                events.extend(answer.map(|_| (now, replica, Event::Answered { round }, sent)));
            }
        }
        events.sort();
        events
    }

    proptest! {
        #[test]
        fn two_replicas_never_lead_at_once(replicas in [rounds(), rounds()]) {
            let (start, millis) = (Instant::now(), Duration::from_millis);
            let leases = [(); 2].map(|()| Lease { writes: WriteLease::new(Duration::ZERO), view: Mutex::default() });
            // The storage: the holder, and the end of its lease. Its clock is that of the events.
            let (mut holder, mut until) = (0, 0);
            let mut decisions = std::collections::BTreeMap::new();
            for (now, replica, event, sent) in events(&replicas) {
                match event {
                    Event::Decided { round } => {
                        if holder == replica || until <= now {
                            (holder, until) = (replica, now + DURATION.as_millis() as u64);
                        }
                        decisions.insert((replica, round), holder);
                    }
                    Event::Answered { round } => {
                        let leader = decisions[&(replica, round)];
                        let lease = hub_api::leases::Lease {
                            environment: "prod".to_owned(),
                            is_own: leader == replica,
                            holder: leader.to_string(),
                            term: 1,
                            rest: DURATION,
                            number: 0,
                            state: None,
                        };
                        leases[replica].update(lease, (start + millis(sent), DURATION));
                    }
                }
                let leading = leases.iter().filter(|lease| lease.writes.lasts_until(start + millis(now))).count();
                prop_assert!(leading <= 1, "at {now}");
            }
        }
    }
}
