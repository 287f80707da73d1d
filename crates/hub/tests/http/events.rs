//! The stream of changes.

use std::time::Duration;

use hub::authentication::tokens;
use hub::limits::EVENT_STREAMS_MAX;
use hub_api::client::{Client, ClientError, StreamItem};
use hub_api::filter::Filter;
use hub_api::tokens::{Reach, Scope};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::{Hub, later, problem, report};

/// The next lines of the stream, without empty ones, until there are `count` of them.
async fn lines(response: &mut Response, count: usize) -> Vec<String> {
    let mut text = String::new();
    while text.lines().filter(|line| !line.is_empty()).count() < count || !text.ends_with("\n\n") {
        text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn id(lines: &[String]) -> &str {
    lines.iter().rev().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

async fn say(hub: &Hub, message: &str) {
    let response = hub.post("/api/v1/reports").json(&report("h", message)).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn event_stream_resumes_at_the_last_event() {
    let hub = Hub::start().await;
    say(&hub, "before").await;
    let mut stream = hub.get("/api/v1/events").send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert_eq!(lines(&mut stream, 2).await[1], "retry: 2000");
    say(&hub, "one").await;
    let event = lines(&mut stream, 3).await;
    assert_eq!(event[1], "event: report");
    let data: Value = serde_json::from_str(event[2].strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!((&data["kind"], &data["host"], &data["message"]), (&"report".into(), &"h".into(), &"one".into()));
    drop(stream);
    say(&hub, "two").await;
    for request in [
        hub.get("/api/v1/events").header("Last-Event-ID", id(&event)),
        hub.get(&format!("/api/v1/events?after={}", id(&event))),
    ] {
        let event = lines(&mut request.send().await.unwrap(), 5).await;
        assert!(event[4].contains("\"message\":\"two\""), "{event:?}");
    }
}

#[tokio::test]
async fn unselected_events_only_advance_the_position() {
    let hub = Hub::start().await;
    let mut stream = hub.get("/api/v1/events?status=failed").send().await.unwrap();
    let first = lines(&mut stream, 2).await;
    say(&hub, "all is well").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    later(Duration::from_secs(16)).await;
    let second = lines(&mut stream, 1).await;
    assert_ne!(id(&first), id(&second));
    later(Duration::from_secs(16)).await;
    assert_eq!(lines(&mut stream, 1).await, [": "]);
}

#[tokio::test]
async fn invalid_event_filters_are_refused() {
    let hub = Hub::start().await;
    for query in ["after=x", "enviroment=prod", "status=outdated", "after=ZXZlbnRzIDkgOSA5", "limit=5"] {
        let response = hub.get(&format!("/api/v1/events?{query}")).send().await.unwrap();
        assert_eq!(problem(response).await.0, StatusCode::BAD_REQUEST, "{query}");
    }
    let response = hub.get("/api/v1/events?environment=prod").send().await.unwrap();
    assert_eq!(problem(response).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn number_of_event_streams_is_limited() {
    let hub = Hub::start().await;
    let mut streams = Vec::new();
    for _ in 0..EVENT_STREAMS_MAX {
        streams.push(hub.get("/api/v1/events").send().await.unwrap());
    }
    let response = hub.get("/api/v1/events").send().await.unwrap();
    assert!(response.headers().contains_key("retry-after"));
    assert_eq!(problem(response).await.0, StatusCode::TOO_MANY_REQUESTS);
    streams.clear();
    let again = async {
        while hub.get("/api/v1/events").send().await.unwrap().status() != StatusCode::OK {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), again).await.unwrap();
}

#[tokio::test]
async fn revoked_tokens_end_event_streams() {
    let hub = Hub::start().await;
    let (reader, host) = (hub.token("reader", Scope::Read(Reach::ALL)).await, hub.token("h", Scope::host("h")).await);
    let refused = hub.get("/api/v1/events").bearer_auth(host.reveal()).send().await.unwrap();
    assert_eq!(problem(refused).await.0, StatusCode::FORBIDDEN);
    let mut stream = hub.get("/api/v1/events").bearer_auth(reader.reveal()).send().await.unwrap();
    lines(&mut stream, 2).await;
    tokens::revoke(&hub.database, "reader", "test").await.unwrap();
    later(Duration::from_secs(6)).await;
    hub.report(&host, &report("h", "secret")).await;
    assert_eq!(stream.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn streams_end_when_the_hub_stops() {
    let mut hub = Hub::start().await;
    let mut stream = hub.get("/api/v1/events").send().await.unwrap();
    lines(&mut stream, 2).await;
    let started = std::time::Instant::now();
    hub.stop().await;
    assert!(started.elapsed() < hub::limits::STOP_TIMEOUT / 2, "{:?}", started.elapsed());
    assert_eq!(stream.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn client_follows_events_and_reports_refusals() {
    let hub = Hub::start().await;
    say(&hub, "before").await;
    let client = Client::new(&hub.url(""), None).unwrap();
    let filter = Filter { host: Some("h".into()), ..Filter::default() };
    // From the first event on: with this position, no table has been read.
    let mut following = client.follow(&filter, Some("ZXZlbnRzIDAgMCAw".into())).unwrap();
    let mut next = async || match following.next().await.unwrap() {
        StreamItem::FleetChange { id, change } => (id, change["message"].as_str().unwrap().to_owned()),
        StreamItem::Lost(error) => panic!("{error}"),
    };
    assert_eq!(next().await.1, "before");
    say(&hub, "one").await;
    let (id, message) = next().await;
    assert_eq!(message, "one");
    let mut following = client.follow(&Filter { status: Some("good".into()), ..Filter::default() }, Some(id)).unwrap();
    assert!(matches!(following.next().await, Err(ClientError::Refused { status: 400, .. })));
}
