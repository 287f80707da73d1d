//! Rules and their notifications.

use std::collections::VecDeque;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, StatusCode};
use hub::management::hosts::{self, ReconcilerRegistration, Registration};
use hub::questions::totals;
use hub::rules::{
    Deliveries, IncidentSeverity, NotificationFormat, Receiver, Rule, Threshold, WebhookSecret, client, deliver,
    evaluate, states, test,
};
use hub::silence;
use hub::silence::heartbeats::{Heartbeat, HeartbeatOptions};
use hub::store::Database;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::report::{Report, Status};
use hub_api::rules::{Condition, Phase, RuleState};
use hub_api::timestamp::Timestamp;
use serde_json::Value;
use sha2::Sha256;

use crate::questions::fleet::{Fleet, of_application};
use crate::twins::Ground;

twins![
    a_notification_is_sent_until_it_is_taken,
    later_notifications_wait_for_earlier_ones,
    only_one_replica_sends_a_notification,
    redirects_are_not_followed_and_gone_receivers_are_given_up,
    each_condition_counts_its_own_matches,
    rule_without_matching_reconcilers_is_ok,
    old_notifications_are_forgotten,
    a_test_is_sent_at_once,
    chats_and_pagers_get_their_own_formats,
    a_test_of_a_pager_is_resolved_at_once,
    drift_counts_when_it_is_old_enough,
    hosts_that_never_reported_are_counted,
    required_heartbeat_makes_reconcilers_without_one_silent,
    required_heartbeat_applies_only_to_selected_reconcilers,
    required_heartbeat_makes_liveness_known,
];

const SECRET: [u8; 32] = [7; 32];

/// A receiver of notifications. It sends the listed responses first, and then accepts everything.
#[derive(Clone, Default)]
struct TestReceiver {
    answers: Arc<Mutex<VecDeque<Response>>>,
    received: Arc<Mutex<Vec<(HeaderMap, String)>>>,
    address: String,
}

impl TestReceiver {
    async fn start(answers: Vec<Response>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/hook?key=hush", listener.local_addr().unwrap());
        let server = Self { answers: Arc::new(Mutex::new(answers.into())), address, ..Self::default() };
        let routes = Router::new().fallback(Self::take).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        server
    }

    fn take(State(server): State<Self>, headers: HeaderMap, body: String) -> Ready<Response> {
        server.received.lock().unwrap().push((headers, body));
        ready(server.answers.lock().unwrap().pop_front().unwrap_or_else(|| StatusCode::NO_CONTENT.into_response()))
    }

    /// The received notifications: the id and the body of each. Checks the signatures.
    fn received(&self) -> Vec<(String, Value)> {
        let received = self.received.lock().unwrap();
        let checked = received.iter().map(|(headers, body)| {
            let header = |name: &str| headers[name].to_str().unwrap();
            let mut hmac = Hmac::<Sha256>::new_from_slice(&SECRET).unwrap();
            hmac.update(format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp")).as_bytes());
            assert_eq!(header("webhook-signature"), format!("v1,{}", BASE64.encode(&hmac.finalize().into_bytes())));
            let sent_on = header("webhook-timestamp").parse::<i64>().unwrap();
            assert!((Timestamp::now().millis() / 1_000 - sent_on).abs() < 300);
            (header("webhook-id").to_owned(), serde_json::from_str(body).unwrap())
        });
        checked.collect()
    }

    /// The received bodies, for formats without a signature. The content type must be JSON.
    fn bodies(&self) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        let body = |(headers, body): &(HeaderMap, String)| {
            assert_eq!(headers["content-type"], "application/json");
            assert!(!headers.contains_key("webhook-signature"));
            serde_json::from_str(body).unwrap()
        };
        received.iter().map(body).collect()
    }

    fn types(&self) -> Vec<String> {
        self.received().iter().map(|(_, body)| body["type"].as_str().unwrap().to_owned()).collect()
    }
}

fn rule(server: &TestReceiver, condition: Condition) -> Rule {
    let secret = WebhookSecret::parse(&format!("whsec_{}", BASE64.encode(&SECRET))).unwrap();
    Rule {
        name: format!("prod-{}", condition.as_str()),
        filter: Filter { environment: Some("prod".into()), ..Filter::default() },
        condition,
        above: Threshold::Share(5_000),
        lasting: Duration::from_mins(10),
        longer_than: Duration::ZERO,
        receiver: Receiver::new(&server.address, NotificationFormat::Signed(secret)).unwrap(),
    }
}

