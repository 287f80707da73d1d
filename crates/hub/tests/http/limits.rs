//! Requests that are too large, too slow, or too many.

use std::io::Write as _;

use hub::limits::{BODY_TIMEOUT, QUEUE_REPORTS_MAX, REQUEST_BYTES_MAX};
use hub_api::limits::BATCH_REPORTS_MAX;
use hub_api::tokens::Scope;
use reqwest::StatusCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Hub, later, problem, report};

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

async fn check(hub: &Hub, request: reqwest::RequestBuilder) -> StatusCode {
    let status = problem(request.header("content-type", "application/json").send().await.unwrap()).await.0;
    assert_eq!(hub.history().await, [""; 0]);
    status
}

#[tokio::test]
async fn bodies_may_be_compressed() {
    let hub = Hub::start().await;
    let body = gzip(report("a", "one").to_string().as_bytes());
    let request =
        hub.post("/api/v1/reports").header("content-encoding", "gzip").header("content-type", "application/json");
    assert_eq!(request.body(body).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(hub.history().await, ["a/checkout: one"]);
}

#[tokio::test]
async fn too_large_bodies_are_413_compressed_or_not() {
    let hub = Hub::start().await;
    let body = vec![b' '; REQUEST_BYTES_MAX + 1];
    let bomb = gzip(&vec![b' '; 2 * REQUEST_BYTES_MAX]);
    assert!(bomb.len() < REQUEST_BYTES_MAX / 10);
    let bomb = hub.post("/api/v1/reports").header("content-encoding", "gzip").body(bomb);
    assert_eq!(check(&hub, bomb).await, StatusCode::PAYLOAD_TOO_LARGE);
    let many = format!("[{}]", vec!["{}"; BATCH_REPORTS_MAX + 1].join(","));
    assert_eq!(check(&hub, hub.post("/api/v1/reports").body(many)).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(check(&hub, hub.post("/api/v1/reports").body(body)).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn incomplete_body_is_408() {
    let hub = Hub::start().await;
    // The first request caches the token: then the hub waits for no database before the body, which the jump in time would end, too.
    let token = hub.token("t", Scope::Admin).await.reveal();
    let metrics = async || hub.get("/metrics").bearer_auth(&token).send().await.unwrap();
    metrics().await;
    let mut stream = TcpStream::connect(hub.address).await.unwrap();
    let head = format!(
        "POST /api/v1/reports HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // When this second request has ended, the hub waits for the body of the first one.
    metrics().await;
    later(BODY_TIMEOUT).await;
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 408");
}

#[tokio::test]
async fn headers_that_are_too_long_are_refused() {
    let hub = Hub::start().await;
    let request = hub.get("/healthz").header("x-long", "x".repeat(100_000));
    let status = request.send().await.map(|response| response.status());
    assert!(status.is_err() || status.is_ok_and(|status| status == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
}

#[tokio::test]
async fn full_queue_refuses_requests_with_retry_after() {
    let hub = Hub::start().await;
    // The first request caches the token, so that the hub need not read it while the database is busy.
    let token = hub.token("t", Scope::Admin).await.reveal();
    let metrics = async || hub.get("/metrics").bearer_auth(&token).send().await.unwrap().text().await.unwrap();
    metrics().await;
    // Another process has the write lock for a while, so that nothing can be stored.
    let mut lock = hub.database.begin().await.unwrap();
    lock.execute("update host set name = name", vec![]).await.unwrap();
    let send = |first: usize, count: usize| {
        let reports: Vec<_> = (first..first + count).map(|number| report(&number.to_string(), "one")).collect();
        hub.post("/api/v1/reports").bearer_auth(&token).json(&reports).send()
    };
    let batches = (0..QUEUE_REPORTS_MAX).step_by(BATCH_REPORTS_MAX);
    let waiting: Vec<_> = batches.map(|first| tokio::spawn(send(first, BATCH_REPORTS_MAX))).collect();
    let full = format!("kalypso_hub_reports_waiting {QUEUE_REPORTS_MAX}\n");
    while !metrics().await.contains(&full) {}
    let response = send(QUEUE_REPORTS_MAX, 1).await.unwrap();
    assert_eq!(response.headers()["retry-after"], "1");
    assert_eq!(problem(response).await.0, StatusCode::TOO_MANY_REQUESTS);
    lock.commit().await.unwrap();
    for sent in waiting {
        assert_eq!(sent.await.unwrap().unwrap().status(), StatusCode::OK);
    }
    assert_eq!(hub.history().await.len(), QUEUE_REPORTS_MAX);
}
