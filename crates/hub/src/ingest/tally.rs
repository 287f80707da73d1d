//! How many reconcilers are in which state: kept in step with every report, so that nobody has to count a million hosts.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{
    ColumnError, Columns, CommitId, DatabaseError, FromRow, Kind, PlaceGroupId, Rows, TallyId, Transaction, Value,
};

/// What reconcilers that are counted together have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TallyKey {
    /// The group of their places.
    pub(crate) place_group_id: PlaceGroupId,
    /// The commit at which what they should hold became wanted; none if nothing is wanted there.
    pub(crate) wanted_commit_id: Option<CommitId>,
    /// The commit at which what they hold became wanted; none if that is not known.
    pub(crate) held_commit_id: Option<CommitId>,
    /// Whether what they hold has the same content as what they should hold.
    pub(crate) is_current: bool,
    /// How far they say they got: [`hub_api::report::Status::number`], 0 if they never said.
    pub(crate) status: i64,
    /// Whether they promised to report, and did not.
    pub(crate) is_silent: bool,
}

impl TallyKey {
    fn values(self) -> Vec<Value> {
        vec![
            self.place_group_id.into(),
            CommitId::or_zero(self.wanted_commit_id).into(),
            CommitId::or_zero(self.held_commit_id).into(),
            self.is_current.into(),
            self.status.into(),
            self.is_silent.into(),
        ]
    }
}

impl FromRow for TallyKey {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            place_group_id: columns.take()?,
            wanted_commit_id: CommitId::unless_zero(columns.take()?),
            held_commit_id: CommitId::unless_zero(columns.take()?),
            is_current: columns.take()?,
            status: columns.take()?,
            is_silent: columns.take()?,
        })
    }
}

/// The columns of a key. Where there is no commit they hold 0, because a unique index does not compare nulls.
const KEY: &str = "place_group_id, wanted_commit_id, held_commit_id, is_current, status, is_silent";

/// The keys of tallies.
pub(crate) async fn keys(
    transaction: &mut Transaction,
    ids: BTreeSet<TallyId>,
) -> Result<BTreeMap<TallyId, TallyKey>, DatabaseError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let of_ids = transaction.dialect().any_int("id", "$1");
    let sql = format!("select id, {KEY} from tally where {of_ids}");
    Ok(transaction.query(&sql, vec![ids.into()]).await?.into_iter().collect())
}

/// How numbers change. The keys are in order, so that two replicas take locks in the same one.
#[derive(Debug, Default)]
pub(crate) struct Deltas(BTreeMap<TallyKey, i64>);

impl Deltas {
    /// One reconciler goes from one state to another; none is one that is not counted.
    pub(crate) fn moves(&mut self, from: Option<TallyKey>, to: Option<TallyKey>) {
        if let Some(from) = from {
            *self.0.entry(from).or_default() -= 1;
        }
        if let Some(to) = to {
            *self.0.entry(to).or_default() += 1;
        }
    }

    /// Writes them, and gives the tallies of all keys.
    pub(crate) async fn write(
        self,
        transaction: &mut Transaction,
    ) -> Result<BTreeMap<TallyKey, TallyId>, DatabaseError> {
        let mut rows = Rows::new(&[
            ("place_group_id", Kind::Int),
            ("wanted_commit_id", Kind::Int),
            ("held_commit_id", Kind::Int),
            ("is_current", Kind::Int),
            ("status", Kind::Int),
            ("is_silent", Kind::Int),
            ("delta", Kind::Int),
        ]);
        for (key, delta) in self.0 {
            let mut values = key.values();
            values.push(delta.into());
            rows.push(values);
        }
        let statement = format!(
            "insert into tally ({KEY}, reconcilers) select {KEY}, delta from source where true \
             on conflict ({KEY}) do update set reconcilers = tally.reconcilers + excluded.reconcilers returning id, {KEY}"
        );
        let written = transaction.with::<(TallyId, TallyKey)>(rows, &statement).await?;
        Ok(written.into_iter().map(|(id, key)| (key, id)).collect())
    }
}
