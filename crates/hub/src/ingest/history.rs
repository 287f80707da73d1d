//! The rows of `deployment`: the reports of a reconciler, chained from the latest to the first.

use std::collections::BTreeMap;

use hub_api::report::{Report, Status};
use hub_api::revision;
use hub_api::timestamp::Timestamp;

use super::timeline::{Entry, Origin, Statement};
use crate::store::{
    ColumnError, ColumnType, Columns, DatabaseError, DeploymentId, Dialect, FromRow, ReconcilerId, Rows, SqlValue,
    Transaction,
};

/// The most rows of one chain that are read to insert a late report. Retention keeps chains shorter.
const CHAIN_MAX: i64 = 20_000;

/// The part of a chain that was read: its entries from the earliest one on, and their rows.
#[derive(Debug)]
pub(super) struct Chain<R> {
    pub(super) entries: Vec<Entry<R>>,
    pub(super) rows: BTreeMap<DeploymentId, ChainRow>,
}

/// The link and the place of a row of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChainRow {
    pub(super) link: Link,
    /// Whether the report named its place; none in rows of older versions of the hub, which did not store this.
    pub(super) names_place: Option<bool>,
}

/// The position of a row in its chain, and the place that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) since: Timestamp,
    pub(super) previous_id: Option<DeploymentId>,
    /// The timestamp of the last confirmation of the previous report; none if it was not confirmed.
    pub(super) previous_seen_on: Option<Timestamp>,
    /// The place that the row is about; none if it is the place of its reconciler.
    pub(super) endpoint: Option<String>,
}

/// A chain to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    /// The number of the chain.
    pub(super) number: usize,
    /// The latest row of the chain.
    pub(super) head: DeploymentId,
    /// The timestamp of the last confirmation of that row.
    pub(super) seen_on: Timestamp,
    /// The chain is read back to the entry that was in effect before this timestamp.
    pub(super) first: Timestamp,
    /// Whether to read further back, to an entry that names its place.
    pub(super) to_name: bool,
}

/// Reads chains. The result is by the number of the chain.
pub(super) async fn chains<R>(
    transaction: &mut Transaction,
    late: &[Late],
) -> Result<BTreeMap<usize, Chain<R>>, DatabaseError> {
    let mut rows = Rows::new(&[
        ("number", ColumnType::Int),
        ("head", ColumnType::Int),
        ("since", ColumnType::Timestamp),
        ("to_name", ColumnType::Int),
    ]);
    for Late { number, head, first, to_name, .. } in late {
        rows.push(vec![SqlValue::from(*number as i64), (*head).into(), (*first).into(), (*to_name).into()]);
    }
    let found = transaction.with::<FoundRow>(rows, &chain_statement(transaction.dialect())).await?;
    let mut until: BTreeMap<usize, Timestamp> = late.iter().map(|one| (one.number, one.seen_on)).collect();
    let mut chains: BTreeMap<usize, Chain<R>> = BTreeMap::new();
    // The query returns the rows from the latest to the earliest.
    for FoundRow { number, id, statement, row } in found {
        let chain = chains.entry(number).or_insert(Chain { entries: Vec::new(), rows: BTreeMap::new() });
        let entry = Entry::new(Origin::Stored(id), row.link.since, statement);
        let before = until.insert(number, row.link.previous_seen_on.unwrap_or_default());
        chain.entries.push(entry.until(before.unwrap_or_default()));
        chain.rows.insert(id, row);
    }
    chains.values_mut().for_each(|chain| chain.entries.reverse());
    Ok(chains)
}

/// A row of a chain, with the number of the chain.
struct FoundRow {
    number: usize,
    id: DeploymentId,
    statement: Statement,
    row: ChainRow,
}

impl FromRow for FoundRow {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (number, id, since, digest) = columns.take()?;
        let (previous_id, status, previous_seen_on) = columns.take::<(_, String, _)>()?;
        let (names_place, endpoint) = columns.take()?;
        let status = Status::parse(&status).map_or(0, Status::number);
        let link = Link { since, previous_id, previous_seen_on, endpoint };
        Ok(Self { number, id, statement: Statement { status, digest }, row: ChainRow { link, names_place } })
    }
}

