//! Reports about the folders of cluster types, each of which contains the folders of many workloads.

use hub::questions::{FeedPosition, changes, history, settled};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::events::{DesiredChange, FleetChange};
use hub_api::filter::Filter;
use hub_api::history::{Event, HistorySelection, Reported};
use hub_api::page::Page;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, Role};
use hub_api::report::Report;
use hub_api::timestamp::Timestamp;

use crate::sample;
use crate::twins::Ground;

twins![
    a_workload_has_the_reports_that_brought_its_configuration,
    pages_of_configuration_reports_follow_each_other,
    changes_name_the_workloads_that_they_are_about,
];

const REPOSITORY: &str = "https://git.example/acme/platform";

fn place(path: &str, tree: i64) -> DesiredPlace {
    let (environment, cluster_type) = (Some("prod".to_owned()), Some("edge".to_owned()));
    let target = |workload: &str| DesiredTarget {
        workspace: "acme".into(),
        application: "shop".into(),
        workload: workload.into(),
        name: "eu".into(),
        environment: "prod".into(),
        ..DesiredTarget::default()
    };
    let workload = path.strip_prefix("edge/").and_then(|folder| folder.strip_suffix("-eu"));
    DesiredPlace {
        path: path.into(),
        tree: Some(sample::hash(tree)),
        role: Role::Platform,
        environment,
        cluster_type,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: workload.map(target).into_iter().collect(),
    }
}

/// Commit 1 adds `cart` and `portal`, commit 2 changes `cart`, commit 3 changes `portal`. A host reports each commit but the last, and then the folder
/// of `cart` itself.
async fn some(ground: &Ground) -> &Database {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let report = |path: &str, commit, at| Report {
        reconciler: path.into(),
        endpoint: Endpoint::new(REPOSITORY, "prod", path).ok(),
        ..sample::report("berlin", "prod", "", sample::Applied { commit, at })
    };
    for (commit, cart, portal) in [(1, 10, 20), (2, 11, 20), (3, 11, 21)] {
        let publication = BranchContent {
            repository: REPOSITORY.into(),
            branch: "prod".into(),
            commit: sample::hash(commit),
            committed_on: Timestamp::from_millis(commit * 1_000),
            places: vec![place("edge", commit), place("edge/cart-eu", cart), place("edge/portal-eu", portal)],
            is_complete: true,
        };
        ingest.publish(publication).await.unwrap();
        if commit < 3 {
            ingest.submit(vec![report("edge", commit, commit * 1_000 + 10)]).await.unwrap();
        }
    }
    ingest.submit(vec![report("edge/cart-eu", 2, 5_000)]).await.unwrap();
    &ground.database
}

fn of_workload(workload: &str) -> Filter {
    Filter { workload: Some(workload.into()), ..Filter::default() }
}

fn reported(reported: &Reported) -> String {
    let one = reported.target.iter().chain(&reported.targets);
    let workloads: Vec<_> = one.map(|target| target.workload.as_str()).collect();
    let commit = reported.commit.as_deref().unwrap_or_default().trim_start_matches('0').to_owned();
    format!("{} {commit} {}", reported.reconciler, workloads.join("+"))
}

/// The complete history, page by page.
async fn check(database: &Database, filter: &Filter, limit: usize) -> Vec<String> {
    let (mut page, mut lines) = (Page { limit: Some(limit), cursor: None }, Vec::new());
    loop {
        let answer = history(database, (filter, &HistorySelection::default()), &page).await.unwrap();
        lines.extend(answer.items.iter().map(|event| match event {
            Event::Published(published) => format!("desired {}", published.commit.trim_start_matches('0')),
            Event::Reported(report) => reported(report),
            Event::Promotion(change) => change.event.kind.clone(),
        }));
        page.cursor = answer.next;
        if page.cursor.is_none() {
            return lines;
        }
    }
}

const OF_CART: [&str; 5] = ["edge/cart-eu 2 cart", "edge 2 cart", "edge 1 cart+portal", "desired 2", "desired 1"];
const OF_PORTAL: [&str; 3] = ["edge 1 cart+portal", "desired 3", "desired 1"];

async fn a_workload_has_the_reports_that_brought_its_configuration(ground: Ground) {
    let database = some(&ground).await;
    assert_eq!(check(database, &of_workload("cart"), 100).await, OF_CART);
    assert_eq!(check(database, &of_workload("portal"), 100).await, OF_PORTAL);
    let of_host = Filter { host: Some("berlin".into()), ..of_workload("cart") };
    let expected = ["edge/cart-eu 2 cart", "edge 2 cart", "desired 2", "edge 1 cart+portal", "desired 1"];
    assert_eq!(check(database, &of_host, 100).await, expected);
    let all = check(database, &Filter::default(), 100).await;
    assert_eq!(all.iter().filter(|line| line.starts_with("edge")).count(), 3);
}

async fn pages_of_configuration_reports_follow_each_other(ground: Ground) {
    let database = some(&ground).await;
    for limit in 1..4 {
        assert_eq!(check(database, &of_workload("cart"), limit).await, OF_CART, "{limit}");
        assert_eq!(check(database, &of_workload("portal"), limit).await, OF_PORTAL, "{limit}");
    }
}

async fn changes_name_the_workloads_that_they_are_about(ground: Ground) {
    let database = some(&ground).await;
    let (mut position, end, mut lines) = (FeedPosition::default(), settled(database).await.unwrap(), Vec::new());
    while !position.has_reached(&end) {
        let found = changes(database, &of_workload("portal"), position, end).await.unwrap();
        lines.extend(found.items.iter().map(|(_, change)| match change {
            FleetChange::Desired(DesiredChange { place, targets, .. }) => {
                let folder = place.rsplit_once('/').map_or("", |(_, folder)| folder);
                format!(
                    "desired {folder} {}",
                    targets.iter().map(|target| target.workload.as_str()).collect::<String>()
                )
            }
            FleetChange::Report(report) => reported(&report.reported),
            FleetChange::Silent(_) | FleetChange::Resumed(_) | FleetChange::Promotion(_) => String::new(),
        }));
        position = found.end;
    }
    assert_eq!(lines, ["desired portal-eu portal", "desired portal-eu portal", "edge 1 cart+portal"]);
}
