//! The hub stops in order.

use std::time::Duration;

use hub::management::retention::Retention;
use hub::server::{Server, ServerError, ServerOptions};
use hub::store::DatabaseUrl;
use reqwest::StatusCode;

use super::{Hub, report};

#[tokio::test]
async fn nothing_that_was_acknowledged_is_lost() {
    let mut hub = Hub::start().await;
    let send = |number: usize| {
        let request = hub.post("/api/v1/reports").json(&report(&format!("host-{number:03}"), "one"));
        async move { request.send().await.is_ok_and(|response| response.status() == StatusCode::OK) }
    };
    let sent: Vec<_> = (0..200).map(|number| tokio::spawn(send(number))).collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    hub.stop().await;
    let mut acknowledged = Vec::new();
    for (number, sent) in sent.into_iter().enumerate() {
        acknowledged.extend(sent.await.unwrap().then(|| format!("host-{number:03}/checkout: one")));
    }
    assert_eq!(hub.history().await, acknowledged);
    assert!(hub.get("/healthz").send().await.is_err());
}

#[tokio::test]
async fn hub_without_tokens_listens_only_on_loopback() {
    let check = |listen: &str| {
        let options = ServerOptions {
            listen: listen.into(),
            database: DatabaseUrl::Memory,
            issuer: None,
            certificate: None,
            retention: Retention::default(),
        };
        async move { Server::start(options).await.err() }
    };
    assert!(matches!(check("0.0.0.0:0").await, Some(ServerError::Open(_))));
    assert!(check("localhost:0").await.is_none());
    assert!(matches!(check("203.0.113.1:0").await, Some(ServerError::Listen { .. })));
}
