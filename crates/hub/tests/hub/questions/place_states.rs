//! The state of places: of cluster types, of clusters, and of assignments inside their folders.

use std::time::Duration;

use hub::questions::{QuestionError, deployments, place_states};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::deployments::Deployment;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::places::PlaceState;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};

use crate::sample;
use crate::twins::Ground;

twins![
    a_place_has_the_states_of_its_reconcilers,
    a_workload_is_where_its_content_is,
    a_failure_of_a_folder_is_one_of_each_workload_in_it,
    reconcilers_without_a_heartbeat_are_counted,
    clusters_are_counted_separately,
    reconcilers_of_manifests_are_counted_beside_them,
    pages_follow_each_other,
    filters_for_reconcilers_are_refused,
];

const PLATFORM: &str = "https://git.example/acme/platform";
const SHOP: &str = "https://git.example/acme/shop";

fn place(path: &str, tree: i64, cluster: Option<&str>) -> DesiredPlace {
    let (environment, cluster_type) = (Some("prod".to_owned()), Some("edge".to_owned()));
    let workload = path.split_once('/').map(|(_, workload)| workload);
    let (role, targets) = (Role::Platform, workload.map(target).into_iter().collect());
    let (path, tree, cluster) = (path.to_owned(), Some(sample::hash(tree)), cluster.map(str::to_owned));
    DesiredPlace {
        path,
        tree,
        role,
        environment,
        cluster_type,
        cluster,
        earlier_names: Vec::new(),
        config_version: None,
        targets,
    }
}

fn target(workload: &str) -> DesiredTarget {
    let [workspace, application, name, environment] = ["acme", "shop", "eu", "prod"].map(str::to_owned);
    DesiredTarget { workspace, application, workload: workload.into(), name, environment, ..DesiredTarget::default() }
}

async fn publish(ingest: &Writer, (repository, commit): (&str, i64), places: Vec<DesiredPlace>) {
    let (repository, branch, commit_id) = (repository.to_owned(), "prod".to_owned(), sample::hash(commit));
    let committed_on = Timestamp::from_millis(commit * 1_000);
    let content = BranchContent { repository, branch, commit: commit_id, committed_on, places, is_complete: true };
    ingest.publish(content).await.unwrap();
}

/// A report that a host applied a folder at a commit.
fn report(host: &str, repository: &str, path: &str, commit: i64) -> Report {
    let report = sample::report(host, "prod", "", sample::Applied { commit, at: 100_000 + commit });
    let endpoint = Endpoint::new(repository, "prod", path).ok();
    Report { reconciler: path.into(), endpoint, ..report }
}

async fn submit(ingest: &Writer, report: Report) {
    ingest.submit(vec![report]).await.unwrap();
}

/// Commit 1 adds `cart` and `portal` to the folder of type `edge`, and to those of the clusters a and b of this type. Commit 2 changes `cart`, commit 3 `portal`.
async fn company(ground: &Ground) -> (&Database, Writer) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    for (commit, cart, portal) in [(1, 10, 20), (2, 11, 20), (3, 11, 21)] {
        let mut places = Vec::new();
        for (folder, cluster) in [("edge", None), ("a", Some("a")), ("b", Some("b"))] {
            places.push(place(folder, 100 + commit, cluster));
            places.push(place(&format!("{folder}/cart"), cart, cluster));
            places.push(place(&format!("{folder}/portal"), portal, cluster));
        }
        publish(&ingest, (PLATFORM, commit), places).await;
    }
    (&ground.database, ingest)
}

fn counts(counts: &Counts) -> String {
    let states = ReconcilerState::ALL.into_iter().filter(|state| counts.get(*state) > 0);
    states.map(|state| format!(" {} {}", counts.get(state), state.as_str())).collect()
}

fn line(state: &PlaceState) -> String {
    let tree = state.tree.trim_start_matches('0');
    let applications = state.applications.map(|applications| format!(" |{}", counts(&applications)));
    format!("{} {} {tree}:{}{}", state.place, state.path, counts(&state.counts), applications.unwrap_or_default())
}

