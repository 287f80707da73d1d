//! Changes since a position.

use std::collections::BTreeSet;
use std::time::Duration;

use hub::questions::{FeedPosition, QuestionError, changes, settled};
use hub::silence;
use hub::store::Database;
use hub_api::events::FleetChange;
use hub_api::filter::Filter;
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use tokio::time::timeout;

use crate::questions::fleet::{Fleet, of_application};
use crate::sample;
use crate::twins::Ground;

twins![
    changes_come_once_and_in_order,
    resumed_polling_misses_no_change,
    late_reports_are_marked_as_superseded,
    silence_begins_and_ends,
    reconcilers_that_report_only_changes_are_not_silent,
    changes_are_selected,
    impossible_event_filters_are_refused,
    ids_of_deleted_reports_are_not_reused,
    concurrent_writers_hide_no_change;
    open_transactions_are_waited_for
];

fn line(change: &FleetChange) -> String {
    match change {
        FleetChange::Desired(desired) => {
            let versions: Vec<_> = desired.versions.iter().map(|version| version.version.as_str()).collect();
            let removed = if desired.is_removed { " removed" } else { "" };
            format!("desired {} {}{removed}", desired.commit.trim_start_matches('0'), versions.join(","))
        }
        FleetChange::Report(report) => {
            let status = |status: Option<Status>| status.map_or("-", Status::as_str);
            let (before, now) = (status(report.previous_status), status(report.reported.status));
            let version = report.reported.version.as_deref().unwrap_or("-");
            let superseded = if report.is_superseded { " superseded" } else { "" };
            format!("{} {version} {before} {now}{superseded}", report.reported.host)
        }
        FleetChange::Silent(silence) => format!("{} silent {}", silence.host, silence.due.is_some()),
        FleetChange::Promotion(promotion) => format!("promotion {}", promotion.event.id),
        FleetChange::Resumed(silence) => format!("{} resumed {}", silence.host, silence.due.is_some()),
    }
}

/// All selected changes after a position as lines, and the position at their end.
async fn since(database: &Database, filter: &Filter, after: FeedPosition) -> (Vec<String>, FeedPosition) {
    let until = settled(database).await.unwrap();
    let (mut position, mut lines) = (after, Vec::new());
    while !position.has_reached(&until) {
        let found = changes(database, filter, position, until).await.unwrap();
        lines.extend(found.items.iter().map(|(_, change)| line(change)));
        position = found.end;
    }
    (lines, position)
}

async fn check(database: &Database, filter: &Filter) -> Vec<String> {
    since(database, filter, FeedPosition::default()).await.0
}

async fn some(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-2", 40, 30) }).await;
    fleet.submit(of_application("h-1", 41, 30)).await;
    fleet
}

const REPORTS: [&str; 3] = ["h-1 1.0 - success superseded", "h-2 2.0 - failure", "h-1 2.0 success success"];

async fn changes_come_once_and_in_order(ground: Ground) {
    some(&ground).await;
    let expected = [&["desired 1 ", "desired 1 ", "desired b 1.0", "desired 1e 2.0"][..], &REPORTS].concat();
    assert_eq!(check(&ground.database, &Filter::default()).await, expected);
}

async fn resumed_polling_misses_no_change(ground: Ground) {
    let fleet = some(&ground).await;
    let (_, mut position) = since(&ground.database, &Filter::default(), FeedPosition::default()).await;
    for (at, status) in [(50, Status::InProgress), (60, Status::Success), (70, Status::Failure)] {
        fleet.submit(Report { status, ..of_application("h-2", at, 30) }).await;
        // The next request continues at the returned position, which was converted to text.
        let (lines, end) = since(&ground.database, &Filter::default(), position.to_string().parse().unwrap()).await;
        assert!(lines.len() == 1 && lines[0].ends_with(status.as_str()), "{lines:?}");
        position = end;
    }
    fleet.remove_application("prod", 80).await;
    assert_eq!(since(&ground.database, &Filter::default(), position).await.0, ["desired 50  removed"]);
}

