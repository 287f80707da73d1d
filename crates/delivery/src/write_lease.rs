//! How long this process may write the output of an environment, if other replicas may write it at other times.
//!
//! Clocks of machines are never compared: each process measures the rest of its lease with its own monotonic clock. This clock may stand still while a machine is
//! suspended. Also then there is one writer for a branch, because each push requires that the branch has not moved.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The permission to write. Other threads extend or end it.
#[derive(Debug)]
pub struct WriteLease {
    /// The time that must be left when a write begins.
    margin: Duration,
    end: Mutex<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Never,
    At(Option<Instant>),
}

/// The lease has ended, or ends soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this replica does not lead the environment any longer, so it writes nothing more: the next leader continues")]
pub struct LeaseEnded;

impl WriteLease {
    /// A lease that never ends: there are no other replicas.
    pub fn unlimited() -> Self {
        Self { margin: Duration::ZERO, end: Mutex::new(End::Never) }
    }

    /// A lease that this process does not have yet. A write begins only if at least `margin` is left.
    pub fn new(margin: Duration) -> Self {
        Self { margin, end: Mutex::new(End::At(None)) }
    }

    /// Whether other replicas may have the lease.
    pub fn is_shared(&self) -> bool {
        *self.end() != End::Never
    }

    /// The process has the lease until then. An unlimited lease stays unlimited.
    pub fn extend(&self, until: Instant) {
        self.set(Some(until));
    }

    /// The process has the lease no longer. An unlimited lease stays unlimited.
    pub fn give_up(&self) {
        self.set(None);
    }

    /// Whether the process has the lease.
    pub fn is_held(&self) -> bool {
        self.lasts_until(Instant::now())
    }

    /// Checks that a write may begin now.
    ///
    /// # Errors
    /// If too little time is left.
    pub fn check(&self) -> Result<(), LeaseEnded> {
        if self.lasts_until(Instant::now() + self.margin) { Ok(()) } else { Err(LeaseEnded) }
    }

    /// Whether the process still has the lease at a time, if it is not extended.
    pub fn lasts_until(&self, at: Instant) -> bool {
        match *self.end() {
            End::Never => true,
            End::At(end) => end.is_some_and(|end| at < end),
        }
    }

    fn set(&self, until: Option<Instant>) {
        let mut end = self.end();
        if *end != End::Never {
            *end = End::At(until);
        }
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn a_write_begins_only_with_enough_time_left() {
        let lease = WriteLease::new(HOUR);
        assert_eq!((lease.is_held(), lease.check()), (false, Err(LeaseEnded)));
        lease.extend(Instant::now() + HOUR / 2);
        assert_eq!((lease.is_held(), lease.check()), (true, Err(LeaseEnded)));
        lease.extend(Instant::now() + 2 * HOUR);
        assert_eq!((lease.is_held(), lease.check()), (true, Ok(())));
        lease.extend(Instant::now());
        assert!(!lease.is_held(), "it has just ended");
        lease.extend(Instant::now() + 2 * HOUR);
        lease.give_up();
        assert_eq!((lease.is_held(), lease.check()), (false, Err(LeaseEnded)));
    }

    #[test]
    fn unlimited_lease_never_ends() {
        let lease = WriteLease::unlimited();
        lease.extend(Instant::now());
        lease.give_up();
        assert_eq!((lease.is_shared(), lease.is_held(), lease.check()), (false, true, Ok(())));
    }
}