/// A line for each place, on pages of this length, sorted.
async fn check(database: &Database, workload: Option<&str>, limit: usize) -> Vec<String> {
    let filter =
        Filter { environment: Some("prod".into()), workload: workload.map(str::to_owned), ..Filter::default() };
    let (mut page, mut lines) = (Page { cursor: None, limit: Some(limit) }, Vec::new());
    loop {
        let answer = place_states(database, &filter, &page).await.unwrap();
        assert!(answer.items.len() <= limit);
        lines.extend(answer.items.iter().map(line));
        page.cursor = answer.next;
        if page.cursor.is_none() {
            lines.sort();
            return lines;
        }
    }
}

async fn a_place_has_the_states_of_its_reconcilers(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    for (host, commit, status) in
        [("h-1", 3, Status::Success), ("h-2", 3, Status::Failure), ("h-3", 2, Status::Success)]
    {
        submit(&ingest, Report { status, ..report(host, PLATFORM, "edge", commit) }).await;
    }
    submit(&ingest, report("h-4", PLATFORM, "edge/cart", 2)).await;
    let lines = check(database, None, 100).await;
    let of_type: Vec<_> = lines.iter().filter(|line| line.starts_with("edge")).collect();
    assert_eq!(
        of_type,
        ["edge edge 67: 1 succeeded 1 failed 1 outdated", "edge edge/cart b: 1 succeeded", "edge edge/portal 15:"]
    );
    assert_eq!(lines.len(), 9);
}

async fn a_workload_is_where_its_content_is(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    for commit in 1..4 {
        submit(&ingest, report(&format!("h-{commit}"), PLATFORM, "edge", commit)).await;
    }
    submit(&ingest, Report { status: Status::Failure, ..report("h-4", PLATFORM, "edge", 2) }).await;
    submit(&ingest, report("h-5", PLATFORM, "edge/cart", 2)).await;
    let of_type = async |workload| check(database, Some(workload), 100).await.remove(2);
    assert_eq!(of_type("cart").await, "edge edge/cart b: 3 succeeded 1 failed 1 outdated |");
    assert_eq!(of_type("portal").await, "edge edge/portal 15: 1 succeeded 3 outdated |");
}

/// The platform's reconciler applies a folder as a whole, and reports no workload: its message says what failed.
async fn a_failure_of_a_folder_is_one_of_each_workload_in_it(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    let report = sample::report("a", "prod", "", sample::Applied { commit: 3, at: 100_000 });
    let (reconciler, endpoint) = ("platform".to_owned(), Endpoint::new(PLATFORM, "prod", "a").ok());
    let (status, message) = (Status::Failure, "portal/values.yaml is invalid".to_owned());
    ingest.submit(vec![Report { reconciler, endpoint, status, message, ..report }]).await.unwrap();
    for (workload, tree) in [("cart", "b"), ("portal", "15")] {
        let lines = check(database, Some(workload), 100).await;
        let rest = [format!("b b/{workload} {tree}: |"), format!("edge edge/{workload} {tree}: |")];
        assert_eq!(lines, [&[format!("a a/{workload} {tree}: 1 failed |")], &rest[..]].concat());
    }
    let filter = Filter { host: Some("a".into()), status: Some("failed".into()), ..Filter::default() };
    let failed = deployments(database, &filter, &Page::default(), None).await.unwrap().items;
    let of = |deployment: &Deployment| {
        let workload = deployment.target.as_ref().map(|target| target.workload.clone()).unwrap_or_default();
        (deployment.reconciler.clone(), workload, deployment.message.clone().unwrap_or_default())
    };
    let row = |workload: &str| ("platform".to_owned(), workload.to_owned(), "portal/values.yaml is invalid".to_owned());
    assert_eq!(failed.iter().map(of).collect::<Vec<_>>(), ["cart", "portal"].map(row));
}

