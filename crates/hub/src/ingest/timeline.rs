//! The order of a reconciler's reports, whatever the order in which they arrive.
//!
//! An entry is in effect from its timestamp until the next one. The same report twice is one; the same once more, at another timestamp, is a confirmation,
//! and costs no row: of those, the last is known. An older report finds its place behind the newer ones, and never becomes the latest. Of two reports with
//! the same timestamp, one counts, whichever arrives first: the one with the graver status, or else the greater digest.

use hub_api::timestamp::Timestamp;

use crate::store::DeploymentId;

/// Who said what an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin<R> {
    /// The row of this id.
    Stored(DeploymentId),
    /// This report, which arrived now.
    New(R),
}

/// What a report says, as far as the order goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Statement {
    /// How grave it is: [`hub_api::report::Status::number`].
    pub(super) status: i64,
    /// All of it, without when.
    pub(super) digest: i64,
}

/// From when on something was in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<R> {
    pub(super) origin: Origin<R>,
    pub(super) since: Timestamp,
    /// When it was confirmed last; `since` if it never was.
    pub(super) until: Timestamp,
    pub(super) statement: Statement,
    /// It repeats its origin in a row of its own: its origin was confirmed after a timestamp at which another entry, which arrived later, is in effect.
    pub(super) is_resumed: bool,
}

impl<R> Entry<R> {
    /// What was said of a timestamp.
    pub(super) fn new(origin: Origin<R>, since: Timestamp, statement: Statement) -> Self {
        Self { origin, since, until: since, statement, is_resumed: false }
    }

    /// The same, confirmed until a timestamp.
    pub(super) fn until(self, until: Timestamp) -> Self {
        Self { until: self.since.max(until), ..self }
    }

    /// The row that it is, unless it has to be written.
    pub(super) fn row(&self) -> Option<DeploymentId> {
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
    /// The last timestamp of which a report tells.
    seen_on: Timestamp,
}

/// What a report did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It is a new entry.
    Entered,
    /// It said what was in effect before or after.
    Confirmed,
    /// It had arrived before, or another report of the same timestamp counts.
    Repeated,
}

impl<R: Copy> Timeline<R> {
    /// The entries that are known, in their order; the last timestamp of which a report tells.
    pub(super) fn new(entries: Vec<Entry<R>>, seen_on: Timestamp) -> Self {
        Self { entries, seen_on }
    }

    /// All entries, in their order.
    pub(super) fn entries(&self) -> &[Entry<R>] {
        &self.entries
    }

    /// The last timestamp of which a report tells.
    pub(super) fn seen_on(&self) -> Timestamp {
        self.seen_on
    }

    /// Enters a report of what was so at a timestamp.
    pub(super) fn add(&mut self, report: R, at: Timestamp, statement: Statement) -> Added {
        self.seen_on = self.seen_on.max(at);
        let next = self.entries.partition_point(|entry| entry.since <= at);
        if let Some(entry) = next.checked_sub(1).and_then(|index| self.entries.get_mut(index)) {
            if entry.statement == statement {
                let is_known = at == entry.since || at == entry.until;
                entry.until = entry.until.max(at);
                return if is_known { Added::Repeated } else { Added::Confirmed };
            }
            if at == entry.since || at == entry.until {
                if statement < entry.statement {
                    return Added::Repeated;
                }
                return self.outrank(next - 1, Entry::new(Origin::New(report), at, statement));
            }
        }
        self.insert(next, Entry::new(Origin::New(report), at, statement))
    }

    /// Puts a report in the place of what another one said of the same timestamp.
    fn outrank(&mut self, index: usize, entry: Entry<R>) -> Added {
        let Some(other) = self.entries.get_mut(index) else { return Added::Repeated };
        if entry.since == other.since && other.until == other.since {
            let is_stored = matches!(other.origin, Origin::Stored(_));
            self.entries.remove(index);
            let added = self.insert(index, entry);
            if added == Added::Confirmed && is_stored {
                self.write_again(entry.since);
            }
            return added;
        }
        if entry.since == other.since {
            other.since = other.until;
            return self.insert(index, entry);
        }
        other.until = other.since;
        self.insert(index + 1, entry)
    }

    /// Puts a report between those that are there, of which it may confirm one.
    fn insert(&mut self, index: usize, entry: Entry<R>) -> Added {
        let before = index.checked_sub(1);
        if let Some(before) = before.filter(|before| self.entries[*before].until > entry.since) {
            let confirmed = self.entries[before];
            self.entries[before].until = confirmed.since;
            self.entries.insert(index, Entry { since: confirmed.until, is_resumed: true, ..confirmed });
        } else if let Some(before) = before.filter(|before| self.entries[*before].statement == entry.statement) {
            self.entries[before].until = entry.since;
            self.join(before);
            return Added::Confirmed;
        }
        if let Some(next) = self.entries.get_mut(index).filter(|next| next.statement == entry.statement) {
            next.since = entry.since;
            return Added::Confirmed;
        }
        self.entries.insert(index, entry);
        Added::Entered
    }

    /// Has the entry of a timestamp written as a row of its own, which comes after the one that was taken out: ids are never used again.
    fn write_again(&mut self, at: Timestamp) {
        let index = self.entries.partition_point(|entry| entry.since <= at);
        if let Some(entry) = index.checked_sub(1).and_then(|index| self.entries.get_mut(index)) {
            entry.is_resumed = true;
        }
    }