fn chain_statement(dialect: Dialect) -> String {
    let columns = "d.id, d.created_on, d.digest, d.previous_id, d.status, d.previous_seen_on, d.names_place, d.manifests_endpoint";
    format!(
        ", chain(number, id, created_on, digest, previous_id, status, previous_seen_on, names_place, endpoint, since, to_name, depth) as (\
           select s.number, {columns}, s.since, s.to_name, 1 from source s join deployment d on d.id = s.head \
           union all \
           select s.number, {columns}, s.since, s.to_name, s.depth + 1 \
           from chain s join deployment d on d.id = s.previous_id \
           where (s.created_on >= s.since or s.to_name = 1 and s.names_place = 0) and s.depth < {CHAIN_MAX}) \
         select number, id, {}, digest, previous_id, status, {}, names_place, endpoint from chain order by number, depth",
        dialect.millis("created_on"),
        dialect.millis("previous_seen_on"),
    )
}

/// A row to add.
pub(super) struct NewRow<'a> {
    pub(super) reconciler_id: ReconcilerId,
    pub(super) statement: Statement,
    pub(super) content: RowContent<'a>,
    pub(super) link: Link,
}

/// The content of a new row.
pub(super) enum RowContent<'a> {
    /// The content of a report, and the commit that it identifies.
    Now { report: &'a Report, commit: String },
    /// The content of an earlier row.
    Before(DeploymentId),
}

/// Reserves ids for new rows, in ascending order. The rows of the reconcilers are locked before this call. Readers of the change feed depend on that
/// (`questions::settled`).
pub(super) async fn reserve(transaction: &mut Transaction, count: usize) -> Result<Vec<DeploymentId>, DatabaseError> {
    let count = count as i64;
    match transaction.dialect() {
        Dialect::Sqlite => {
            let sql = "select coalesce(max(id), 0) from deployment";
            let last: i64 = transaction.first(sql, Vec::new()).await?.unwrap_or_default();
            Ok((last + 1..=last + count).map(DeploymentId::new).collect())
        }
        Dialect::Postgres => {
            let sql = "select nextval('deployment_id_seq') from generate_series(1, $1)";
            transaction.query(sql, vec![count.into()]).await
        }
    }
}

