//! Detects reconcilers whose heartbeat is overdue, and counts them as silent. The heartbeat was announced in a report, or is required by the
//! configuration ([`Heartbeat`]).

use std::time::Duration;

use hub_api::timestamp::Timestamp;

use crate::configured::Configured;
use crate::heartbeats::Heartbeat;
use crate::ingest::places::Contents;
use crate::ingest::retally::recount;
use crate::ingest::subjects::State;
use crate::limits::SILENCES_KEPT;
use crate::store::{Database, DatabaseError, Parameters, ReconcilerId, Turn};

/// The number of reconcilers that are examined in one step: so few that other transactions hardly wait.
const STEP: i64 = 10_000;

/// The most reconcilers that become silent in one transaction.
const TRANSACTION: usize = 2_000;

/// The pause between two steps, for other work. A round through three million reconcilers takes half a minute.
const PAUSE: Duration = Duration::from_millis(100);

/// The pause between two rounds through all reconcilers.
const ROUND: Duration = Duration::from_secs(5);

/// The most attempts for a transaction that fails because of a conflict with another transaction.
const ATTEMPTS: usize = 5;

/// Examines all reconcilers in rounds until the task is aborted. Several replicas may do so at the same time.
pub async fn watch(database: Database, heartbeats: Configured<Heartbeat>) {
    loop {
        noticed(mark_silent(&database, Timestamp::now).await);
        for heartbeat in &*heartbeats.now() {
            noticed(mark_silent_by(&database, heartbeat, Timestamp::now).await);
        }
        if let Err(error) = delete_old(&database, Timestamp::now().before(SILENCES_KEPT)).await {
            tracing::warn!(%error, "old entries of the history of silence can't be deleted yet");
        }
        tokio::time::sleep(ROUND).await;
    }
}

fn noticed(silent: Result<usize, DatabaseError>) {
    match silent {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "reconcilers became silent"),
        Err(error) => tracing::warn!(%error, "silent reconcilers can't be detected now"),
    }
}

/// Examines all reconcilers once. Returns the number of those that became silent because their announced heartbeat is overdue.
///
/// # Errors
/// The database cannot be reached, or refuses. Changes before the error stay.
pub async fn mark_silent(database: &Database, now: impl Fn() -> Timestamp) -> Result<usize, DatabaseError> {
    let overdue = |parameters: &mut Parameters, now: Timestamp| {
        let now = parameters.add(now);
        format!("s.silent_after < {}", parameters.dialect().instant(&now))
    };
    walk(database, now, overdue, |_| ()).await
}

/// Examines all reconcilers once. Returns the number of those that became silent because a required heartbeat is overdue. Reconcilers that never
/// reported are not included: they are counted as such.
///
/// # Errors
/// The database cannot be reached, or refuses. Changes before the error stay.
pub async fn mark_silent_by(
    database: &Database,
    heartbeat: &Heartbeat,
    now: impl Fn() -> Timestamp,
) -> Result<usize, DatabaseError> {
    let overdue = |parameters: &mut Parameters, now: Timestamp| {
        let last = parameters.add(now.before(heartbeat.every));
        let last = parameters.dialect().instant(&last);
        let has_to = heartbeat.condition("s.reconciler_id", parameters);
        format!("s.seen_on < {last} and {has_to}")
    };
    let due = |state: &mut State| {
        let demanded = state.seen_on.map(|seen| seen.after(heartbeat.every));
        state.silent_after = [state.silent_after, demanded].into_iter().flatten().min();
    };
    walk(database, now, overdue, due).await
}

/// Goes through all reconcilers that are not silent yet, and makes those silent whose state `s` meets the condition `overdue`. `due` sets the time
/// until which a report was due, if the state does not have it.
async fn walk(
    database: &Database,
    now: impl Fn() -> Timestamp,
    overdue: impl Fn(&mut Parameters, Timestamp) -> String,
    due: impl Fn(&mut State),
) -> Result<usize, DatabaseError> {
    let last = database.first("select max(reconciler_id) from reconciler_state", Vec::new()).await?;
    let last: i64 = last.flatten().unwrap_or_default();
    let mut count = 0;
    for after in (0..last).step_by(STEP as usize) {
        let now = now();
        let mut parameters = Parameters::with(database.dialect(), vec![after.into(), (after + STEP).into()]);
        let sql = format!(
            "select s.reconciler_id from reconciler_state s where s.reconciler_id > $1 and s.reconciler_id <= $2 \
             and s.is_silent = 0 and {} order by s.reconciler_id",
            overdue(&mut parameters, now)
        );
        let overdue: Vec<ReconcilerId> = database.query(&sql, parameters.into_values()).await?;
        for some in overdue.chunks(TRANSACTION) {
            silence(database, some, (now, &due)).await?;
        }
        count += overdue.len();
        if after + STEP < last {
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(count)
}

/// Deletes entries of the history of silence that are older than a timestamp.
///
/// # Errors
/// The database cannot be reached, or refuses.
pub async fn delete_old(database: &Database, horizon: Timestamp) -> Result<(), DatabaseError> {
    let condition = format!("noticed_on < {}", database.dialect().instant("$1"));
    // Usually there are none. This query takes no write lock.
    let old = format!("select 1 from silence where {condition} limit 1");
    if !database.exists(&old, vec![horizon.into()]).await? {
        return Ok(());
    }
    let mut transaction = database.begin().await?;
    transaction.execute(&format!("delete from silence where {condition}"), vec![horizon.into()]).await?;
    transaction.commit().await
}

/// Makes reconcilers silent that are still overdue: they may have reported since they were examined.
async fn silence(
    database: &Database,
    reconcilers: &[ReconcilerId],
    (now, due): (Timestamp, &impl Fn(&mut State)),
) -> Result<(), DatabaseError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match silence_once(database, reconcilers, (now, due)).await {
            Err(DatabaseError::Conflict(_)) if attempt < ATTEMPTS => {}
            result => return result,
        }
    }
}

async fn silence_once(
    database: &Database,
    reconcilers: &[ReconcilerId],
    (now, due): (Timestamp, &impl Fn(&mut State)),
) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    transaction.take(Turn::Reports).await?;
    let ids = reconcilers.iter().copied().collect();
    recount(&mut transaction, &mut Contents::default(), ids, |state| {
        due(state);
        state.is_silent = state.silent_after.is_some_and(|silent_after| silent_after < now);
    })
    .await?;
    transaction.commit().await
}
