//! The history of promotions: each event once, in pages, in the change feed, with a retention.

use std::time::Duration;

use hub::management::retention::{Keep, Retention, delete_expired};
use hub::promotions::record;
use hub::questions::{FeedPosition, QuestionError, changes, promotion_events, settled};
use hub::store::Database;
use hub_api::events::FleetChange;
use hub_api::filter::Filter;
use hub_api::promotions::{PromotionEvent, PromotionEventFilter, PromotionEventReceipt};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;
use serde_json::json;

use crate::twins::Ground;

twins![
    promotion_events_round_trip,
    a_repeated_request_stores_each_event_once,
    one_wrong_event_stores_none,
    filters_select_events,
    an_unknown_environment_is_an_error,
    pages_follow_each_other,
    the_feed_has_the_events_that_its_filter_selects,
    retention_deletes_the_oldest,
];

/// An event with an id: in `prod` or `stage`, about `checkout` or the platform.
fn event(id: i64) -> PromotionEvent {
    PromotionEvent {
        id: format!("e-{id}"),
        at: Timestamp::from_millis(id * 1_000),
        environment: if id % 2 == 0 { "prod" } else { "stage" }.to_owned(),
        subject: (id % 3 != 0).then(|| "checkout".to_owned()),
        kind: if id % 4 == 0 { "held" } else { "started" }.to_owned(),
        text: "it's \"so\"".to_owned(),
        ..PromotionEvent::default()
    }
}

async fn some(database: &Database) {
    let events: Vec<_> = (1..=6).map(event).collect();
    record(database, &events, None).await.unwrap();
}

async fn check(database: &Database, filter: PromotionEventFilter) -> Vec<String> {
    let (mut filter, mut ids) = (filter, Vec::new());
    loop {
        let page = promotion_events(database, &filter, &Reach::ALL).await.unwrap();
        ids.extend(page.items.into_iter().map(|event| event.id));
        filter.cursor = page.next;
        if filter.cursor.is_none() {
            return ids;
        }
    }
}

async fn an_unknown_environment_is_an_error(ground: Ground) {
    some(&ground.database).await;
    let of = |name: &str| PromotionEventFilter { environment: Some(name.into()), ..PromotionEventFilter::default() };
    let check = async |filter, reach: &Reach| match promotion_events(&ground.database, &filter, reach).await {
        Ok(page) => page.items.len().to_string(),
        Err(error) => error.to_string(),
    };
    // Events name environments that no publication has named.
    assert_eq!(check(of("prod"), &Reach::ALL).await, "3");
    assert_eq!(check(of("prodd"), &Reach::ALL).await, "there is no environment `prodd`; did you mean `prod`?");
    let limited = Reach { environments: vec!["stag".into()], ..Reach::ALL };
    assert_eq!(check(of("stag"), &limited).await, "there is no environment `stag`", "`stage` is outside of the reach");
}

async fn promotion_events_round_trip(ground: Ground) {
    let text = |text: &str| Some(text.to_owned());
    let full = PromotionEvent {
        revision: text("r2"),
        ring: text("canary"),
        by: text("ann"),
        evidence: Some(json!({"gates": [{"name": "soak", "status": "passed"}], "expected": 3})),
        ..event(1)
    };
    let events = [full, event(3)];
    record(&ground.database, &events, None).await.unwrap();
    let page = promotion_events(&ground.database, &PromotionEventFilter::default(), &Reach::ALL).await.unwrap();
    let [first, second] = events;
    assert_eq!((page.items, page.next), (vec![second, first], None));
}

async fn a_repeated_request_stores_each_event_once(ground: Ground) {
    let database = &ground.database;
    let stored = async |events: &[PromotionEvent]| record(database, events, None).await.unwrap();
    assert_eq!(stored(&[event(1), event(2)]).await, PromotionEventReceipt { stored: 2, known: 0 });
    assert_eq!(stored(&[event(2), event(3), event(3)]).await, PromotionEventReceipt { stored: 1, known: 2 });
    assert_eq!(stored(&[]).await, PromotionEventReceipt::default());
    assert_eq!(check(database, PromotionEventFilter::default()).await, ["e-3", "e-2", "e-1"]);
}