    /// Makes one of an entry and the next one, if they say the same.
    fn join(&mut self, index: usize) {
        let [Some(entry), Some(next)] = [self.entries.get(index), self.entries.get(index + 1)] else { return };
        if entry.statement == next.statement {
            self.entries[index].until = next.until;
            self.entries.remove(index + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn of(reports: &[(i64, i64)]) -> Timeline<usize> {
        let mut timeline = Timeline::new(Vec::new(), Timestamp::default());
        for (number, (at, digest)) in reports.iter().enumerate() {
            timeline.add(number, Timestamp::from_millis(*at), Statement { status: 0, digest: *digest });
        }
        timeline
    }

    fn check(reports: &[(i64, i64)]) -> Vec<(i64, i64)> {
        of(reports).entries().iter().map(|entry| (entry.since.millis(), entry.statement.digest)).collect()
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
    fn a_confirmation_is_known_when_something_else_came_after_it() {
        assert_eq!(check(&[(10, 1), (20, 1), (30, 2), (15, 3)]), [(10, 1), (15, 3), (20, 1), (30, 2)]);
    }

    #[test]
    fn what_was_so_earlier_already_is_so_since_then() {
        assert_eq!(check(&[(20, 1), (10, 1)]), [(10, 1)]);
        assert_eq!(check(&[(5, 2), (20, 1), (30, 3), (10, 1), (15, 4)]), [(5, 2), (10, 1), (15, 4), (20, 1), (30, 3)]);
    }

    #[test]
    fn what_is_in_effect_again_says_what_it_said_whatever_comes_between() {
        let timeline = of(&[(10, 1), (20, 1), (12, 2), (15, 3)]);
        let said = timeline.entries().iter().map(|entry| (entry.since.millis(), entry.origin, entry.is_resumed));
        let (a, b, c) = (Origin::New(0), Origin::New(2), Origin::New(3));
        assert_eq!(said.collect::<Vec<_>>(), [(10, a, false), (12, b, false), (15, c, false), (20, a, true)]);
    }

    #[test]
    fn of_two_with_the_same_timestamp_one_counts_whichever_arrives_first() {
        assert_eq!(check(&[(10, 1), (10, 2)]), [(10, 2)]);
        assert_eq!(check(&[(10, 2), (10, 1)]), [(10, 2)]);
        assert_eq!(check(&[(10, 1), (20, 1), (20, 2)]), check(&[(10, 1), (20, 2), (20, 1)]));
        assert_eq!(check(&[(10, 1), (20, 1), (10, 2)]), [(10, 2), (20, 1)]);
        assert_eq!(check(&[(10, 3), (20, 1), (30, 3), (20, 3)]), [(10, 3)]);
        let graver = Statement { status: 3, digest: 0 };
        assert!(graver > Statement { status: 2, digest: 9 });
    }

    #[test]
    fn what_never_was_a_row_is_taken_out_without_a_trace() {
        let says = |digest| Statement { status: 0, digest };
        let timestamp = Timestamp::from_millis;
        let stored = Entry::new(Origin::Stored(DeploymentId::new(7)), timestamp(30), says(2));
        let mut timeline = Timeline::new(vec![stored], timestamp(30));
        assert_eq!(timeline.add(0, timestamp(90), says(1)), Added::Entered);
        assert_eq!(timeline.add(1, timestamp(90), says(2)), Added::Confirmed);
        assert_eq!(timeline.entries(), [stored.until(timestamp(90))]);
    }

    /// What is in effect at a timestamp.
    fn at(timeline: &Timeline<usize>, timestamp: i64) -> Option<i64> {
        let before = timeline.entries().iter().rev().find(|entry| entry.since.millis() <= timestamp);
        before.map(|entry| entry.statement.digest)
    }

    /// The reports that count: the greatest of each timestamp.
    fn counting(reports: &[(i64, i64)]) -> BTreeMap<i64, i64> {
        let mut counting = BTreeMap::new();
        for (at, digest) in reports {
            let known = counting.entry(*at).or_insert(*digest);
            *known = (*known).max(*digest);
        }
        counting
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
            prop_assert_eq!(check(&arrival(&reports, &order)), reports);
        }

        #[test]
        fn entries_never_overlap_and_the_first_and_last_report_count(
            reports in prop::collection::vec((0i64..12, 0i64..3), 1..24),
        ) {
            let timeline = of(&reports);
            let counting = counting(&reports);
            for entry in timeline.entries() {
                prop_assert!(reports.contains(&(entry.since.millis(), entry.statement.digest)));
                prop_assert!(reports.contains(&(entry.until.millis(), entry.statement.digest)));
            }
            let ends: Vec<_> = timeline.entries().iter().map(|entry| (entry.since, entry.until)).collect();
            prop_assert!(ends.iter().all(|(since, until)| since <= until));
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", ends);
            let last = counting.last_key_value().map(|(_, digest)| *digest);
            prop_assert_eq!(at(&timeline, i64::MAX), last);
            prop_assert_eq!(timeline.entries().first().map(|entry| entry.since.millis()), counting.keys().next().copied());
        }

        #[test]
        fn in_the_order_of_their_timestamps_reports_say_everything(
            reports in prop::collection::vec((0i64..12, 0i64..3), 1..24),
        ) {
            let mut ordered = reports.clone();
            ordered.sort_unstable();
            let timeline = of(&ordered);
            for (timestamp, digest) in counting(&reports) {
                prop_assert_eq!(at(&timeline, timestamp), Some(digest));
            }
            let says = timeline.entries().windows(2).all(|pair| pair[0].statement != pair[1].statement);
            prop_assert!(says, "neighbours differ: {:?}", timeline.entries());
        }

        #[test]
        fn an_entry_says_what_its_origin_said(reports in prop::collection::vec((0i64..8, 0i64..3), 1..12)) {
            for entry in of(&reports).entries() {
                let Origin::New(number) = entry.origin else { panic!("nothing is stored") };
                prop_assert_eq!(entry.statement.digest, reports[number].1);
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
