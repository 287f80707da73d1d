//! Publications that list all folders in a range of a branch: a folder that is not listed no longer exists.

use hub::desired::DesiredUpdate;
use hub::store::Database;
use hub::writer::Writer;
use hub_api::publication::{BranchContent, DesiredPlace, PathRange, Role};
use hub_api::timestamp::Timestamp;

use crate::faults::check_consistent;
use crate::sample::{REPOSITORY, hash};
use crate::twins::Ground;

twins![
    unnamed_places_in_the_range_are_removed,
    a_range_goes_by_the_bytes_of_paths,
    late_publication_removes_nothing,
    commits_of_one_second_remove_nothing,
];

fn place(path: &str, role: Role) -> DesiredPlace {
    DesiredPlace {
        path: path.into(),
        tree: Some(hash(7)),
        role,
        environment: None,
        cluster_type: None,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: Vec::new(),
    }
}

/// A commit at this timestamp with these platform folders.
fn publication(commit: i64, at: i64, paths: &[&str]) -> BranchContent {
    BranchContent {
        repository: REPOSITORY.into(),
        branch: "prod".into(),
        commit: hash(commit),
        committed_on: Timestamp::from_millis(at),
        places: paths.iter().map(|path| place(path, Role::Platform)).collect(),
        is_complete: false,
    }
}

/// The range of paths between two paths.
fn range(below: &str, after: Option<&str>, until: Option<&str>) -> PathRange {
    PathRange { below: below.into(), after: after.map(str::to_owned), until: until.map(str::to_owned) }
}

/// Checks the paths at which content is desired.
async fn check(database: &Database, expected: &[&str]) {
    let sql =
        "select p.path from place p join place_revision w on w.id = p.desired_revision_id where w.tree is not null";
    let mut found: Vec<String> = database.query(sql, Vec::new()).await.unwrap();
    found.sort();
    assert_eq!(found, expected);
    check_consistent(database).await;
}

async fn with(ground: &Ground, paths: &[&str]) -> Writer {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    ingest.publish(publication(1, 1_000, paths)).await.unwrap();
    ingest
}

async fn unnamed_places_in_the_range_are_removed(ground: Ground) {
    let ingest = with(&ground, &["west", "west/cart", "west/portal", "east", "other/east"]).await;
    let manifests =
        BranchContent { places: vec![place("east/manifests", Role::Application)], ..publication(1, 1_000, &[]) };
    ingest.publish(manifests).await.unwrap();
    let elsewhere = BranchContent { branch: "prod2".into(), ..publication(1, 1_000, &["east"]) };
    ingest.publish(elsewhere).await.unwrap();
    let content = publication(2, 2_000, &["west", "west/cart"]);
    let published =
        ingest.update_desired(DesiredUpdate::Complete(content.clone(), range("", None, None))).await.unwrap();
    assert_eq!((published.removed, published.unchanged), (3, 2));
    check(&ground.database, &["east", "east/manifests", "west", "west/cart"]).await;
    let published = ingest.update_desired(DesiredUpdate::Complete(content, range("", None, None))).await.unwrap();
    assert_eq!((published.removed, published.changed), (0, 0));
}

async fn a_range_goes_by_the_bytes_of_paths(ground: Ground) {
    let all = ["a", "f/a", "f/a-2", "f/a-2/x", "f/a/x", "f/é", "f0"];
    let ingest = with(&ground, &all).await;
    let tell = async |(commit, paths): (i64, &[&str]), range| {
        let content = publication(commit, commit * 1_000, paths);
        ingest.update_desired(DesiredUpdate::Complete(content, range)).await.unwrap().removed
    };
    assert_eq!(tell((2, &["f/a"]), range("f", None, Some("f/a-2"))).await, 1);
    check(&ground.database, &["a", "f/a", "f/a-2/x", "f/a/x", "f/é", "f0"]).await;
    assert_eq!(tell((2, &[]), range("f", Some("f/a-2/x"), None)).await, 2);
    check(&ground.database, &["a", "f/a", "f/a-2/x", "f0"]).await;
}

async fn late_publication_removes_nothing(ground: Ground) {
    let ingest = with(&ground, &["west"]).await;
    let first = publication(2, 2_000, &["west"]);
    assert_eq!(
        ingest.update_desired(DesiredUpdate::Complete(first, range("", None, Some("west")))).await.unwrap().removed,
        0
    );
    // A publication arrives in between.
    ingest.publish(publication(3, 3_000, &["west/cart"])).await.unwrap();
    let rest = publication(2, 2_000, &[]);
    assert_eq!(
        ingest.update_desired(DesiredUpdate::Complete(rest, range("", Some("west"), None))).await.unwrap().removed,
        0
    );
    check(&ground.database, &["west", "west/cart"]).await;
}

async fn commits_of_one_second_remove_nothing(ground: Ground) {
    let ingest = with(&ground, &["west"]).await;
    ingest.publish(publication(2, 1_000, &["west/cart"])).await.unwrap();
    for commit in [1, 3] {
        let content = publication(commit, 1_000, &["west"]);
        assert_eq!(
            ingest.update_desired(DesiredUpdate::Complete(content, range("", None, None))).await.unwrap().removed,
            0
        );
    }
    check(&ground.database, &["west", "west/cart"]).await;
}
