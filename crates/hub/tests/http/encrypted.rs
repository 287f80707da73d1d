//! TLS. The certificate and its key are made for these tests, and are valid for a hundred years. No other program trusts them.

use std::path::{Path, PathBuf};

use hub::server::tls::Certificate;
use hub::server::{Server, ServerOptions};
use hub::store::DatabaseUrl;
use hub_api::tokens::{Reach, Scope};
use reqwest::{StatusCode, Version};
use tonic::Code;
use tonic::transport::{Channel, ClientTlsConfig};

use super::otlp::export_through;
use super::{Hub, report};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/certificate").join(name)
}

fn certificate() -> Certificate {
    Certificate { certificate: file("certificate.pem"), key: file("key.pem") }
}

async fn encrypted() -> (Hub, String) {
    let hub = Hub::start_with(|options| options.certificate = Some(certificate())).await;
    let url = format!("https://localhost:{}", hub.address.port());
    (hub, url)
}

/// A client that trusts only this certificate.
fn client() -> reqwest::Client {
    hub_api::tls::install_provider();
    let certificate = std::fs::read(file("certificate.pem")).unwrap();
    let certificate = reqwest::Certificate::from_pem(&certificate).unwrap();
    reqwest::Client::builder().no_proxy().tls_certs_only([certificate]).build().unwrap()
}

#[tokio::test]
async fn reports_are_taken_and_questions_answered_over_tls() {
    let (hub, url) = encrypted().await;
    let sent = client().post(format!("{url}/api/v1/reports")).json(&report("a", "one")).send().await.unwrap();
    // gRPC needs HTTP/2, which the TLS handshake negotiates.
    assert_eq!((sent.status(), sent.version()), (StatusCode::OK, Version::HTTP_2));
    let response = client().get(format!("{url}/api/v1/deployments")).send().await.unwrap();
    assert!(response.text().await.unwrap().contains(r#""host":"a""#));
    assert_eq!(hub.history().await, ["a/checkout: one"]);
}

/// A gRPC connection that trusts only this certificate.
async fn channel(url: &str) -> Channel {
    let certificate = tonic::transport::Certificate::from_pem(std::fs::read(file("certificate.pem")).unwrap());
    let tls = ClientTlsConfig::new().ca_certificate(certificate);
    Channel::from_shared(url.to_owned()).unwrap().tls_config(tls).unwrap().connect().await.unwrap()
}

#[tokio::test]
async fn log_records_over_grpc_on_the_same_port_require_tokens() {
    let (hub, url) = encrypted().await;
    let host = hub.token("berlin", Scope::host("berlin")).await.reveal();
    let reader = hub.token("reader", Scope::Read(Reach::ALL)).await.reveal();
    let channel = channel(&url).await;
    for (token, answer) in [
        (None, Err(Code::Unauthenticated)),
        (Some("kal_x"), Err(Code::Unauthenticated)),
        (Some(&*reader), Err(Code::PermissionDenied)),
        (Some(&*host), Ok(())),
    ] {
        assert_eq!(export_through(channel.clone(), token).await, answer, "{token:?}");
    }
    assert_eq!(hub.history().await, ["berlin/checkout: one"]);
}

#[tokio::test]
async fn grpc_client_without_trust_in_the_certificate_sends_nothing() {
    let (hub, url) = encrypted().await;
    let own = Channel::from_shared(url).unwrap().tls_config(ClientTlsConfig::new()).unwrap();
    assert!(own.connect().await.is_err());
    let plain = Channel::from_shared(hub.url("")).unwrap().connect().await;
    assert!(match plain {
        Ok(channel) => export_through(channel, None).await.is_err(),
        Err(_) => true,
    });
    assert!(hub.history().await.is_empty());
}

#[tokio::test]
async fn untrusting_or_unencrypted_clients_get_no_answer() {
    let (hub, url) = encrypted().await;
    assert!(super::client().get(format!("{url}/healthz")).send().await.unwrap_err().is_connect());
    assert!(hub.get("/healthz").send().await.is_err());
    assert_eq!(client().get(format!("{url}/healthz")).send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn unusable_certificates_are_reported_with_their_file() {
    let check = async |certificate: &str, key: &str| {
        let folder = tempfile::tempdir().unwrap();
        let certificate = Certificate { certificate: file(certificate), key: file(key) };
        let database = DatabaseUrl::Sqlite(folder.path().join("hub.db"));
        let options = ServerOptions { certificate: Some(certificate), ..Hub::options(database) };
        Server::start(options).await.map(drop).unwrap_err().to_string()
    };
    for (certificate, key, wrong) in [
        ("none.pem", "key.pem", "none.pem"),
        ("certificate.pem", "certificate.pem", "certificate.pem"),
        ("key.pem", "key.pem", "key.pem"),
    ] {
        let said = check(certificate, key).await;
        assert!(said.contains(wrong) && said.contains("can't be used for TLS"), "{said}");
    }
}