async fn late_reports_are_marked_as_superseded(ground: Ground) {
    let fleet = some(&ground).await;
    let (_, position) = since(&ground.database, &Filter::default(), FeedPosition::default()).await;
    fleet.submit(Report { status: Status::InProgress, ..of_application("h-1", 35, 30) }).await;
    let expected = ["h-1 2.0 success in_progress superseded"];
    assert_eq!(since(&ground.database, &Filter::default(), position).await.0, expected);
}

async fn silence_begins_and_ends(ground: Ground) {
    let fleet = some(&ground).await;
    let (_, position) = since(&ground.database, &Filter::default(), FeedPosition::default()).await;
    let now = Timestamp::now();
    let promise = |at: Timestamp| Report {
        heartbeat: Some(Duration::from_mins(1)),
        observed_on: at,
        ..of_application("h-1", 0, 30)
    };
    fleet.submit(promise(now)).await;
    silence::mark_silent(&ground.database, || now.after(Duration::from_mins(10))).await.unwrap();
    let (lines, position) = since(&ground.database, &Filter::default(), position).await;
    assert_eq!(lines, ["h-1 silent true"]);
    fleet.submit(promise(now.after(Duration::from_secs(1)))).await;
    assert_eq!(since(&ground.database, &Filter::default(), position).await.0, ["h-1 resumed false"]);
    let silent = Filter { status: Some("silent".into()), ..Filter::default() };
    assert_eq!(check(&ground.database, &silent).await, ["h-1 silent true"]);
    silence::delete_old(&ground.database, now.after(Duration::from_mins(1))).await.unwrap();
    assert!(check(&ground.database, &silent).await.is_empty());
}

async fn reconcilers_that_report_only_changes_are_not_silent(ground: Ground) {
    let fleet = some(&ground).await;
    let now = Timestamp::now();
    let promise = |reconciler: &str| Report {
        reconciler: reconciler.into(),
        heartbeat: Some(Duration::from_mins(1)),
        observed_on: now,
        ..of_application("h-1", 0, 30)
    };
    for reconciler in ["HelmRelease/podinfo", "checkout"] {
        fleet.submit(promise(reconciler)).await;
    }
    silence::mark_silent(&ground.database, || now.after(Duration::from_mins(10))).await.unwrap();
    let (_, position) = since(&ground.database, &Filter::default(), FeedPosition::default()).await;
    assert_eq!(silence::end_promises_of_changes(&ground.database).await.unwrap(), 1);
    assert_eq!(since(&ground.database, &Filter::default(), position).await.0, ["h-1 resumed false"]);
    assert_eq!(silence::end_promises_of_changes(&ground.database).await.unwrap(), 0);
}

async fn changes_are_selected(ground: Ground) {
    some(&ground).await;
    let database = &ground.database;
    let filter = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    let host = filter(|filter| filter.host = Some("h-2".into()));
    assert_eq!(check(database, &host).await, ["desired b 1.0", "desired 1e 2.0", REPORTS[1]]);
    let labels = filter(|filter| filter.selector = Some("number=2".into()));
    assert_eq!(check(database, &labels).await, check(database, &host).await);
    let labels = filter(|filter| filter.selector = Some("number!=2,region".into()));
    assert_eq!(check(database, &labels).await, ["desired b 1.0", "desired 1e 2.0", REPORTS[0], REPORTS[2]]);
    let failed = filter(|filter| filter.status = Some("failed,inProgress".into()));
    assert_eq!(check(database, &failed).await, [REPORTS[1]]);
    let target = filter(|filter| filter.target = Some("checkout-prod".into()));
    assert_eq!(check(database, &target).await.len(), 7);
    let edge = filter(|filter| filter.cluster_type = Some("edge".into()));
    // No host has reported this cluster type, but content is desired there.
    assert_eq!(check(database, &edge).await, ["desired 1 ", "desired 1 ", "desired b 1.0", "desired 1e 2.0"]);
}

