//! The search by words of names.

use std::collections::BTreeSet;

use hub::management::hosts;
use hub::questions::search;
use hub::store::Database;
use hub_api::search::{SearchAnswer, SearchKind, SearchQuery};
use hub_api::tokens::Reach;

use crate::questions::fleet::{Fleet, WORKLOAD, hash, of_application, of_folder};
use crate::twins::Ground;

twins![
    every_kind_is_found_by_its_name,
    names_that_begin_with_the_word_come_first,
    hosts_are_found_by_their_segments,
    a_limited_token_finds_only_its_own,
    many_hits_are_cut,
];

async fn found(database: &Database, reach: &Reach, q: &str) -> SearchAnswer {
    search(database, reach, &SearchQuery { q: q.into(), limit: None }).await.unwrap()
}

/// The hits as `kind name`.
async fn names(database: &Database, reach: &Reach, q: &str) -> Vec<String> {
    let groups = found(database, reach, q).await.groups.into_iter();
    let hits = groups.flat_map(|group| group.hits.into_iter().map(move |hit| format!("{:?} {}", group.kind, hit.name)));
    hits.collect()
}

async fn check(database: &Database, q: &str, expected: &[&str]) {
    assert_eq!(names(database, &Reach::ALL, q).await, expected, "{q}");
}

async fn every_kind_is_found_by_its_name(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("Prod_west.7", 20, 11)).await;
    let database = &ground.database;
    check(database, "prod", &["Environment prod", "Target checkout-prod", "Host Prod_west.7"]).await;
    check(database, "STORE", &["Workspace store-team"]).await;
    check(database, "edge", &["ClusterType edge"]).await;
    check(database, "out_100%", &[&format!("Workload {WORKLOAD}")]).await;
    check(database, "1.0", &["Version 1.0"]).await;
    // A word may match what a hit belongs to, but one must match its name.
    check(database, "check'out 1", &[&format!("Workload {WORKLOAD}"), "Version 1.0"]).await;
    check(database, "store check", &[&format!("Workload {WORKLOAD}"), "Target checkout-prod"]).await;
    check(database, "store nothing", &[]).await;
    let commit = hash(11);
    let answer = found(database, &Reach::ALL, &commit.to_uppercase()[..40]).await;
    let hit = &answer.groups[0].hits[0];
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    assert_eq!((answer.groups[0].kind, hit.name.as_str()), (SearchKind::Commit, commit.as_str()));
    assert_eq!(
        (text(&hit.repository).as_str(), text(&hit.branch).as_str()),
        ("https://git.example/acme/checkout", "prod")
    );
    check(database, "0000", &[&format!("Commit {}", hash(1)), &format!("Commit {commit}")]).await;
    check(database, "000", &[]).await;
}

async fn names_that_begin_with_the_word_come_first(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for (number, workload) in ["discount", "account", "count", "a.count", "count-b"].into_iter().enumerate() {
        fleet.publish_workload(workload, 20 + number as i64, "7.0").await;
    }
    let expected = ["count", "count-b", "a.count", "account", "discount"].map(|name| format!("Workload {name}"));
    assert_eq!(names(&ground.database, &Reach::ALL, "Count").await, expected);
}

async fn hosts_are_found_by_their_segments(ground: Ground) {
    let database = &ground.database;
    let fleet = Fleet::new(database).await;
    let all = ["eu-west-1-store-0042", "store_7", "EU.central", "reveu", "a/b/c/d/eu/f", "eu-eu", "retired-eu"];
    for (number, host) in all.into_iter().enumerate() {
        fleet.submit(of_application(host, 20 + number as i64, 11)).await;
    }
    hosts::retire(database, hosts::HostPart { host: "retired-eu", reconciler: None }, "test").await.unwrap();
    check(database, "eu", &["Host EU.central", "Host eu-eu", "Host eu-west-1-store-0042"]).await;
    check(database, "store", &["Workspace store-team", "Host store_7", "Host eu-west-1-store-0042"]).await;
    check(database, "0042", &["Host eu-west-1-store-0042"]).await;
    check(database, "west.1-st", &["Host eu-west-1-store-0042"]).await;
    check(database, "eu 0042", &["Host eu-west-1-store-0042"]).await;
    check(database, "eu 43", &[]).await;
}

async fn a_limited_token_finds_only_its_own(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.publish_platform("stage", 2, "c1").await;
    fleet.publish_application("stage", 12, "1.1").await;
    fleet.submit(of_application("h-prod", 20, 11)).await;
    fleet.submit(of_folder("h-folder", "edge", 20, 1)).await;
    fleet.submit(of_folder("h-nowhere", "nowhere", 20, 1)).await;
    let reach = |workspaces: &[&str], environments: &[&str]| {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Reach { workspaces: names(workspaces), environments: names(environments) }
    };
    let everything = ["prod", "stage", "store", "check", "edge", "h-", "1.", "0000"];
    let found = async |reach: Reach| {
        let mut all = BTreeSet::new();
        for q in everything {
            all.extend(names(&ground.database, &reach, q).await);
        }
        all
    };
    assert!(found(reach(&["other-team"], &[])).await.is_empty());
    assert!(found(reach(&[], &["dev"])).await.is_empty());
    let all = found(Reach::ALL).await;
    let of_stage = found(reach(&[], &["stage"])).await;
    assert!(
        !of_stage.iter().any(|hit| hit.contains("prod") || hit.contains("1.0") || hit.starts_with("Host")),
        "{of_stage:?}"
    );
    let expected =
        ["Environment stage", "Target checkout-stage", "Version 1.1", "ClusterType edge", "Workspace store-team"];
    assert!(expected.iter().all(|hit| of_stage.contains(*hit)), "{of_stage:?}");
    let commits = |all: &BTreeSet<String>| all.iter().filter(|hit| hit.starts_with("Commit")).count();
    assert_eq!((commits(&all), commits(&of_stage)), (4, 2));
    let of_workspace = found(reach(&["store-team"], &["prod"])).await;
    let hosts: Vec<_> = of_workspace.iter().filter(|hit| hit.starts_with("Host")).collect();
    assert_eq!(hosts, ["Host h-folder", "Host h-prod"]);
    assert_eq!(all.iter().filter(|hit| hit.starts_with("Host")).count(), 3);
}

async fn many_hits_are_cut(ground: Ground) {
    let database = &ground.database;
    let fleet = Fleet::new(database).await;
    for number in 0..9 {
        fleet.submit(of_application(&format!("host-{number}"), 20 + number, 11)).await;
    }
    let cut = async |limit: Option<usize>| {
        let answer = search(database, &Reach::ALL, &SearchQuery { q: "host".into(), limit }).await.unwrap();
        (answer.groups[0].hits.len(), answer.groups[0].more)
    };
    assert_eq!((cut(None).await, cut(Some(9)).await, cut(Some(1)).await), ((8, true), (9, false), (1, true)));
    for wrong in [SearchQuery { q: " ".into(), limit: None }, SearchQuery { q: "a".into(), limit: Some(51) }] {
        assert!(search(database, &Reach::ALL, &wrong).await.is_err());
    }
}
