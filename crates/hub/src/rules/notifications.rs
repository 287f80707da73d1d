//! The stored notifications. Each is sent until the receiver accepts it, or it is too old.

use std::time::Duration;

use futures_util::future::join_all;
use hub_api::rules::LastNotification;
use hub_api::timestamp::Timestamp;
use retry::{Jitter, RetryLimit, RetryPolicy};

use super::Rule;
use super::send::{self, SendError};
use crate::limits::{
    NOTIFICATION_AGE_MAX, NOTIFICATION_LEASE, NOTIFICATION_PAUSE, NOTIFICATION_PAUSE_MAX, NOTIFICATIONS_AT_ONCE,
    NOTIFICATIONS_KEPT,
};
use crate::store::{ColumnError, Columns, Database, DatabaseError, FromRow, NotificationId, SqlValue, Transaction};

/// The numbers of notifications by the result of sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    /// Accepted by the receiver.
    pub delivered: usize,
    /// Not accepted. They will be sent again.
    pub failed: usize,
    /// Not accepted. They will not be sent again.
    pub given_up: usize,
}

/// A notification to add.
pub(super) struct New {
    pub(super) kind: &'static str,
    pub(super) body: String,
}

/// Adds a notification of a rule, to be sent at once.
pub(super) async fn add(
    transaction: &mut Transaction,
    rule: &str,
    new: &New,
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let instant = transaction.dialect().instant("$5");
    let sql = format!(
        "insert into notification (message_id, rule, kind, body, created_on, due_on) values ($1, $2, $3, $4, {instant}, {instant})"
    );
    let values = vec![send::message_id().into(), rule.into(), new.kind.into(), new.body.as_str().into(), now.into()];
    transaction.execute(&sql, values).await
}

/// The last notification of a rule.
pub(super) async fn last(transaction: &mut Transaction, rule: &str) -> Result<Option<LastNotification>, DatabaseError> {
    let millis = |column: &str| transaction.dialect().millis(column);
    let sql = format!(
        "select message_id, kind, {}, attempts, {}, {}, {}, problem from notification where rule = $1 order by id desc limit 1",
        millis("created_on"),
        millis("delivered_on"),
        millis("given_up_on"),
        millis("due_on"),
    );
    transaction.first(&sql, vec![rule.into()]).await
}

impl FromRow for LastNotification {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, kind, created, attempts) = columns.take()?;
        let (delivered, given_up, due, problem) = columns.take()?;
        Ok(Self { id, kind, created, attempts, delivered, given_up, due, problem })
    }
}

/// Sends the due notifications of these rules, several at a time, and stores the results.
///
/// # Errors
/// The database can't be reached, or returns an error. A notification whose result could not be stored is sent again, as the same message.
pub async fn deliver(
    database: &Database,
    rules: &[Rule],
    client: &reqwest::Client,
    now: Timestamp,
) -> Result<Deliveries, DatabaseError> {
    delete_old(database, now.before(NOTIFICATIONS_KEPT)).await?;
    let mut all = Deliveries::default();
    for done in join_all((0..NOTIFICATIONS_AT_ONCE).map(|_| deliver_some(database, rules, client, now))).await {
        let Deliveries { delivered, failed, given_up } = done?;
        all.delivered += delivered;
        all.failed += failed;
        all.given_up += given_up;
    }
    Ok(all)
}

async fn deliver_some(
    database: &Database,
    rules: &[Rule],
    client: &reqwest::Client,
    now: Timestamp,
) -> Result<Deliveries, DatabaseError> {
    let mut done = Deliveries::default();
    while let Some(due) = claim(database, rules, now).await? {
        let Some(rule) = rules.iter().find(|rule| rule.name == due.rule) else { continue };
        let sent = rule.receiver.send(client, &due.message_id, &due.body).await;
        let attempt = Attempt::new(due, sent.err(), now);
        match attempt.outcome {
            Outcome::Delivered => done.delivered += 1,
            Outcome::Again { .. } => done.failed += 1,
            Outcome::GivenUp => done.given_up += 1,
        }
        attempt.store(database).await?;
    }
    Ok(done)
}

