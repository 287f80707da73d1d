//! Deletes history beyond the configured retention.
//!
//! Rows that are in effect are never deleted, nor the rows that they refer to. These are: the latest report of each reconciler; the latest assignment
//! of each target, and the assignments of commits that a stored report names; the desired revision of each place, and the revisions that its
//! reconcilers hold. The last report of all is kept, too: SQLite would give its id to the next report, and the change feed would then miss that one.
//! An age counts from the timestamp at which a row was replaced, so that the state at each timestamp within the age can be answered. History is
//! deleted from its beginning: it never has gaps.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use hub_api::timestamp::Timestamp;

use crate::count_history;
use crate::limits::APART_REPORTS_KEPT;
use crate::management::apart;
use crate::store::{
    ColumnError, ColumnType, Columns, Database, DatabaseError, Dialect, FromRow, Rows, SqlValue, Transaction, Turn,
};

/// The number of reconcilers, targets or places whose history is examined in one transaction. It is small, so that reports hardly wait.
const BATCH: i64 = 100;

/// The most rows of one reconciler's history that are read in one transaction. The next run continues with the rest.
const CHAIN_MAX: i64 = 20_000;

/// How much of a history is kept. Without a bound, all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Keeps the entries that were in effect within this time.
    pub age: Option<Duration>,
    /// Keeps this number of latest entries; at least one.
    pub count: Option<usize>,
}

/// The retention of each kind of history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// The reports of each reconciler: `deployment`. Its age is also that of the recorded counts: `count_record`.
    pub reports: Keep,
    /// The desired versions of each target: `deployment_assignment`.
    pub assignments: Keep,
    /// The desired content of each place: `place_revision`.
    pub revisions: Keep,
    /// The history of promotions: `promotion_event`.
    pub promotions: Keep,
    /// The audit log: `audit`. Without a count, the latest hundred thousand entries.
    pub audit: Keep,
}

/// The numbers of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedRows {
    /// Rows of `deployment`.
    pub reports: usize,
    /// Rows of `deployment_assignment`.
    pub assignments: usize,
    /// Rows of `place_revision`.
    pub revisions: usize,
    /// Rows of `promotion_event`.
    pub promotions: usize,
}

/// Deletes history that is beyond the retention at a timestamp, in small transactions between which reports are stored.
///
/// # Errors
/// The database cannot be reached or refuses. Rows that were deleted before the error stay deleted; the next run continues.
pub async fn delete_expired(
    database: &Database,
    retention: &Retention,
    now: Timestamp,
) -> Result<DeletedRows, DatabaseError> {
    apart::delete_old(database, now.before(APART_REPORTS_KEPT)).await?;
    if let Some(age) = retention.reports.age {
        count_history::delete_before(database, now.before(age)).await?;
    }
    Ok(DeletedRows {
        reports: in_batches(database, &REPORTS, retention.reports.at(now)).await?,
        assignments: in_batches(database, &ASSIGNMENTS, retention.assignments.at(now)).await?,
        revisions: in_batches(database, &REVISIONS, retention.revisions.at(now)).await?,
        promotions: delete_promotions(database, retention.promotions, now).await?,
    })
}

/// The most events that are deleted in one transaction.
const EVENTS_BATCH: usize = 5_000;

/// Deletes the events of promotions beyond the retention. Returns the number of deleted events.
async fn delete_promotions(database: &Database, keep: Keep, now: Timestamp) -> Result<usize, DatabaseError> {
    let count = keep.count.map_or(i64::MAX, |count| i64::try_from(count).unwrap_or(i64::MAX));
    let horizon = keep.age.map_or(Timestamp::MIN, |age| now.before(age));
    if keep == Keep::default() {
        return Ok(0);
    }
    let is_old = format!("happened_on < {}", database.dialect().instant("$1"));
    let sql = format!(
        "delete from promotion_event where id in (select id from promotion_event \
         where {is_old} or id <= (select max(id) from promotion_event) - $2 order by id limit {EVENTS_BATCH}) returning id"
    );
    let mut deleted = 0;
    loop {
        let mut transaction = database.begin().await?;
        let gone = transaction.query::<i64>(&sql, vec![SqlValue::from(horizon), count.into()]).await?.len();
        transaction.commit().await?;
        deleted += gone;
        if gone < EVENTS_BATCH {
            return Ok(deleted);
        }
    }
}

