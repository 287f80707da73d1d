//! Pages at earlier times, and what changed since then.

use hub::count_history::record;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;

use super::{Names, company};

#[tokio::test]
async fn pages_without_a_past_say_that_they_show_the_present() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    for (path, has_past) in [
        ("/search?q=till", false),
        ("/rollouts/till?show=hosts", false),
        ("/?", true),
        ("/drift?", true),
        ("/rollouts?", true),
        ("/rollouts/till?", true),
        ("/environments/prod?", true),
        ("/environments/prod/targets?", true),
        ("/compare?from=stage&to=prod", true),
        ("/deployments?", true),
        ("/history?", true),
        ("/workloads/till?", true),
        ("/places/west-edge?", true),
    ] {
        let page = site.page(&format!("{path}&at=2030-01-01T00:00:00Z"), &reader).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.html);
        assert_eq!(page.html.contains("it shows the present"), !has_past, "{path}");
        assert_eq!(page.html.contains("This page shows <time"), has_past, "{path}");
    }
}

#[tokio::test]
async fn readers_step_from_change_to_change() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let step = |html: &str, rel: &str| {
        let (_, rest) = html.split_once(&format!("<a rel=\"{rel}\" href=\""))?;
        Some(rest.split('"').next()?.replace("&#38;", "&"))
    };
    let mut path = "/hosts/prod-11?at=2031-01-01T00:00:00Z".to_owned();
    let mut times = Vec::new();
    for _ in 0..5 {
        let page = site.page(&path, &reader).await;
        let Some(previous) = step(&page.html, "prev") else { break };
        path = previous;
        times.push(path.clone());
    }
    // It reported for each of its workloads, after both became desired at one time.
    assert_eq!(times.len(), 3, "{times:?}");
    let first = site.page(&times[2], &reader).await;
    assert!(first.html.contains("No earlier change is known"));
    assert_eq!(step(&first.html, "next").as_deref(), Some(times[1].as_str()));
    assert!(site.page(&times[0], &reader).await.html.contains("No later change is known"));
}

#[tokio::test]
async fn an_environment_leads_to_what_changed_since() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/environments/prod?at=2026-11-21T13:44:02Z", &reader).await;
    let link = "/compare?from=prod&#38;to=prod&#38;fromAt=2026-11-21T13%3A44%3A02";
    assert!(page.html.contains(&format!("href=\"{link}")), "{}", page.html);
    let page = site.page("/compare?from=prod&to=prod&fromAt=2026-11-21T13:44:02Z", &reader).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.html);
    for words in ["prod at 2026-11-21T13:44:02", "prod now", "First environment at"] {
        assert!(page.html.contains(words), "{words}: {}", page.html);
    }
}

#[tokio::test]
async fn a_rollout_shows_its_progress_over_time() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let listed = site.page("/rollouts?environment=prod", &reader).await;
    let (_, link) = listed.html.split_once("href=\"/rollouts/").unwrap();
    let path = format!("/rollouts/{}", link.split('"').next().unwrap());
    // The hub may have recorded the counts already.
    record(&site.database, Timestamp::now()).await.unwrap();
    site.report(&Names { host: "prod-99".to_owned(), ..Names::new("shop", "till", 1) }, "prod", "success").await;
    let page = site.page(&path, &reader).await;
    assert!(page.html.contains("<section class=\"curve\""), "{}", page.html);
    assert!(page.html.contains("The progress at each time at which the hub recorded it"));
    let selected = site.page(&format!("{path}?selector=region"), &reader).await;
    assert_eq!(selected.status, StatusCode::OK, "{}", selected.html);
    assert!(!selected.html.contains("<section class=\"curve\""));
}