/// Adds rows.
pub(super) async fn add(
    transaction: &mut Transaction,
    rows: Vec<(DeploymentId, NewRow<'_>)>,
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let mut reported = Rows::new(&[
        ("id", ColumnType::Int),
        ("gitops_commit_id", ColumnType::Text),
        ("reconciler_id", ColumnType::Int),
        ("status", ColumnType::Text),
        ("status_message", ColumnType::Text),
        ("created_on", ColumnType::Timestamp),
        ("received_on", ColumnType::Timestamp),
        ("revision", ColumnType::Text),
        ("tree", ColumnType::Text),
        ("version", ColumnType::Text),
        ("digest", ColumnType::Int),
        ("previous_id", ColumnType::Int),
        ("previous_seen_on", ColumnType::Timestamp),
        ("manifests_endpoint", ColumnType::Text),
        ("names_place", ColumnType::Int),
    ]);
    let mut resumed = Rows::new(&[
        ("id", ColumnType::Int),
        ("of", ColumnType::Int),
        ("created_on", ColumnType::Timestamp),
        ("received_on", ColumnType::Timestamp),
        ("previous_id", ColumnType::Int),
        ("previous_seen_on", ColumnType::Timestamp),
        ("manifests_endpoint", ColumnType::Text),
    ]);
    for (id, row) in rows {
        let Link { since, previous_id, previous_seen_on, endpoint } = row.link;
        match row.content {
            RowContent::Now { report, commit } => reported.push(vec![
                SqlValue::from(id),
                commit.into(),
                row.reconciler_id.into(),
                report.status.as_str().into(),
                some(&report.message),
                since.into(),
                now.into(),
                some(&report.revision),
                report.tree.as_deref().into(),
                report.version.as_deref().into(),
                row.statement.digest.into(),
                previous_id.into(),
                previous_seen_on.into(),
                endpoint.into(),
                report.endpoint.is_some().into(),
            ]),
            RowContent::Before(of) => {
                let link = vec![previous_id.into(), previous_seen_on.into(), endpoint.into()];
                resumed.push([vec![SqlValue::from(id), of.into(), since.into(), now.into()], link].concat());
            }
        }
    }
    let columns = "id, gitops_commit_id, reconciler_id, status, status_message, created_on, received_on, revision, tree, \
        version, digest, previous_id, previous_seen_on, manifests_endpoint, names_place";
    let statement = format!("insert into deployment ({columns}) select {columns} from source");
    transaction.execute_with(reported, &statement).await?;
    let statement = format!(
        "insert into deployment ({columns}) \
         select s.id, d.gitops_commit_id, d.reconciler_id, d.status, d.status_message, s.created_on, s.received_on, d.revision, \
         d.tree, d.version, d.digest, s.previous_id, s.previous_seen_on, s.manifests_endpoint, d.names_place \
         from source s join deployment d on d.id = s.of"
    );
    transaction.execute_with(resumed, &statement).await
}

/// A text value, or null if the text is empty.
fn some(text: &str) -> SqlValue {
    Some(text).filter(|text| !text.is_empty()).into()
}

/// Updates the links of rows after other rows were inserted between them.
pub(super) async fn relink(
    transaction: &mut Transaction,
    links: Vec<(DeploymentId, Link)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("id", ColumnType::Int),
        ("created_on", ColumnType::Timestamp),
        ("previous_id", ColumnType::Int),
        ("previous_seen_on", ColumnType::Timestamp),
        ("manifests_endpoint", ColumnType::Text),
    ]);
    for (id, Link { since, previous_id, previous_seen_on, endpoint }) in links {
        let link = vec![since.into(), previous_id.into(), previous_seen_on.into(), endpoint.into()];
        rows.push([vec![SqlValue::from(id)], link].concat());
    }
    let statement = "update deployment set created_on = s.created_on, previous_id = s.previous_id, \
        previous_seen_on = s.previous_seen_on, manifests_endpoint = s.manifests_endpoint \
        from source s where deployment.id = s.id";
    transaction.execute_with(rows, statement).await
}

/// Deletes rows that were replaced by rows which were added later. So the row with the highest id is never deleted.
pub(super) async fn take_out(transaction: &mut Transaction, ids: Vec<DeploymentId>) -> Result<(), DatabaseError> {
    if ids.is_empty() {
        return Ok(());
    }
    let sql = format!("delete from deployment where {}", transaction.dialect().any_int("id", "$1"));
    transaction.execute(&sql, vec![ids.into()]).await
}

/// The values of a report that identify the held content.
pub(super) struct Reported {
    pub(super) commit: String,
    pub(super) tree: Option<String>,
    pub(super) version: Option<String>,
}

/// Returns what these rows reported.
pub(super) async fn reported(
    transaction: &mut Transaction,
    ids: Vec<DeploymentId>,
) -> Result<BTreeMap<DeploymentId, Reported>, DatabaseError> {
    let of_ids = transaction.dialect().any_int("id", "$1");
    let sql = format!("select id, revision, tree, version from deployment where {of_ids}");
    let reported = |(id, reported, tree, version): (_, Option<String>, _, _)| {
        let commit = revision::commit(&reported.unwrap_or_default()).to_owned();
        (id, Reported { commit, tree, version })
    };
    Ok(transaction.query(&sql, vec![ids.into()]).await?.into_iter().map(reported).collect())
}

/// Stores the commits that rows identify, for rows whose commit was not known when they were reported: (row, commit).
pub(crate) async fn name_commits(
    transaction: &mut Transaction,
    named: Vec<(DeploymentId, String)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("id", ColumnType::Int), ("commit_id", ColumnType::Text)]);
    named.into_iter().for_each(|(id, commit)| rows.push(vec![id.into(), commit.into()]));
    let statement = "update deployment set gitops_commit_id = s.commit_id from source s where deployment.id = s.id";
    transaction.execute_with(rows, statement).await
}
