//! Each role, with each reach, on every page.

use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;

use super::crawl::crawl;
use super::{Names, company};

#[tokio::test]
async fn no_page_fails_for_a_role_and_none_names_what_is_out_of_reach() {
    let site = company().await;
    let of_workspace = Reach { workspaces: vec!["shop".into()], ..Reach::ALL };
    let of_environment = Reach { environments: vec!["stage".into()], ..Reach::ALL };
    let scopes = [
        ("reader", Scope::Read(Reach::ALL), None),
        ("shop", Scope::Read(of_workspace.clone()), Some("site")),
        ("stage", Scope::Read(of_environment.clone()), Some("prod-1")),
        ("approver", Scope::Approver(Reach::ALL), None),
        ("approver of shop", Scope::Approver(of_workspace.clone()), Some("site")),
        ("operator", Scope::Operator(Reach::ALL), None),
        ("operator of stage", Scope::Operator(of_environment), Some("prod-1")),
        ("another administrator", Scope::Admin, None),
    ];
    for (name, scope, hidden) in scopes {
        let token = site.token(name, scope).await;
        for page in crawl(&site, &token, &["/", "/deployments", "/rollouts", "/drift", "/history"]).await {
            assert_eq!(page.status, StatusCode::OK, "{name} on {}: {}", page.path, page.html);
            if let Some(hidden) = hidden {
                assert!(!page.html.contains(hidden), "{name} sees {hidden} on {}: {}", page.path, page.html);
            }
        }
    }
}

#[tokio::test]
async fn unknown_and_forbidden_pages_are_the_same() {
    let site = company().await;
    // A cluster type that only another workspace uses.
    site.publish("prod", &Names { cluster_type: "north".to_owned(), ..Names::new("web", "site", 7) }).await;
    let shop = site.token("shop", Scope::Read(Reach { workspaces: vec!["shop".into()], ..Reach::ALL })).await;
    let stage = site.token("stage", Scope::Read(Reach { environments: vec!["stage".into()], ..Reach::ALL })).await;
    let checks = [
        (&shop, "/rollouts/site", "site", "/rollouts/sits", "sits"),
        (&shop, "/deployments?workload=site", "site", "/deployments?workload=sits", "sits"),
        (&shop, "/deployments?workspace=web", "web", "/deployments?workspace=wet", "wet"),
        (&shop, "/workloads/site", "site", "/workloads/sits", "sits"),
        (&shop, "/workloads/till?workspace=web", "web", "/workloads/till?workspace=wet", "wet"),
        (&shop, "/places/north", "north", "/places/nortn", "nortn"),
        (&stage, "/workloads/site", "site", "/workloads/sits", "sits"),
        (&stage, "/workloads/till?environment=prod", "prod", "/workloads/till?environment=pros", "pros"),
        (&stage, "/places/prod-10", "prod-10", "/places/pros-10", "pros-10"),
        (&stage, "/places/west-edge?environment=prod", "prod", "/places/west-edge?environment=pros", "pros"),
        (&stage, "/environments/prod", "prod", "/environments/pros", "pros"),
        (&stage, "/hosts/prod-10", "prod-10", "/hosts/pros-10", "pros-10"),
        (&stage, "/drift?environment=prod", "prod", "/drift?environment=pros", "pros"),
        (&stage, "/history?environment=prod", "prod", "/history?environment=pros", "pros"),
        (&stage, "/compare?from=stage&to=prod", "prod", "/compare?from=stage&to=pros", "pros"),
    ];
    for (token, forbidden, own, unknown, other) in checks {
        let (one, two) = (site.page(forbidden, token).await, site.page(unknown, token).await);
        assert_eq!(one.status, two.status, "{forbidden}");
        let plain = |html: &str, name: &str| {
            let html = html.split("<p id=\"age\">").next().unwrap().to_owned();
            html.replace(name, "NAME")
        };
        assert_eq!(plain(&one.html, own), plain(&two.html, other), "{forbidden}");
    }
}
