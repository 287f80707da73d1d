//! Texts from outside that try to be markup.

use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;

use super::crawl::crawl;
use super::{Names, Site};

/// A text that closes attributes and elements, and runs a script if anything is not escaped.
const HOSTILE: &str = "\"'></td></table><script>window.hit=1</script><img src=x onerror=window.hit=1>{{7*7}}\u{202e}";

/// A site in which every text from outside is hostile.
async fn site() -> (Site, String) {
    let site = Site::start().await;
    let reader = site.token(HOSTILE, Scope::Read(Reach::ALL)).await;
    let long = "ㄱ".repeat(253 - HOSTILE.chars().count());
    let text = |kind: &str| format!("{kind}{HOSTILE}");
    let names = Names {
        workspace: text("workspace"),
        workload: text("workload"),
        target: text("target"),
        cluster_type: text("clustertype"),
        host: format!("{HOSTILE}{long}"),
        reconciler: text("reconciler"),
        version: text("version"),
        label: "west".to_owned(),
        message: HOSTILE.repeat(40),
        commit: "b".repeat(40),
    };
    site.publish("prod", &names).await;
    site.report(&names, "prod", "failure").await;
    (site, reader)
}

/// A site in which every text from outside is hostile, and the addresses of its pages.
pub(crate) async fn hostile_site() -> (Site, Vec<String>) {
    let (site, reader) = site().await;
    let pages = crawl(&site, &reader, &["/"]).await;
    let is_page = |page: &super::Page| page.html.starts_with("<!doctype html>");
    let paths = pages.into_iter().filter(is_page).map(|page| page.path).collect();
    (site, paths)
}

#[tokio::test]
async fn no_text_becomes_markup() {
    let (site, reader) = site().await;
    let pages = crawl(&site, &reader, &["/", "/sign-in?return=%22%3E%3Cscript%3E"]).await;
    assert!(pages.len() > 20, "{}", pages.len());
    for page in &pages {
        assert_eq!(page.status, StatusCode::OK, "{}: {}", page.path, page.html);
        if page.html.starts_with("<!doctype html>") {
            // Fields have what a reader typed; all else shows characters that are not visible.
            let texts: String =
                page.html.split(" value=\"").map(|rest| rest.split_once('"').map_or(rest, |(_, rest)| rest)).collect();
            assert!(!texts.contains('\u{202e}'), "{}: {}", page.path, page.html);
            let scripts = page.html.matches("<script").count();
            assert!(scripts <= 1 && !page.html.contains("<img src=x"), "{}: {}", page.path, page.html);
        }
    }
    let has_text = |text: &str| pages.iter().any(|page| page.html.contains(text));
    assert!(has_text("&#60;script&#62;window.hit=1") && has_text("{{7*7}}"));
}
