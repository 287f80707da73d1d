//! Where a rule stands, and when somebody is told: decided from what was so, what is so, and what time it is.

use std::time::Duration;

use hub_api::rules::Phase;
use hub_api::timestamp::Timestamp;

use crate::limits::{RULE_PAUSE_MAX, RULES_PERIOD};

/// Where a rule stands, since when, and when somebody last looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) phase: Phase,
    /// Since when it is too much; or, if it is not, since when it is not.
    pub(super) since: Timestamp,
    pub(super) evaluated_on: Timestamp,
    /// How long it took then to count.
    pub(super) took: Duration,
}

/// What somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Publication {
    /// It is too much for long enough.
    Firing,
    /// It is so no more.
    Resolved,
}

impl Standing {
    /// Where the rule stands after a look, and what somebody is told of it.
    ///
    /// Who did not look for longer than it has to last can't say that it was so all the time: then the time begins anew.
    pub(super) fn next(self, is_exceeded: bool, lasting: Duration, now: Timestamp) -> (Self, Option<Publication>) {
        let since = match self.phase {
            Phase::Pending if now.since(self.evaluated_on) > lasting.max(GAP_MIN) => now,
            Phase::Pending | Phase::Firing => self.since.min(now),
            Phase::Ok => now,
        };
        let is_long = now.since(since) >= lasting;
        let (phase, told) = match (self.phase, is_exceeded) {
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
        (Self { phase, since, evaluated_on: now, took: self.took }, told)
    }

    /// Whether somebody has just looked. Where counting takes long, most of the time goes by without it.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        let pause = (self.took * PAUSES).clamp(RULES_PERIOD / 2, RULE_PAUSE_MAX);
        self.evaluated_on <= now && now.since(self.evaluated_on) < pause
    }
}

/// How much longer the pause is than the counting.
const PAUSES: u32 = 10;

/// A hub may be away for that long, to be restarted, without starting any time anew.
const GAP_MIN: Duration = Duration::from_mins(2);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LASTING: Duration = Duration::from_mins(10);

    /// What is told at which minute, when it is looked at these minutes and is too much at some.
    fn check(looks: &[(i64, bool)]) -> Vec<(i64, Publication)> {
        let mut standing = Standing::default();
        let mut told = Vec::new();
        for (minute, is_exceeded) in looks {
            let (next, what) = standing.next(*is_exceeded, LASTING, Timestamp::from_millis((1_000 + minute) * 60_000));
            standing = next;
            told.extend(what.map(|what| (*minute, what)));
        }
        told
    }

    #[test]
    fn it_fires_when_it_lasted_and_resolves_at_once() {
        assert_eq!(
            check(&[(0, true), (9, true), (10, true), (11, true), (12, false), (13, false)]),
            [(10, Publication::Firing), (12, Publication::Resolved)]
        );
    }

    #[test]
    fn a_break_begins_anew() {
        assert_eq!(check(&[(0, true), (5, false), (6, true), (15, true), (16, true)]), [(16, Publication::Firing)]);
    }

    #[test]
    fn who_did_not_look_does_not_know() {
        assert_eq!(check(&[(0, true), (30, true), (39, true), (40, true)]), [(40, Publication::Firing)]);
        // What fires goes on until somebody sees that it is over.
        assert_eq!(
            check(&[(0, true), (10, true), (500, true), (900, false)]),
            [(10, Publication::Firing), (900, Publication::Resolved)]
        );
    }

    #[test]
    fn a_rule_without_time_fires_at_once() {
        let (standing, told) = Standing::default().next(true, Duration::ZERO, Timestamp::from_millis(5));
        assert_eq!((standing.phase, standing.since.millis(), told), (Phase::Firing, 5, Some(Publication::Firing)));
    }

    #[test]
    fn what_takes_long_is_looked_at_less_often() {
        let check = |took, seconds| {
            let standing = Standing { took: Duration::from_millis(took), ..Standing::default() };
            standing.is_fresh(Timestamp::default().after(Duration::from_secs(seconds)))
        };
        assert_eq!([check(1, 7), check(1, 8)], [true, false]);
        assert_eq!([check(3_000, 29), check(3_000, 30)], [true, false]);
        assert_eq!([check(60_000, 59), check(60_000, 60)], [true, false]);
    }

    proptest! {
        #[test]
        fn what_fires_was_too_much_all_the_time(steps in prop::collection::vec((0i64..8, any::<bool>()), 0..60)) {
            let looks: Vec<_> = steps.iter().scan(0, |minute, (step, is)| { *minute += step; Some((*minute, *is)) }).collect();
            let told = check(&looks);
            for (index, (at, what)) in told.iter().enumerate() {
                prop_assert_eq!(*what, if index % 2 == 0 { Publication::Firing } else { Publication::Resolved });
                if *what == Publication::Firing {
                    let all = looks.iter().filter(|(minute, _)| (at - 9..=*at).contains(minute));
                    let last_fine = looks.iter().take_while(|look| *look != &(*at, true)).filter(|(_, is)| !is).map(|(minute, _)| *minute).max();
                    prop_assert!(last_fine.is_none_or(|minute| minute <= at - 10) || all.count() == 0);
                }
            }
        }

        #[test]
        fn a_clock_that_goes_back_breaks_nothing(minutes in prop::collection::vec((0i64..100, any::<bool>()), 0..60)) {
            let told = check(&minutes);
            prop_assert!(told.iter().enumerate().all(|(index, (_, what))| (*what == Publication::Firing) == (index % 2 == 0)));
        }
    }
}