/// A notification to send now. This replica has the lease.
struct Due {
    id: NotificationId,
    message_id: String,
    rule: String,
    kind: String,
    body: String,
    created_on: Timestamp,
    /// Number of attempts, including this one.
    attempts: i64,
}

/// Leases the next due notification: no other replica sends it during the lease. If this process ends before it stores the result, the notification
/// is sent again after the lease.
async fn claim(database: &Database, rules: &[Rule], now: Timestamp) -> Result<Option<Due>, DatabaseError> {
    let dialect = database.dialect();
    let due = format!(
        "select n.id, n.message_id, n.rule, n.kind, n.body, {}, n.attempts from notification n \
         where n.due_on <= {} and {} and not exists (select 1 from notification e where e.rule = n.rule and e.id < n.id \
         and e.due_on is not null) order by n.id limit 1",
        dialect.millis("n.created_on"),
        dialect.instant("$1"),
        dialect.any_text("n.rule", "$2"),
    );
    let names: Vec<String> = rules.iter().map(|rule| rule.name.clone()).collect();
    let values = vec![SqlValue::from(now), names.into()];
    // Usually no notification is due. This read blocks no other transaction.
    if !database.exists(&due, values.clone()).await? {
        return Ok(None);
    }
    let mut transaction = database.begin().await?;
    let due = transaction.first(&format!("{due}{}", dialect.for_update("n")), values).await?;
    let Some(due): Option<Due> = due else { return Ok(None) };
    let sql = format!("update notification set attempts = $1, due_on = {} where id = $3", dialect.instant("$2"));
    let values = vec![due.attempts.into(), now.after(NOTIFICATION_LEASE).into(), due.id.into()];
    transaction.execute(&sql, values).await?;
    transaction.commit().await?;
    Ok(Some(due))
}

impl FromRow for Due {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, message_id, rule, kind, body, created_on) = columns.take()?;
        Ok(Self { id, message_id, rule, kind, body, created_on, attempts: columns.take::<i64>()? + 1 })
    }
}

/// The next step for a notification after an attempt.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Delivered,
    Again { pause: Duration },
    GivenUp,
}

impl Outcome {
    fn new(due: &Due, error: Option<&SendError>, now: Timestamp) -> Self {
        let Some(error) = error else { return Self::Delivered };
        let failures = u32::try_from(due.attempts).unwrap_or(u32::MAX);
        let pause = RETRY.pause(failures).max(error.retry_after());
        if error.is_final() || now.after(pause).since(due.created_on) > NOTIFICATION_AGE_MAX {
            return Self::GivenUp;
        }
        Self::Again { pause }
    }
}

/// The pauses between attempts. Only the age of the notification limits their number.
const RETRY: RetryPolicy = RetryPolicy {
    first: NOTIFICATION_PAUSE,
    factor: 2,
    longest: NOTIFICATION_PAUSE_MAX,
    jitter: Jitter::HALF,
    limit: RetryLimit::None,
};

/// An attempt to send a notification.
struct Attempt {
    due: Due,
    outcome: Outcome,
    /// The error, if there was one.
    problem: Option<String>,
    at: Timestamp,
}

impl Attempt {
    fn new(due: Due, error: Option<SendError>, at: Timestamp) -> Self {
        let outcome = Outcome::new(&due, error.as_ref(), at);
        Self { due, outcome, problem: error.map(|error| error.to_string()), at }
    }

