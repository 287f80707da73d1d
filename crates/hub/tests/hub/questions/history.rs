//! The history of changes.

use hub::questions::history;
use hub_api::filter::Filter;
use hub_api::history::Event;
use hub_api::page::Page;
use hub_api::report::Status;

use crate::questions::fleet::Fleet;
use crate::twins::Ground;

twins![a_host_has_a_history, an_environment_has_one_with_all_its_hosts, pages_follow_each_other];

fn line(event: &Event) -> String {
    match event {
        Event::Published(published) => {
            let versions: Vec<_> = published.versions.iter().map(|version| version.version.as_str()).collect();
            format!("{} published {}", published.commit.trim_start_matches('0'), versions.join(","))
        }
        Event::Reported(reported) => {
            let version = reported.version.as_deref().unwrap_or("-");
            let status = reported.status.map_or("?", Status::as_str);
            format!("{} {} {version} {status}", reported.host, reported.reconciler)
        }
    }
}

async fn check(fleet: &Fleet, filter: &Filter, limit: usize) -> Vec<String> {
    let mut page = Page { limit: Some(limit), cursor: None };
    let mut lines = Vec::new();
    loop {
        let answer = history(&fleet.database, filter, &page).await.unwrap();
        lines.extend(answer.items.iter().map(line));
        page.cursor = answer.next;
        if page.cursor.is_none() {
            return lines;
        }
    }
}

async fn some(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    fleet.application("h-1", 21, (11, Status::Success)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    fleet.application("h-2", 40, (30, Status::Failure)).await;
    fleet.application("h-1", 41, (30, Status::Success)).await;
    fleet.application("h-1", 35, (30, Status::InProgress)).await;
    fleet
}

const OF_HOST: [&str; 5] = [
    "h-1 checkout 2.0 success",
    "h-1 checkout 2.0 in_progress",
    "1e published 2.0",
    "h-1 checkout 1.0 success",
    "b published 1.0",
];

async fn a_host_has_a_history(ground: Ground) {
    let fleet = some(&ground).await;
    let filter = Filter { host: Some("h-1".into()), ..Filter::default() };
    assert_eq!(check(&fleet, &filter, 100).await, OF_HOST);
}

async fn an_environment_has_one_with_all_its_hosts(ground: Ground) {
    let fleet = some(&ground).await;
    let filter = Filter { environment: Some("prod".into()), ..Filter::default() };
    // In order of arrival at the hub: commits are of 1970 here, reports of today.
    let expected = [
        "h-1 checkout 2.0 in_progress",
        "h-1 checkout 2.0 success",
        "h-2 checkout 2.0 failure",
        "h-1 checkout 1.0 success",
        "1e published 2.0",
        "b published 1.0",
        "1 published ",
    ];
    assert_eq!(check(&fleet, &filter, 100).await, expected);
    let filter = Filter { target: Some("checkout-prod".into()), ..Filter::default() };
    assert_eq!(check(&fleet, &filter, 100).await, expected);
}

async fn pages_follow_each_other(ground: Ground) {
    let fleet = some(&ground).await;
    let host = Filter { host: Some("h-1".into()), ..Filter::default() };
    for limit in 1..4 {
        assert_eq!(check(&fleet, &host, limit).await, OF_HOST, "{limit}");
        assert_eq!(check(&fleet, &Filter::default(), limit).await.len(), 7, "{limit}");
    }
}
