//! Counts the reconcilers of some hosts: of one host, of hosts with labels, or of a cluster type.
//!
//! The stored tallies are for all hosts together. For some hosts, the database counts the reconcilers in each tally, with one statement. The answer
//! is small for any number of hosts.

use std::collections::BTreeSet;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::QuestionError;
use super::conditions;
use super::host_kind::HostKind;
use crate::limits::{COUNT_WAIT, COUNTED_BY_PLACE_MAX, COUNTS_AT_ONCE};
use crate::store::{Database, DatabaseError, Dialect, HostId, Parameters, PlaceGroupId, TallyId, Transaction};

/// The number of reconcilers of the selected hosts in each tally.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    /// The tallies, each with its number of reconcilers.
    tallies: Vec<(TallyId, i64)>,
    /// The groups of places of these tallies.
    pub(super) groups: BTreeSet<PlaceGroupId>,
}

/// Limits the questions that count many hosts at the same time. A question waits for its permit before it takes a connection, so that other questions
/// have connections.
static COUNTING: Semaphore = Semaphore::const_new(COUNTS_AT_ONCE);

/// Waits for the permit to count many hosts. The error is `Busy` if that takes too long.
pub(super) async fn turn() -> Result<SemaphorePermit<'static>, QuestionError> {
    match timeout(COUNT_WAIT, COUNTING.acquire()).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(QuestionError::Busy),
    }
}

/// A transaction in which the reconcilers of so many places may be counted: if they are many, with a permit. A question that waits for its permit holds no
/// connection.
pub(super) async fn counted_alone(
    database: &Database,
    transaction: Transaction,
    places: i64,
) -> Result<(Transaction, Option<SemaphorePermit<'static>>), QuestionError> {
    if places <= COUNTED_BY_PLACE_MAX {
        return Ok((transaction, None));
    }
    drop(transaction);
    let turn = turn().await?;
    Ok((database.begin_reading().await?, Some(turn)))
}

impl Counted {
    /// Counts the reconcilers of these hosts, or of all hosts of a kind if none are listed; at these groups of places, or everywhere.
    pub(super) async fn read(
        transaction: &mut Transaction,
        hosts: (&HostKind, Option<&[HostId]>),
        groups: Option<&[PlaceGroupId]>,
    ) -> Result<Self, QuestionError> {
        let CountedReconcilers { from, condition, parameters } =
            CountedReconcilers::new(transaction, hosts, groups).await?;
        let sql = format!(
            "select n.tally_id, n.reconcilers, t.place_group_id from \
             (select ys.tally_id, count(*) as reconcilers from {from} where {condition} group by ys.tally_id) n \
             join tally t on t.id = n.tally_id order by n.tally_id"
        );
        let mut counted = Self::default();
        for (tally, reconcilers, group) in transaction.query(&sql, parameters.into_values()).await? {
            counted.tallies.push((tally, reconcilers));
            counted.groups.insert(group);
        }
        Ok(counted)
    }

    /// The tallies with their numbers, as a table for SQL.
    pub(super) fn table(&self, parameters: &mut Parameters) -> String {
        let tallies = parameters.add(serde_json::json!(self.tallies).to_string());
        let pairs = parameters.dialect().pairs(&tallies);
        format!(
            "(select y.id, y.place_group_id, y.desired_commit_id, y.held_commit_id, y.is_current, y.status, y.is_silent, \
             y.has_heartbeat, n.second as reconcilers from {pairs} n join tally y on y.id = n.first)"
        )
    }
}

/// The reconcilers `yr` of some hosts in the tables of a statement, with their states `ys`. Reconcilers that are in no tally are left out.
pub(super) struct CountedReconcilers {
    pub(super) from: &'static str,
    pub(super) condition: String,
    pub(super) parameters: Parameters,
}

/// The condition that a state is that of a reconciler in a tally. Reconcilers that are out of service are in none.
const IN_TALLY: &str = "ys.reconciler_id = yr.id and ys.tally_id is not null";

impl CountedReconcilers {
    /// The reconcilers of these hosts, or of all hosts of a kind if none are listed. At these groups of places, or everywhere; if it is faster to begin with the
    /// hosts, there are also reconcilers of other groups.
    pub(super) async fn new(
        transaction: &mut Transaction,
        (kind, hosts): (&HostKind, Option<&[HostId]>),
        groups: Option<&[PlaceGroupId]>,
    ) -> Result<Self, QuestionError> {
        let dialect = transaction.dialect();
        match groups {
            Some(groups) if hosts.is_none() && (kind.is_any() || are_few(transaction, groups).await?) => {
                Ok(Self::of_places(dialect, kind, groups))
            }
            _ => Ok(Self::of_hosts(dialect, kind, hosts)),
        }
    }

    // Cross joins keep SQLite from beginning with all states.

    fn of_hosts(dialect: Dialect, kind: &HostKind, hosts: Option<&[HostId]>) -> Self {
        let (of_hosts, parameters) = if let Some(hosts) = hosts {
            let mut parameters = Parameters::new(dialect);
            (parameters.any_int("yr.host_id", hosts.to_vec()), parameters)
        } else {
            let (all, parameters) = kind.all(dialect);
            (format!("yr.host_id in ({all})"), parameters)
        };
        let condition = format!("{of_hosts} and {IN_TALLY}");
        Self { from: "reconciler yr cross join reconciler_state ys", condition, parameters }
    }

    fn of_places(dialect: Dialect, kind: &HostKind, groups: &[PlaceGroupId]) -> Self {
        let mut parameters = Parameters::new(dialect);
        let of_groups = parameters.any_int("yp.place_group_id", groups.to_vec());
        let of_hosts = conditions::all(kind.condition("yr.host_id", &mut parameters));
        let condition = format!("{of_groups} and yr.place_id = yp.id and {of_hosts} and {IN_TALLY}");
        Self { from: "place yp cross join reconciler yr cross join reconciler_state ys", condition, parameters }
    }
}

/// Whether few reconcilers apply these groups of places. Then it is faster to read the host of each of them.
async fn are_few(transaction: &mut Transaction, groups: &[PlaceGroupId]) -> Result<bool, QuestionError> {
    Ok(at_groups(transaction, Some(groups)).await? <= COUNTED_BY_PLACE_MAX)
}

/// The number of reconcilers at groups of places, or at all places.
pub(super) async fn at_groups(
    transaction: &mut Transaction,
    groups: Option<&[PlaceGroupId]>,
) -> Result<i64, DatabaseError> {
    let dialect = transaction.dialect();
    let mut parameters = Parameters::new(dialect);
    let of_groups = conditions::all(groups.map(|groups| parameters.any_int("t.place_group_id", groups.to_vec())));
    let sql = format!("select coalesce({}, 0) from tally t where {of_groups}", dialect.int("sum(t.reconcilers)"));
    transaction.one(&sql, parameters.into_values()).await
}
