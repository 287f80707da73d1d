//! Reports without a place, of reconcilers that are named after deployment targets.

use std::collections::BTreeMap;

use hub::management::hosts::{self, ReconcilerRegistration, Registration};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::BranchContent;
use hub_api::report::Report;

use crate::faults::check_consistent;
use crate::sample::{self, REPOSITORY};
use crate::twins::Ground;

twins![
    names_resolve_to_the_manifests_of_their_targets,
    ambiguous_names_resolve_to_no_target,
    targets_may_become_known_after_their_reports,
    reported_places_win_over_names,
    reconcilers_follow_targets_that_move,
    reconcilers_that_are_registered_have_names_too,
];

/// Commit 1 of `dev`: targets `cart` and `portal`, each in a folder of that name.
fn publication() -> BranchContent {
    sample::publication("dev", 1)
}

/// A report of commit 1 without a place, of a reconciler with this name, at this time in milliseconds.
fn report(name: &str, at: i64) -> Report {
    Report {
        reconciler: name.into(),
        endpoint: None,
        ..sample::report("berlin", "dev", "cart", sample::Applied { commit: 1, at })
    }
}

/// Checks the folder of each reconciler; with ` ok` if the reconciler holds the desired content.
async fn check(database: &Database, expected: &[(&str, &str)]) {
    let sql = "select r.name, coalesce(p.path, '-'), case when s.held_revision_id = p.desired_revision_id then ' ok' else '' end \
        from reconciler r join reconciler_state s on s.reconciler_id = r.id left join place p on p.id = r.place_id";
    let rows = database.query::<(String, String, String)>(sql, Vec::new()).await.unwrap();
    let found: BTreeMap<_, _> = rows.into_iter().map(|(name, path, ok)| (name, path + &ok)).collect();
    let text = |(name, folder): &(&str, &str)| ((*name).to_owned(), (*folder).to_owned());
    assert_eq!(found, expected.iter().map(text).collect());
}

async fn names_resolve_to_the_manifests_of_their_targets(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    ingest.publish(publication()).await.unwrap();
    let names = [
        ("dev.acme.shop.cart.functional-test", "cart ok"),
        ("dev.acme.shop.cart.functional-test.edge.large", "cart ok"),
        ("dev.acme.shop.cart.cart-functional-test", "cart ok"),
        ("dev.portal.functional-test", "portal ok"),
        ("dev.portal.portal-functional-test.edge", "portal ok"),
        ("dev.acme.shop.cart.functional", "-"),
        ("dev.acme.shop.cart.functional-test-2", "-"),
        ("prod.acme.shop.cart.functional-test", "-"),
        ("dev.acme.other.cart.functional-test", "-"),
        ("flux-system", "-"),
        ("dev..shop.cart.functional-test", "-"),
        ("%.%.%", "-"),
    ];
    for (name, _) in names {
        ingest.submit(vec![report(name, 10)]).await.unwrap();
    }
    check(&ground.database, &names).await;
}

async fn ambiguous_names_resolve_to_no_target(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let mut publication = publication();
    publication.places[1].targets[0].workload = "cart".into();
    publication.places[1].targets[0].application = "stall".into();
    ingest.publish(publication).await.unwrap();
    for name in ["dev.cart.functional-test", "dev.acme.stall.cart.functional-test"] {
        ingest.submit(vec![report(name, 10)]).await.unwrap();
    }
    let expected = [("dev.cart.functional-test", "-"), ("dev.acme.stall.cart.functional-test", "portal ok")];
    check(&ground.database, &expected).await;
}

async fn targets_may_become_known_after_their_reports(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let names = ["dev.acme.shop.cart.functional-test.edge", "dev.cart.functional-test", "dev.portal.functional-test"];
    ingest.submit(names.map(|name| report(name, 10)).into()).await.unwrap();
    check(&ground.database, &names.map(|name| (name, "-"))).await;
    ingest.publish(publication()).await.unwrap();
    check(&ground.database, &[(names[0], "cart ok"), (names[1], "cart ok"), (names[2], "portal ok")]).await;
    check_consistent(&ground.database).await;
}

async fn reported_places_win_over_names(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let name = "dev.acme.shop.cart.functional-test";
    let portal = Endpoint::new(REPOSITORY, "dev", "portal").unwrap();
    ingest.submit(vec![Report { endpoint: Some(portal.clone()), ..report(name, 10) }]).await.unwrap();
    ingest.publish(publication()).await.unwrap();
    ingest.submit(vec![report(name, 20)]).await.unwrap();
    check(&ground.database, &[(name, "portal ok")]).await;
    let other = "dev.portal.functional-test";
    let cart = Endpoint::new(REPOSITORY, "dev", "cart").unwrap();
    for endpoint in [None, Some(cart), None] {
        let at = 30 + i64::from(endpoint.is_some());
        ingest.submit(vec![Report { endpoint, ..report(other, at) }]).await.unwrap();
    }
    check(&ground.database, &[(name, "portal ok"), (other, "cart ok")]).await;
    check_consistent(&ground.database).await;
}

async fn reconcilers_follow_targets_that_move(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    ingest.publish(publication()).await.unwrap();
    let placed = Report { endpoint: Endpoint::new(REPOSITORY, "dev", "cart").ok(), ..report("told", 10) };
    let name = "dev.cart.functional-test";
    ingest.submit(vec![report(name, 10), placed.clone()]).await.unwrap();
    // The name and the second report give the same place. The report has precedence.
    let both = "dev.acme.shop.cart.functional-test";
    ingest.submit(vec![report(both, 10)]).await.unwrap();
    ingest.submit(vec![Report { endpoint: placed.endpoint, ..report(both, 20) }]).await.unwrap();
    let mut moved = sample::publication("dev", 2);
    moved.places[0].path = "shop/cart".into();
    ingest.publish(moved).await.unwrap();
    check(&ground.database, &[(name, "shop/cart"), ("told", "cart"), (both, "cart")]).await;
    ingest.submit(vec![Report { revision: sample::hash(2), ..report(name, 20) }]).await.unwrap();
    check(&ground.database, &[(name, "shop/cart ok"), ("told", "cart"), (both, "cart")]).await;
    check_consistent(&ground.database).await;
}

async fn reconcilers_that_are_registered_have_names_too(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    ingest.publish(publication()).await.unwrap();
    let reconciler =
        ReconcilerRegistration { name: "dev.cart.functional-test".into(), kind: "flux".into(), place: None };
    let registration =
        Registration { host: "berlin".into(), kind: None, labels: BTreeMap::new(), reconciler: Some(reconciler) };
    hosts::register(&ground.database, &registration, "test").await.unwrap();
    check(&ground.database, &[("dev.cart.functional-test", "cart")]).await;
    check_consistent(&ground.database).await;
}
