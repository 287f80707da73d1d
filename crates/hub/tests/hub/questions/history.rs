//! The history of changes.

use std::collections::BTreeSet;

use hub::promotions::record;
use hub::questions::{EarlierNames, FeedPosition, Question, changes, history, settled};
use hub_api::events::FleetChange;
use hub_api::filter::Filter;
use hub_api::history::{Event, HistoryKind, HistorySelection};
use hub_api::page::Page;
use hub_api::promotions::PromotionEvent;
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;
use model::earlier_names::{RENAMED_FROM, RENAMED_TARGETS};

use crate::questions::fleet::{Fleet, WORKLOAD, of_application};
use crate::twins::Ground;

twins![
    a_host_has_a_history,
    environment_history_includes_all_its_hosts,
    pages_follow_each_other,
    decisions_are_part_of_the_history,
    a_selection_is_by_person_kind_and_time,
    a_selection_ends_before_a_time,
    a_reach_limits_decisions,
    a_renamed_workload_has_the_history_of_its_earlier_name,
];

pub(crate) fn line(event: &Event) -> String {
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
        Event::Promotion(change) => {
            format!(
                "{} {} by {}",
                change.event.environment,
                change.event.kind,
                change.event.by.as_deref().unwrap_or("-")
            )
        }
    }
}

pub(crate) async fn check(fleet: &Fleet, filter: &Filter, limit: usize) -> Vec<String> {
    check_selected(fleet, (filter, &HistorySelection::default()), limit).await
}

async fn check_selected(fleet: &Fleet, (filter, selection): (&Filter, &HistorySelection), limit: usize) -> Vec<String> {
    let mut page = Page { limit: Some(limit), cursor: None };
    let mut lines = Vec::new();
    loop {
        let answer = history(&fleet.database, (filter, selection), &page).await.unwrap();
        lines.extend(answer.items.iter().map(line));
        page.cursor = answer.next;
        if page.cursor.is_none() {
            return lines;
        }
    }
}

