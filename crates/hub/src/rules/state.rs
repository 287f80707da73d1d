//! The state of a rule, and when it is published: decided from the state before, the counts, and the time.

use std::time::Duration;

use hub_api::rules::Phase;
use hub_api::timestamp::Timestamp;

use crate::limits::{RULE_PAUSE_MAX, RULES_PERIOD};

/// The phase of a rule, since when, and when it was last evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredState {
    pub(super) phase: Phase,
    /// Since when the threshold is exceeded; or, if it is not exceeded, since when it is not.
    pub(super) since: Timestamp,
    pub(super) evaluated_on: Timestamp,
    /// How long the counting took in that evaluation.
    pub(super) took: Duration,
}

/// A change of state that is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Publication {
    /// The threshold has been exceeded for long enough.
    Firing,
    /// The threshold is no longer exceeded.
    Resolved,
}

impl StoredState {
    /// The state of the rule after an evaluation, and the change that is published.
    ///
    /// If the last evaluation was longer ago than `lasting`, the threshold may not have been exceeded all the time: then the time starts again.
    pub(super) fn next(self, is_exceeded: bool, lasting: Duration, now: Timestamp) -> (Self, Option<Publication>) {
        let since = match self.phase {
            Phase::Pending if now.since(self.evaluated_on) > lasting.max(GAP_MIN) => now,
            Phase::Pending | Phase::Firing => self.since.min(now),
            Phase::Ok => now,
        };
        let is_long = now.since(since) >= lasting;
        let (phase, publication) = match (self.phase, is_exceeded) {
            (Phase::Firing, true) => (Phase::Firing, None),
            (Phase::Ok | Phase::Pending, true) if is_long => (Phase::Firing, Some(Publication::Firing)),
            (Phase::Ok | Phase::Pending, true) => (Phase::Pending, None),
            (Phase::Firing, false) => (Phase::Ok, Some(Publication::Resolved)),
            (Phase::Ok | Phase::Pending, false) => (Phase::Ok, None),
        };
        let since = match (self.phase, phase) {
            (Phase::Ok, Phase::Ok) => self.since,
            (_, Phase::Ok) => now,
            _ => since,
        };
        (Self { phase, since, evaluated_on: now, took: self.took }, publication)
    }

    /// Whether the last evaluation is recent enough. If counting takes long, the pauses are long, too.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        let pause = (self.took * PAUSES).clamp(RULES_PERIOD / 2, RULE_PAUSE_MAX);
        self.evaluated_on <= now && now.since(self.evaluated_on) < pause
    }
}

/// The pause between evaluations, as a multiple of the time for counting.
const PAUSES: u32 = 10;

/// The hub may be down for this long, such as during a restart, without starting the time of a rule again.
const GAP_MIN: Duration = Duration::from_mins(2);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LASTING: Duration = Duration::from_mins(10);

    /// The changes that are published, with their minutes, for evaluations at some minutes, each with whether the threshold is exceeded.
    fn check(evaluations: &[(i64, bool)]) -> Vec<(i64, Publication)> {
        let mut state = StoredState::default();
        let mut publication = Vec::new();
        for (minute, is_exceeded) in evaluations {
            let (next, what) = state.next(*is_exceeded, LASTING, Timestamp::from_millis((1_000 + minute) * 60_000));
            state = next;
            publication.extend(what.map(|what| (*minute, what)));
        }
        publication
    }

    #[test]
    fn rule_fires_after_its_duration_and_resolves_at_once() {
        assert_eq!(
            check(&[(0, true), (9, true), (10, true), (11, true), (12, false), (13, false)]),
            [(10, Publication::Firing), (12, Publication::Resolved)]
        );
    }

    #[test]
    fn interruption_restarts_the_duration() {
        assert_eq!(check(&[(0, true), (5, false), (6, true), (15, true), (16, true)]), [(16, Publication::Firing)]);
    }

    #[test]
    fn missed_evaluations_restart_the_duration() {
        assert_eq!(check(&[(0, true), (30, true), (39, true), (40, true)]), [(40, Publication::Firing)]);
        // A rule stays firing until an evaluation finds that the threshold is no longer exceeded.
        assert_eq!(
            check(&[(0, true), (10, true), (500, true), (900, false)]),
            [(10, Publication::Firing), (900, Publication::Resolved)]
        );
    }

    #[test]
    fn a_rule_without_time_fires_at_once() {
        let (state, publication) = StoredState::default().next(true, Duration::ZERO, Timestamp::from_millis(5));
        assert_eq!((state.phase, state.since.millis(), publication), (Phase::Firing, 5, Some(Publication::Firing)));
    }

    #[test]
    fn slow_rules_are_evaluated_less_often() {
        let check = |took, seconds| {
            let state = StoredState { took: Duration::from_millis(took), ..StoredState::default() };
            state.is_fresh(Timestamp::default().after(Duration::from_secs(seconds)))
        };
        assert_eq!([check(1, 7), check(1, 8)], [true, false]);
        assert_eq!([check(3_000, 29), check(3_000, 30)], [true, false]);
        assert_eq!([check(60_000, 59), check(60_000, 60)], [true, false]);
    }

    proptest! {
        #[test]
        fn firing_rules_exceeded_their_threshold_all_the_time(steps in prop::collection::vec((0i64..8, any::<bool>()), 0..60)) {
            let evaluations: Vec<_> = steps.iter().scan(0, |minute, (step, is)| { *minute += step; Some((*minute, *is)) }).collect();
            let publication = check(&evaluations);
            for (index, (at, what)) in publication.iter().enumerate() {
                prop_assert_eq!(*what, if index % 2 == 0 { Publication::Firing } else { Publication::Resolved });
                if *what == Publication::Firing {
                    let all = evaluations.iter().filter(|(minute, _)| (at - 9..=*at).contains(minute));
                    let last_fine = evaluations.iter().take_while(|evaluation| *evaluation != &(*at, true)).filter(|(_, is)| !is).map(|(minute, _)| *minute).max();
                    prop_assert!(last_fine.is_none_or(|minute| minute <= at - 10) || all.count() == 0);
                }
            }
        }

        #[test]
        fn publications_alternate_even_if_the_clock_goes_back(minutes in prop::collection::vec((0i64..100, any::<bool>()), 0..60)) {
            let publication = check(&minutes);
            prop_assert!(publication.iter().enumerate().all(|(index, (_, what))| (*what == Publication::Firing) == (index % 2 == 0)));
        }
    }
}
