//! Waits until changes have settled: a burst of changes is one sync.

use std::time::{Duration, Instant};

/// How long a sync waits for further changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SettlePeriod {
    /// After the last change.
    pub(crate) quiet: Duration,
    /// After the first change, at most.
    pub(crate) longest: Duration,
}

/// Changes that have arrived since the last sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settle {
    /// The arrival of the first and of the last change.
    arrivals: Option<(Instant, Instant)>,
    /// Whether a sync is due without waiting.
    is_urgent: bool,
}

impl Settle {
    /// A change arrived.
    pub(crate) fn arrive(&mut self, now: Instant) {
        let first = self.arrivals.map_or(now, |(first, _)| first);
        self.arrivals = Some((first, now));
    }

    /// A request waits for the sync.
    pub(crate) fn hurry(&mut self, now: Instant) {
        self.arrive(now);
        self.is_urgent = true;
    }

    /// When the sync starts. None without a change.
    pub(crate) fn due(&self, SettlePeriod { quiet, longest }: SettlePeriod) -> Option<Instant> {
        let (first, last) = self.arrivals?;
        Some(if self.is_urgent { first } else { (last + quiet).min(first + longest) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUIET: Duration = Duration::from_secs(3);
    const LONGEST: Duration = Duration::from_secs(30);
    const PERIOD: SettlePeriod = SettlePeriod { quiet: QUIET, longest: LONGEST };

    #[test]
    fn bursts_are_one_sync_and_streams_wait_for_a_limited_time() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut settle = Settle::default();
        assert_eq!(settle.due(PERIOD), None);
        settle.arrive(start);
        assert_eq!(settle.due(PERIOD), Some(after(3)));
        settle.arrive(after(2));
        assert_eq!(settle.due(PERIOD), Some(after(5)));
        (3..100).for_each(|seconds| settle.arrive(after(seconds)));
        assert_eq!(settle.due(PERIOD), Some(after(30)));
        settle.hurry(after(101));
        assert_eq!(settle.due(PERIOD), Some(start));
    }

    proptest! {
        #[test]
        fn a_sync_is_due_within_the_limits(mut arrivals in proptest::collection::vec(0u64..200_000, 1..40)) {
            arrivals.sort_unstable();
            let start = Instant::now();
            let mut settle = Settle::default();
            arrivals.iter().for_each(|millis| settle.arrive(start + Duration::from_millis(*millis)));
            let due = settle.due(PERIOD).unwrap();
            let at = |millis: &u64| start + Duration::from_millis(*millis);
            let (first, last) = (at(&arrivals[0]), at(&arrivals[arrivals.len() - 1]));
            prop_assert!(due <= first + LONGEST);
            prop_assert!(due == last + QUIET || due == first + LONGEST);
        }
    }
}
