//! Views that readers keep: with the forms of the pages, without scripts.

use hub_api::tokens::{Reach, Scope};
use reqwest::{Response, StatusCode, Url};

use super::{Site, company};

/// A reader of one workspace only.
async fn limited(site: &Site) -> String {
    site.token("shop", Scope::Read(Reach { workspaces: vec!["shop".into()], ..Reach::ALL })).await
}

/// Sends a form of a page.
async fn post(site: &Site, token: &str, (path, fields): (&str, &[(&str, &str)])) -> Response {
    let body = Url::parse_with_params("http://form/", fields).unwrap().query().unwrap_or_default().to_owned();
    let request = site.client.post(site.url(path)).bearer_auth(token);
    request.header("content-type", "application/x-www-form-urlencoded").body(body).send().await.unwrap()
}

/// Sends a form of a page, and returns where the browser is sent.
async fn send(site: &Site, token: &str, form: (&str, &[(&str, &str)])) -> String {
    let response = post(site, token, form).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER, "{form:?}");
    response.headers()["location"].to_str().unwrap().to_owned()
}

const ADDRESS: &str = "/deployments?environment=prod&at=2031-01-01T00%3A00%3A00Z";

#[tokio::test]
async fn a_kept_view_is_on_every_page_until_it_is_removed() {
    let site = company().await;
    let reader = limited(&site).await;
    let link = "<a href=\"/deployments?environment=prod&#38;at=2031-01-01T00%3A00%3A00Z\"";
    let page = site.page(ADDRESS, &reader).await;
    let field = "name=\"address\" value=\"/deployments?environment=prod&#38;at=2031-01-01T00%3A00%3A00Z\"";
    assert!(page.html.contains(field) && !page.html.contains("All views"), "{}", page.html);
    let fields = [("name", " Prod then "), ("address", ADDRESS), ("favourite", "on")];
    assert_eq!(send(&site, &reader, ("/views/keep", &fields)).await, ADDRESS);
    for path in ["/", "/drift", "/hosts/prod-11"] {
        let html = site.page(path, &reader).await.html;
        assert!(html.contains(&format!("{link}>Prod then</a>")), "{path}: {html}");
    }
    let own = site.page(ADDRESS, &reader).await.html;
    assert!(own.contains(&format!("{link} aria-current=\"page\">Prod then</a>")) && own.contains("Kept as"), "{own}");
    // It is no favourite any more: only the list has it.
    let fields = [("name", "Prod then"), ("address", ADDRESS)];
    assert_eq!(send(&site, &reader, ("/views/change", &fields)).await, "/account#views");
    assert!(!site.page("/drift", &reader).await.html.contains("Prod then"));
    assert!(site.page("/account", &reader).await.html.contains("Prod then"));
    assert_eq!(send(&site, &reader, ("/views/remove", &[("name", "Prod then")])).await, "/account#views");
    assert!(site.page("/account", &reader).await.html.contains("You keep no views"));
}

#[tokio::test]
async fn people_see_only_their_own_views() {
    let site = company().await;
    let (reader, other) = (limited(&site).await, site.token("other", Scope::Admin).await);
    let fields = [("name", "of shop"), ("address", "/drift"), ("favourite", "on")];
    send(&site, &reader, ("/views/keep", &fields)).await;
    for path in ["/", "/account"] {
        assert!(!site.page(path, &other).await.html.contains("of shop"), "{path}");
    }
    let refused = post(&site, &other, ("/views/remove", &[("name", "of shop")])).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    assert!(site.page("/account", &reader).await.html.contains("of shop"));
}

#[tokio::test]
async fn hostile_names_are_text() {
    let site = company().await;
    let reader = limited(&site).await;
    let name = "\"'></a><script>alert(1)</script>{{7*7}}\u{202e}";
    send(&site, &reader, ("/views/keep", &[("name", name), ("address", "/drift"), ("favourite", "on")])).await;
    for path in ["/", "/drift", "/account"] {
        let html = site.page(path, &reader).await.html;
        assert_eq!(html.matches("<script").count(), 1, "{path}: {html}");
        assert!(html.contains("&#60;script&#62;alert(1)") && html.contains("\\u{202e}</a>"), "{path}: {html}");
    }
}

#[tokio::test]
async fn what_can_not_be_kept_is_refused_with_the_reason() {
    let site = company().await;
    let reader = limited(&site).await;
    let long = format!("/drift?find={}", "a".repeat(2_000));
    for (name, address, reason) in [
        ("", "/drift", "is empty"),
        ("a", "//evil.example/", "does not begin with a single"),
        ("a", "https://evil.example/", "does not begin with a single"),
        ("a", "/api/v1/tokens", "is a route of the API"),
        ("a", &long, "has more than 2000 characters"),
    ] {
        let response = post(&site, &reader, ("/views/keep", &[("name", name), ("address", address)])).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{address}");
        let html = response.text().await.unwrap();
        assert!(html.contains("This view can&#39;t be kept") && html.contains(reason), "{address}: {html}");
        assert!(!html.contains("href=\"https://evil") && !html.contains("href=\"//evil"), "{address}: {html}");
    }
}

#[tokio::test]
async fn a_reader_without_a_session_signs_in_and_returns_to_the_page() {
    let site = company().await;
    let fields = "name=a&address=%2Fdrift%3Fworkload%3Dtill";
    let request = site.client.post(site.url("/views/keep")).header("accept", "text/html");
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields);
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["location"], "/sign-in?return=%2Fdrift%3Fworkload%3Dtill");
}

#[tokio::test]
async fn another_site_can_not_change_views() {
    let site = company().await;
    let reader = limited(&site).await;
    for path in ["/views/keep", "/views/change", "/views/remove"] {
        let request = site.client.post(site.url(path)).bearer_auth(&reader).header("sec-fetch-site", "cross-site");
        let request = request.header("content-type", "application/x-www-form-urlencoded").body("name=a&address=%2F");
        assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{path}");
    }
}