/// Deletes history at each timestamp that `next` returns, until it returns none. If the database cannot be reached, the next run tries again.
pub async fn run<F: Future<Output = Option<Timestamp>>>(
    database: Database,
    retention: Retention,
    mut next: impl FnMut() -> F,
) {
    while let Some(now) = next().await {
        match delete_expired(&database, &retention, now).await {
            Ok(forgotten) => tracing::info!(?forgotten, "history beyond its retention is deleted"),
            Err(error) => tracing::warn!(%error, "history beyond its retention can't be deleted yet"),
        }
    }
}

impl Keep {
    fn at(self, now: Timestamp) -> Bounds {
        Bounds { horizon: self.age.map(|age| now.before(age)), count: self.count.map(|count| count.max(1)) }
    }
}

/// The bounds of a history at a timestamp.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Entries that were replaced before this timestamp may be deleted.
    horizon: Option<Timestamp>,
    count: Option<usize>,
}

impl Bounds {
    /// The entries at the end of a history (the latest entry first) that may be deleted.
    fn surplus(self, history: &[Entry]) -> &[Entry] {
        let mut kept = 1;
        for (index, pair) in history.windows(2).enumerate() {
            let [newer, entry] = pair else { continue };
            let is_old = self.horizon.is_some_and(|horizon| newer.since < horizon);
            let is_much = self.count.is_some_and(|count| index + 1 >= count);
            if entry.is_needed || !(is_old || is_much) {
                kept = index + 2;
            }
        }
        history.get(kept..).unwrap_or_default()
    }
}

/// A state, or a desired state, with the timestamp since which it was in effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    id: i64,
    since: Timestamp,
    /// Whether the entry must be kept because a row in effect refers to it.
    is_needed: bool,
    /// The previous entry, if the history is a chain.
    previous_id: Option<i64>,
}

/// A table with histories.
struct Histories {
    table: &'static str,
    /// Whether reports refer to its rows. If so, no reports are stored during the deletion.
    is_referred_to: bool,
    /// Selects the ids of the owners after `$1`, in order, and locks them so that their histories do not change.
    owners: fn(Dialect) -> String,
    /// Selects owner, id, timestamp, whether it is needed, and previous id, for the owners from `$1` to `$2`: ordered by owner, the latest entry
    /// first.
    entries: fn(Dialect) -> String,
}

const REPORTS: Histories = Histories {
    table: "deployment",
    is_referred_to: false,
    owners: |dialect| {
        format!(
            "select s.reconciler_id from reconciler_state s where s.reconciler_id > $1 order by 1 limit {BATCH}{}",
            dialect.for_update("s")
        )
    },
    entries: |dialect| {
        format!(
            "with recursive chain(owner, id, created_on, previous_id, depth) as (\
               select s.reconciler_id, d.id, d.created_on, d.previous_id, 1 from reconciler_state s \
               join deployment d on d.id = s.deployment_id where s.reconciler_id between $1 and $2 \
               union all \
               select c.owner, d.id, d.created_on, d.previous_id, c.depth + 1 \
               from chain c join deployment d on d.id = c.previous_id where c.depth < {CHAIN_MAX}) \
             select owner, id, {}, case when id = (select max(id) from deployment) then 1 else 0 end, previous_id \
             from chain order by owner, depth",
            dialect.millis("created_on")
        )
    },
};

