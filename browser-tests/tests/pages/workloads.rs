//! The page of a workload.

use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;

use super::tables::{answered, section, shown, text};
use super::{Names, Site, company};

/// The company, in which a newer version of the till is desired in stage, and one of the two hosts there has it.
async fn moving() -> Site {
    let site = company().await;
    let newer = Names { version: "1.5.0".to_owned(), ..Names::new("shop", "till", 5) };
    site.publish_on("stage", &newer, "2026-11-22T09:00:00Z").await;
    site.report(&Names { host: "stage-10".to_owned(), ..newer }, "stage", "success").await;
    site
}

#[tokio::test]
async fn numbers_are_those_of_the_counts_of_the_api() {
    let site = moving().await;
    let of_stage = Reach { environments: vec!["stage".into()], ..Reach::ALL };
    for (name, reach) in [("reader", Reach::ALL), ("stage", of_stage)] {
        let token = site.token(name, Scope::Read(reach)).await;
        for (id, rows, columns, sort) in [
            ("versions", "version", "environment", "worst"),
            ("versions", "version", "environment", "name"),
            ("versions", "version", "hostLabel:ring", "worst"),
            ("configurations", "configVersion", "environment", "worst"),
            ("configurations", "configVersion", "state", "worst"),
        ] {
            let address = format!("/workloads/till?workspace=shop&columns={columns}&sort={sort}");
            let page = site.page(&address, &token).await;
            let query = format!("workload=till&workspace=shop&rows={rows}&columns={columns}&sort={sort}");
            let expected = answered(&site, &token, (&query, "no value")).await;
            let found = shown(section(&page, id));
            if columns == "state" {
                assert_eq!(format!("{found:?}").matches('/').count(), format!("{expected:?}").matches('/').count());
            } else {
                assert_eq!(found, expected, "{name}: {address}");
            }
        }
    }
}

#[tokio::test]
async fn the_newer_and_the_older_version_are_in_their_environments() {
    let site = moving().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/workloads/till?sort=name", &reader).await;
    let versions = text(section(&page, "versions"));
    assert!(versions.contains("1.4.2") && versions.contains("1.5.0"), "{versions}");
    for link in [
        "/rollouts/till?",
        "/rollouts/till%401.5.0?",
        "/history?workload=till",
        "/drift?workload=till",
        "/environments/stage?rows=target&#38;workload=till",
        "/deployments?environment=prod&#38;workload=till",
        "/workloads/till?sort=name&#38;columns=hostLabel%3Aring",
    ] {
        let is_there = page.html.contains(&format!("href=\"{link}")) || page.html.contains(link.trim_end_matches('?'));
        assert!(is_there, "{link}: {}", page.html);
    }
    // The service of this test compiles nothing.
    assert!(!page.html.contains("/contract") && !page.html.contains("/assignments"), "{}", page.html);
}

#[tokio::test]
async fn the_worst_hosts_come_first() {
    let site = moving().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/workloads/till", &reader).await;
    let attention = section(&page, "attention");
    let [failed, outdated] = ["/hosts/prod-11", "/hosts/stage-11"].map(|host| attention.find(host));
    assert!(failed.is_some() && failed < outdated, "{attention}");
    assert!(attention.contains("state bad") && attention.contains("state old"), "{attention}");
    assert!(attention.contains("/deployments?workload=till&#38;status=failed"), "{attention}");
    assert!(!attention.contains("state good"), "{attention}");
}

#[tokio::test]
async fn targets_have_the_desired_version_and_its_time() {
    let site = moving().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/workloads/till", &reader).await;
    let targets = section(&page, "targets");
    for expected in ["href=\"/environments/prod\"", "href=\"/environments/stage\"", "till-eu", "1.5.0", "<time "] {
        assert!(targets.contains(expected), "{expected}: {targets}");
    }
}

#[tokio::test]
async fn rings_are_offered_only_if_hosts_have_the_label() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let offers = async |path: &str| site.page(path, &reader).await.html.contains(">By ring</a>");
    assert!(offers("/workloads/till").await);
    assert!(!offers("/workloads/till?selector=ring%3D2").await);
    let page = site.page("/workloads/till?columns=hostLabel:ring", &reader).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.html.contains(">By environment</a>") && !page.html.contains(">By ring</a>"), "{}", page.html);
}
