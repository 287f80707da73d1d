//! The desired content of place groups, and the number of their reconcilers in each rollout state.

use std::collections::BTreeMap;

use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, Liveness, ReconcilerState};

use super::conditions;
use super::facts::Below;
use super::reconciler_state::{self, LIVENESS, LivenessNumber, StateNumber};
use super::scope::Scope;
use crate::store::{
    BranchId, ColumnError, Columns, DatabaseError, FromRow, Parameters, PlaceGroupId, TargetId, Transaction,
};

/// The desired content of a place group: of several places, the content that became desired last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupDesired {
    pub(super) commit: String,
    pub(super) sequence: i64,
    pub(super) branch_id: Option<BranchId>,
    pub(super) path: String,
    pub(super) config_version: Option<String>,
    pub(super) since: Option<Timestamp>,
}

impl GroupDesired {
    /// The key of the configuration of a target in it.
    pub(super) fn below(&self, target_id: TargetId) -> Below {
        Below { branch_id: self.branch_id, path: self.path.clone(), target_id, sequence: self.sequence }
    }
}

/// The desired content of groups, now or at a timestamp. Groups without desired content are left out.
pub(super) async fn desired(
    transaction: &mut Transaction,
    groups: Vec<PlaceGroupId>,
    at: Option<Timestamp>,
) -> Result<BTreeMap<PlaceGroupId, GroupDesired>, DatabaseError> {
    if groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let dialect = transaction.dialect();
    let mut values = vec![groups.into()];
    let then = at.map(|at| {
        values.push(at.into());
        dialect.instant("$2")
    });
    let revision = conditions::desired_revision("p", then.as_deref());
    let sql = format!(
        "select x.group_id, c.commit_id, c.sequence, p.branch_id, p.path, w.config_version, {} from \
           (select p.place_group_id as group_id, max(w.id) as revision_id from place p \
            join place_revision w on w.id = {revision} where {} and w.tree is not null group by p.place_group_id) as x \
         join place_revision w on w.id = x.revision_id join place p on p.id = w.place_id \
         join gitops_commit c on c.id = w.gitops_commit_id",
        dialect.millis("w.desired_on"),
        dialect.any_int("p.place_group_id", "$1"),
    );
    Ok(transaction.query(&sql, values).await?.into_iter().collect())
}

impl FromRow for GroupDesired {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (commit, sequence, branch_id, path, config_version, since) = columns.take()?;
        Ok(Self { commit, sequence, branch_id, path, config_version, since })
    }
}

/// The number of reconcilers of groups in each rollout state, for the hosts in scope.
pub(super) async fn counts(
    transaction: &mut Transaction,
    scope: &Scope,
    groups: Vec<PlaceGroupId>,
) -> Result<BTreeMap<PlaceGroupId, Counts>, DatabaseError> {
    if groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (state, sum) = (
        reconciler_state::expression(reconciler_state::HOLDS_DESIRED),
        transaction.dialect().int("sum(t.reconcilers)"),
    );
    let mut parameters = Parameters::with(transaction.dialect(), vec![groups.into()]);
    let tallies = scope.tallies(&mut parameters);
    let sql = format!(
        "select t.place_group_id, {state} as state, {LIVENESS}, {sum} from {tallies} t \
         where {} and t.desired_commit_id <> 0 and t.reconcilers > 0 group by 1, 2, 3",
        transaction.dialect().any_int("t.place_group_id", "$1")
    );
    let mut counts: BTreeMap<PlaceGroupId, Counts> = BTreeMap::new();
    for (group, in_state) in transaction.query::<(_, StateCount)>(&sql, parameters.into_values()).await? {
        in_state.add_to(counts.entry(group).or_default());
    }
    Ok(counts)
}

/// The number of reconcilers in a rollout state. The columns are the state, the liveness of the reconcilers ([`LIVENESS`]), and the number.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateCount {
    state: ReconcilerState,
    pub(super) liveness: Liveness,
    pub(super) reconcilers: i64,
}

impl FromRow for StateCount {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (StateNumber(state), LivenessNumber(liveness), reconcilers) = columns.take()?;
        Ok(Self { state, liveness, reconcilers })
    }
}

impl StateCount {
    pub(super) fn add_to(self, counts: &mut Counts) {
        counts.add(self.state, self.liveness, self.reconcilers);
    }
}
