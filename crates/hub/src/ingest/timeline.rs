//! Orders the reports of a reconciler by timestamp, independent of the order of arrival.
//!
//! An entry is in effect from its timestamp until the next entry. A report that arrives twice is stored once. A report with the same content at
//! another timestamp is a confirmation: it adds no row, and only the timestamp of the last confirmation is stored. A late report is inserted before
//! the newer ones and does not become the latest. Of two reports with the same timestamp, one counts, independent of their arrival: the one with the
//! higher status number, or with the same status the one with the greater digest.

use hub_api::timestamp::Timestamp;

use crate::store::DeploymentId;

/// Where the content of an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin<R> {
    /// The stored row with this id.
    Stored(DeploymentId),
    /// A report that has just arrived.
    New(R),
}

/// The parts of a report that decide about its position in the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Statement {
    /// The severity of the status: [`hub_api::report::Status::number`].
    pub(super) status: i64,
    /// The digest of the whole report, without its timestamp.
    pub(super) digest: i64,
}

/// A state, with the time from which it was in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<R> {
    pub(super) origin: Origin<R>,
    pub(super) since: Timestamp,
    /// The timestamp of the last confirmation; equals `since` if there was none.
    pub(super) until: Timestamp,
    pub(super) statement: Statement,
    /// The entry repeats its origin in a new row. This happens when a report arrives late, and its timestamp lies between the origin's first timestamp
    /// and its last confirmation.
    pub(super) is_resumed: bool,
}

impl<R> Entry<R> {
    /// An entry for a statement about one timestamp.
    pub(super) fn new(origin: Origin<R>, since: Timestamp, statement: Statement) -> Self {
        Self { origin, since, until: since, statement, is_resumed: false }
    }

    /// The same entry, confirmed until a timestamp.
    pub(super) fn until(self, until: Timestamp) -> Self {
        Self { until: self.since.max(until), ..self }
    }

    /// The id of its row; none if the row has to be written.
    pub(super) fn row(&self) -> Option<DeploymentId> {
        match self.origin {
            Origin::Stored(id) if !self.is_resumed => Some(id),
            Origin::Stored(_) | Origin::New(_) => None,
        }
    }
}

/// The entries of one reconciler, or only the latest ones that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timeline<R> {
    entries: Vec<Entry<R>>,
    /// The latest timestamp of all reports.
    seen_on: Timestamp,
}

/// The effect of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The report is a new entry.
    Entered,
    /// The report confirmed the entry before or after it.
    Confirmed,
    /// The report had arrived before, or another report with the same timestamp counts.
    Repeated,
}

impl<R: Copy> Timeline<R> {
    /// A timeline of these entries, in order. `seen_on` is the latest timestamp of all reports.
    pub(super) fn new(entries: Vec<Entry<R>>, seen_on: Timestamp) -> Self {
        Self { entries, seen_on }
    }

    /// All entries, in order.
    pub(super) fn entries(&self) -> &[Entry<R>] {
        &self.entries
    }

    /// The latest timestamp of all reports.
    pub(super) fn seen_on(&self) -> Timestamp {
        self.seen_on
    }

    /// Adds a report about a timestamp.
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

    /// Replaces the statement of another report about the same timestamp.
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

    /// Inserts a report between the existing entries. It may confirm one of them.
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

    /// Marks the entry at a timestamp to be written as a new row. The new row gets a higher id than the deleted one, because ids are never reused.
    fn write_again(&mut self, at: Timestamp) {
        let index = self.entries.partition_point(|entry| entry.since <= at);
        if let Some(entry) = index.checked_sub(1).and_then(|index| self.entries.get_mut(index)) {
            entry.is_resumed = true;
        }
    }

    /// Merges an entry with the next one if both have the same statement.
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

    /// The digest that is in effect at a timestamp.
    fn at(timeline: &Timeline<usize>, timestamp: i64) -> Option<i64> {
        let before = timeline.entries().iter().rev().find(|entry| entry.since.millis() <= timestamp);
        before.map(|entry| entry.statement.digest)
    }

    /// The reports that count: the greatest digest of each timestamp.
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
            // Neighbours differ: no report is a heartbeat.
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
                let Origin::New(number) = entry.origin else { panic!("no entry is stored") };
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

    /// The reports in some order. Each occurs at least once, some of them several times.
    fn arrival(reports: &[(i64, i64)], order: &[usize]) -> Vec<(i64, i64)> {
        let picked = order.iter().filter_map(|index| reports.get(*index).copied());
        picked.chain(reports.iter().rev().copied()).collect()
    }
}
