//! Drift and silent reconcilers.

use std::time::Duration;

use hub::questions::{drift, drift_hosts};
use hub::silence::mark_silent;
use hub_api::drift::DriftKind;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;

use crate::questions::fleet::{Fleet, of_application, of_folder};
use crate::twins::Ground;

twins![
    oldest_drift_comes_first,
    reports_that_match_nothing_are_counted_and_listed,
    missed_heartbeat_makes_a_reconciler_silent,
    new_report_ends_the_silence,
];

async fn oldest_drift_comes_first(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(Report { status: Status::Failure, ..of_folder("h-1", "edge", 20, 1) }).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    let answer = drift(&fleet.database, &Filter::default(), &Page::default(), None).await.unwrap();
    let lines = answer.items.iter().map(|row| {
        let commit = row.commit.trim_start_matches('0');
        format!("{} {commit} {} failed {} outdated", row.environment, row.counts.failed, row.counts.outdated)
    });
    assert_eq!(lines.collect::<Vec<_>>(), ["prod 1 1 failed 0 outdated", "prod 1e 0 failed 1 outdated"]);
    assert_eq!((answer.counts.expected, answer.silent, answer.unknown_content), (2, 0, 0));
}

async fn listed(fleet: &Fleet, kind: DriftKind) -> Vec<String> {
    let answer = drift_hosts(&fleet.database, kind, &Filter::default(), &Page::default()).await.unwrap();
    answer.items.into_iter().map(|row| row.host).collect()
}

async fn reports_that_match_nothing_are_counted_and_listed(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("knows-more", 21, 99)).await;
    fleet.submit(Report { endpoint: None, ..of_application("nowhere", 21, 11) }).await;
    let answer = drift(&fleet.database, &Filter::default(), &Page::default(), None).await.unwrap();
    assert_eq!((answer.unknown_content, answer.removed_place, answer.unknown_place), (1, 0, 1));
    assert_eq!(listed(&fleet, DriftKind::UnknownContent).await, ["knows-more"]);
    assert_eq!(listed(&fleet, DriftKind::UnknownPlace).await, ["nowhere"]);
    fleet.remove_application("prod", 30).await;
    let answer = drift(&fleet.database, &Filter::default(), &Page::default(), None).await.unwrap();
    assert_eq!((answer.unknown_content, answer.removed_place), (0, 1));
    assert_eq!(listed(&fleet, DriftKind::RemovedPlace).await, ["knows-more"]);
}

/// Submits a report of a host that announces a heartbeat of one minute. Returns the time of the report.
async fn promising(fleet: &Fleet, host: &str) -> Timestamp {
    let now = Timestamp::now();
    let heartbeat = Some(Duration::from_mins(1));
    fleet.submit(Report { heartbeat, observed_on: now, ..of_application(host, 0, 11) }).await;
    now
}

async fn missed_heartbeat_makes_a_reconciler_silent(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let then = promising(&fleet, "h-1").await;
    fleet.submit(of_application("h-2", 21, 11)).await;
    assert_eq!(mark_silent(&fleet.database, || then.after(Duration::from_secs(89))).await.unwrap(), 0);
    assert_eq!(mark_silent(&fleet.database, || then.after(Duration::from_secs(91))).await.unwrap(), 1);
    assert_eq!(mark_silent(&fleet.database, || then.after(Duration::from_secs(91))).await.unwrap(), 0);
    let answer = drift(&fleet.database, &Filter::default(), &Page::default(), None).await.unwrap();
    assert_eq!((answer.silent, answer.counts.succeeded, answer.counts.succeeded_but_silent), (1, 2, 1));
    assert_eq!(listed(&fleet, DriftKind::Silent).await, ["h-1"]);
}

async fn new_report_ends_the_silence(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let then = promising(&fleet, "h-1").await;
    mark_silent(&fleet.database, || then.after(Duration::from_hours(1))).await.unwrap();
    assert_eq!(listed(&fleet, DriftKind::Silent).await, ["h-1"]);
    promising(&fleet, "h-1").await;
    assert_eq!(listed(&fleet, DriftKind::Silent).await, Vec::<String>::new());
}
