//! Files with everything that is filtered.

use hub_api::tokens::{Reach, Scope};
use serde_json::Value;

use super::{Names, company};

#[tokio::test]
async fn files_have_all_rows_of_the_filter_and_not_those_of_the_page() {
    let site = company().await;
    let reader = site.token("reader", Scope::Read(Reach::ALL)).await;
    let names = Names::new("shop", "till", 1);
    for number in 0..1_050 {
        site.report(&Names { host: format!("many-{number:04}"), ..names.clone() }, "prod", "failure").await;
    }
    let get = async |path: &str| site.get(path, Some(&reader)).await;
    let response = get("/deployments?status=failed&environment=prod&format=json").await;
    assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"kalypso-deployments.json\"");
    let items: Vec<Value> = response.json().await.unwrap();
    assert_eq!(items.len(), 1_052);
    assert!(items.iter().all(|item| item["state"] == "failed" && item["environment"] == "prod"));
    let response = get("/deployments?status=failed&environment=prod&format=csv").await;
    assert_eq!(response.headers()["content-type"], "text/csv; charset=utf-8; header=present");
    let text = response.text().await.unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("State,Host,Workload,"), "{text:.200}");
    assert_eq!(lines.filter(|line| line.starts_with("failed,")).count(), 1_052);
}
