//! What groups of places should hold, and how many reconcilers stand where with it.

use std::collections::BTreeMap;

use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use super::facts::Below;
use super::rollout_state;
use super::scope::Scope;
use crate::store::{DatabaseError, Row, Transaction};

/// What a group of places should hold: of several places, what became wanted last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupDesired {
    pub(super) commit: String,
    pub(super) sequence: i64,
    pub(super) branch_id: i64,
    pub(super) path: String,
    pub(super) config_version: Option<String>,
    pub(super) since: Option<Timestamp>,
}

impl GroupDesired {
    /// What is asked for to know the configuration of a target in it.
    pub(super) fn below(&self, target_id: i64) -> Below {
        Below { branch_id: self.branch_id, path: self.path.clone(), target_id, sequence: self.sequence }
    }
}

/// What groups should hold now, or were to hold at a moment; those at which nothing is wanted are left out.
pub(super) async fn of_groups(
    transaction: &mut Transaction,
    groups: Vec<i64>,
    at: Option<Timestamp>,
) -> Result<BTreeMap<i64, GroupDesired>, DatabaseError> {
    if groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let dialect = transaction.dialect();
    let mut values = vec![groups.into()];
    let revision = match at {
        None => "p.wanted_revision_id".to_owned(),
        Some(at) => {
            values.push(at.into());
            let then = dialect.instant("$2");
            format!(
                "(select v.id from place_revision v join gitops_commit o on o.id = v.gitops_commit_id \
                  where v.place_id = p.id and v.wanted_on <= {then} order by o.sequence desc, v.id desc limit 1)"
            )
        }
    };
    let sql = format!(
        "select x.group_id, c.commit_id, c.sequence, p.branch_id, p.path, w.config_version, {} from \
           (select p.place_group_id as group_id, max(w.id) as revision_id from place p \
            join place_revision w on w.id = {revision} where {} and w.tree is not null group by p.place_group_id) as x \
         join place_revision w on w.id = x.revision_id join place p on p.id = w.place_id \
         join gitops_commit c on c.id = w.gitops_commit_id",
        dialect.millis("w.wanted_on"),
        dialect.any_int("p.place_group_id", "$1"),
    );
    let wanted = |row: &Row| GroupDesired {
        commit: row.text(1),
        sequence: row.int(2),
        branch_id: row.int(3),
        path: row.text(4),
        config_version: row.optional_text(5).map(str::to_owned),
        since: row.moment(6),
    };
    Ok(transaction.query(&sql, values).await?.iter().map(|row| (row.int(0), wanted(row))).collect())
}

/// How many reconcilers of groups stand where, of the hosts that are asked about.
pub(super) async fn counts(
    transaction: &mut Transaction,
    scope: &Scope,
    groups: Vec<i64>,
) -> Result<BTreeMap<i64, Counts>, DatabaseError> {
    if groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (state, sum) =
        (rollout_state::expression(rollout_state::HOLDS_DESIRED), transaction.dialect().int("sum(t.reconcilers)"));
    let mut values = vec![groups.into()];
    let tallies = scope.tallies(transaction.dialect(), &mut values);
    let sql = format!(
        "select t.place_group_id, {state} as state, t.is_silent, {sum} from {tallies} t \
         where {} and t.wanted_commit_id <> 0 and t.reconcilers > 0 group by 1, 2, 3",
        transaction.dialect().any_int("t.place_group_id", "$1")
    );
    let mut counts: BTreeMap<i64, Counts> = BTreeMap::new();
    for row in transaction.query(&sql, values).await? {
        add(counts.entry(row.int(0)).or_default(), &row, 1);
    }
    Ok(counts)
}

/// Adds a row whose columns from that one on are state, silent, how many.
pub(super) fn add(counts: &mut Counts, row: &Row, first: usize) {
    if let Some(state) = rollout_state::from_number(row.int(first)) {
        counts.add(state, row.is(first + 1), row.int(first + 2));
    }
}
