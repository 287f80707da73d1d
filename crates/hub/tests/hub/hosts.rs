//! Hosts are registered, counted where they are expected, retired and restored.

use std::collections::BTreeMap;

use hub::management::hosts::{
    HostFilter, HostPart, HostRegistrationError, ReconcilerRegistration, Registration, list, register, restore, retire,
};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::report::Report;

use crate::sample;
use crate::twins::Ground;

twins![
    a_registered_host_is_expected_before_it_reports,
    retired_hosts_leave_the_totals_until_restored,
    unknown_hosts_are_reported_with_the_nearest_name,
    names_that_can_not_be_read_are_refused,
];

/// A report of a host that holds the desired content.
fn report() -> Report {
    Report {
        labels: BTreeMap::new(),
        ..sample::report("chicago", "dev", "cart", sample::Applied { commit: 1, at: 10 })
    }
}

/// The registration of a host that should have this content.
fn registration(host: &str) -> Registration {
    let Report { reconciler: name, kind, endpoint: place, .. } = report();
    let labels = BTreeMap::from([("site".to_owned(), "chicago".to_owned())]);
    Registration {
        host: host.into(),
        kind: None,
        labels,
        reconciler: Some(ReconcilerRegistration { name, kind, place }),
    }
}

/// Publishes desired content at the place of [`report`].
async fn publish(database: &Database) {
    Writer::start(database.clone()).0.publish(sample::publication("dev", 1)).await.unwrap();
}

/// The number of counted reconcilers, by status.
async fn counted(database: &Database) -> Vec<(i64, i64)> {
    let sql = "select status, reconcilers from tally where reconcilers <> 0 order by status";
    database.query(sql, vec![]).await.unwrap()
}

async fn names(database: &Database, with_retired: bool) -> Vec<String> {
    let filter = HostFilter { after: None, with_retired, limit: 10 };
    list(database, &filter).await.unwrap().into_iter().map(|host| host.name).collect()
}

async fn a_registered_host_is_expected_before_it_reports(Ground { database, .. }: Ground) {
    publish(&database).await;
    register(&database, &registration("chicago"), "test").await.unwrap();
    register(&database, &registration("chicago"), "test").await.unwrap();
    assert_eq!(counted(&database).await, [(0, 1)]);
    Writer::start(database.clone()).0.submit(vec![report()]).await.unwrap();
    assert_eq!(counted(&database).await, [(2, 1)]);
    let listed = list(&database, &HostFilter { limit: 10, ..HostFilter::default() }).await.unwrap().remove(0);
    assert_eq!(listed.labels["site"], "chicago");
    assert_eq!(listed.reconcilers[0].reported_on, Some(report().observed_on));
}

async fn retired_hosts_leave_the_totals_until_restored(Ground { database, .. }: Ground) {
    publish(&database).await;
    register(&database, &registration("a"), "test").await.unwrap();
    let name = report().reconciler;
    for reconciler in [None, Some(name.as_str())] {
        retire(&database, HostPart { host: "a", reconciler }, "test").await.unwrap();
        assert_eq!(counted(&database).await, []);
        assert_eq!(names(&database, reconciler.is_none()).await, ["a"]);
        restore(&database, HostPart { host: "a", reconciler }, "test").await.unwrap();
        assert_eq!(counted(&database).await, [(0, 1)]);
    }
    retire(&database, HostPart { host: "a", reconciler: None }, "test").await.unwrap();
    assert_eq!(names(&database, false).await, [""; 0]);
}

async fn unknown_hosts_are_reported_with_the_nearest_name(Ground { database, .. }: Ground) {
    register(&database, &registration("a"), "test").await.unwrap();
    let check = async |host: &str, reconciler: Option<&str>| {
        retire(&database, HostPart { host, reconciler }, "test").await.unwrap_err().to_string()
    };
    assert_eq!(check("b", None).await, "`b` is not known");
    assert_eq!(check("a", Some("x")).await, "`a/x` is not known");
    register(&database, &registration("chicago-edge-04"), "test").await.unwrap();
    let answer = check("chicago-edge-4", None).await;
    assert_eq!(answer, "`chicago-edge-4` is not known; did you mean `chicago-edge-04`?");
}

async fn names_that_can_not_be_read_are_refused(Ground { database, .. }: Ground) {
    for wrong in ["", " a", "a\nb", &"x".repeat(254)] {
        let refused = register(&database, &registration(wrong), "test").await;
        assert!(matches!(refused, Err(HostRegistrationError::Text(_))), "{wrong:?}");
    }
    register(&database, &registration("シカゴ'; drop table host; --%_"), "test").await.unwrap();
    assert_eq!(names(&database, false).await.len(), 1);
}