/// The same rule, with a receiver of another format.
fn rule_as(server: &TestReceiver, format: NotificationFormat) -> Rule {
    Rule { receiver: Receiver::new(&server.address, format).unwrap(), ..rule(server, Condition::Failed) }
}

/// A timestamp this number of seconds after the beginning of the test.
fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).after(Duration::from_secs(seconds))
}

async fn send(database: &Database, rule: &Rule, seconds: u64) -> [usize; 3] {
    let rules = std::slice::from_ref(rule);
    let Deliveries { delivered, failed, given_up } =
        deliver(database, rules, &client().unwrap(), at(seconds)).await.unwrap();
    [delivered, failed, given_up]
}

async fn state(database: &Database, rule: &Rule) -> RuleState {
    states(database, std::slice::from_ref(rule)).await.unwrap().remove(0)
}

/// Evaluates the rule once per minute in this range of minutes.
async fn evaluate_at(database: &Database, rule: &Rule, minutes: std::ops::RangeInclusive<u64>) {
    for minute in minutes {
        evaluate(database, std::slice::from_ref(rule), at(60 * minute)).await.unwrap();
    }
}

/// One of two hosts in prod fails.
async fn failing(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-2", 22, 11) }).await;
    fleet
}

async fn a_notification_is_sent_until_it_is_taken(ground: Ground) {
    let fleet = failing(&ground).await;
    let server = TestReceiver::start(vec![StatusCode::INTERNAL_SERVER_ERROR.into_response()]).await;
    let rule = rule(&server, Condition::Failed);
    evaluate_at(&ground.database, &rule, 0..=9).await;
    assert_eq!(
        (state(&ground.database, &rule).await.phase, send(&ground.database, &rule, 599).await),
        (Some(Phase::Pending), [0; 3])
    );
    evaluate_at(&ground.database, &rule, 10..=11).await;
    assert_eq!(send(&ground.database, &rule, 660).await, [0, 1, 0]);
    assert_eq!(send(&ground.database, &rule, 661).await, [0; 3]);
    // Another process continues.
    let database = Database::open(&ground.url).await.unwrap();
    assert!(
        state(&database, &rule)
            .await
            .notification
            .unwrap()
            .problem
            .unwrap()
            .ends_with("answered 500 Internal Server Error")
    );
    evaluate_at(&database, &rule, 12..=12).await;
    assert_eq!([send(&database, &rule, 720).await, send(&database, &rule, 800).await], [[1, 0, 0], [0; 3]]);
    fleet.submit(of_application("h-2", 30, 11)).await;
    evaluate_at(&database, &rule, 13..=14).await;
    assert_eq!(send(&database, &rule, 840).await, [1, 0, 0]);
    let received = server.received();
    assert_eq!(server.types(), ["rule.firing", "rule.firing", "rule.resolved"]);
    assert!(received[0] == received[1] && received[1].0 != received[2].0);
    let data = &received[0].1["data"];
    assert_eq!((&data["matching"], &data["expected"], &data["sharePercent"]), (&1.into(), &2.into(), &50.0.into()));
    assert_eq!((&data["since"], &data["environment"]), (&serde_json::to_value(at(0)).unwrap(), &"prod".into()));
    assert_eq!((&data["examples"][0]["host"], &data["examples"][0]["message"]), (&"h-2".into(), &"it's done".into()));
}

async fn later_notifications_wait_for_earlier_ones(ground: Ground) {
    let fleet = failing(&ground).await;
    let server =
        TestReceiver::start(vec![StatusCode::BAD_GATEWAY.into_response(), StatusCode::BAD_GATEWAY.into_response()])
            .await;
    let rule = rule(&server, Condition::Failed);
    evaluate_at(&ground.database, &rule, 0..=10).await;
    assert_eq!(send(&ground.database, &rule, 600).await, [0, 1, 0]);
    fleet.submit(of_application("h-2", 30, 11)).await;
    evaluate_at(&ground.database, &rule, 11..=11).await;
    assert_eq!(send(&ground.database, &rule, 601).await, [0; 3]);
    assert_eq!(send(&ground.database, &rule, 700).await, [0, 1, 0]);
    assert_eq!(send(&ground.database, &rule, 800).await, [2, 0, 0]);
    assert_eq!(server.types(), ["rule.firing", "rule.firing", "rule.firing", "rule.resolved"]);
}

