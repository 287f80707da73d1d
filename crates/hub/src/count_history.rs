//! The history of counts: the tallies as they were at certain times. Counts of a large fleet at an earlier time are read from it, because the hub can't examine
//! the reports of a million reconcilers for each question.
//!
//! A record has what the hub knew at its time: a report that arrived later is not in it, whatever its own timestamp.

use std::collections::BTreeSet;
use std::time::Duration;

use hub_api::timestamp::Timestamp;

use crate::ingest::tally::{KEY, TallyKey};
use crate::limits::{COUNTS_RECORDED, RECORDED_TALLIES_PER_SECOND};
use crate::store::{ColumnType, CountRecordId, Database, DatabaseError, Rows, SqlValue, Transaction};

/// Records the tallies until the task is aborted. Several replicas may do so at the same time.
pub async fn run(database: Database) {
    loop {
        match record(&database, Timestamp::now()).await {
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the counts of reconcilers can't be recorded now"),
        }
        match thin_out(&database, Timestamp::now()).await {
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "old records of counts can't be deleted yet"),
        }
        tokio::time::sleep(COUNTS_RECORDED).await;
    }
}

/// Records the tallies if they have changed since the latest record, and that record is not too recent. Returns whether it did.
///
/// # Errors
/// The database can't be reached, or refuses.
pub async fn record(database: &Database, now: Timestamp) -> Result<bool, DatabaseError> {
    let mut transaction = database.begin_reading().await?;
    let dialect = transaction.dialect();
    let latest = format!("select id, {} from count_record order by id desc limit 1", dialect.millis("recorded_on"));
    let latest = transaction.first::<(CountRecordId, Timestamp)>(&latest, Vec::new()).await?;
    let sql = format!("select {KEY}, reconcilers from tally where reconcilers <> 0 order by {KEY}");
    let tallies: Vec<(TallyKey, i64)> = transaction.query(&sql, Vec::new()).await?;
    if let Some((id, recorded_on)) = latest {
        // If the clock was set back, the latest record is not recent.
        let is_recent = recorded_on <= now && now.before(pause(tallies.len())) < recorded_on;
        if is_recent || recorded(&mut transaction, id).await? == tallies {
            return Ok(false);
        }
    } else if tallies.is_empty() {
        return Ok(false);
    }
    drop(transaction);
    write(database, now, tallies).await?;
    Ok(true)
}

/// The pause between two records of so many tallies.
fn pause(tallies: usize) -> Duration {
    let needed = Duration::from_secs((tallies / RECORDED_TALLIES_PER_SECOND) as u64);
    COUNTS_RECORDED.max(needed)
}

async fn recorded(transaction: &mut Transaction, id: CountRecordId) -> Result<Vec<(TallyKey, i64)>, DatabaseError> {
    let sql = format!("select {KEY}, reconcilers from recorded_tally where record_id = $1 order by {KEY}");
    transaction.query(&sql, vec![id.into()]).await
}

async fn write(database: &Database, now: Timestamp, tallies: Vec<(TallyKey, i64)>) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    let instant = transaction.dialect().instant("$1");
    let sql = format!("insert into count_record (recorded_on) values ({instant}) returning id");
    let id: CountRecordId = transaction.one(&sql, vec![now.into()]).await?;
    let columns = KEY.split(", ").chain(["record_id", "reconcilers"]).map(|name| (name, ColumnType::Int));
    let mut rows = Rows::new(&columns.collect::<Vec<_>>());
    for (key, reconcilers) in tallies {
        rows.push(key.values().into_iter().chain([id.into(), SqlValue::from(reconcilers)]).collect());
    }
    let insert = format!(
        "insert into recorded_tally ({KEY}, record_id, reconcilers) select {KEY}, record_id, reconcilers from source where true"
    );
    transaction.execute_with(rows, &insert).await?;
    transaction.commit().await
}

/// For how long records are kept that are the last ones of such a period.
const KEPT: [(Duration, Duration); 3] = [
    (Duration::from_mins(10), Duration::from_hours(24)),
    (Duration::from_hours(1), Duration::from_hours(24 * 7)),
    (Duration::from_hours(24), Duration::from_hours(24 * 400)),
];

/// How long all records are kept.
const ALL_KEPT: Duration = Duration::from_hours(1);

