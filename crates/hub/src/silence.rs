//! Notices the reconcilers that promised to report, or have to ([`Heartbeat`]), and did not, and counts them as silent.

use std::time::Duration;

use hub_api::timestamp::Timestamp;

use crate::configured::Configured;
use crate::heartbeats::Heartbeat;
use crate::ingest::places::Contents;
use crate::ingest::retally::restate;
use crate::ingest::subjects::State;
use crate::limits::SILENCES_KEPT;
use crate::store::{Database, DatabaseError, Parameters, ReconcilerId, Turn};

/// Reconcilers that are examined in one step: few enough for nobody to wait.
const STEP: i64 = 10_000;

/// Reconcilers that become silent in one transaction.
const TRANSACTION: usize = 2_000;

/// Between two steps others have their turn. A round through three million reconcilers takes half a minute.
const PAUSE: Duration = Duration::from_millis(100);

/// Between two rounds through all reconcilers.
const ROUND: Duration = Duration::from_secs(5);

/// How often a transaction that another one was in the way of is tried again.
const ATTEMPTS: usize = 5;

/// Goes round until it is aborted. Several replicas may do so at once.
pub async fn watch(database: Database, heartbeats: Configured<Heartbeat>) {
    loop {
        noticed(sweep(&database, Timestamp::now).await);
        for heartbeat in &*heartbeats.now() {
            noticed(demand(&database, heartbeat, Timestamp::now).await);
        }
        if let Err(error) = forget(&database, Timestamp::now().before(SILENCES_KEPT)).await {
            tracing::warn!(%error, "who was silent long ago is not forgotten yet");
        }
        tokio::time::sleep(ROUND).await;
    }
}

fn noticed(silent: Result<usize, DatabaseError>) {
    match silent {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "reconcilers have gone silent"),
        Err(error) => tracing::warn!(%error, "who has gone silent can't be said now"),
    }
}

/// Goes through all reconcilers once; how many have gone silent that promised to report.
///
/// # Errors
/// The database can't be reached, or refuses. What was noticed before that stays.
pub async fn sweep(database: &Database, now: impl Fn() -> Timestamp) -> Result<usize, DatabaseError> {
    let overdue = |parameters: &mut Parameters, now: Timestamp| {
        let now = parameters.add(now);
        format!("s.silent_after < {}", parameters.dialect().instant(&now))
    };
    walk(database, now, overdue, |_| ()).await
}

/// Goes through all reconcilers once; how many have gone silent that have to report as often as a demanded heartbeat says. Those that never reported are none
/// of them: they are counted as such.
///
/// # Errors
/// The database can't be reached, or refuses. What was noticed before that stays.
pub async fn demand(
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

/// Goes through all reconcilers that are not silent yet, and makes those silent for which `overdue` is a condition on their states `s`. `due` says until when
/// they should have reported, where that is not known.
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

/// Forgets who has gone silent, or reported again, before a timestamp.
///
/// # Errors
/// The database can't be reached, or refuses.
pub async fn forget(database: &Database, horizon: Timestamp) -> Result<(), DatabaseError> {
    let condition = format!("noticed_on < {}", database.dialect().instant("$1"));
    // Hardly ever there is one: who looks does not get in anybody's way.
    let old = format!("select 1 from silence where {condition} limit 1");
    if !database.exists(&old, vec![horizon.into()]).await? {
        return Ok(());
    }
    let mut transaction = database.begin().await?;
    transaction.execute(&format!("delete from silence where {condition}"), vec![horizon.into()]).await?;
    transaction.commit().await
}

/// Counts those as silent that still are: they may have reported meanwhile.
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
    restate(&mut transaction, &mut Contents::default(), ids, |state| {
        due(state);
        state.is_silent = state.silent_after.is_some_and(|silent_after| silent_after < now);
    })
    .await?;
    transaction.commit().await
}
