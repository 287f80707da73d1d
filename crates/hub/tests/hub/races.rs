//! Several replicas that work at the same time.

use std::collections::BTreeMap;

use hub::management::hosts::{self, HostPart};
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::BranchContent;
use hub_api::report::Report;

use crate::faults::check_consistent;
use crate::sample::{self, REPOSITORY};
use crate::twins::Ground;

twins![
    first_reports_and_publications_may_arrive_concurrently,
    a_host_is_retired_while_another_reconciler_of_it_reports,
    partial_publications_of_one_commit_are_combined,
];

/// Commit number `commit` of `dev`, in which the workloads have folders that no other commit has.
fn publication(commit: i64) -> BranchContent {
    let mut publication = sample::publication("dev", commit);
    publication.is_complete = false;
    for place in &mut publication.places {
        place.path = format!("{}-{commit}", place.path);
    }
    publication
}

/// Reports of the same commit from reconcilers with this name: the first report of each.
fn reports(commit: i64, reconciler: &str) -> Vec<Report> {
    let report = |host: i64| Report {
        reconciler: reconciler.into(),
        endpoint: Endpoint::new(REPOSITORY, "dev", &format!("cart-{commit}")).ok(),
        labels: BTreeMap::new(),
        ..sample::report(&format!("host-{commit}-{host}"), "dev", "cart", sample::Applied { commit, at: 100 + commit })
    };
    (0..20).map(report).collect()
}

async fn first_reports_and_publications_may_arrive_concurrently(ground: Ground) {
    let [(publisher, _), (replica, _)] = [(); 2].map(|()| Writer::start(ground.database.clone()));
    for commit in 1..=30 {
        let (published, stored) =
            tokio::join!(publisher.publish(publication(commit)), replica.submit(reports(commit, "cart")));
        published.unwrap();
        stored.unwrap();
    }
    check_consistent(&ground.database).await;
    let sql = "select r.id from reconciler r join reconciler_state s on s.reconciler_id = r.id join place p on p.id = r.place_id \
        where s.held_revision_id is null or s.held_revision_id <> p.desired_revision_id";
    assert_eq!(sample::lines(&ground.database, sql).await, [""; 0], "those that hold something else");
}

async fn a_host_is_retired_while_another_reconciler_of_it_reports(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    for round in 1..=30 {
        ingest.publish(publication(round)).await.unwrap();
        ingest.submit(reports(round, "first")).await.unwrap();
        let host = format!("host-{round}-0");
        let (retired, stored) = tokio::join!(
            hosts::retire(&ground.database, HostPart { host: &host, reconciler: None }, "test"),
            ingest.submit(reports(round, "second"))
        );
        retired.unwrap();
        stored.unwrap();
    }
    let counted = "select h.name, r.name from host h join reconciler r on r.host_id = h.id \
        join reconciler_state s on s.reconciler_id = r.id where h.retired_on is not null and s.tally_id is not null";
    assert_eq!(sample::lines(&ground.database, counted).await, [""; 0]);
}

async fn partial_publications_of_one_commit_are_combined(ground: Ground) {
    let [(publisher, _), (replica, _)] = [(); 2].map(|()| Writer::start(ground.database.clone()));
    let part = |commit, workload: usize| {
        let mut publication = sample::publication("dev", commit);
        publication.is_complete = false;
        publication.places = vec![publication.places.swap_remove(workload)];
        publication
    };
    let report = |host: &str| sample::report(host, "dev", "cart", sample::Applied { commit: 2, at: 20 });
    publisher.publish(part(1, 0)).await.unwrap();
    publisher.publish(part(2, 1)).await.unwrap();
    // So far, commit 2 changes nothing for the cart.
    replica.submit(vec![report("berlin")]).await.unwrap();
    publisher.publish(part(2, 0)).await.unwrap();
    replica.submit(vec![report("chicago")]).await.unwrap();
    let sql = "select h.name, c.commit_id from host h join reconciler r on r.host_id = h.id \
        join reconciler_state s on s.reconciler_id = r.id join place_revision w on w.id = s.held_revision_id \
        join gitops_commit c on c.id = w.gitops_commit_id order by h.name";
    let held: Vec<(String, String)> = ground.database.query(sql, Vec::new()).await.unwrap();
    assert_eq!(held, [("berlin".to_owned(), sample::hash(2)), ("chicago".to_owned(), sample::hash(2))]);
    check_consistent(&ground.database).await;
}