/// Deletes the records that are too old for their distance to the next one. Returns their number.
///
/// # Errors
/// The database can't be reached, or refuses. What was deleted before the error stays deleted.
pub async fn thin_out(database: &Database, now: Timestamp) -> Result<usize, DatabaseError> {
    let millis = database.dialect().millis("recorded_on");
    let sql = format!("select id, {millis} from count_record order by id");
    let records: Vec<(CountRecordId, Timestamp)> = database.query(&sql, Vec::new()).await?;
    delete(database, surplus(&records, now)).await
}

/// Deletes the records before a timestamp, apart from the one that was in effect then. Returns their number.
///
/// # Errors
/// As [`thin_out`].
pub async fn delete_before(database: &Database, horizon: Timestamp) -> Result<usize, DatabaseError> {
    let instant = database.dialect().instant("$1");
    let sql = format!("select id from count_record where recorded_on < {instant} order by recorded_on desc, id desc");
    let old: Vec<CountRecordId> = database.query(&sql, vec![horizon.into()]).await?;
    delete(database, old.into_iter().skip(1).collect()).await
}

async fn delete(database: &Database, ids: BTreeSet<CountRecordId>) -> Result<usize, DatabaseError> {
    for id in &ids {
        let mut transaction = database.begin().await?;
        transaction.execute("delete from recorded_tally where record_id = $1", vec![(*id).into()]).await?;
        transaction.execute("delete from count_record where id = $1", vec![(*id).into()]).await?;
        transaction.commit().await?;
    }
    Ok(ids.len())
}

/// The records that are not the last ones of the period that their age asks for. The latest record is always kept.
fn surplus(records: &[(CountRecordId, Timestamp)], now: Timestamp) -> BTreeSet<CountRecordId> {
    let mut surplus = BTreeSet::new();
    for pair in records.windows(2) {
        let [(id, recorded_on), (_, next)] = *pair else { continue };
        if recorded_on >= now.before(ALL_KEPT) {
            continue;
        }
        let period = KEPT.iter().find(|(_, kept)| recorded_on >= now.before(*kept)).map(|(period, _)| *period);
        let is_last = period.is_some_and(|period| {
            let number = |at: Timestamp| at.millis().div_euclid(i64::try_from(period.as_millis()).unwrap_or(i64::MAX));
            number(recorded_on) != number(next)
        });
        if !is_last {
            surplus.insert(id);
        }
    }
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    /// The times that remain of these ones, in hours before now.
    fn remaining(hours: &[f64]) -> Vec<f64> {
        // Midnight.
        let now = Timestamp::from_millis(20_000 * 24 * HOUR);
        let at = |hours: f64| Timestamp::from_millis(now.millis() - (hours * HOUR as f64) as i64);
        let records: Vec<_> =
            hours.iter().enumerate().map(|(number, hours)| (CountRecordId::new(number as i64), at(*hours))).collect();
        let gone = surplus(&records, now);
        hours
            .iter()
            .enumerate()
            .filter(|(id, _)| !gone.contains(&CountRecordId::new(*id as i64)))
            .map(|(_, h)| *h)
            .collect()
    }

    #[test]
    fn recent_records_are_all_kept() {
        assert_eq!(remaining(&[0.9, 0.8, 0.01, 0.0]), [0.9, 0.8, 0.01, 0.0]);
    }

    #[test]
    fn of_older_records_the_last_one_of_each_period_is_kept() {
        // Ten minutes are 0.1666 hours.
        assert_eq!(remaining(&[5.15, 5.1, 5.01, 4.9, 0.0]), [5.01, 4.9, 0.0]);
        assert_eq!(remaining(&[30.9, 30.5, 30.1, 29.5, 0.0]), [30.1, 29.5, 0.0]);
        assert_eq!(remaining(&[2000.5, 1999.0, 1990.0, 1970.0, 0.0]), [1999.0, 1970.0, 0.0]);
    }

    #[test]
    fn very_old_records_go_and_the_latest_one_stays() {
        assert_eq!(remaining(&[30_000.0, 20_000.0, 10_000.0]), [10_000.0]);
    }

    #[test]
    fn records_of_a_clock_that_was_wrong_stay_in_their_order() {
        assert_eq!(remaining(&[0.5, -100.0, 0.4]), [0.5, -100.0, 0.4]);
    }

    #[test]
    fn large_records_are_written_less_often() {
        assert_eq!(pause(10), COUNTS_RECORDED);
        assert_eq!(pause(RECORDED_TALLIES_PER_SECOND * 300), Duration::from_mins(5));
    }
}
