//! Policies for retries: pauses that grow, with jitter and limits.
//!
//! A policy only computes pauses. The caller waits, and decides which failures may be repeated.

use std::time::Duration;

/// Pauses that become longer with each failure, and the limit of attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The pause after the first failure.
    pub first: Duration,
    /// The factor between two consecutive pauses.
    pub factor: u32,
    /// The longest pause, before jitter.
    pub longest: Duration,
    /// The random variation of pauses, so that clients that failed at the same time do not retry at the same time.
    pub jitter: Jitter,
    /// The limit of attempts.
    pub limit: RetryLimit,
}

/// The range of the random factor of a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// The smallest factor.
    pub from: f64,
    /// The largest factor.
    pub to: f64,
}

/// The limit of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryLimit {
    /// No limit.
    None,
    /// The maximum number of attempts.
    Attempts(u32),
    /// The maximum time from the first attempt to the begin of the last one.
    Time(Duration),
}

impl Jitter {
    /// No variation.
    pub const NONE: Self = Self { from: 1.0, to: 1.0 };
    /// Between half of a pause and all of it.
    pub const HALF: Self = Self { from: 0.5, to: 1.0 };

    /// A pause, varied at random.
    pub fn vary(self, pause: Duration) -> Duration {
        self.apply(pause, fraction())
    }

    /// The varied pause for a number from 0 to 1.
    fn apply(self, pause: Duration, fraction: f64) -> Duration {
        pause.mul_f64(self.from + (self.to - self.from) * fraction)
    }
}

impl RetryPolicy {
    /// The pause after a number of consecutive failures, at least one.
    pub fn pause(&self, failures: u32) -> Duration {
        self.pause_at(failures, fraction())
    }

    /// Same as [`Self::pause`], with a given number from 0 to 1 instead of a random one.
    pub fn pause_at(&self, failures: u32, fraction: f64) -> Duration {
        let factor = self.factor.saturating_pow(failures.saturating_sub(1));
        self.jitter.apply(self.first.saturating_mul(factor).min(self.longest), fraction)
    }

    /// The pause before the next attempt. None if the limit is reached. `requested` is the pause that the server requests, and `elapsed` is the time since the
    /// first attempt.
    pub fn next(&self, failures: u32, elapsed: Duration, requested: Option<Duration>) -> Option<Duration> {
        let pause = requested.unwrap_or_else(|| self.pause(failures));
        let is_allowed = match self.limit {
            RetryLimit::None => true,
            RetryLimit::Attempts(attempts) => failures < attempts,
            RetryLimit::Time(time) => elapsed + pause <= time,
        };
        is_allowed.then_some(pause)
    }
}

/// A random number from 0 to 1. It is 0 if the system has no random numbers.
fn fraction() -> f64 {
    f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        first: Duration::from_secs(2),
        factor: 3,
        longest: Duration::from_secs(30),
        jitter: Jitter::NONE,
        limit: RetryLimit::None,
    };

    #[test]
    fn pauses_grow_to_the_longest() {
        let pauses = [1, 2, 3, 4, 5, u32::MAX].map(|failures| POLICY.pause(failures).as_secs());
        assert_eq!(pauses, [2, 6, 18, 30, 30, 30]);
    }

    #[test]
    fn jitter_changes_a_pause_within_its_range() {
        let check = |jitter, fraction| RetryPolicy { jitter, ..POLICY }.pause_at(2, fraction).as_secs();
        assert_eq!((check(Jitter::HALF, 0.0), check(Jitter::HALF, 1.0)), (3, 6));
        assert_eq!((check(Jitter { from: 1.0, to: 1.5 }, 1.0), check(Jitter::NONE, 1.0)), (9, 6));
        let pause = RetryPolicy { jitter: Jitter::HALF, ..POLICY }.pause(2);
        assert!(pause >= Duration::from_secs(3) && pause <= Duration::from_secs(6));
    }

    #[test]
    fn a_limit_ends_the_attempts() {
        let check = |limit, failures, elapsed, requested: Option<u64>| {
            let policy = RetryPolicy { limit, ..POLICY };
            policy
                .next(failures, Duration::from_secs(elapsed), requested.map(Duration::from_secs))
                .map(|pause| pause.as_secs())
        };
        assert_eq!(
            (check(RetryLimit::Attempts(3), 2, 0, None), check(RetryLimit::Attempts(3), 3, 0, None)),
            (Some(6), None)
        );
        let time = RetryLimit::Time(Duration::from_secs(10));
        assert_eq!((check(time, 1, 8, None), check(time, 1, 9, None)), (Some(2), None));
        assert_eq!((check(time, 1, 0, Some(10)), check(time, 1, 0, Some(11))), (Some(10), None));
        assert_eq!(check(RetryLimit::None, 9, 99, Some(7)), Some(7));
    }
}
