//! The order of a reconciler's reports, whatever the order in which they arrive.
//!
//! An entry is in effect from its moment until the next one. The same report twice is one; the latest said once more, later, is a heartbeat, and costs no row; an older report finds its place behind the newer ones, and never becomes the latest.

use crate::moment::Moment;

/// Who said what an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin<R> {
    /// The row of this id.
    Stored(i64),
    /// This report, which arrived now.
    New(R),
}

/// From when on something was in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<R> {
    pub(super) origin: Origin<R>,
    pub(super) since: Moment,
    pub(super) digest: i64,
    /// It says what its origin says once more: that was confirmed after a moment at which, as is known only now, something else was in effect.
    pub(super) is_resumed: bool,
}

impl<R> Entry<R> {
    /// What was said of a moment.
    pub(super) fn new(origin: Origin<R>, since: Moment, digest: i64) -> Self {
        Self { origin, since, digest, is_resumed: false }
    }

    /// The row that it is, unless it has to be written.
    pub(super) fn row(&self) -> Option<i64> {
        match self.origin {
            Origin::Stored(id) if !self.is_resumed => Some(id),
            Origin::Stored(_) | Origin::New(_) => None,
        }
    }
}

/// The entries of one reconciler, or as many of the latest as are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timeline<R> {
    entries: Vec<Entry<R>>,
    /// The last moment of which a report tells.
    seen_on: Moment,
}

/// What a report did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It is a new entry.
    Entered,
    /// It said what was in effect already.
    Confirmed,
    /// It had arrived before.
    Repeated,
}

impl<R: Copy> Timeline<R> {
    /// The entries that are known, in their order, of which the last one was confirmed at a moment.
    pub(super) fn new(entries: Vec<Entry<R>>, seen_on: Moment) -> Self {
        Self { entries, seen_on }
    }

    /// All entries, in their order.
    pub(super) fn entries(&self) -> &[Entry<R>] {
        &self.entries
    }

    /// The last moment of which a report tells.
    pub(super) fn seen_on(&self) -> Moment {
        self.seen_on
    }

    /// Enters a report of what was so at a moment.
    pub(super) fn add(&mut self, report: R, at: Moment, digest: i64) -> Added {
        let place = self.entries.partition_point(|entry| entry.since <= at);
        let before = &self.entries[..place];
        if before.iter().rev().take_while(|entry| entry.since == at).any(|entry| entry.digest == digest) {
            self.seen_on = self.seen_on.max(at);
            return Added::Repeated;
        }
        // Only the latest is confirmed: between earlier ones, something else may turn out to have been in effect.
        let is_last = place == self.entries.len();
        if is_last && before.last().is_some_and(|last| last.digest == digest) {
            self.seen_on = self.seen_on.max(at);
            return Added::Confirmed;
        }
        self.entries.insert(place, Entry::new(Origin::New(report), at, digest));
        if is_last && at < self.seen_on {
            self.resume(place);
        }
        self.seen_on = self.seen_on.max(at);
        Added::Entered
    }

