//! The history of silence: which reconcilers became silent, and which reported again.

use hub_api::timestamp::Timestamp;

use super::subjects::ReconcilerChange;
use crate::store::{ColumnType, DatabaseError, Rows, Transaction};

/// Adds the reconcilers that became silent, or reported again, to the history of silence.
pub(super) async fn record(
    transaction: &mut Transaction,
    changes: &[ReconcilerChange<'_>],
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("reconciler_id", ColumnType::Int),
        ("is_silent", ColumnType::Int),
        ("silent_after", ColumnType::Timestamp),
        ("noticed_on", ColumnType::Timestamp),
    ]);
    for ReconcilerChange { reconciler_id, after, .. } in
        changes.iter().filter(|change| change.before.is_silent != change.after.is_silent)
    {
        let due = after.silent_after.filter(|_| after.is_silent);
        rows.push(vec![(*reconciler_id).into(), after.is_silent.into(), due.into(), now.into()]);
    }
    let statement = "insert into silence (reconciler_id, is_silent, silent_after, noticed_on) \
        select reconciler_id, is_silent, silent_after, noticed_on from source where true";
    transaction.execute_with(rows, statement).await
}