async fn reconcilers_without_a_heartbeat_are_counted(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    for (host, heartbeat) in [("h-1", None), ("h-2", None), ("h-3", Some(Duration::from_hours(24 * 31)))] {
        let report = sample::report(host, "prod", "", sample::Applied { commit: 3, at: 100_003 });
        let endpoint = Endpoint::new(PLATFORM, "prod", "edge").ok();
        ingest.submit(vec![Report { reconciler: "edge".into(), endpoint, heartbeat, ..report }]).await.unwrap();
    }
    for (workload, path) in [(None, "edge"), (Some("cart"), "edge/cart")] {
        let filter = Filter { workload: workload.map(str::to_owned), ..Filter::default() };
        let answer = place_states(database, &filter, &Page::default()).await.unwrap();
        let counts = answer.items.iter().find(|item| item.path == path).unwrap().counts;
        assert_eq!((counts.succeeded, counts.succeeded_without_heartbeat), (3, 2), "{path}");
    }
}

async fn clusters_are_counted_separately(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    submit(&ingest, report("a", PLATFORM, "a", 3)).await;
    submit(&ingest, report("b", PLATFORM, "b", 2)).await;
    let expected = ["a a/portal 15: 1 succeeded |", "b b/portal 15: 1 outdated |", "edge edge/portal 15: |"];
    assert_eq!(check(database, Some("portal"), 100).await, expected);
    let expected = ["a a/cart b: 1 succeeded |", "b b/cart b: 1 succeeded |", "edge edge/cart b: |"];
    assert_eq!(check(database, Some("cart"), 100).await, expected);
    let all = check(database, None, 100).await;
    assert!(
        all.contains(&"a a 67: 1 succeeded".to_owned()) && all.contains(&"b b 67: 1 outdated".to_owned()),
        "{all:?}"
    );
}

async fn reconcilers_of_manifests_are_counted_beside_them(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    let manifests = DesiredPlace { role: Role::Application, ..place("x/cart", 30, None) };
    publish(&ingest, (SHOP, 1), vec![DesiredPlace { cluster_type: None, ..manifests }]).await;
    for (host, status) in [("a", Status::Failure), ("b", Status::Success)] {
        submit(&ingest, report(host, PLATFORM, host, 3)).await;
        submit(&ingest, Report { status, ..report(host, SHOP, "x/cart", 1) }).await;
    }
    let expected =
        ["a a/cart b: 1 succeeded | 1 failed", "b b/cart b: 1 succeeded | 1 succeeded", "edge edge/cart b: |"];
    assert_eq!(check(database, Some("cart"), 100).await, expected);
    assert_eq!(check(database, Some("portal"), 100).await[0], "a a/portal 15: 1 succeeded |");
    // A host with a reconciler of the folder, and one of the folder around it, counts once.
    submit(&ingest, report("a", PLATFORM, "a/cart", 3)).await;
    assert_eq!(check(database, Some("cart"), 100).await[0], "a a/cart b: 2 succeeded | 1 failed");
}

async fn pages_follow_each_other(ground: Ground) {
    let (database, ingest) = company(&ground).await;
    submit(&ingest, report("a", PLATFORM, "a", 3)).await;
    for workload in [None, Some("cart")] {
        let all = check(database, workload, 100).await;
        for limit in 1..5 {
            assert_eq!(check(database, workload, limit).await, all, "{limit}");
        }
    }
}

async fn filters_for_reconcilers_are_refused(ground: Ground) {
    let (database, _ingest) = company(&ground).await;
    let refused = async |filter: &Filter, page: &Page| match place_states(database, filter, page).await {
        Err(QuestionError::Wrong { parameter, .. }) => parameter,
        other => panic!("{other:?}"),
    };
    let some = Filter { selector: Some("a=b".into()), ..Filter::default() };
    assert_eq!(refused(&some, &Page::default()).await, "selector");
    let page = Page { limit: Some(10_001), cursor: None };
    assert_eq!(refused(&Filter::default(), &page).await, "limit");
}