async fn only_one_replica_sends_a_notification(ground: Ground) {
    failing(&ground).await;
    let server = TestReceiver::start(Vec::new()).await;
    let rule = Rule { lasting: Duration::ZERO, ..rule(&server, Condition::Failed) };
    let mut replicas = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (rule, database) = (rule.clone(), Database::open(&ground.url).await.unwrap());
        replicas.spawn(async move {
            evaluate_at(&database, &rule, 0..=2).await;
            send(&database, &rule, 180).await[0]
        });
    }
    assert_eq!(replicas.join_all().await.into_iter().sum::<usize>(), 1);
    assert_eq!(server.types(), ["rule.firing"]);
}

async fn redirects_are_not_followed_and_gone_receivers_are_given_up(ground: Ground) {
    failing(&ground).await;
    let other = TestReceiver::start(Vec::new()).await;
    let elsewhere = (StatusCode::TEMPORARY_REDIRECT, [("location", other.address.clone())]).into_response();
    let slow = (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "120")]).into_response();
    let server = TestReceiver::start(vec![elsewhere, slow, StatusCode::GONE.into_response()]).await;
    let rule = rule(&server, Condition::Failed);
    evaluate_at(&ground.database, &rule, 0..=10).await;
    assert_eq!([send(&ground.database, &rule, 600).await, send(&ground.database, &rule, 610).await], [[0, 1, 0]; 2]);
    assert_eq!(
        [send(&ground.database, &rule, 720).await, send(&ground.database, &rule, 731).await],
        [[0; 3], [0, 0, 1]]
    );
    let notification = state(&ground.database, &rule).await.notification.unwrap();
    assert_eq!((notification.attempts, notification.problem.unwrap().as_str()), (3, "127.0.0.1 answered 410 Gone"));
    assert!(notification.given_up.is_some() && other.received().is_empty());
}

async fn each_condition_counts_its_own_matches(ground: Ground) {
    let fleet = failing(&ground).await;
    let heartbeat = Some(Duration::from_mins(1));
    fleet.submit(Report { heartbeat, ..of_application("h-3", 23, 11) }).await;
    silence::mark_silent(&ground.database, Timestamp::now).await.unwrap();
    fleet.publish_application("prod", 30, "2.0").await;
    fleet.submit(of_application("h-1", 40, 30)).await;
    let server = TestReceiver::start(Vec::new()).await;
    for (condition, expected) in
        [(Condition::Failed, (0, 3)), (Condition::Silent, (1, 3)), (Condition::Outdated, (1, 3))]
    {
        let rule = Rule { lasting: Duration::ZERO, ..rule(&server, condition) };
        evaluate_at(&ground.database, &rule, 0..=0).await;
        let state = state(&ground.database, &rule).await;
        assert_eq!((state.matching, state.expected), expected, "{condition:?}");
        send(&ground.database, &rule, 1).await;
    }
    let named: Vec<_> = server.received().iter().map(|(_, body)| body["data"]["examples"][0]["host"].clone()).collect();
    assert_eq!(named, ["h-3", "h-2"]);
}

async fn rule_without_matching_reconcilers_is_ok(ground: Ground) {
    let server = TestReceiver::start(Vec::new()).await;
    let rule = rule(&server, Condition::Failed);
    assert_eq!(state(&ground.database, &rule).await.phase, None);
    evaluate_at(&ground.database, &rule, 0..=1).await;
    let state = state(&ground.database, &rule).await;
    assert_eq!((state.phase, state.expected, state.since), (Some(Phase::Ok), 0, Some(at(0))));
}

