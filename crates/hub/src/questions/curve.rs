//! The progress of a rollout over time, from the recorded counts.

use hub_api::rollouts::{CurvePoint, RolloutCurve};
use hub_api::timestamp::Timestamp;

use super::resolved::ResolvedRollout;
use super::rollout::check_reach;
use super::scope::Scope;
use super::tallies::Tallies;
use super::{Question, QuestionError};
use crate::limits::CURVE_POINTS_MAX;
use crate::store::{CountRecordId, Database, DatabaseError, Transaction};

/// The progress of the rollout of a workload, a version or a commit since it became desired, at the times at which the hub recorded counts. Releases in platform folders
/// are not recorded: their curve has no points.
///
/// # Errors
/// The text names no rollout, or several; the filter is invalid, or selects hosts; the database can't answer.
pub async fn rollout_curve(
    database: &Database,
    of: &str,
    question: impl Into<Question<'_>>,
) -> Result<RolloutCurve, QuestionError> {
    let question = question.into();
    Scope::refuse_states(question)?;
    let mut transaction = database.begin_reading().await?;
    let mut scope = Scope::read(&mut transaction, question).await?;
    if !scope.kind.is_any() || scope.hosts.is_some() {
        let message =
            "the progress over time is recorded for all hosts together; ask for it without a selection of hosts";
        return Err(QuestionError::Wrong { parameter: "selector", message: message.to_owned() });
    }
    let resolved = ResolvedRollout::resolve(&mut transaction, (of, None), question).await?;
    let since = resolved.subject.since(&mut transaction, &scope).await?.into_values().min();
    let Some(since) = since else {
        let released = resolved.released(&mut transaction).await?;
        let is_out_of_reach = released.is_none_or(|released| released.groups(&scope).is_empty());
        check_reach((&scope, of), is_out_of_reach)?;
        return Ok(RolloutCurve { of: of.to_owned(), ..RolloutCurve::default() });
    };
    let records = spread(records(&mut transaction, since).await?, CURVE_POINTS_MAX);
    scope.tallies = Tallies::Records(records.iter().map(|(id, _)| *id).collect());
    let counts = resolved.subject.by_record(&mut transaction, &scope).await?;
    let point =
        |(id, on): (CountRecordId, Timestamp)| CurvePoint { on, counts: counts.get(&id).copied().unwrap_or_default() };
    Ok(RolloutCurve { of: of.to_owned(), since: Some(since), points: records.into_iter().map(point).collect() })
}

/// The records since a timestamp, and the last one before it; in the order of their times.
async fn records(
    transaction: &mut Transaction,
    since: Timestamp,
) -> Result<Vec<(CountRecordId, Timestamp)>, DatabaseError> {
    let dialect = transaction.dialect();
    let since_then = dialect.instant("$1");
    let sql = format!(
        "select id, {} from count_record where recorded_on >= \
         coalesce((select max(recorded_on) from count_record where recorded_on <= {since_then}), {since_then}) order by recorded_on, id",
        dialect.millis("recorded_on")
    );
    transaction.query(&sql, vec![since.into()]).await
}

/// At most so many records, spread over the time: the last one of each of equal periods.
fn spread(records: Vec<(CountRecordId, Timestamp)>, most: usize) -> Vec<(CountRecordId, Timestamp)> {
    let (Some((_, first)), Some((_, last))) = (records.first().copied(), records.last().copied()) else {
        return records;
    };
    if records.len() <= most {
        return records;
    }
    let length = last.millis().saturating_sub(first.millis()).max(1);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    // The first record has a period of its own.
    let period =
        |at: Timestamp| (at.millis().saturating_sub(first.millis()).saturating_mul(most - 1) - 1).div_euclid(length);
    let mut spread: Vec<(CountRecordId, Timestamp)> = Vec::new();
    for record in records {
        match spread.last_mut() {
            Some(known) if period(known.1) == period(record.1) => *known = record,
            _ => spread.push(record),
        }
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(millis: &[i64], most: usize) -> Vec<i64> {
        let records = millis.iter().map(|at| (CountRecordId::new(*at), Timestamp::from_millis(*at))).collect();
        spread(records, most).into_iter().map(|(_, at)| at.millis()).collect()
    }

    #[test]
    fn few_records_are_all_shown() {
        assert_eq!(spread_of(&[], 3), Vec::<i64>::new());
        assert_eq!(spread_of(&[5, 5, 9], 3), [5, 5, 9]);
    }

    #[test]
    fn of_many_records_the_first_and_the_last_one_of_each_period_are_shown() {
        assert_eq!(spread_of(&[0, 1, 2, 3, 4, 5, 6, 7, 8], 3), [0, 4, 8]);
        assert_eq!(spread_of(&[0, 1, 2, 3, 1000], 3), [0, 3, 1000]);
        let many: Vec<i64> = (0..10_000).map(|number| number * 7).collect();
        let shown = spread_of(&many, 60);
        assert_eq!((shown.len(), shown.first(), shown.last()), (60, Some(&0), Some(&69_993)));
    }
}