    /// What was the last entry, and was confirmed after the one that was put behind it, is in effect again.
    fn resume(&mut self, entered: usize) {
        if let Some(confirmed) = entered.checked_sub(1).and_then(|index| self.entries.get(index)) {
            self.entries.push(Entry { since: self.seen_on, is_resumed: true, ..*confirmed });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(reports: &[(i64, i64)]) -> Timeline<usize> {
        let mut timeline = Timeline::new(Vec::new(), Moment::default());
        for (number, (at, digest)) in reports.iter().enumerate() {
            timeline.add(number, Moment::from_millis(*at), *digest);
        }
        timeline
    }

    fn check(reports: &[(i64, i64)]) -> Vec<(i64, i64)> {
        of(reports).entries().iter().map(|entry| (entry.since.millis(), entry.digest)).collect()
    }

    #[test]
    fn the_same_twice_is_one() {
        assert_eq!(check(&[(10, 1), (10, 1), (20, 2), (10, 1), (20, 2)]), [(10, 1), (20, 2)]);
    }

    #[test]
    fn a_heartbeat_is_no_entry() {
        assert_eq!(check(&[(10, 1), (20, 1), (30, 1)]), [(10, 1)]);
        assert_eq!(of(&[(10, 1), (20, 1), (30, 1)]).seen_on().millis(), 30);
    }

    #[test]
    fn an_older_report_never_becomes_the_latest() {
        assert_eq!(check(&[(30, 3), (10, 1), (20, 2)]), [(10, 1), (20, 2), (30, 3)]);
    }

    #[test]
    fn what_was_confirmed_later_is_in_effect_again() {
        assert_eq!(check(&[(10, 1), (20, 1), (15, 2)]), [(10, 1), (15, 2), (20, 1)]);
    }

    #[test]
    fn what_is_in_effect_again_says_what_it_said_whatever_comes_between() {
        let timeline = of(&[(10, 1), (20, 1), (12, 2), (15, 3)]);
        let said = timeline.entries().iter().map(|entry| (entry.since.millis(), entry.origin, entry.is_resumed));
        let (a, b, c) = (Origin::New(0), Origin::New(2), Origin::New(3));
        assert_eq!(said.collect::<Vec<_>>(), [(10, a, false), (12, b, false), (15, c, false), (20, a, true)]);
    }

    #[test]
    fn of_two_at_one_moment_the_one_that_arrived_later_counts() {
        assert_eq!(check(&[(10, 1), (10, 2)]), [(10, 1), (10, 2)]);
        assert_eq!(check(&[(10, 1), (10, 2), (10, 1)]), [(10, 1), (10, 2)]);
    }

    /// What is in effect at a moment at which there was a report.
    fn at(timeline: &Timeline<usize>, moment: i64) -> Option<i64> {
        let before = timeline.entries().iter().rev().find(|entry| entry.since.millis() <= moment);
        before.map(|entry| entry.digest)
    }

    proptest! {
        #[test]
        fn order_and_repetition_of_arrival_change_nothing(
            steps in prop::collection::vec(1i64..3, 1..12),
            order in prop::collection::vec(0usize..12, 0..40),
        ) {
            // Neighbours differ: nothing is a heartbeat.
            let digests = steps.iter().scan(0, |digest, step| { *digest = (*digest + step) % 3; Some(*digest) });
            let reports: Vec<_> = (0..).zip(digests).collect();
            let timeline = of(&arrival(&reports, &order));
            for (moment, digest) in &reports {
                prop_assert_eq!(at(&timeline, *moment), Some(*digest));
            }
            prop_assert_eq!(timeline.entries().len(), reports.len());
        }

        #[test]
        fn an_entry_says_what_its_origin_said(reports in prop::collection::vec((0i64..8, 0i64..3), 1..12)) {
            for entry in of(&reports).entries() {
                let Origin::New(number) = entry.origin else { panic!("nothing is stored") };
                prop_assert_eq!(entry.digest, reports[number].1);
                prop_assert!(entry.is_resumed || entry.since.millis() == reports[number].0);
            }
        }

        #[test]
        fn the_latest_report_is_the_latest_entry(
            digests in prop::collection::vec(0i64..3, 1..12),
            order in prop::collection::vec(0usize..12, 0..40),
        ) {
            let reports: Vec<_> = (0..).zip(digests).collect();
            let timeline = of(&arrival(&reports, &order));
            prop_assert_eq!(at(&timeline, i64::MAX), reports.last().map(|(_, digest)| *digest));
            prop_assert!(timeline.entries().is_sorted_by_key(|entry| entry.since));
            prop_assert_eq!(timeline.seen_on().millis(), reports.len() as i64 - 1);
        }
    }

    /// The reports in some order, some of them several times, none of them never.
    fn arrival(reports: &[(i64, i64)], order: &[usize]) -> Vec<(i64, i64)> {
        let picked = order.iter().filter_map(|index| reports.get(*index).copied());
        picked.chain(reports.iter().rev().copied()).collect()
    }
}