async fn impossible_event_filters_are_refused(ground: Ground) {
    let ask = async |filter: &Filter| {
        changes(&ground.database, filter, FeedPosition::default(), FeedPosition::default()).await
    };
    let outdated = Filter { status: Some("outdated".into()), ..Filter::default() };
    let error = ask(&outdated).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "`status`: no report has the status `outdated`; succeeded, failed, inProgress and silent are possible"
    );
    let unknown = Filter { environment: Some("prot".into()), ..Filter::default() };
    assert!(matches!(ask(&unknown).await, Err(QuestionError::Unknown { .. })));
}

async fn ids_of_deleted_reports_are_not_reused(ground: Ground) {
    use hub::management::retention::{Keep, Retention, delete_expired};

    let fleet = some(&ground).await;
    fleet.submit(Report { status: Status::InProgress, ..of_application("h-1", 10, 11) }).await;
    let (_, position) = since(&ground.database, &Filter::default(), FeedPosition::default()).await;
    let reports = Keep { age: None, count: Some(1) };
    let retention = Retention { reports, ..Retention::default() };
    delete_expired(&ground.database, &retention, Timestamp::now()).await.unwrap();
    fleet.submit(of_application("h-2", 90, 30)).await;
    assert_eq!(since(&ground.database, &Filter::default(), position).await.0, ["h-2 2.0 failure success"]);
}

async fn concurrent_writers_hide_no_change(ground: Ground) {
    let (hosts, reports) = (8, 12);
    let mut writers = tokio::task::JoinSet::new();
    for host in 0..hosts {
        // Each fleet uses its own replica of the hub.
        let fleet = Fleet::empty(&Database::open(&ground.url).await.unwrap());
        writers.spawn(async move {
            for at in 1..=reports {
                let message = format!("{at}");
                fleet.submit(Report { message, ..of_application(&format!("h-{host}"), at, 1) }).await;
            }
        });
    }
    let (mut position, mut seen, mut count) = (FeedPosition::default(), BTreeSet::new(), 0);
    loop {
        let is_over = writers.is_empty();
        let until = settled(&ground.database).await.unwrap();
        while !position.has_reached(&until) {
            let found = changes(&ground.database, &Filter::default(), position, until).await.unwrap();
            for (_, change) in &found.items {
                let FleetChange::Report(report) = change else { continue };
                count += 1;
                seen.insert((report.reported.host.clone(), report.reported.at));
            }
            position = found.end;
        }
        while writers.try_join_next().is_some() {}
        if is_over {
            break;
        }
    }
    assert_eq!((seen.len(), count), ((hosts * reports) as usize, hosts * reports));
}

/// Reports whose transaction began first may be committed last.
async fn open_transactions_are_waited_for() {
    let ground = Ground::postgres().await;
    sample::fill(&ground.database).await;
    let before = settled(&ground.database).await.unwrap();
    let mut first = ground.database.begin().await.unwrap();
    let insert = "insert into silence (reconciler_id, is_silent, noticed_on) \
        select min(id), $1::smallint, timestamp 'epoch' from reconciler";
    first.execute("select 1 from reconciler_state order by 1 limit 1 for update", Vec::new()).await.unwrap();
    first.execute(insert, vec![1.into()]).await.unwrap();
    let mut second = ground.database.begin().await.unwrap();
    second.execute(insert, vec![0.into()]).await.unwrap();
    second.commit().await.unwrap();
    let early = timeout(Duration::from_millis(200), settled(&ground.database)).await;
    assert!(early.is_err(), "{early:?}");
    first.commit().await.unwrap();
    let (lines, _) = since(&ground.database, &Filter::default(), before).await;
    assert_eq!(lines, ["berlin silent false", "berlin resumed false"]);
}
