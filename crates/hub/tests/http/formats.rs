//! Reports in the formats of reconcilers.

use hub_api::tokens::Scope;
use reqwest::StatusCode;

use super::{Hub, problem};

const FLUX: &str = include_str!("../payloads/flux-reconciliation-succeeded.json");
const ARGOCD: &str = include_str!("../payloads/argocd-deployed.json");

async fn token(hub: &Hub) -> hub_api::token::TokenText {
    hub.token("flux", Scope::host("berlin")).await
}

#[tokio::test]
async fn events_of_flux_and_notifications_of_argo_cd_are_stored() {
    let hub = Hub::start().await;
    let token = token(&hub).await.reveal();
    for (path, body) in [("/api/v1/reports/flux", FLUX), ("/api/v1/reports/argocd", ARGOCD)] {
        let request = hub.post(path).bearer_auth(&token).header("content-type", "application/json");
        let response = request.body(body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}: {}", response.text().await.unwrap());
    }
    assert!(hub.history().await.len() >= 2);
}

#[tokio::test]
async fn a_signed_event_needs_no_token() {
    let hub = Hub::start().await;
    let token = token(&hub).await;
    let send = |id: &str, signature: String| {
        let request = hub.post(&format!("/api/v1/reports/flux?token={id}")).header("x-signature", signature);
        request.header("content-type", "application/json").body(FLUX).send()
    };
    let right = token.signing_key().sign(FLUX.as_bytes());
    let wrong = token.signing_key().sign(b"another body");
    assert_eq!(problem(send(token.id(), wrong).await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(problem(send("", right.clone()).await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(problem(send("another", right.clone()).await.unwrap()).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(hub.history().await, [""; 0]);
    assert_eq!(send(token.id(), right).await.unwrap().status(), StatusCode::OK);
    assert!(!hub.history().await.is_empty());
}
