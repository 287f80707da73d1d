//! The rows of `deployment`: what was reported, chained from a reconciler's latest report to its first.

use std::collections::BTreeMap;

use super::timeline::{Entry, Origin};
use crate::moment::Moment;
use crate::report::Report;
use crate::store::{DatabaseError, Dialect, Kind, Row, Rows, Transaction, Value};

/// The most that is read of one chain to find the place of a late report. Retention keeps chains shorter.
const CHAIN_MAX: i64 = 20_000;

/// What is known of a chain: its entries from the earliest that was read on, and what comes before that one.
#[derive(Debug)]
pub(super) struct Chain<R> {
    pub(super) entries: Vec<Entry<R>>,
    pub(super) previous_id: Option<i64>,
}

/// Reads chains back to the entry that was in effect at a moment: (number of the chain, its latest row, the moment).
pub(super) async fn chains<R>(
    transaction: &mut Transaction,
    wanted: &[(usize, i64, Moment)],
) -> Result<BTreeMap<usize, Chain<R>>, DatabaseError> {
    let mut rows = Rows::new(&[("number", Kind::Int), ("head", Kind::Int), ("since", Kind::Moment)]);
    for (number, head, since) in wanted {
        rows.push(vec![Value::from(*number as i64), (*head).into(), (*since).into()]);
    }
    let found = transaction.with(rows, &chain_statement(transaction.dialect())).await?;
    let mut chains: BTreeMap<usize, Chain<R>> = BTreeMap::new();
    // The rows come from the latest to the earliest.
    for row in found {
        let chain = chains.entry(row.int(0) as usize).or_insert(Chain { entries: Vec::new(), previous_id: None });
        let since = row.moment(2).unwrap_or_default();
        chain.entries.push(Entry::new(Origin::Stored(row.int(1)), since, row.int(3)));
        chain.previous_id = row.optional_int(4);
    }
    chains.values_mut().for_each(|chain| chain.entries.reverse());
    Ok(chains)
}

fn chain_statement(dialect: Dialect) -> String {
    let columns = "s.number, d.id, d.created_on, d.digest, d.previous_id, s.since";
    format!(
        ", chain(number, id, created_on, digest, previous_id, since, depth) as (\
           select {columns}, 1 from source s join deployment d on d.id = s.head \
           union all \
           select s.number, d.id, d.created_on, d.digest, d.previous_id, s.since, s.depth + 1 \
           from chain s join deployment d on d.id = s.previous_id where s.created_on >= s.since and s.depth < {CHAIN_MAX}) \
         select number, id, {}, digest, previous_id from chain order by number, depth",
        dialect.millis("created_on"),
    )
}

/// A row that is about to be added.
pub(super) struct NewRow<'a> {
    pub(super) reconciler_id: i64,
    pub(super) since: Moment,
    pub(super) digest: i64,
    pub(super) said: Said<'a>,
    pub(super) previous_id: Option<i64>,
}

/// What a new row says.
pub(super) enum Said<'a> {
    /// What a report says, and the commit that it means.
    Now { report: &'a Report, commit: String },
    /// What an earlier row says.
    Before(i64),
}

/// As many ids as new rows will need, in their order. The rows of the reconcilers are locked by then: those who follow changes go by that (`questions::settled`).
pub(super) async fn reserve(transaction: &mut Transaction, count: usize) -> Result<Vec<i64>, DatabaseError> {
    let count = count as i64;
    let rows = match transaction.dialect() {
        Dialect::Sqlite => {
            let sql = "select coalesce(max(id), 0) from deployment";
            let last = transaction.query(sql, Vec::new()).await?.first().map_or(0, |row: &Row| row.int(0));
            return Ok((last + 1..=last + count).collect());
        }
        Dialect::Postgres => {
            let sql = "select nextval('deployment_id_seq') from generate_series(1, $1)";
            transaction.query(sql, vec![count.into()]).await?
        }
    };
    Ok(rows.iter().map(|row| row.int(0)).collect())
}

/// Adds rows.
pub(super) async fn add(
    transaction: &mut Transaction,
    rows: Vec<(i64, NewRow<'_>)>,
    now: Moment,
) -> Result<(), DatabaseError> {
    let mut reported = Rows::new(&[
        ("id", Kind::Int),
        ("gitops_commit_id", Kind::Text),
        ("reconciler_id", Kind::Int),
        ("status", Kind::Text),
        ("status_message", Kind::Text),
        ("created_on", Kind::Moment),
        ("received_on", Kind::Moment),
        ("revision", Kind::Text),
        ("tree", Kind::Text),
        ("version", Kind::Text),
        ("digest", Kind::Int),
        ("previous_id", Kind::Int),
    ]);
    let mut resumed = Rows::new(&[
        ("id", Kind::Int),
        ("of", Kind::Int),
        ("created_on", Kind::Moment),
        ("received_on", Kind::Moment),
        ("previous_id", Kind::Int),
    ]);
    for (id, row) in rows {
        match row.said {
            Said::Now { report, commit } => reported.push(vec![
                Value::from(id),
                commit.into(),
                row.reconciler_id.into(),
                report.status.as_str().into(),
                some(&report.message),
                row.since.into(),
                now.into(),
                some(&report.revision),
                report.tree.as_deref().into(),
                report.version.as_deref().into(),
                row.digest.into(),
                row.previous_id.into(),
            ]),
            Said::Before(of) => {
                resumed.push(vec![Value::from(id), of.into(), row.since.into(), now.into(), row.previous_id.into()]);
            }
        }
    }
    let statement = "insert into deployment (id, gitops_commit_id, reconciler_id, status, status_message, created_on, \
        received_on, revision, tree, version, digest, previous_id) \
        select id, gitops_commit_id, reconciler_id, status, status_message, created_on, received_on, revision, tree, \
        version, digest, previous_id from source";
    transaction.with(reported, statement).await?;
    let statement = "insert into deployment (id, gitops_commit_id, reconciler_id, status, status_message, created_on, \
        received_on, revision, tree, version, digest, previous_id) \
        select s.id, d.gitops_commit_id, d.reconciler_id, d.status, d.status_message, s.created_on, s.received_on, \
        d.revision, d.tree, d.version, d.digest, s.previous_id from source s join deployment d on d.id = s.of";
    transaction.with(resumed, statement).await.map(drop)
}

/// A text, or nothing where it is empty.
fn some(text: &str) -> Value {
    Some(text).filter(|text| !text.is_empty()).into()
}

/// Puts rows that arrived late between those that are there: (row, the one before it).
pub(super) async fn relink(transaction: &mut Transaction, links: Vec<(i64, i64)>) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("id", Kind::Int), ("previous_id", Kind::Int)]);
    links.into_iter().for_each(|(id, previous)| rows.push(vec![id.into(), previous.into()]));
    let statement = "update deployment set previous_id = s.previous_id from source s where deployment.id = s.id";
    transaction.with(rows, statement).await.map(drop)
}

/// Notes the commits that rows mean, which was not known when they were reported: (row, commit).
pub(crate) async fn name_commits(
    transaction: &mut Transaction,
    named: Vec<(i64, String)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("id", Kind::Int), ("commit_id", Kind::Text)]);
    named.into_iter().for_each(|(id, commit)| rows.push(vec![id.into(), commit.into()]));
    let statement = "update deployment set gitops_commit_id = s.commit_id from source s where deployment.id = s.id";
    transaction.with(rows, statement).await.map(drop)
}
