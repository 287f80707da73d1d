//! The audit log has a limited number of entries.

use std::time::Duration;

use hub::management::audit::{delete_old, entries};
use hub::management::hosts::{Registration, register};
use hub::management::retention::Keep;
use hub::store::Database;
use hub_api::audit::{Action, AuditFilter};
use hub_api::timestamp::Timestamp;

use crate::twins::Ground;

twins![old_or_excess_audit_entries_are_deleted, failed_actions_are_not_audited];

async fn hosts(database: &Database) -> Vec<String> {
    let found = entries(database, &AuditFilter::default()).await.unwrap();
    found.items.into_iter().map(|entry| format!("{} {}", entry.subject, entry.actor)).collect()
}

async fn add(database: &Database, host: &str) -> bool {
    let registration = Registration { host: host.into(), kind: None, labels: [].into(), reconciler: None };
    register(database, &registration, "ann").await.is_ok()
}

async fn old_or_excess_audit_entries_are_deleted(Ground { database, .. }: Ground) {
    for host in ["a", "b", "c"] {
        assert!(add(&database, host).await);
    }
    let now = Timestamp::now();
    assert_eq!(delete_old(&database, Keep::default(), now).await.unwrap(), 0);
    let two = Keep { age: None, count: Some(2) };
    assert_eq!(delete_old(&database, two, now).await.unwrap(), 1);
    assert_eq!(hosts(&database).await, ["c ann", "b ann"]);
    let day = Keep { age: Some(Duration::from_hours(24)), count: None };
    assert_eq!(delete_old(&database, day, now).await.unwrap(), 0);
    assert_eq!(delete_old(&database, day, now.after(Duration::from_hours(25))).await.unwrap(), 2);
    assert_eq!(hosts(&database).await, [""; 0]);
}

async fn failed_actions_are_not_audited(Ground { database, .. }: Ground) {
    assert!(!add(&database, " a").await);
    assert_eq!(hosts(&database).await, [""; 0]);
    assert!(Action::ALL.iter().all(|action| serde_json::to_value(action).unwrap() == action.as_str()));
}