async fn old_notifications_are_forgotten(ground: Ground) {
    failing(&ground).await;
    let server = TestReceiver::start(Vec::new()).await;
    let rule = Rule { lasting: Duration::ZERO, ..rule(&server, Condition::Failed) };
    evaluate_at(&ground.database, &rule, 0..=0).await;
    send(&ground.database, &rule, 1).await;
    assert!(state(&ground.database, &rule).await.notification.is_some());
    send(&ground.database, &rule, 31 * 24 * 3_600).await;
    assert_eq!(state(&ground.database, &rule).await.notification, None);
}

async fn a_test_is_sent_at_once(_: Ground) {
    let server =
        TestReceiver::start(vec![StatusCode::OK.into_response(), StatusCode::UNAUTHORIZED.into_response()]).await;
    let rule = rule(&server, Condition::Failed);
    test(&rule).await.unwrap();
    assert_eq!(test(&rule).await.unwrap_err().to_string(), "127.0.0.1 answered 401 Unauthorized");
    assert_eq!(server.types(), ["rule.test", "rule.test"]);
    let nobody = Rule {
        receiver: Receiver::new(
            "http://127.0.0.1:1/hook?key=hush",
            NotificationFormat::Signed(WebhookSecret::parse(&format!("whsec_{}", BASE64.encode(&SECRET))).unwrap()),
        )
        .unwrap(),
        ..rule
    };
    let error = test(&nobody).await.unwrap_err().to_string();
    assert!(
        error.starts_with("127.0.0.1 can't be reached: ") && !error.contains("hush") && !error.contains("hook"),
        "{error}"
    );
}

/// An integration key for a PagerDuty service.
const KEY: &str = "0123456789abcdef0123456789abcdef";

fn pager() -> NotificationFormat {
    NotificationFormat::pagerduty(KEY, IncidentSeverity::Critical).unwrap()
}

/// The notifications of a rule with that format when it begins to fire, and when it is resolved.
async fn sent_as(ground: &Ground, fleet: &Fleet, (format, round): (NotificationFormat, i64)) -> Vec<Value> {
    let accepted = || StatusCode::ACCEPTED.into_response();
    let server = TestReceiver::start(vec![accepted(), StatusCode::TOO_MANY_REQUESTS.into_response(), accepted()]).await;
    let rule = Rule { name: format!("r-{round}"), lasting: Duration::ZERO, ..rule_as(&server, format) };
    fleet.submit(Report { status: Status::Failure, ..of_application("h-2", 30 + 2 * round, 11) }).await;
    evaluate_at(&ground.database, &rule, 0..=0).await;
    assert_eq!(send(&ground.database, &rule, 1).await, [1, 0, 0]);
    fleet.submit(of_application("h-2", 31 + 2 * round, 11)).await;
    evaluate_at(&ground.database, &rule, 1..=1).await;
    assert_eq!(
        [send(&ground.database, &rule, 61).await, send(&ground.database, &rule, 120).await],
        [[0, 1, 0], [1, 0, 0]]
    );
    let bodies = server.bodies();
    // A notification that was not accepted is sent again without changes.
    assert!(bodies.len() == 3 && bodies[1] == bodies[2], "{bodies:?}");
    bodies
}

async fn chats_and_pagers_get_their_own_formats(ground: Ground) {
    let fleet = failing(&ground).await;
    let slack = sent_as(&ground, &fleet, (NotificationFormat::Slack, 0)).await;
    assert!(
        slack[0]["text"].as_str().unwrap().starts_with("Firing: r-0. 1 of 2 reconcilers failed, limit 5 %"),
        "{slack:?}"
    );
    assert_eq!(slack[0]["blocks"][3]["text"]["text"], "h-2/checkout: it's done");
    assert!(slack[1]["text"].as_str().unwrap().starts_with("Resolved: r-0."));
    let teams = sent_as(&ground, &fleet, (NotificationFormat::Teams, 1)).await;
    let content = &teams[0]["attachments"][0]["content"];
    assert_eq!((&teams[0]["type"], &content["type"]), (&"message".into(), &"AdaptiveCard".into()));
    assert_eq!(content["body"][0]["inlines"][0]["text"], "Firing: r-1");
    let pager = sent_as(&ground, &fleet, (pager(), 2)).await;
    let part = |event: &Value| format!("{} {}", event["event_action"], event["dedup_key"]);
    assert_eq!(
        [part(&pager[0]), part(&pager[1])],
        ["\"trigger\" \"kalypso/rule/r-2\"", "\"resolve\" \"kalypso/rule/r-2\""]
    );
    // The secrets of receivers are not stored.
    let bodies: Vec<String> = ground.database.query("select body from notification", Vec::new()).await.unwrap();
    assert!(bodies.len() == 6 && bodies.iter().all(|body| !body.contains(KEY)));
}