async fn one_wrong_event_stores_none(ground: Ground) {
    let wrong = PromotionEvent { kind: String::new(), ..event(2) };
    let error = record(&ground.database, &[event(1), wrong], None).await.unwrap_err().to_string();
    assert_eq!(error, "`kind` of the event `e-2` is empty, or contains control characters");
    assert!(check(&ground.database, PromotionEventFilter::default()).await.is_empty());
}

async fn filters_select_events(ground: Ground) {
    let database = &ground.database;
    some(database).await;
    let filter = |change: fn(&mut PromotionEventFilter)| {
        let mut filter = PromotionEventFilter::default();
        change(&mut filter);
        filter
    };
    let prod = filter(|filter| filter.environment = Some("prod".into()));
    assert_eq!(check(database, prod).await, ["e-6", "e-4", "e-2"]);
    assert_eq!(check(database, filter(|filter| filter.subject = Some(String::new()))).await, ["e-6", "e-3"]);
    assert_eq!(check(database, filter(|filter| filter.kind = Some("held".into()))).await, ["e-4"]);
    assert!(check(database, filter(|filter| filter.revision = Some("r2".into()))).await.is_empty());
    let between = filter(|filter| {
        (filter.since, filter.until) = (Some(Timestamp::from_millis(2_000)), Some(Timestamp::from_millis(4_000)));
    });
    assert_eq!(check(database, between).await, ["e-3", "e-2"]);
    let reach = Reach { environments: vec!["prod".into()], ..Reach::ALL };
    let within = promotion_events(database, &PromotionEventFilter::default(), &reach).await.unwrap();
    assert!(within.items.len() == 3 && within.items.iter().all(|event| event.environment == "prod"));
    let stage = filter(|filter| filter.environment = Some("stage".into()));
    let outside = promotion_events(database, &stage, &reach).await;
    assert!(matches!(outside, Err(QuestionError::Unknown { .. })), "{outside:?}");
}

async fn pages_follow_each_other(ground: Ground) {
    some(&ground.database).await;
    let all = check(&ground.database, PromotionEventFilter::default()).await;
    assert_eq!(all.len(), 6);
    for limit in 1..7 {
        let filter = PromotionEventFilter { limit: Some(limit), ..PromotionEventFilter::default() };
        assert_eq!(check(&ground.database, filter).await, all, "{limit}");
    }
    let none = PromotionEventFilter { limit: Some(0), ..PromotionEventFilter::default() };
    assert!(promotion_events(&ground.database, &none, &Reach::ALL).await.is_err());
}

async fn the_feed_has_the_events_that_its_filter_selects(ground: Ground) {
    let database = &ground.database;
    some(database).await;
    let ids = async |filter: &Filter| {
        let until = settled(database).await.unwrap();
        let found = changes(database, filter, FeedPosition::default(), until).await.unwrap();
        assert!(found.end.has_reached(&until));
        let id = |(_, change): (FeedPosition, FleetChange)| match change {
            FleetChange::Promotion(promotion) => promotion.event.id,
            other => panic!("{other:?}"),
        };
        found.items.into_iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&Filter::default()).await.len(), 6);
    let failed = Filter { status: Some("failed".into()), ..Filter::default() };
    assert!(ids(&failed).await.is_empty());
    let until = settled(database).await.unwrap();
    record(database, &[event(7)], None).await.unwrap();
    let later = settled(database).await.unwrap();
    let found = changes(database, &Filter::default(), until, later).await.unwrap();
    assert_eq!(found.items.len(), 1, "a reader that continues gets only what is new");
}

async fn retention_deletes_the_oldest(ground: Ground) {
    let database = &ground.database;
    some(database).await;
    let now = Timestamp::from_millis(7_000);
    let delete = async |promotions: Keep| {
        let retention = Retention { promotions, ..Retention::default() };
        delete_expired(database, &retention, now).await.unwrap().promotions
    };
    assert_eq!(delete(Keep::default()).await, 0);
    assert_eq!(delete(Keep { age: Some(Duration::from_secs(5)), count: None }).await, 1);
    assert_eq!(delete(Keep { age: None, count: Some(2) }).await, 3);
    assert_eq!(check(database, PromotionEventFilter::default()).await, ["e-6", "e-5"]);
}
