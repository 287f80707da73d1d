//! The labels of hosts, taken from the newest report of each host.

use std::collections::BTreeMap;

use super::work::Work;
use crate::store::{ColumnType, DatabaseError, HostId, Rows, Transaction};

/// Writes the labels of each host whose newest report has other labels than the stored ones. A report without labels leaves the stored labels
/// unchanged.
pub(super) async fn follow(transaction: &mut Transaction, works: &[Work<'_>]) -> Result<(), DatabaseError> {
    let mut changed = BTreeMap::new();
    for work in works {
        let (Some(newest), Some(own)) = (work.newest, &work.subject.own) else { continue };
        if newest.labels.is_empty() {
            continue;
        }
        let text = text(&newest.labels);
        if own.host_labels.as_ref() != Some(&text) {
            changed.insert(own.host_id, (text, &newest.labels));
        }
    }
    for (host_id, (text, labels)) in changed {
        write(transaction, host_id, &text, labels).await?;
    }
    Ok(())
}

/// Formats labels as the column `host.labels` stores them: a JSON object, ordered by key.
pub(crate) fn text(labels: &BTreeMap<String, String>) -> String {
    serde_json::json!(labels).to_string()
}

/// Replaces the labels of a host.
pub(crate) async fn write(
    transaction: &mut Transaction,
    host_id: HostId,
    text: &str,
    labels: &BTreeMap<String, String>,
) -> Result<(), DatabaseError> {
    transaction.execute("update host set labels = $1 where id = $2", vec![text.into(), host_id.into()]).await?;
    transaction.execute("delete from host_label where host_id = $1", vec![host_id.into()]).await?;
    let mut rows = Rows::new(&[("host_id", ColumnType::Int), ("key", ColumnType::Text), ("value", ColumnType::Text)]);
    for (key, value) in labels {
        rows.push(vec![host_id.into(), key.as_str().into(), value.as_str().into()]);
    }
    let statement = "insert into host_label (host_id, key, value) select host_id, key, value from source";
    transaction.execute_with(rows, statement).await
}
