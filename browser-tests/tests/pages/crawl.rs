//! Every page that a link leads to, beginning at the overview.

use std::collections::{BTreeSet, VecDeque};

use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;

use super::{Page, Site, company};

/// The pages that no other page links to.
const BEGINNINGS: [&str; 4] =
    ["/", "/compare?from=stage&to=prod", "/environments/prod?at=2031-01-01T00:00:00Z", "/sign-in"];

/// The number of pages after which a crawl ends. Filters make any number of addresses.
const PAGES_MAX: usize = 400;

/// Reads the pages that links lead to.
pub(crate) async fn crawl(site: &Site, token: &str, beginnings: &[&str]) -> Vec<Page> {
    let mut known: BTreeSet<String> = beginnings.iter().map(ToString::to_string).collect();
    let mut queue: VecDeque<String> = known.iter().cloned().collect();
    let mut pages = Vec::new();
    while let Some(path) = queue.pop_front() {
        if pages.len() == PAGES_MAX {
            break;
        }
        let page = site.page(&path, token).await;
        let own = links(&page.html).into_iter().filter(|link| link.starts_with('/') && !link.starts_with("/assets/"));
        for link in own.map(|link| link.split('#').next().unwrap_or_default().to_owned()) {
            if known.insert(link.clone()) {
                queue.push_back(link);
            }
        }
        pages.push(page);
    }
    pages
}

/// The addresses of links, with entities decoded.
fn links(html: &str) -> Vec<String> {
    let decoded = |text: &str| {
        let text = text.replace("&#38;", "&").replace("&amp;", "&").replace("&#39;", "'").replace("&#34;", "\"");
        text.replace("&#60;", "<").replace("&#62;", ">")
    };
    html.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(decoded).collect()
}

/// What the content security policy would block is not there: inline scripts, inline styles and handlers.
fn check_without_inline(page: &Page) {
    let Page { path, html, .. } = page;
    for (number, rest) in html.split("<script").skip(1).enumerate() {
        assert!(number == 0 && rest.starts_with(" type=\"module\" src=\"/assets/"), "{path}: {rest:.80}");
    }
    assert!(!html.contains("<style") && !html.contains(" style=\""), "{path}");
    for handler in [" onclick=", " onload=", " onerror=", " onfocus=", "javascript:"] {
        assert!(!html.contains(handler), "{path}: {handler}");
    }
}

#[tokio::test]
async fn every_link_leads_to_a_page() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let pages = crawl(&site, &reader, &BEGINNINGS).await;
    for page in &pages {
        assert_eq!(page.status, StatusCode::OK, "{}: {}", page.path, page.html);
        if page.html.starts_with("<!doctype html>") {
            check_without_inline(page);
        }
    }
    let paths: BTreeSet<_> = pages.iter().map(|page| page.path.split('?').next().unwrap()).collect();
    for expected in [
        "/environments/prod",
        "/hosts/prod-11",
        "/workloads/till",
        "/places/west-edge",
        "/rollouts/till",
        "/history",
        "/drift",
        "/deployments",
        "/account",
    ] {
        assert!(paths.contains(expected), "{expected} is not linked: {paths:?}");
    }
}

#[tokio::test]
async fn pages_that_do_not_exist_say_so_to_people_and_to_programs() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    for path in [
        "/nowhere",
        "/environments/nowhere",
        "/deployments?workload=nothing",
        "/rollouts/nothing",
        "/workloads/nothing",
        "/workloads/till?workspace=nothing",
        "/workloads/till?columns=hostLabel:nothing",
        "/places/nothing",
        "/places/west-edge?environment=nothing",
    ] {
        let page = site.page(path, &reader).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.html.contains("Not found, or not permitted") || path == "/nowhere", "{path}: {}", page.html);
        check_without_inline(&page);
    }
    for path in [
        "/drift?at=yesterday",
        "/history?since=soon",
        "/deployments?status=bad",
        "/drift?format=xml",
        "/compare?from=stage&to=prod&toAt=soon",
        "/workloads/till?columns=colour",
    ] {
        assert_eq!(site.page(path, &reader).await.status, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn readers_without_a_session_sign_in_and_come_back() {
    let site = company().await;
    let response = site.get("/deployments?status=failed&workload=till", None).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let to = response.headers()["location"].to_str().unwrap();
    assert_eq!(to, "/sign-in?return=%2Fdeployments%3Fstatus%3Dfailed%26workload%3Dtill");
    let html = site.get(to, None).await.text().await.unwrap();
    assert!(html.contains("value=\"/deployments?status=failed&#38;workload=till\""), "{html}");
}

#[tokio::test]
async fn a_page_that_did_not_change_is_not_sent_again() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let get = async |tag: Option<&str>| {
        let request = site.client.get(site.url("/drift")).bearer_auth(&reader);
        let request = tag.into_iter().fold(request, |request, tag| request.header("if-none-match", tag));
        request.send().await.unwrap()
    };
    let first = get(None).await;
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    // Ages are rounded, so that an answer soon after is the same but for the time at its end.
    let again = get(Some(&tag)).await;
    let changed = if again.status() == StatusCode::NOT_MODIFIED {
        again
    } else {
        get(again.headers()["etag"].to_str().ok()).await
    };
    assert_eq!(changed.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(changed.text().await.unwrap(), "");
    site.report(
        &super::Names { host: "prod-11".to_owned(), ..super::Names::new("shop", "till", 1) },
        "prod",
        "success",
    )
    .await;
    assert_eq!(get(Some(&tag)).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_column_of_a_state_leads_to_the_hosts_in_that_state() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let page = site.page("/environments/prod?columns=state", &reader).await;
    let hosts = links(&page.html)
        .into_iter()
        .filter(|link| link.starts_with("/deployments?") && link.ends_with("status=failed"));
    assert!(hosts.count() >= 2, "{}", page.html);
}
