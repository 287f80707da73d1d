//! Reports that are kept apart: nothing counts them, and operators can list them.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::timestamp::Timestamp;

use super::registered::Apart;
use super::submitted::Submitted;
use crate::limits::{APART_MESSAGE_CHARACTERS, APART_REPORTS_MAX};
use crate::store::{ColumnType, DatabaseError, Rows, SqlValue, Transaction};

/// The latest of the reports of one token about one place of a reconciler, and their number.
type Kept<'a> = (&'a Submitted, &'a Apart, i64);

/// Stores reports that are kept apart. Of each token, only the latest [`APART_REPORTS_MAX`] stay.
pub(super) async fn write(
    transaction: &mut Transaction,
    reports: impl Iterator<Item = (&Submitted, &Apart)>,
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let mut kept: BTreeMap<(&str, &str, &str, &str), Kept<'_>> = BTreeMap::new();
    for (report, apart) in reports {
        let Some(speaker) = report.speaker() else { continue };
        let (host, reconciler) = report.subject();
        let entry = kept.entry((&speaker.token, host, reconciler, &apart.endpoint)).or_insert((report, apart, 0));
        let latest = if report.observed_on >= entry.0.observed_on { (report, apart) } else { (entry.0, entry.1) };
        *entry = (latest.0, latest.1, entry.2 + 1);
    }
    let tokens: BTreeSet<&str> = kept.keys().map(|(token, ..)| *token).collect();
    let mut rows = Rows::new(&[
        ("token", ColumnType::Text),
        ("host", ColumnType::Text),
        ("reconciler", ColumnType::Text),
        ("endpoint", ColumnType::Text),
        ("reason", ColumnType::Text),
        ("status", ColumnType::Text),
        ("revision", ColumnType::Text),
        ("message", ColumnType::Text),
        ("reports", ColumnType::Int),
        ("observed_on", ColumnType::Timestamp),
        ("received_on", ColumnType::Timestamp),
    ]);
    for ((token, host, reconciler, endpoint), (report, apart, reports)) in &kept {
        let message: String = report.message.chars().take(APART_MESSAGE_CHARACTERS).collect();
        rows.push(vec![
            SqlValue::from(*token),
            (*host).into(),
            (*reconciler).into(),
            (*endpoint).into(),
            apart.reason.as_str().into(),
            report.status.as_str().into(),
            report.revision.as_str().into(),
            message.into(),
            (*reports).into(),
            report.observed_on.into(),
            now.into(),
        ]);
    }
    let statement = "insert into apart_report (token, host, reconciler, endpoint, reason, status, revision, message, reports, \
          observed_on, first_on, received_on) \
        select token, host, reconciler, endpoint, reason, status, revision, message, reports, observed_on, received_on, received_on \
        from source where true on conflict (token, host, reconciler, endpoint) do update set reason = excluded.reason, \
        status = excluded.status, revision = excluded.revision, message = excluded.message, \
        reports = apart_report.reports + excluded.reports, observed_on = excluded.observed_on, received_on = excluded.received_on";
    transaction.execute_with(rows, statement).await?;
    for token in tokens {
        trim(transaction, token).await?;
    }
    Ok(())
}

/// Deletes the earliest reports of a token beyond the limit.
async fn trim(transaction: &mut Transaction, token: &str) -> Result<(), DatabaseError> {
    let sql = format!(
        "delete from apart_report where token = $1 and (host, reconciler, endpoint) in (select host, reconciler, endpoint \
         from apart_report where token = $1 order by received_on desc, host, reconciler, endpoint limit 1000000 offset {APART_REPORTS_MAX})"
    );
    transaction.execute(&sql, vec![token.into()]).await
}
