//! As whom Azure is asked.

use serde_json::json;

use super::cloud::{CONFIGURATIONS, Cloud, IDENTITY_HEADER};
use super::rows::{cluster_id, configuration};
use super::*;

#[tokio::test]
async fn token_is_reused_until_it_expires() {
    let cloud = Cloud::start().await;
    let mut asking = Asking::new(source(options(&cloud, &["s1", "s2"])));
    asking.poll(NOW).await;
    asking.poll(NOW).await;
    assert_eq!((cloud.issued(), cloud.violations()), (1, Vec::new()));
    cloud.state().lifetime = 0;
    let mut asking = Asking::new(source(options(&cloud, &["s1", "s2"])));
    asking.poll(NOW).await;
    assert!(cloud.issued() > 2);
}

#[tokio::test]
async fn rejected_token_is_replaced_once() {
    let cloud = Cloud::start().await;
    cloud.fill("s1", CONFIGURATIONS, vec![configuration(&cluster_id("s1", "g", "edge"), "Compliant")]);
    let mut asking = Asking::new(source(options(&cloud, &["s1"])));
    assert_eq!(asking.poll(NOW).await.reports.len(), 2);
    cloud.state().tokens.clear();
    assert_eq!(asking.poll("2026-11-21T13:50:00Z").await.reports.len(), 1);
    assert_eq!(cloud.issued(), 2);
}

#[tokio::test]
async fn each_tenant_has_its_own_credential() {
    let cloud = Cloud::start().await;
    for subscription in ["s1", "s3"] {
        let row = configuration(&cluster_id(subscription, "g", &format!("edge-{subscription}")), "Compliant");
        cloud.fill(subscription, CONFIGURATIONS, vec![row]);
    }
    let mut other = options(&cloud, &["s3"]);
    other["tenant"] = "t2".into();
    let (mut first, mut second) = (Asking::new(source(options(&cloud, &["s1"]))), Asking::new(source(other)));
    let (first, second) = tokio::join!(first.poll(NOW), second.poll(NOW));
    assert_eq!((first.reports[0].host.as_str(), second.reports[0].host.as_str()), ("edge-s1", "edge-s3"));
    assert_eq!((messages(&first), messages(&second)), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn wrong_secret_is_reported_once_and_never_shown() {
    let cloud = Cloud::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "wrong\n").unwrap();
    let mut options = options(&cloud, &["s1"]);
    options["credential"] = json!({"kind": "client-secret", "client-id": "app", "secret-file": file});
    let mut asking = Asking::new(source(options));
    let polled = asking.poll(NOW).await;
    let said = "subscription s1: clusters can't be listed, or not in full: Azure returned status 401: no token: \
        AADSTS7000215: Invalid client secret provided: '***'. (invalid_client)";
    assert_eq!((messages(&polled), polled.complete), (vec![said.to_owned()], 0));
    std::fs::write(&file, format!("{}\n", cloud::SECRET)).unwrap();
    assert_eq!(asking.poll(NOW).await.complete, 1);
    std::fs::remove_file(&file).unwrap();
    cloud.state().tokens.clear();
    assert!(messages(&asking.poll(NOW).await)[0].contains("can't be read"));
}

#[tokio::test]
async fn a_managed_identity_needs_no_secret() {
    let cloud = Cloud::start().await;
    let resolve = |client_id: Option<&str>, variables: &[(&str, String)]| {
        let mut options = options(&cloud, &["s1"]);
        options["credential"] = json!({"kind": "managed-identity", "client-id": client_id});
        let environment =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        serde_json::from_value::<AzureOptions>(options).unwrap().resolve(Path::new("/"), environment).unwrap()
    };
    let app =
        [("IDENTITY_ENDPOINT", format!("{}/msi/token", cloud.url)), ("IDENTITY_HEADER", IDENTITY_HEADER.to_owned())];
    let machine = [("AZURE_POD_IDENTITY_AUTHORITY_HOST", cloud.url.clone())];
    for source in [resolve(Some("mine"), &app), resolve(None, &machine)] {
        let polled = Asking::new(source).poll(NOW).await;
        assert_eq!((messages(&polled), polled.complete), (Vec::new(), 1));
    }
    assert_eq!((cloud.issued(), cloud.violations()), (2, Vec::new()));
}