async fn a_test_of_a_pager_is_resolved_at_once(_: Ground) {
    let server = TestReceiver::start(Vec::new()).await;
    test(&rule_as(&server, pager())).await.unwrap();
    let actions: Vec<_> = server.bodies().iter().map(|event| event["event_action"].clone()).collect();
    assert_eq!(actions, ["trigger", "resolve"]);
    let refused = TestReceiver::start(vec![StatusCode::BAD_REQUEST.into_response()]).await;
    let error = test(&rule_as(&refused, pager())).await.unwrap_err().to_string();
    assert_eq!((error.as_str(), refused.bodies().len()), ("127.0.0.1 answered 400 Bad Request", 1));
}

async fn drift_counts_when_it_is_old_enough(ground: Ground) {
    let fleet = failing(&ground).await;
    let server = TestReceiver::start(Vec::new()).await;
    let (lasting, above) = (Duration::ZERO, Threshold::Count(0));
    let rule = |hours| {
        let longer_than = Duration::from_hours(hours);
        Rule { name: format!("h-{hours}"), lasting, above, longer_than, ..rule(&server, Condition::Drifting) }
    };
    // The content of prod has been desired since 1970: half a century before the test's timestamps.
    let counted = async |rule: &Rule| {
        evaluate_at(&ground.database, rule, 0..=0).await;
        let state = state(&ground.database, rule).await;
        (state.matching, state.expected, state.longer_than_seconds)
    };
    assert_eq!(counted(&rule(2)).await, (1, 2, Some(7_200)));
    assert_eq!(counted(&rule(24 * 365 * 100)).await, (0, 2, Some(24 * 365 * 100 * 3_600)));
    send(&ground.database, &rule(2), 1).await;
    let data = server.received().remove(0).1["data"].clone();
    assert_eq!((&data["longerThanSeconds"], &data["examples"][0]["host"]), (&7_200.into(), &"h-2".into()));
    drop(fleet);
}

async fn hosts_that_never_reported_are_counted(ground: Ground) {
    failing(&ground).await;
    let place = Endpoint::new("https://git.example/acme/checkout", "prod", "checkout").ok();
    let reconciler = Some(ReconcilerRegistration { name: "checkout".into(), kind: "flux".into(), place });
    let registration = Registration { host: "h-9".into(), kind: None, labels: [].into(), reconciler };
    hosts::register(&ground.database, &registration, "test").await.unwrap();
    let server = TestReceiver::start(Vec::new()).await;
    let rule = Rule { lasting: Duration::ZERO, above: Threshold::Count(0), ..rule(&server, Condition::NeverReported) };
    evaluate_at(&ground.database, &rule, 0..=0).await;
    let state = state(&ground.database, &rule).await;
    assert_eq!((state.matching, state.expected, state.phase), (1, 3, Some(Phase::Firing)));
    send(&ground.database, &rule, 1).await;
    assert_eq!(server.received()[0].1["data"]["examples"][0]["host"], "h-9");
}

/// A required heartbeat of one hour for the selected reconcilers.
fn hourly(select: impl Fn(&mut HeartbeatOptions)) -> Heartbeat {
    let mut options = HeartbeatOptions { every: "1h".into(), ..HeartbeatOptions::default() };
    select(&mut options);
    HeartbeatOptions::resolve_all(vec![options]).unwrap().remove(0)
}

/// The silent reconcilers, with the time in seconds at which their report was due.
async fn silent(database: &Database) -> Vec<String> {
    let sql = format!(
        "select h.name, {} from reconciler_state s join reconciler r on r.id = s.reconciler_id \
         join host h on h.id = r.host_id where s.is_silent = 1 order by h.name",
        database.dialect().millis("s.silent_after")
    );
    let silent = database.query::<(String, i64)>(&sql, Vec::new()).await.unwrap();
    silent.into_iter().map(|(host, millis)| format!("{host} {}", millis / 1_000)).collect()
}

