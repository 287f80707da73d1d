//! The tallies from which totals are read: now or at an earlier time, of all hosts or of some.

use std::collections::BTreeMap;

use hub_api::report::Status;

use super::counted::Counted;
use super::facts::Fact;
use crate::ingest::tally::KEY;
use crate::store::{CountRecordId, Parameters};

/// Where the tallies of a question are.
#[derive(Clone, Debug, Default)]
pub(super) enum Tallies {
    /// Those of all hosts, now: the table `tally`.
    #[default]
    Stored,
    /// Those of some hosts, now.
    Counted(Counted),
    /// Those of all hosts, as the hub recorded them.
    Recorded(CountRecordId),
    /// Those of several records: the id of a tally is that of its record.
    Records(Vec<CountRecordId>),
    /// Those of the examined reconcilers at an earlier time.
    Then(TalliesThen),
}

/// The number of reconcilers with each key of a tally.
#[derive(Clone, Debug, Default)]
pub(super) struct TalliesThen(BTreeMap<[i64; 7], i64>);

impl TalliesThen {
    /// Counts a reconciler, if its place is known.
    pub(super) fn add(&mut self, fact: &Fact) {
        let Some(place) = &fact.place else { return };
        let (desired, held) = (place.desired.as_ref(), fact.held.as_ref());
        let is_current = desired.zip(held).is_some_and(|(desired, held)| desired.tree == held.tree);
        let key = [
            place.group_id.number(),
            desired.map_or(0, |desired| desired.commit_id.number()),
            held.map_or(0, |held| held.commit_id.number()),
            i64::from(is_current),
            fact.status.map_or(0, Status::number),
            i64::from(fact.is_silent),
            1,
        ];
        *self.0.entry(key).or_default() += 1;
    }
}

impl Tallies {
    /// The tallies as a table for SQL, with the columns of the table `tally`. Only the ids of present tallies are those of that table.
    pub(super) fn table(&self, parameters: &mut Parameters) -> String {
        let rows = match self {
            Self::Stored => return "tally".to_owned(),
            Self::Counted(counted) => return counted.table(parameters),
            Self::Records(records) => {
                let records = parameters.any_int("n.record_id", records.clone());
                return format!("(select n.record_id as id, {KEY}, reconcilers from recorded_tally n where {records})");
            }
            Self::Recorded(record) => {
                let record = parameters.equals("n.record_id", *record);
                format!("recorded_tally n where {record}")
            }
            Self::Then(TalliesThen(then)) => {
                let rows: Vec<_> = then.iter().map(|(key, number)| [key.as_slice(), &[*number]].concat()).collect();
                let rows = parameters.add(serde_json::json!(rows).to_string());
                let columns: Vec<_> = KEY.split(", ").chain(["reconcilers"]).collect();
                format!("{} n", parameters.dialect().rows_of_json(&rows, &columns))
            }
        };
        format!("(select row_number() over () as id, {KEY}, reconcilers from {rows})")
    }
}
