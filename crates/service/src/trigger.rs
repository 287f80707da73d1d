//! Requests of syncs for one environment.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::settle::{Settle, SettlePeriod};

/// What requests a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The service started, or the environment is new.
    Start,
    /// This process began to lead the environment, which was led before.
    Takeover,
    /// A poll found a change.
    Poll,
    /// A webhook announced a change.
    Webhook,
    /// The API was called.
    Api,
    /// Removals were confirmed.
    Confirmation,
    /// A step of promotions moved something.
    Promotion,
    /// The last sync failed.
    Retry,
    /// The last sync was long ago.
    Resync,
}

impl Reason {
    /// The word in answers, metrics and logs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Takeover => "takeover",
            Self::Poll => "poll",
            Self::Webhook => "webhook",
            Self::Api => "api",
            Self::Confirmation => "confirmation",
            Self::Promotion => "promotion",
            Self::Retry => "retry",
            Self::Resync => "resync",
        }
    }

    /// Whether further changes may follow at once, so that the sync waits for them.
    fn settles(self) -> bool {
        matches!(self, Self::Poll | Self::Webhook)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A sync, with what requested it.
    Sync(Reason),
    /// A step of promotions.
    Step,
}

/// A sync that comes at a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScheduledSync {
    /// When.
    pub(crate) at: Instant,
    /// Why.
    pub(crate) reason: Reason,
}

/// The requests that wait for the next sync.
#[derive(Debug, Default)]
pub(crate) struct Trigger {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    settle: Settle,
    reason: Option<Reason>,
    /// Whether a step of promotions is requested, without a sync.
    is_step_due: bool,
    is_stopping: bool,
}

impl Trigger {
    /// Requests a sync.
    pub(crate) fn request(&self, reason: Reason) {
        let now = Instant::now();
        let mut pending = self.pending();
        if reason.settles() {
            pending.settle.arrive(now);
        } else {
            pending.settle.hurry(now);
        }
        pending.reason.get_or_insert(reason);
        drop(pending);
        self.changed.notify_all();
    }

    /// Requests a step of promotions.
    pub(crate) fn step(&self) {
        self.pending().is_step_due = true;
        self.changed.notify_all();
    }

    /// Ends all waits.
    pub(crate) fn stop(&self) {
        self.pending().is_stopping = true;
        self.changed.notify_all();
    }

    /// Whether a request waits.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending().reason.is_some()
    }

    /// Waits for the next sync or step: until requests have settled, or until the `later` one, or until a step of promotions is due. None if
    /// the service stops.
    pub(crate) fn wait(&self, period: SettlePeriod, later: ScheduledSync, step: Option<Instant>) -> Option<Due> {
        let mut pending = self.pending();
        loop {
            if pending.is_stopping {
                return None;
            }
            let due = pending.settle.due(period);
            let ScheduledSync { at, reason } = match (due, pending.reason) {
                (Some(at), Some(reason)) if at <= later.at => ScheduledSync { at, reason },
                _ => later,
            };
            let now = Instant::now();
            let pause = at.saturating_duration_since(now);
            if pause.is_zero() {
                let is_step_due = pending.is_step_due;
                *pending = Pending { is_step_due, ..Pending::default() };
                return Some(Due::Sync(reason));
            }
            if std::mem::take(&mut pending.is_step_due) || step.is_some_and(|step| step <= now) {
                return Some(Due::Step);
            }
            let pause = step.map_or(pause, |step| pause.min(step.saturating_duration_since(now)));
            pending = self.changed.wait_timeout(pending, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: SettlePeriod = SettlePeriod { quiet: Duration::ZERO, longest: Duration::ZERO };

    fn resync_after(pause: Duration) -> ScheduledSync {
        ScheduledSync { at: Instant::now() + pause, reason: Reason::Resync }
    }

    #[test]
    fn pending_requests_are_one_sync_with_the_first_reason() {
        let trigger = Trigger::default();
        let far = resync_after(Duration::from_hours(1));
        [Reason::Webhook, Reason::Poll, Reason::Poll].into_iter().for_each(|reason| trigger.request(reason));
        assert_eq!(trigger.wait(NOW, far, None), Some(Due::Sync(Reason::Webhook)));
        assert!(!trigger.is_pending());
        assert_eq!(trigger.wait(NOW, resync_after(Duration::ZERO), None), Some(Due::Sync(Reason::Resync)));
    }

    #[test]
    fn a_step_comes_at_its_time_or_when_it_is_requested() {
        let trigger = Trigger::default();
        let far = resync_after(Duration::from_hours(1));
        assert_eq!(trigger.wait(NOW, far, Some(Instant::now())), Some(Due::Step));
        trigger.step();
        trigger.request(Reason::Api);
        assert_eq!(trigger.wait(NOW, far, None), Some(Due::Sync(Reason::Api)));
        assert_eq!(trigger.wait(NOW, far, None), Some(Due::Step));
    }

    #[test]
    fn api_requests_skip_the_quiet_period() {
        let trigger = Trigger::default();
        let far = resync_after(Duration::from_hours(1));
        trigger.request(Reason::Poll);
        trigger.request(Reason::Api);
        let hour = Duration::from_hours(1);
        assert_eq!(trigger.wait(SettlePeriod { quiet: hour, longest: hour }, far, None), Some(Due::Sync(Reason::Poll)));
        trigger.stop();
        assert_eq!(trigger.wait(NOW, far, None), None);
    }
}
