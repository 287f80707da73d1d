//! Orders the reports of a reconciler by timestamp, independent of the order of arrival.
//!
//! An entry is in effect from its timestamp until the next entry. A report that arrives twice is stored once. A report with the same content at
//! another timestamp is a confirmation: it adds no row, and only the timestamp of the last confirmation is stored. A late report is inserted before
//! the newer ones and does not become the latest.
//!
//! Of reports with the same timestamp and different content, all are entries, in the order of their arrival: many senders write whole seconds, and what
//! arrives later is what happened later. A report whose content was already reported at exactly this timestamp is a repetition, also if other content
//! arrived in between: senders deliver a report again if they got no answer. Only senders that always send their present state
//! ([`Arrival::is_present_state`]) are taken at their word.

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// The number of the status: [`hub_api::report::Status::number`].
    pub(super) status: i64,
    /// The digest of the whole report, without its timestamp.
    pub(super) digest: i64,
}

/// A report that has just arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival<R> {
    pub(super) report: R,
    /// The timestamp that the report is about.
    pub(super) at: Timestamp,
    pub(super) statement: Statement,
    /// Whether its sender sends its present state each time, and never an earlier report again.
    pub(super) is_present_state: bool,
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
    /// and its last confirmation. It also happens to keep the ids of rows with the same timestamp in order.
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

    /// The id of the stored row with its content; none if its report has just arrived.
    pub(super) fn stored(&self) -> Option<DeploymentId> {
        match self.origin {
            Origin::Stored(id) => Some(id),
            Origin::New(_) => None,
        }
    }

    /// The id of its row; none if the row has to be written.
    pub(super) fn row(&self) -> Option<DeploymentId> {
        self.stored().filter(|_| !self.is_resumed)
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
    /// The report had arrived before.
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

    /// The entry that is in effect at a timestamp.
    pub(super) fn at(&self, timestamp: Timestamp) -> Option<&Entry<R>> {
        let next = self.entries.partition_point(|entry| entry.since <= timestamp);
        next.checked_sub(1).and_then(|index| self.entries.get(index))
    }

    /// Adds a report.
    pub(super) fn add(&mut self, arrival: Arrival<R>) -> Added {
        let Arrival { report, at, statement, is_present_state } = arrival;
        self.seen_on = self.seen_on.max(at);
        let next = self.entries.partition_point(|entry| entry.since <= at);
        if let Some(entry) = self.entries[..next].last_mut().filter(|entry| entry.statement == statement) {
            let is_known = at == entry.since || at == entry.until;
            entry.until = entry.until.max(at);
            return if is_known { Added::Repeated } else { Added::Confirmed };
        }
        if !is_present_state && self.has_reported(statement, at) {
            return Added::Repeated;
        }
        self.insert(next, Entry::new(Origin::New(report), at, statement))
    }

    /// Whether a report with this content and exactly this timestamp has arrived.
    fn has_reported(&self, statement: Statement, at: Timestamp) -> bool {
        let before = self.entries.iter().rev().skip_while(|entry| entry.since > at);
        before.take_while(|entry| entry.until >= at).any(|entry| entry.statement == statement)
    }

    /// Inserts a report between the existing entries. It may confirm the next one.
    fn insert(&mut self, index: usize, entry: Entry<R>) -> Added {
        let before = index.checked_sub(1);
        if let Some(before) = before.filter(|before| self.entries[*before].until > entry.since) {
            let confirmed = self.entries[before];
            self.entries[before].until = confirmed.since;
            self.entries.insert(index, Entry { since: confirmed.until, is_resumed: true, ..confirmed });
        }
        if let Some(next) = self.entries.get_mut(index).filter(|next| next.statement == entry.statement) {
            next.since = entry.since;
            return Added::Confirmed;
        }
        self.entries.insert(index, entry);
        Added::Entered
    }

    /// Marks rows to be written again, so that of rows with the same timestamp, the later entry has the higher id. Queries order rows by timestamp and id.
    /// New rows get higher ids than all stored ones.
    pub(super) fn order_rows(&mut self) {
        let mut before: Option<(Timestamp, Option<DeploymentId>)> = None;
        for entry in &mut self.entries {
            let is_out_of_order = |row: DeploymentId| {
                before.is_some_and(|(since, id)| since == entry.since && id.is_none_or(|id| id > row))
            };
            entry.is_resumed |= entry.row().is_some_and(is_out_of_order);
            before = Some((entry.since, entry.row()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn timeline(reports: &[(i64, i64)]) -> Timeline<usize> {
        let mut timeline = Timeline::new(Vec::new(), Timestamp::default());
        for (number, report) in reports.iter().enumerate() {
            timeline.add(arriving(number, *report));
        }
        timeline
    }

    fn arriving(report: usize, (at, digest): (i64, i64)) -> Arrival<usize> {
        let statement = Statement { status: 0, digest };
        Arrival { report, at: Timestamp::from_millis(at), statement, is_present_state: false }
    }

    fn check(reports: &[(i64, i64)]) -> Vec<(i64, i64)> {
        timeline(reports).entries().iter().map(|entry| (entry.since.millis(), entry.statement.digest)).collect()
    }

    #[test]
    fn repeated_reports_are_one_entry() {
        assert_eq!(check(&[(10, 1), (10, 1), (20, 2), (10, 1), (20, 2)]), [(10, 1), (20, 2)]);
    }

    #[test]
    fn heartbeat_adds_no_entry() {
        assert_eq!(check(&[(10, 1), (20, 1), (30, 1)]), [(10, 1)]);
        assert_eq!(timeline(&[(10, 1), (20, 1), (30, 1)]).seen_on().millis(), 30);
    }

    #[test]
    fn an_older_report_never_becomes_the_latest() {
        assert_eq!(check(&[(30, 3), (10, 1), (20, 2)]), [(10, 1), (20, 2), (30, 3)]);
    }

    #[test]
    fn later_confirmation_resumes_the_entry() {
        assert_eq!(check(&[(10, 1), (20, 1), (15, 2)]), [(10, 1), (15, 2), (20, 1)]);
    }

    #[test]
    fn confirmation_is_kept_after_a_later_change() {
        assert_eq!(check(&[(10, 1), (20, 1), (30, 2), (15, 3)]), [(10, 1), (15, 3), (20, 1), (30, 2)]);
    }

    #[test]
    fn earlier_equal_report_moves_the_start_back() {
        assert_eq!(check(&[(20, 1), (10, 1)]), [(10, 1)]);
        assert_eq!(check(&[(5, 2), (20, 1), (30, 3), (10, 1), (15, 4)]), [(5, 2), (10, 1), (15, 4), (20, 1), (30, 3)]);
    }

    #[test]
    fn resumed_entries_keep_their_origin() {
        let timeline = timeline(&[(10, 1), (20, 1), (12, 2), (15, 3)]);
        let said = timeline.entries().iter().map(|entry| (entry.since.millis(), entry.origin, entry.is_resumed));
        let (a, b, c) = (Origin::New(0), Origin::New(2), Origin::New(3));
        assert_eq!(said.collect::<Vec<_>>(), [(10, a, false), (12, b, false), (15, c, false), (20, a, true)]);
    }

    #[test]
    fn of_two_with_the_same_timestamp_the_later_to_arrive_counts() {
        assert_eq!(check(&[(10, 1), (10, 2)]), [(10, 1), (10, 2)]);
        assert_eq!(check(&[(10, 2), (10, 1)]), [(10, 2), (10, 1)]);
        assert_eq!(check(&[(10, 1), (20, 1), (20, 2)]), [(10, 1), (20, 2)]);
        assert_eq!(check(&[(10, 1), (20, 1), (10, 2)]), [(10, 1), (10, 2), (20, 1)]);
        assert_eq!(check(&[(10, 1), (20, 2), (10, 2)]), [(10, 1), (10, 2)]);
    }

    #[test]
    fn a_report_that_is_delivered_again_changes_nothing() {
        assert_eq!(check(&[(10, 1), (10, 2), (10, 1), (10, 2)]), [(10, 1), (10, 2)]);
        assert_eq!(check(&[(10, 1), (20, 1), (20, 2), (20, 1), (10, 1)]), [(10, 1), (20, 2)]);
        assert_eq!(
            check(&[(10, 1), (10, 2), (10, 3), (20, 2), (10, 2), (10, 1)]),
            [(10, 1), (10, 2), (10, 3), (20, 2)]
        );
    }

    #[test]
    fn a_present_state_may_return_at_the_same_timestamp() {
        let mut timeline = timeline(&[(10, 1), (10, 2)]);
        let again = |report| Arrival { is_present_state: true, ..arriving(report, (10, 1)) };
        assert_eq!([timeline.add(again(2)), timeline.add(again(3))], [Added::Entered, Added::Repeated]);
        assert_eq!(timeline.entries().iter().map(|entry| entry.statement.digest).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(timeline.add(Arrival { is_present_state: true, ..arriving(4, (5, 2)) }), Added::Entered);
        assert_eq!(at(&timeline, 10), Some(1));
    }

    #[test]
    fn rows_with_the_same_timestamp_have_ids_in_their_order() {
        let stored = |id, at, digest| {
            let timestamp = Timestamp::from_millis(at);
            Entry::<usize>::new(Origin::Stored(DeploymentId::new(id)), timestamp, Statement { status: 0, digest })
        };
        let rows = |reports: &[(i64, i64)]| {
            let known = vec![stored(1, 10, 1).until(Timestamp::from_millis(20)), stored(2, 20, 2)];
            let mut timeline = Timeline::new(known, Timestamp::from_millis(20));
            for report in reports {
                timeline.add(arriving(0, *report));
            }
            timeline.order_rows();
            timeline.entries().iter().map(|entry| entry.row().map(DeploymentId::number)).collect::<Vec<_>>()
        };
        assert_eq!(rows(&[(20, 3)]), [Some(1), Some(2), None]);
        // The first state is in effect again at 20, before the row 2, which is written again.
        assert_eq!(rows(&[(15, 3)]), [Some(1), None, None, None]);
    }

    /// The digest that is in effect at a timestamp.
    fn at(timeline: &Timeline<usize>, timestamp: i64) -> Option<i64> {
        let before = timeline.entries().iter().rev().find(|entry| entry.since.millis() <= timestamp);
        before.map(|entry| entry.statement.digest)
    }

    /// The reports that count: the last different one of each timestamp.
    fn counting(reports: &[(i64, i64)]) -> BTreeMap<i64, i64> {
        let mut arrived = BTreeSet::new();
        let new = reports.iter().copied().filter(|report| arrived.insert(*report));
        new.collect()
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
            let timeline = timeline(&reports);
            let counting = counting(&reports);
            for entry in timeline.entries() {
                prop_assert!(reports.contains(&(entry.since.millis(), entry.statement.digest)));
                prop_assert!(reports.contains(&(entry.until.millis(), entry.statement.digest)));
            }
            let ends: Vec<_> = timeline.entries().iter().map(|entry| (entry.since, entry.until)).collect();
            prop_assert!(ends.iter().all(|(since, until)| since <= until));
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{:?}", ends);
            let last = counting.last_key_value().map(|(_, digest)| *digest);
            prop_assert_eq!(at(&timeline, i64::MAX), last);
            prop_assert_eq!(timeline.entries().first().map(|entry| entry.since.millis()), counting.keys().next().copied());
        }

        #[test]
        fn ordered_reports_give_the_state_at_each_time(
            reports in prop::collection::vec((0i64..12, 0i64..3), 1..24),
        ) {
            let mut ordered = reports.clone();
            ordered.sort_by_key(|(at, _)| *at);
            let timeline = timeline(&ordered);
            for (timestamp, digest) in counting(&reports) {
                prop_assert_eq!(at(&timeline, timestamp), Some(digest));
            }
            let says = timeline.entries().windows(2).all(|pair| pair[0].statement != pair[1].statement);
            prop_assert!(says, "neighbours differ: {:?}", timeline.entries());
        }

        #[test]
        fn entries_equal_their_origin(reports in prop::collection::vec((0i64..8, 0i64..3), 1..12)) {
            for entry in timeline(&reports).entries() {
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
            let timeline = timeline(&arrival(&reports, &order));
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