async fn some(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-2", 40, 30) }).await;
    fleet.submit(of_application("h-1", 41, 30)).await;
    fleet.submit(Report { status: Status::InProgress, ..of_application("h-1", 35, 30) }).await;
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

async fn environment_history_includes_all_its_hosts(ground: Ground) {
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

/// A user of git.
const ANN: &str = "Ann 100%_ <ann@acme.example>";

/// Decisions before, between and after the commits 11 and 30 of [`some`].
async fn decide(fleet: &Fleet) {
    let event = |(at, environment, kind, by): (i64, &str, &str, Option<&str>)| PromotionEvent {
        id: at.to_string(),
        at: Timestamp::from_millis(at),
        environment: environment.to_owned(),
        subject: (at == 20).then(|| "check'out_100%".to_owned()),
        kind: kind.to_owned(),
        by: by.map(str::to_owned),
        ..PromotionEvent::default()
    };
    let events = [
        (5, "prod", "held", Some(ANN)),
        (20, "prod", "approved", Some("Olga")),
        (25, "prod", "waiting", None),
        (30, "stage", "held", Some("ann")),
        (40, "prod", "promoted", None),
    ];
    record(&fleet.database, &events.map(event), None).await.unwrap();
}

const OF_ALL: [&str; 11] = [
    "h-1 checkout 2.0 in_progress",
    "h-1 checkout 2.0 success",
    "h-2 checkout 2.0 failure",
    "h-1 checkout 1.0 success",
    "prod promoted by -",
    "1e published 2.0",
    "stage held by ann",
    "prod approved by Olga",
    "b published 1.0",
    "prod held by Ann 100%_ <ann@acme.example>",
    "1 published ",
];

async fn decisions_are_part_of_the_history(ground: Ground) {
    let fleet = some(&ground).await;
    decide(&fleet).await;
    for limit in [1, 2, 3, 5, 100] {
        assert_eq!(check(&fleet, &Filter::default(), limit).await, OF_ALL, "{limit}");
    }
    // No decision is about a host.
    let host = Filter { host: Some("h-1".into()), ..Filter::default() };
    assert_eq!(check(&fleet, &host, 100).await, OF_HOST);
    let workload = Filter { workload: Some("check'out_100%".into()), ..Filter::default() };
    let decided: Vec<_> =
        check(&fleet, &workload, 100).await.into_iter().filter(|line| line.contains(" by ")).collect();
    assert_eq!(decided, ["prod approved by Olga"]);
}

async fn a_selection_is_by_person_kind_and_time(ground: Ground) {
    let fleet = some(&ground).await;
    decide(&fleet).await;
    let of = async |selection: &HistorySelection| {
        let prod = Filter { environment: Some("prod".into()), ..Filter::default() };
        let pages = check_selected(&fleet, (&prod, selection), 1).await;
        assert_eq!(check_selected(&fleet, (&prod, selection), 100).await, pages, "{selection:?}");
        pages
    };
    let all = HistorySelection::default();
    let by = |by: &str| HistorySelection { by: Some(by.into()), ..all.clone() };
    assert_eq!(of(&by("olga")).await, ["prod approved by Olga"]);
    for name in ["ann 100%_", "Ann@acme.example", ANN] {
        assert_eq!(of(&by(name)).await, [format!("prod held by {ANN}")], "{name}");
    }
    for other in ["nobody", "ann", "acme.example", "Ann%", "ann 100__", "%", ""] {
        assert_eq!(of(&by(other)).await, [""; 0], "{other}");
    }
    let kind = |kind| HistorySelection { kind: Some(kind), ..all.clone() };
    assert_eq!(
        of(&kind(HistoryKind::Decision)).await,
        ["prod approved by Olga", "prod held by Ann 100%_ <ann@acme.example>"]
    );
    assert_eq!(
        of(&kind(HistoryKind::Promotion)).await,
        [
            "prod promoted by -",
            "prod waiting by -",
            "prod approved by Olga",
            "prod held by Ann 100%_ <ann@acme.example>"
        ]
    );
    assert_eq!(of(&kind(HistoryKind::Publication)).await, ["1e published 2.0", "b published 1.0", "1 published "]);
    assert_eq!(of(&kind(HistoryKind::Report)).await, &OF_ALL[..4]);
    assert_eq!(of(&HistorySelection { by: Some("ann".into()), ..kind(HistoryKind::Report) }).await, [""; 0]);
    let since = HistorySelection { since: Some(Timestamp::from_millis(20)), ..all.clone() };
    let expected: Vec<_> = OF_ALL.into_iter().filter(|line| !line.starts_with("stage")).take(7).collect();
    assert_eq!(of(&since).await, expected);
    let decided = HistorySelection { kind: Some(HistoryKind::Decision), ..since };
    assert_eq!(of(&decided).await, ["prod approved by Olga"]);
}

async fn a_selection_ends_before_a_time(ground: Ground) {
    let fleet = some(&ground).await;
    decide(&fleet).await;
    let until =
        |millis| HistorySelection { until: Some(Timestamp::from_millis(millis)), ..HistorySelection::default() };
    let of = async |filter: &Filter, selection: &HistorySelection| {
        let pages = check_selected(&fleet, (filter, selection), 1).await;
        assert_eq!(check_selected(&fleet, (filter, selection), 100).await, pages, "{selection:?}");
        pages
    };
    let prod = Filter { environment: Some("prod".into()), ..Filter::default() };
    let before: Vec<_> = OF_ALL.into_iter().skip_while(|line| *line != "1e published 2.0").skip(1).collect();
    let before: Vec<_> = before.into_iter().filter(|line| !line.starts_with("stage")).collect();
    assert_eq!(of(&prod, &until(30)).await, before);
    assert_eq!(of(&prod, &until(31)).await[0], "1e published 2.0");
    let decided = HistorySelection { kind: Some(HistoryKind::Decision), ..until(20) };
    assert_eq!(of(&prod, &decided).await, [format!("prod held by {ANN}")]);
    // Reports of all hosts are selected by the time of receipt, which is now; those of one host by their own time.
    let reports = |millis| HistorySelection { kind: Some(HistoryKind::Report), ..until(millis) };
    assert_eq!(of(&prod, &reports(1_000)).await, [""; 0]);
    assert_eq!(of(&prod, &reports(Timestamp::now().millis() + 60_000)).await, &OF_ALL[..4]);
    let host = Filter { host: Some("h-1".into()), ..Filter::default() };
    assert_eq!(of(&host, &until(35)).await, &OF_HOST[2..]);
    let between = HistorySelection { since: Some(Timestamp::from_millis(21)), ..until(35) };
    assert_eq!(of(&host, &between).await, &OF_HOST[2..4]);
}

async fn a_reach_limits_decisions(ground: Ground) {
    let fleet = some(&ground).await;
    decide(&fleet).await;
    let (filter, page) = (Filter::default(), Page::default());
    let decisions = HistorySelection { kind: Some(HistoryKind::Decision), ..HistorySelection::default() };
    let stage = Reach { environments: vec!["stage".into()], ..Reach::ALL };
    let question = Question { filter: &filter, reach: &stage, earlier: EarlierNames::NONE };
    let found = history(&fleet.database, (question, &decisions), &page).await.unwrap();
    assert_eq!(found.items.iter().map(line).collect::<Vec<_>>(), ["stage held by ann"]);
    // The other decisions are about whole environments.
    for (workspace, expected) in [("store-team", &["prod approved by Olga"][..]), ("web", &[])] {
        let own = Reach { workspaces: vec![workspace.into()], ..Reach::ALL };
        let question = Question { filter: &filter, reach: &own, earlier: EarlierNames::NONE };
        let found = history(&fleet.database, (question, &decisions), &page).await.unwrap();
        assert_eq!(found.items.iter().map(line).collect::<Vec<_>>(), expected, "{workspace}");
    }
    let followed = async |reach: &Reach| {
        let question = Question { filter: &filter, reach, earlier: EarlierNames::NONE };
        let (mut after, until) = (FeedPosition::default(), settled(&fleet.database).await.unwrap());
        let mut found = Vec::new();
        while !after.has_reached(&until) {
            let some = changes(&fleet.database, question, after, until).await.unwrap();
            found.extend(some.items.into_iter().filter_map(|(_, change)| match change {
                FleetChange::Promotion(promotion) => Some(promotion.event.id),
                _ => None,
            }));
            after = some.end;
        }
        found
    };
    let own = Reach { workspaces: vec!["store-team".into()], ..Reach::ALL };
    assert_eq!(followed(&own).await, ["20"]);
    assert_eq!(followed(&Reach::ALL).await.len(), 5);
    let named = Filter { workspace: Some("store-team".into()), ..Filter::default() };
    let found = history(&fleet.database, (&named, &decisions), &page).await.unwrap();
    assert_eq!(found.items.iter().map(line).collect::<Vec<_>>(), ["prod approved by Olga"]);
}

async fn a_renamed_workload_has_the_history_of_its_earlier_name(ground: Ground) {
    let fleet = some(&ground).await;
    decide(&fleet).await;
    let of = async |workload: &str, target: Option<&str>| {
        let (workload, target) = (Some(workload.to_owned()), target.map(str::to_owned));
        check(&fleet, &Filter { workload, target, ..Filter::default() }, 100).await
    };
    let before = of(WORKLOAD, None).await;
    assert!(before.contains(&"prod approved by Olga".to_owned()) && before.contains(&"1e published 2.0".to_owned()));
    let earlier = [(RENAMED_FROM, WORKLOAD), (RENAMED_TARGETS, "checkout-prod")];
    fleet.publish_renamed("till", "live", &earlier).await;
    for limit in [1, 100] {
        let filter = Filter { workload: Some("till".into()), ..Filter::default() };
        let all = check(&fleet, &filter, limit).await;
        let expected = before.iter().cloned().chain(["32 published 3.0".to_owned()]);
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), expected.collect(), "{limit}");
    }
    assert!(of("till", Some("live")).await.contains(&"1e published 2.0".to_owned()));
    // The earlier name alone has what happened under it.
    assert_eq!(of(WORKLOAD, None).await, before);
}
