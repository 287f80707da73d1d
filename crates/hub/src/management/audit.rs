//! The audit log: who published and who changed what. It has a limited size.

use std::time::Duration;

use hub_api::audit::{Action, AuditEntries, AuditEntry, AuditFilter};
use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use hub_api::timestamp::Timestamp;
use serde_json::Value as Json;

use crate::limits::{AUDIT_KEPT, RETENTION_PERIOD};
use crate::management::retention::Keep;
use crate::store::{ColumnError, Columns, Database, DatabaseError, FromRow, Parameters, SqlValue, Transaction};

/// The audit log can't be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A parameter is invalid.
    #[error("`{0}`: {1}")]
    Wrong(&'static str, &'static str),
    /// The database can't answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// An action for the audit log: the actor, the kind of action, its subject and its details.
#[derive(Clone, Debug)]
pub(crate) struct AuditRecord<'a> {
    pub(crate) actor: &'a str,
    pub(crate) action: Action,
    pub(crate) subject: &'a str,
    pub(crate) detail: Option<Json>,
}

/// Adds an entry in the transaction of the action: both are committed, or neither.
pub(crate) async fn note(transaction: &mut Transaction, record: AuditRecord<'_>) -> Result<(), DatabaseError> {
    let instant = transaction.dialect().instant("$1");
    let sql = format!("insert into audit (done_on, actor, action, subject, detail) values ({instant}, $2, $3, $4, $5)");
    let AuditRecord { actor, action, subject, detail } = record;
    let detail = detail.map(|detail| detail.to_string());
    let values =
        vec![Timestamp::now().into(), actor.into(), action.as_str().into(), subject.into(), SqlValue::from(detail)];
    transaction.execute(&sql, values).await
}

/// Adds an entry for an action that is already done.
///
/// # Errors
/// The database can't store the entry.
pub(crate) async fn note_done(database: &Database, record: AuditRecord<'_>) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    note(&mut transaction, record).await?;
    transaction.commit().await
}

/// A page of entries, the newest first.
///
/// # Errors
/// A parameter is invalid; the database can't answer.
pub async fn entries(database: &Database, filter: &AuditFilter) -> Result<AuditEntries, AuditError> {
    let before = filter.cursor.as_deref().map_or(Ok(i64::MAX), str::parse);
    let before = before.map_err(|_| AuditError::Wrong("cursor", "is the `next` of no page"))?;
    let limit = filter.limit.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(AuditError::Wrong("limit", "1 to 1000 are possible"));
    }
    let dialect = database.dialect();
    let mut parameters = Parameters::with(dialect, vec![before.into()]);
    let mut conditions = vec!["id < $1".to_owned()];
    let texts = [
        ("actor", filter.actor.as_deref()),
        ("action", filter.action.map(Action::as_str)),
        ("subject", filter.subject.as_deref()),
    ];
    for (column, text) in texts {
        let Some(text) = text else { continue };
        conditions.push(parameters.equals(column, text));
    }
    for (sign, timestamp) in [(">=", filter.since), ("<", filter.until)] {
        let Some(timestamp) = timestamp else { continue };
        let timestamp = parameters.add(timestamp);
        conditions.push(format!("done_on {sign} {}", dialect.instant(&timestamp)));
    }
    let sql = format!(
        "select id, {}, actor, action, subject, detail from audit where {} order by id desc limit {}",
        dialect.millis("done_on"),
        conditions.join(" and "),
        limit + 1
    );
    let rows = database.query::<(i64, FoundEntry)>(&sql, parameters.into_values()).await?;
    let next = (rows.len() > limit).then(|| rows.get(limit - 1)).flatten().map(|(id, _)| id.to_string());
    let items = rows.into_iter().take(limit).filter_map(|(_, FoundEntry(entry))| entry).collect();
    Ok(AuditEntries { items, next })
}

/// An entry; none if this version does not know its action.
struct FoundEntry(Option<AuditEntry>);

impl FromRow for FoundEntry {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (at, actor, action) = columns.take::<(_, _, String)>()?;
        let (subject, detail) = columns.take::<(_, Option<String>)>()?;
        let detail = detail.and_then(|text| serde_json::from_str(&text).ok());
        Ok(Self(Action::parse(&action).map(|action| AuditEntry { at, actor, action, subject, detail })))
    }
}

/// Deletes the entries beyond the age and the number to keep. Returns the number of deleted entries. Without a number, the latest [`AUDIT_KEPT`] are kept.
///
/// # Errors
/// The database can't delete them.
pub async fn delete_old(database: &Database, keep: Keep, now: Timestamp) -> Result<usize, DatabaseError> {
    let count = i64::try_from(keep.count.unwrap_or(AUDIT_KEPT)).unwrap_or(i64::MAX);
    let horizon = keep.age.map_or(Timestamp::MIN, |age| now.before(age));
    let condition = format!("done_on < {} or id <= (select max(id) from audit) - $2", database.dialect().instant("$1"));
    let values = vec![SqlValue::from(horizon), count.into()];
    // Usually there is nothing to delete, and a read blocks no other transaction.
    let sql = format!("select 1 from audit where {condition} limit 1");
    if !database.exists(&sql, values.clone()).await? {
        return Ok(0);
    }
    let mut transaction = database.begin().await?;
    let delete = format!("delete from audit where {condition} returning id");
    let gone = transaction.query::<i64>(&delete, values).await?.len();
    transaction.commit().await?;
    Ok(gone)
}

/// Deletes old entries periodically, until it is aborted.
pub(crate) async fn run(database: Database, keep: Keep) {
    loop {
        if let Err(error) = delete_old(&database, keep, Timestamp::now()).await {
            tracing::warn!(%error, "old entries of the audit log can't be deleted yet");
        }
        tokio::time::sleep(RETENTION_PERIOD.max(Duration::from_mins(1))).await;
    }
}