    /// Stores and logs the outcome.
    async fn store(self, database: &Database) -> Result<(), DatabaseError> {
        let Self { due, outcome, problem, at: now } = self;
        let Due { rule, kind, attempts, message_id, .. } = &due;
        let shown = problem.as_deref().unwrap_or_default();
        let (mut again, mut delivered, mut given_up) = (None, None, None);
        match outcome {
            Outcome::Delivered => {
                delivered = Some(now);
                tracing::info!(rule, kind, attempts, message_id, "a notification is delivered");
            }
            Outcome::Again { pause } => {
                again = Some(now.after(pause));
                let seconds = pause.as_secs();
                tracing::warn!(
                    rule,
                    kind,
                    attempts,
                    message_id,
                    problem = shown,
                    seconds,
                    "a notification was rejected, and is sent again"
                );
            }
            Outcome::GivenUp => {
                given_up = Some(now);
                tracing::error!(
                    rule,
                    kind,
                    attempts,
                    message_id,
                    problem = shown,
                    "a notification could not be delivered, and is dropped"
                );
            }
        }
        let instant = |parameter| database.dialect().instant(parameter);
        let sql = format!(
            "update notification set due_on = {}, delivered_on = {}, given_up_on = {}, problem = $4 where id = $5 and due_on is not null",
            instant("$1"),
            instant("$2"),
            instant("$3")
        );
        let mut transaction = database.begin().await?;
        let values = vec![again.into(), delivered.into(), given_up.into(), problem.into(), due.id.into()];
        transaction.execute(&sql, values).await?;
        transaction.commit().await
    }
}

/// Deletes the notifications from before a timestamp, with any result.
async fn delete_old(database: &Database, horizon: Timestamp) -> Result<(), DatabaseError> {
    let condition = format!("created_on < {}", database.dialect().instant("$1"));
    let sql = format!("select 1 from notification where {condition} limit 1");
    if !database.exists(&sql, vec![horizon.into()]).await? {
        return Ok(());
    }
    let mut transaction = database.begin().await?;
    transaction.execute(&format!("delete from notification where {condition}"), vec![horizon.into()]).await?;
    transaction.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_with_jitter() {
        let check = |attempts, fraction| RETRY.pause_at(attempts, fraction).as_millis();
        assert_eq!([check(1, 0.0), check(2, 0.0), check(3, 0.0)], [2_500, 5_000, 10_000]);
        assert!(check(1, 0.9) > check(1, 0.0) && check(1, 0.9) < 5_000);
        assert_eq!(RETRY.pause_at(40, 0.0), NOTIFICATION_PAUSE_MAX / 2);
        assert_eq!(RETRY.pause_at(u32::MAX, 0.0), NOTIFICATION_PAUSE_MAX / 2);
    }

    fn outcome(age: Duration, status: u16, retry_after: Option<u64>) -> Outcome {
        let (created_on, text) = (Timestamp::from_millis(0), String::new);
        let due = Due {
            id: NotificationId::new(1),
            message_id: text(),
            rule: text(),
            kind: text(),
            body: text(),
            created_on,
            attempts: 1,
        };
        let status = reqwest::StatusCode::from_u16(status).unwrap();
        let error = SendError::Refused { host: text(), status, retry_after: retry_after.map(Duration::from_secs) };
        Outcome::new(&due, Some(&error), created_on.after(age))
    }

    #[test]
    fn notifications_are_retried_until_too_old_or_rejected() {
        assert!(matches!(outcome(Duration::ZERO, 500, None), Outcome::Again { .. }));
        assert_eq!(outcome(Duration::ZERO, 503, Some(60)), Outcome::Again { pause: Duration::from_mins(1) });
        assert_eq!(outcome(Duration::ZERO, 503, Some(u64::MAX)), Outcome::Again { pause: NOTIFICATION_PAUSE_MAX });
        assert_eq!(outcome(NOTIFICATION_AGE_MAX, 500, None), Outcome::GivenUp);
        for status in [410, 400, 413] {
            assert_eq!(outcome(Duration::ZERO, status, None), Outcome::GivenUp, "{status}");
        }
    }
}
