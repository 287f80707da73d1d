//! Hosts are registered, counted where they are expected, retired and restored.

use super::*;
use crate::ingest::Ingest;
use crate::report::tests::report;
use crate::store::DatabaseUrl;
use crate::wanted::{Publication, Role, WantedPlace};

async fn database() -> Database {
    Database::open(&DatabaseUrl::Memory).await.unwrap()
}

fn registration(host: &str) -> Registration {
    let place = report().endpoint;
    let reconciler = ReconcilerRegistration { name: "checkout-eu".into(), kind: "flux".into(), place };
    let labels = BTreeMap::from([("site".to_owned(), "chicago".to_owned())]);
    Registration { host: host.into(), kind: None, labels, reconciler: Some(reconciler) }
}

/// Something is wanted at the place of [`report`].
async fn publish(database: &Database) {
    let endpoint = report().endpoint.unwrap();
    let (repository, branch) = (endpoint.repository().to_owned(), endpoint.branch().to_owned());
    let place = WantedPlace {
        path: endpoint.path().to_owned(),
        tree: Some("7".repeat(40)),
        role: Role::Application,
        environment: None,
        cluster_type: None,
        cluster: None,
        config_version: None,
        targets: vec![],
    };
    let (commit, committed_on) = ("4".repeat(40), Moment::from_millis(500));
    let (places, is_complete) = (vec![place], true);
    let publication = Publication { repository, branch, commit, committed_on, places, is_complete };
    Ingest::start(database.clone()).0.publish(publication).await.unwrap();
}

/// How many reconcilers are counted, by status.
async fn counted(database: &Database) -> Vec<(i64, i64)> {
    let sql = "select status, reconcilers from tally where reconcilers <> 0 order by status";
    database.query(sql, vec![]).await.unwrap().iter().map(|row| (row.int(0), row.int(1))).collect()
}

async fn names(database: &Database, with_retired: bool) -> Vec<String> {
    let filter = HostFilter { after: None, with_retired, limit: 10 };
    list(database, &filter).await.unwrap().into_iter().map(|host| host.name).collect()
}

#[tokio::test]
async fn a_registered_host_is_expected_before_it_reports() {
    let database = database().await;
    publish(&database).await;
    register(&database, &registration("chicago-edge-04")).await.unwrap();
    register(&database, &registration("chicago-edge-04")).await.unwrap();
    assert_eq!(counted(&database).await, [(0, 1)]);
    Ingest::start(database.clone()).0.submit(vec![report()]).await.unwrap();
    assert_eq!(counted(&database).await, [(2, 1)]);
    let listed = list(&database, &HostFilter { limit: 10, ..HostFilter::default() }).await.unwrap().remove(0);
    assert_eq!(listed.labels["site"], "chicago");
    assert_eq!(listed.reconcilers[0].reported_on, Some(report().observed_on));
}

#[tokio::test]
async fn what_is_retired_leaves_the_totals_and_comes_back() {
    let database = database().await;
    publish(&database).await;
    register(&database, &registration("a")).await.unwrap();
    for reconciler in [None, Some("checkout-eu")] {
        retire(&database, "a", reconciler).await.unwrap();
        assert_eq!(counted(&database).await, []);
        assert_eq!(names(&database, reconciler.is_none()).await, ["a"]);
        restore(&database, "a", reconciler).await.unwrap();
        assert_eq!(counted(&database).await, [(0, 1)]);
    }
    retire(&database, "a", None).await.unwrap();
    assert_eq!(names(&database, false).await, [""; 0]);
}

#[tokio::test]
async fn what_is_not_known_is_said() {
    let database = database().await;
    register(&database, &registration("a")).await.unwrap();
    let check = async |host, reconciler| retire(&database, host, reconciler).await.unwrap_err().to_string();
    assert_eq!(check("b", None).await, "`b` is not known");
    assert_eq!(check("a", Some("x")).await, "`a/x` is not known");
}

#[tokio::test]
async fn names_that_can_not_be_read_are_refused() {
    let database = database().await;
    for wrong in ["", " a", "a\nb", &"x".repeat(254)] {
        let refused = register(&database, &registration(wrong)).await;
        assert!(matches!(refused, Err(HostError::Text(_))), "{wrong:?}");
    }
    register(&database, &registration("シカゴ'; drop table host; --%_")).await.unwrap();
    assert_eq!(names(&database, false).await.len(), 1);
}
