//! Reports that are kept apart: tokens of hosts sent them about places that their hosts are not registered for. Nothing counts them.

use hub_api::hosts::{ApartReason, ApartReport};
use hub_api::timestamp::Timestamp;

use crate::store::{ColumnError, Columns, Database, DatabaseError, FromRow};

/// The latest reports that are kept apart, because a token of hosts sent them about places that its hosts are not registered for.
///
/// # Errors
/// The database can't answer.
pub async fn list(database: &Database, limit: usize) -> Result<Vec<ApartReport>, DatabaseError> {
    let dialect = database.dialect();
    let sql = format!(
        "select token, host, reconciler, endpoint, reason, status, revision, message, reports, {}, {}, {} from apart_report \
         order by received_on desc, token, host, reconciler, endpoint limit $1",
        dialect.millis("observed_on"),
        dialect.millis("first_on"),
        dialect.millis("received_on"),
    );
    database.query(&sql, vec![i64::try_from(limit).unwrap_or(i64::MAX).into()]).await
}

/// Deletes reports that are kept apart and arrived before a timestamp.
///
/// # Errors
/// The database can't delete them.
pub async fn delete_old(database: &Database, before: Timestamp) -> Result<(), DatabaseError> {
    let sql = format!("delete from apart_report where received_on < {}", database.dialect().instant("$1"));
    let mut transaction = database.begin().await?;
    transaction.execute(&sql, vec![before.into()]).await?;
    transaction.commit().await
}

impl FromRow for ApartReport {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (token, host, reconciler, place) = columns.take()?;
        let (reason, status) = columns.take::<(String, String)>()?;
        let (revision, message, reports) = columns.take::<(Option<String>, Option<String>, usize)>()?;
        let (observed_on, first_on, received_on) = columns.take()?;
        let reason = ApartReason::parse(&reason).unwrap_or(ApartReason::Place);
        let (revision, message) = (revision.unwrap_or_default(), message.unwrap_or_default());
        let of_host = Self {
            token,
            host,
            reconciler,
            place,
            reason,
            status,
            revision,
            message,
            reports,
            observed_on,
            first_on,
            received_on,
        };
        Ok(of_host)
    }
}
