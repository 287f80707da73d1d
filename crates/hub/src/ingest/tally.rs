//! The number of reconcilers in each state. Every report updates the numbers, so that no query has to count a million hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::places::{CountedPlace, Revision};
use super::subjects::State;
use crate::store::{
    ColumnError, ColumnType, Columns, CommitId, DatabaseError, FromRow, PlaceGroupId, Rows, SqlValue, TallyId,
    Transaction,
};

/// The state that all reconcilers of one tally have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TallyKey {
    /// The group of their places.
    place_group_id: PlaceGroupId,
    /// The commit at which the content that they should hold became desired; none if nothing is desired there.
    desired_commit_id: Option<CommitId>,
    /// The commit at which the content that they hold became desired; none if it is not known.
    held_commit_id: Option<CommitId>,
    /// Whether the content that they hold equals the desired content.
    is_current: bool,
    /// The reported status, [`hub_api::report::Status::number`]; 0 if none was reported.
    status: i64,
    /// Whether a heartbeat is overdue.
    is_silent: bool,
    /// Whether a heartbeat is announced or required. Without one, silence can't be detected.
    has_heartbeat: bool,
}

impl TallyKey {
    /// Its values, in the order of [`KEY`].
    pub(crate) fn values(self) -> Vec<SqlValue> {
        vec![
            self.place_group_id.into(),
            CommitId::or_zero(self.desired_commit_id).into(),
            CommitId::or_zero(self.held_commit_id).into(),
            self.is_current.into(),
            self.status.into(),
            self.is_silent.into(),
            self.has_heartbeat.into(),
        ]
    }
}

impl FromRow for TallyKey {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            place_group_id: columns.take()?,
            desired_commit_id: CommitId::unless_zero(columns.take()?),
            held_commit_id: CommitId::unless_zero(columns.take()?),
            is_current: columns.take()?,
            status: columns.take()?,
            is_silent: columns.take()?,
            has_heartbeat: columns.take()?,
        })
    }
}

/// The columns of a key. A missing commit is stored as 0, because a unique index does not compare nulls.
pub(crate) const KEY: &str =
    "place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat";

/// A reconciler whose state changes, with the values that decide its new tally.
pub(crate) struct Transition<'a> {
    /// Its state with the previous tally. The revision and the tally are updated.
    pub(crate) state: &'a mut State,
    /// The place where it is; none if it is at no known place, or retired.
    pub(crate) place: Option<&'a CountedPlace>,
    /// The revision of that place that it holds; none if it is not known.
    pub(crate) held: Option<&'a Revision>,
}

impl Transition<'_> {
    /// The key of its new tally; none if it is not counted.
    fn key(&self) -> Option<TallyKey> {
        let place = self.place?;
        Some(TallyKey {
            place_group_id: place.group_id,
            desired_commit_id: place.desired.as_ref().map(|revision| revision.commit_id),
            held_commit_id: self.held.map(|revision| revision.commit_id),
            is_current: place.is_current(self.held),
            status: self.state.status,
            is_silent: self.state.is_silent,
            has_heartbeat: self.state.has_heartbeat(),
        })
    }
}

/// Moves reconcilers from their previous tallies to their new ones.
pub(crate) async fn apply(
    transaction: &mut Transaction,
    mut transitions: Vec<Transition<'_>>,
) -> Result<(), DatabaseError> {
    let known = keys(transaction, transitions.iter().filter_map(|one| one.state.tally_id).collect()).await?;
    let before = |state: &State| state.tally_id.and_then(|id| known.get(&id).copied());
    let deltas = Deltas::from_transitions(transitions.iter().map(|one| (before(one.state), one.key())));
    let tallies = deltas.write(transaction).await?;
    for one in &mut transitions {
        one.state.tally_id = one.key().and_then(|key| tallies.get(&key).copied());
        one.state.held_revision_id = one.held.map(|held| held.id);
    }
    Ok(())
}

/// The keys of tallies.
async fn keys(
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

/// Changes of the numbers by key. The order of keys makes two replicas take locks in the same order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deltas(BTreeMap<TallyKey, i64>);

impl Deltas {
    /// The changes for reconcilers that move from one key to another. A reconciler without a key is not counted. The result includes keys whose
    /// numbers do not change.
    fn from_transitions(transitions: impl IntoIterator<Item = (Option<TallyKey>, Option<TallyKey>)>) -> Self {
        let mut deltas = BTreeMap::new();
        for (before, after) in transitions {
            if let Some(before) = before {
                *deltas.entry(before).or_default() -= 1;
            }
            if let Some(after) = after {
                *deltas.entry(after).or_default() += 1;
            }
        }
        Self(deltas)
    }

    /// Writes the changes, and returns the ids of the tallies of all keys.
    async fn write(self, transaction: &mut Transaction) -> Result<BTreeMap<TallyKey, TallyId>, DatabaseError> {
        let mut rows = Rows::new(&[
            ("place_group_id", ColumnType::Int),
            ("desired_commit_id", ColumnType::Int),
            ("held_commit_id", ColumnType::Int),
            ("is_current", ColumnType::Int),
            ("status", ColumnType::Int),
            ("is_silent", ColumnType::Int),
            ("has_heartbeat", ColumnType::Int),
            ("delta", ColumnType::Int),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One of a few keys.
    fn key(number: i64) -> TallyKey {
        TallyKey {
            place_group_id: PlaceGroupId::new(1 + number % 2),
            desired_commit_id: CommitId::unless_zero(number / 2 % 2),
            held_commit_id: None,
            is_current: false,
            status: 0,
            is_silent: number >= 4,
            has_heartbeat: number >= 2,
        }
    }

    /// The number of reconcilers by key.
    fn recount(keys: &[Option<TallyKey>]) -> BTreeMap<TallyKey, i64> {
        let mut counts = BTreeMap::new();
        keys.iter().flatten().for_each(|key| *counts.entry(*key).or_default() += 1);
        counts
    }

    #[test]
    fn unchanged_key_has_a_zero_delta() {
        let deltas = Deltas::from_transitions([(Some(key(1)), Some(key(1))), (None, None)]);
        assert_eq!(deltas, Deltas(BTreeMap::from([(key(1), 0)])));
    }

    proptest! {
        /// Each transaction moves some reconcilers, each at most once.
        #[test]
        fn summed_deltas_equal_a_recount(
            transactions in prop::collection::vec(
                prop::collection::btree_map(0usize..6, prop::option::of((0i64..8).prop_map(key)), 0..6),
                0..12,
            ),
        ) {
            let (mut keys, mut counts) = (vec![None; 6], BTreeMap::new());
            for changes in transactions {
                let Deltas(deltas) = Deltas::from_transitions(changes.iter().map(|(number, after)| (keys[*number], *after)));
                deltas.into_iter().for_each(|(key, delta)| *counts.entry(key).or_default() += delta);
                changes.into_iter().for_each(|(number, after)| keys[number] = after);
                let counted: BTreeMap<_, _> = counts.iter().filter(|(_, count)| **count != 0).map(|(key, count)| (*key, *count)).collect();
                prop_assert_eq!(counted, recount(&keys));
            }
        }
    }
}