const ASSIGNMENTS: Histories = Histories {
    table: "deployment_assignment",
    is_referred_to: false,
    owners: |dialect| {
        format!(
            "select t.id from deployment_target t where t.id > $1 order by 1 limit {BATCH}{}",
            dialect.for_update("t")
        )
    },
    entries: |dialect| {
        format!(
            "select a.deployment_target_id, a.id, {}, case when exists (select 1 from deployment d \
               where d.gitops_commit_id = a.gitops_commit_id) then 1 else 0 end, cast(null as bigint) \
             from deployment_assignment a where a.deployment_target_id between $1 and $2 \
             order by a.deployment_target_id, a.created_on desc, a.id desc",
            dialect.millis("a.created_on")
        )
    },
};

const REVISIONS: Histories = Histories {
    table: "place_revision",
    is_referred_to: true,
    owners: |dialect| {
        format!("select p.id from place p where p.id > $1 order by 1 limit {BATCH}{}", dialect.for_update("p"))
    },
    entries: |dialect| {
        format!(
            "select w.place_id, w.id, {}, case when p.desired_revision_id = w.id or exists (select 1 from reconciler r \
               join reconciler_state s on s.reconciler_id = r.id where r.place_id = w.place_id and s.held_revision_id = w.id) \
               then 1 else 0 end, cast(null as bigint) \
             from place_revision w join place p on p.id = w.place_id join gitops_commit c on c.id = w.gitops_commit_id \
             where w.place_id between $1 and $2 order by w.place_id, c.sequence desc, w.id desc",
            dialect.millis("w.desired_on")
        )
    },
};

async fn in_batches(database: &Database, histories: &Histories, bounds: Bounds) -> Result<usize, DatabaseError> {
    if bounds.horizon.is_none() && bounds.count.is_none() {
        return Ok(0);
    }
    let (mut last, mut forgotten) = (0, 0);
    loop {
        let mut transaction = database.begin().await?;
        if histories.is_referred_to {
            transaction.take(Turn::Alone).await?;
        }
        let owners: Vec<i64> = transaction.query(&(histories.owners)(database.dialect()), vec![last.into()]).await?;
        let Some((first, end)) = owners.first().copied().zip(owners.last().copied()) else { return Ok(forgotten) };
        forgotten += forget_batch(&mut transaction, histories, bounds, first..=end).await?;
        transaction.commit().await?;
        last = end;
        tokio::task::yield_now().await;
    }
}

/// Deletes the surplus of the histories of these owners. Returns the number of deleted rows.
async fn forget_batch(
    transaction: &mut Transaction,
    histories: &Histories,
    bounds: Bounds,
    owners: RangeInclusive<i64>,
) -> Result<usize, DatabaseError> {
    let sql = (histories.entries)(transaction.dialect());
    let mut of_owners: BTreeMap<i64, Vec<Entry>> = BTreeMap::new();
    for (owner, entry) in transaction.query(&sql, vec![(*owners.start()).into(), (*owners.end()).into()]).await? {
        of_owners.entry(owner).or_default().push(entry);
    }
    let mut gone = BTreeSet::new();
    let mut ends = Rows::new(&[("id", ColumnType::Int), ("previous_id", ColumnType::Int)]);
    for history in of_owners.values() {
        let surplus = bounds.surplus(history);
        gone.extend(surplus.iter().map(|entry| entry.id));
        if let Some(oldest) = surplus.last() {
            let end = history.iter().rev().nth(surplus.len()).map(|entry| entry.id);
            ends.push(vec![end.into(), oldest.previous_id.into()]);
        }
    }
    if gone.is_empty() {
        return Ok(0);
    }
    if histories.table == REPORTS.table {
        let statement = "update deployment set previous_id = s.previous_id from source s where deployment.id = s.id";
        transaction.execute_with(ends, statement).await?;
    }
    let count = gone.len();
    let sql = format!("delete from {} where {}", histories.table, transaction.dialect().any_int("id", "$1"));
    transaction.execute(&sql, vec![gone.into_iter().collect::<Vec<_>>().into()]).await?;
    Ok(count)
}

impl FromRow for Entry {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, since, is_needed, previous_id) = columns.take()?;
        Ok(Self { id, since, is_needed, previous_id })
    }
}