async fn required_heartbeat_makes_reconcilers_without_one_silent(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let database = &ground.database;
    // A heartbeat counts from the present time at the latest. So the reports are from the last two hours.
    let start = Timestamp::now().whole_seconds().millis() - 2 * 3_600_000;
    fleet.submit(of_application("h-1", start + 10_000, 11)).await;
    // A longer announced heartbeat does not replace the required one.
    let heartbeat = Some(Duration::from_hours(24 * 31));
    fleet.submit(Report { heartbeat, ..of_application("h-2", start + 20_000, 11) }).await;
    let sweep = async |seconds: i64| {
        silence::mark_silent_by(database, &hourly(|_| ()), || Timestamp::from_millis(start + seconds * 1_000))
            .await
            .unwrap()
    };
    let silent = async || {
        let seconds = |line: &String| {
            let (host, due) = line.split_once(' ').unwrap();
            format!("{host} {}", due.parse::<i64>().unwrap() - start / 1_000)
        };
        silent(database).await.iter().map(seconds).collect::<Vec<_>>()
    };
    assert_eq!((sweep(3_610).await, silent().await), (0, vec![]));
    assert_eq!((sweep(3_611).await, silent().await), (1, vec!["h-1 3610".to_owned()]));
    assert_eq!((sweep(3_611).await, sweep(3_700).await), (0, 1));
    assert_eq!(silent().await, ["h-1 3610", "h-2 3620"]);
    // The next report ends the silence. The due time of the required heartbeat is not stored with it.
    fleet.submit(of_application("h-1", start + 4_000_000, 11)).await;
    assert_eq!(silent().await, ["h-2 3620"]);
    assert_eq!((sweep(7_600).await, sweep(7_601).await), (0, 1));
}

async fn required_heartbeat_applies_only_to_selected_reconcilers(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 1_000, 11)).await;
    fleet.submit(Report { kind: "argocd".into(), ..of_application("h-2", 1_000, 11) }).await;
    let heartbeats = [
        (hourly(|options| options.reconciler_type = Some("script".into())), 0),
        (hourly(|options| options.environment = Some("stage".into())), 0),
        (hourly(|options| options.cluster_type = Some("edge".into())), 0),
        (hourly(|options| options.selector = Some("number=9".into())), 0),
        (hourly(|options| options.reconciler_type = Some("argocd".into())), 1),
        (hourly(|options| (options.environment, options.selector) = (Some("prod".into()), Some("number=1".into()))), 1),
    ];
    for (heartbeat, expected) in heartbeats {
        let count =
            silence::mark_silent_by(&ground.database, &heartbeat, || Timestamp::from_millis(10_000_000)).await.unwrap();
        assert_eq!(count, expected, "{heartbeat:?}");
    }
}

async fn required_heartbeat_makes_liveness_known(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let database = &ground.database;
    fleet.submit(of_application("h-1", 1_000, 11)).await;
    fleet.submit(Report { kind: "argocd".into(), ..of_application("h-2", 1_000, 11) }).await;
    let heartbeat = Some(Duration::from_hours(24 * 31));
    fleet.submit(Report { heartbeat, ..of_application("h-3", 1_000, 11) }).await;
    let unknown = async || {
        let (counts, _) = totals(database, &Filter::default()).await.unwrap();
        (counts.succeeded, counts.succeeded_without_heartbeat)
    };
    assert_eq!(unknown().await, (3, 2));
    let of_argocd = [hourly(|options| options.reconciler_type = Some("argocd".into()))];
    assert_eq!((silence::mark_awaited(database, &of_argocd).await.unwrap(), unknown().await), (1, (3, 1)));
    // The next report announces no heartbeat either. The required one stays known.
    fleet.submit(Report { kind: "argocd".into(), ..of_application("h-2", 2_000, 11) }).await;
    assert_eq!((silence::mark_awaited(database, &of_argocd).await.unwrap(), unknown().await), (0, (3, 1)));
    let of_all = [hourly(|_| ())];
    assert_eq!((silence::mark_awaited(database, &of_all).await.unwrap(), unknown().await), (1, (3, 0)));
    assert_eq!((silence::mark_awaited(database, &[]).await.unwrap(), unknown().await), (2, (3, 2)));
}
