//! The page of a cluster type or a cluster.

use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;

use super::tables::{section, text};
use super::{Names, company};

#[tokio::test]
async fn a_place_in_several_environments_has_a_row_for_each() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/places/west-edge", &reader).await;
    let environments = section(&page, "environments");
    for expected in ["/places/west-edge?environment=prod", "/places/west-edge?environment=stage", "1/2", "2/4"] {
        assert!(environments.contains(expected), "{expected}: {environments}");
    }
    // One that a reader sees is the page itself.
    let stage = Reach { environments: vec!["stage".into()], ..Reach::ALL };
    let stage = site.token("stage", Scope::Read(stage)).await;
    let page = site.page("/places/west-edge", &stage).await;
    assert!(page.html.contains("<h1>west-edge in stage</h1>"), "{}", page.html);
}

#[tokio::test]
async fn a_place_in_an_environment_has_its_targets_and_hosts() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/places/west-edge?environment=prod", &reader).await;
    let targets = text(section(&page, "targets"));
    assert!(targets.contains("till-eu") && targets.contains("site-eu") && targets.contains("1.4.2"), "{targets}");
    let attention = section(&page, "attention");
    assert!(attention.contains("/hosts/prod-11") && !attention.contains("/hosts/prod-10"), "{attention}");
    assert!(section(&page, "history").contains("/hosts/prod-1"), "{}", page.html);
    for link in [
        "/deployments?environment=prod&#38;clusterType=west-edge",
        "/history?environment=prod&#38;clusterType=west-edge",
        "/compare?from=stage&#38;to=prod",
        "/environments/prod",
    ] {
        assert!(page.html.contains(&format!("href=\"{link}\"")), "{link}: {}", page.html);
    }
}

#[tokio::test]
async fn a_cluster_is_found_by_the_name_of_its_host() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let names = Names { cluster_type: "edge".to_owned(), host: "dallas".to_owned(), ..Names::new("shop", "till", 8) };
    site.publish("prod", &names).await;
    site.report(&names, "prod", "success").await;
    let page = site.page("/places/dallas", &reader).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.html);
    assert!(page.html.contains("<h1>dallas in prod</h1>"), "{}", page.html);
    assert!(page.html.contains("1 of 1 as desired"), "{}", page.html);
}
