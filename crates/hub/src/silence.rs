//! Detects reconcilers whose heartbeat is overdue, and counts them as silent. The heartbeat was announced in a report, or is required by the
//! configuration ([`Heartbeat`]).

pub mod heartbeats;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hub_api::timestamp::Timestamp;

use crate::configured::Configured;
use crate::ingest::places::Contents;
use crate::ingest::retally::recount;
use crate::ingest::subjects::State;
use crate::limits::SILENCES_KEPT;
use crate::report_formats::flux::CHANGES_ONLY;
use crate::silence::heartbeats::Heartbeat;
use crate::store::{Database, DatabaseError, Parameters, ReconcilerId, Turn};

/// The number of reconcilers that are examined in one step: so few that other transactions hardly wait.
const STEP: i64 = 10_000;

/// The most reconcilers that become silent in one transaction.
const TRANSACTION: usize = 2_000;

/// The pause between two steps, for other work. A round through three million reconcilers takes half a minute.
const PAUSE: Duration = Duration::from_millis(100);

/// The pause between two rounds through all reconcilers.
const ROUND: Duration = Duration::from_secs(5);

/// The pause between two rounds that find the reconcilers of which the configuration requires a heartbeat. They examine more than the other rounds.
const AWAITED_ROUND: Duration = Duration::from_mins(1);

/// The most attempts for a transaction that fails because of a conflict with another transaction.
const ATTEMPTS: usize = 5;

/// Examines all reconcilers in rounds until the task is aborted. Several replicas may do so at the same time.
pub async fn watch(database: Database, heartbeats: Configured<Heartbeat>) {
    let mut found: Option<(Arc<[Heartbeat]>, Instant)> = None;
    let mut has_old_promises = true;
    loop {
        if has_old_promises {
            match end_promises_of_changes(&database).await {
                Ok(_) => has_old_promises = false,
                Err(error) => {
                    tracing::warn!(%error, "heartbeats of reconcilers that report only changes can't be ended now");
                }
            }
        }
        noticed(mark_silent(&database, Timestamp::now).await);
        let required = heartbeats.now();
        let is_recent = |(known, at): &(Arc<[Heartbeat]>, Instant)| {
            *known == required && (required.is_empty() || at.elapsed() < AWAITED_ROUND)
        };
        if !found.as_ref().is_some_and(is_recent) {
            match mark_awaited(&database, &required).await {
                Ok(_) => found = Some((Arc::clone(&required), Instant::now())),
                Err(error) => tracing::warn!(%error, "the reconcilers with a required heartbeat can't be found now"),
            }
        }
        for heartbeat in &*required {
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
        format!("s.is_silent = 0 and s.silent_after < {}", parameters.dialect().instant(&now))
    };
    walk(database, now, overdue, silence).await
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
        format!("s.is_silent = 0 and s.seen_on < {last} and {has_to}")
    };
    let change = |state: &mut State, now| {
        let demanded = state.seen_on.map(|seen| seen.after(heartbeat.every));
        state.silent_after = [state.silent_after, demanded].into_iter().flatten().min();
        state.is_awaited = true;
        silence(state, now);
    };
    walk(database, now, overdue, change).await
}

/// Makes a reconciler silent that is still overdue: it may have reported since it was examined.
fn silence(state: &mut State, now: Timestamp) {
    state.is_silent = state.silent_after.is_some_and(|silent_after| silent_after < now);
}

/// Marks the reconcilers without an announced heartbeat of which the configuration requires one. Returns the number of newly marked ones.
///
/// # Errors
/// The database cannot be reached, or refuses. Changes before the error stay.
pub async fn mark_awaited(database: &Database, heartbeats: &[Heartbeat]) -> Result<usize, DatabaseError> {
    let required = |parameters: &mut Parameters| {
        let conditions = heartbeats.iter().map(|heartbeat| heartbeat.condition("s.reconciler_id", parameters));
        conditions.collect::<Vec<_>>().join(" or ")
    };
    let begins = |parameters: &mut Parameters, _| {
        format!("s.is_awaited = 0 and s.silent_after is null and ({})", required(parameters))
    };
    let ends = |parameters: &mut Parameters, _| match heartbeats {
        [] => "s.is_awaited = 1".to_owned(),
        _ => format!("s.is_awaited = 1 and not ({})", required(parameters)),
    };
    let ended = walk(database, Timestamp::now, ends, |state, _| state.is_awaited = false).await?;
    if heartbeats.is_empty() {
        return Ok(ended);
    }
    Ok(ended + walk(database, Timestamp::now, begins, |state, _| state.is_awaited = true).await?)
}

/// Ends the heartbeats that events of Flux promised for objects that report only changes. Earlier versions of the hub accepted these promises, so healthy
/// reconcilers became silent. Reports that are polled from Azure promise in their own right. Returns the number of changed reconcilers.
///
/// # Errors
/// The database cannot be reached, or refuses. Changes before the error stay.
pub async fn end_promises_of_changes(database: &Database) -> Result<usize, DatabaseError> {
    let promised = |parameters: &mut Parameters, _| {
        let names = CHANGES_ONLY.map(|kind| format!("b.name like {}", parameters.add(format!("{kind}/%"))));
        format!(
            "s.silent_after is not null and s.is_awaited = 0 and exists (select 1 from reconciler b where b.id = s.reconciler_id \
             and b.reconciler_type = 'flux' and ({}) and not exists (select 1 from reconciler a \
               where a.host_id = b.host_id and a.reconciler_type = 'arc'))",
            names.join(" or ")
        )
    };
    let change = |state: &mut State, _| {
        (state.silent_after, state.is_silent) = (None, false);
        state.forget_profile();
    };
    walk(database, Timestamp::now, promised, change).await
}

/// Examines all reconcilers, and changes the reconcilers whose state `s` meets a condition.
async fn walk(
    database: &Database,
    now: impl Fn() -> Timestamp,
    condition: impl Fn(&mut Parameters, Timestamp) -> String,
    change: impl Fn(&mut State, Timestamp),
) -> Result<usize, DatabaseError> {
    let last = database.first("select max(reconciler_id) from reconciler_state", Vec::new()).await?;
    let last: i64 = last.flatten().unwrap_or_default();
    let mut count = 0;
    for after in (0..last).step_by(STEP as usize) {
        let now = now();
        let mut parameters = Parameters::with(database.dialect(), vec![after.into(), (after + STEP).into()]);
        let sql = format!(
            "select s.reconciler_id from reconciler_state s where s.reconciler_id > $1 and s.reconciler_id <= $2 \
             and {} order by s.reconciler_id",
            condition(&mut parameters, now)
        );
        let found: Vec<ReconcilerId> = database.query(&sql, parameters.into_values()).await?;
        for some in found.chunks(TRANSACTION) {
            change_states(database, some, &|state: &mut State| change(state, now)).await?;
        }
        count += found.len();
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

/// Changes the states of reconcilers, and counts them again.
async fn change_states(
    database: &Database,
    reconcilers: &[ReconcilerId],
    change: &impl Fn(&mut State),
) -> Result<(), DatabaseError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match change_once(database, reconcilers, change).await {
            Err(DatabaseError::Conflict(_)) if attempt < ATTEMPTS => {}
            result => return result,
        }
    }
}

async fn change_once(
    database: &Database,
    reconcilers: &[ReconcilerId],
    change: &impl Fn(&mut State),
) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    transaction.take(Turn::Reports).await?;
    let ids = reconcilers.iter().copied().collect();
    recount(&mut transaction, &mut Contents::default(), ids, change).await?;
    transaction.commit().await
}
