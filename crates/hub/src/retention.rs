//! Forgets history that is older, or more, than the configured retention.
//!
//! What is in effect is never forgotten, nor what it refers to: of reports the latest of each reconciler, of assignments the latest of each target and
//! those of commits that a remembered report tells of, of revisions what a place should hold and what its reconcilers hold. Nor is the last report of all:
//! SQLite would give its id to the next one, which those who follow changes would then miss. An age counts from the timestamp at
//! which something was replaced, so that the state at every timestamp within it can be told. History is forgotten from its beginning: it never has holes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hub_api::timestamp::Timestamp;

use crate::store::{ColumnError, Columns, Database, DatabaseError, Dialect, FromRow, Kind, Rows, Transaction, Turn};

/// Reconcilers, targets or places whose history is examined in one transaction: so few that reports hardly wait.
const BATCH: i64 = 100;

/// The most that is read of one reconciler's history in one transaction; what is beyond it waits for the next run.
const CHAIN_MAX: i64 = 20_000;

/// How much of a history is kept. Without either bound, all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// What was in effect within that time.
    pub age: Option<Duration>,
    /// The latest so many; at least one is kept.
    pub count: Option<usize>,
}

/// How much is kept of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Of each reconciler's reports: `deployment`.
    pub reports: Keep,
    /// Of the versions that each target was to have: `deployment_assignment`.
    pub assignments: Keep,
    /// Of the contents that each place was to hold: `place_revision`.
    pub revisions: Keep,
    /// Of who published and decided what: `audit`. Without a count, the latest hundred thousand.
    pub audit: Keep,
}

/// How many rows were forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Of `deployment`.
    pub reports: usize,
    /// Of `deployment_assignment`.
    pub assignments: usize,
    /// Of `place_revision`.
    pub revisions: usize,
}

/// Forgets what need not be kept at that timestamp, in small transactions between which reports are stored.
///
/// # Errors
/// The database can't do it. What was forgotten until then stays so; the next run goes on.
pub async fn forget(database: &Database, retention: &Retention, now: Timestamp) -> Result<Forgotten, DatabaseError> {
    Ok(Forgotten {
        reports: in_batches(database, &REPORTS, retention.reports.at(now)).await?,
        assignments: in_batches(database, &ASSIGNMENTS, retention.assignments.at(now)).await?,
        revisions: in_batches(database, &REVISIONS, retention.revisions.at(now)).await?,
    })
}

/// Forgets again and again, at the timestamps that `next` waits for and gives, until it gives none. A database that is gone is tried again at the next one.
pub async fn run<F: Future<Output = Option<Timestamp>>>(
    database: Database,
    retention: Retention,
    mut next: impl FnMut() -> F,
) {
    while let Some(now) = next().await {
        match forget(&database, &retention, now).await {
            Ok(forgotten) => tracing::info!(?forgotten, "history beyond its retention is forgotten"),
            Err(error) => tracing::warn!(%error, "history beyond its retention is not forgotten yet"),
        }
    }
}

impl Keep {
    fn at(self, now: Timestamp) -> Bounds {
        Bounds { horizon: self.age.map(|age| now.before(age)), count: self.count.map(|count| count.max(1)) }
    }
}

/// What is kept, at some timestamp.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// What was replaced before it may go.
    horizon: Option<Timestamp>,
    count: Option<usize>,
}

impl Bounds {
    /// The end of a history, the latest first, that need not be kept.
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

/// Something that was so, or was to be so, since some timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    id: i64,
    since: Timestamp,
    /// Something in effect refers to it.
    is_needed: bool,
    /// The entry before it, where histories are chains.
    previous_id: Option<i64>,
}

/// A table with histories.
struct Histories {
    table: &'static str,
    /// Whether reports refer to its rows, so that none may come in meanwhile.
    is_referred_to: bool,
    /// The ids of the owners after `$1`, in order, locked against those who add to their histories.
    owners: fn(Dialect) -> String,
    /// Owner, id, timestamp, whether it is needed, the one before: of the owners from `$1` to `$2`, by owner, the latest first.
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
        forgotten += forget_batch(&mut transaction, histories, bounds, (first, end)).await?;
        transaction.commit().await?;
        last = end;
        tokio::task::yield_now().await;
    }
}

async fn forget_batch(
    transaction: &mut Transaction,
    histories: &Histories,
    bounds: Bounds,
    (first, end): (i64, i64),
) -> Result<usize, DatabaseError> {
    let sql = (histories.entries)(transaction.dialect());
    let mut of_owners: BTreeMap<i64, Vec<Entry>> = BTreeMap::new();
    for (owner, entry) in transaction.query(&sql, vec![first.into(), end.into()]).await? {
        of_owners.entry(owner).or_default().push(entry);
    }
    let mut gone = BTreeSet::new();
    let mut ends = Rows::new(&[("id", Kind::Int), ("previous_id", Kind::Int)]);
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
