//! The desired state over HTTP.

use std::sync::Arc;

use engine::layout::Folder;
use hub::server::Server;
use hub_api::tokens::{Reach, Scope};
use reqwest::StatusCode;
use serde_json::{Value, json};
use watch::{Resources, WatchedBranch};

use super::{Hub, problem};

fn publication(commit: Option<&str>) -> Value {
    let place = json!({"path": "edge/web", "tree": "a".repeat(40), "role": "platform", "environment": "prod"});
    let mut publication = json!({"repository": "https://git.example/r", "branch": "prod", "places": [place]});
    if let Some(commit) = commit {
        publication["commit"] = commit.into();
    }
    publication
}

#[tokio::test]
async fn publications_are_for_publishers_and_count_once() {
    let hub = Hub::start().await;
    let publisher = hub.token("publisher", Scope::Publish(Reach::ALL)).await;
    let host = hub.token("edge", Scope::host("edge")).await;
    let post = |token: &hub_api::token::TokenText, body: &Value| {
        hub.post("/api/v1/publications").bearer_auth(token.reveal()).json(body).send()
    };
    let (plan, publication) = (publication(None), publication(Some(&"c".repeat(40))));
    assert_eq!(problem(post(&host, &plan).await.unwrap()).await.0, StatusCode::FORBIDDEN);
    let asking = hub.get("/api/v1/environments").bearer_auth(publisher.reveal()).send().await.unwrap();
    assert_eq!(problem(asking).await.0, StatusCode::FORBIDDEN);
    let report = json!({"host": "edge", "reconciler": "web", "status": "success"});
    let reporting = hub.post("/api/v1/reports").bearer_auth(publisher.reveal()).json(&report).send().await.unwrap();
    assert_eq!(problem(reporting).await.0, StatusCode::FORBIDDEN);
    for (body, expected) in [(&plan, (0, 0)), (&publication, (1, 0)), (&publication, (0, 1))] {
        let answer: Value = post(&publisher, body).await.unwrap().json().await.unwrap();
        assert_eq!((answer["changed"].as_u64(), answer["unchanged"].as_u64()), (Some(expected.0), Some(expected.1)));
    }
    let wrong = json!({"repository": "r", "branch": "b", "commit": "main", "places": []});
    assert_eq!(problem(post(&publisher, &wrong).await.unwrap()).await.0, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_publisher_learns_how_far_an_output_is_published() {
    let hub = Hub::start().await;
    let reach = |name: &str| Reach { environments: vec![name.into()], ..Reach::ALL };
    let [own, other] = ["prod", "dev"].map(|name| Scope::Publish(reach(name)));
    let (own, other) = (hub.token("own", own).await, hub.token("other", other).await);
    let path = "/api/v1/publications?repository=https://git.example/r&branch=prod&environment=prod";
    let ask = async || -> Value { hub.get(path).bearer_auth(own.reveal()).send().await.unwrap().json().await.unwrap() };
    let publish = |token: &hub_api::token::TokenText, (digit, second): (&str, i64), is_last: bool| {
        let mut body = publication(Some(&digit.repeat(40)));
        body["committedOn"] = format!("2026-03-02T10:00:0{second}Z").into();
        if is_last {
            body["completes"] = json!({"environment": "prod"});
        }
        hub.post("/api/v1/publications").bearer_auth(token.reveal()).json(&body).send()
    };
    assert_eq!(ask().await, json!({}));
    publish(&own, ("c", 2), false).await.unwrap();
    assert_eq!(ask().await, json!({}));
    publish(&own, ("c", 2), true).await.unwrap();
    assert_eq!(ask().await, json!({"commit": "c".repeat(40)}));
    // It is late: of its content, only the plans are stored.
    publish(&own, ("b", 1), true).await.unwrap();
    assert_eq!(ask().await, json!({"commit": "c".repeat(40)}));
    assert_eq!(problem(publish(&other, ("d", 3), true).await.unwrap()).await.0, StatusCode::FORBIDDEN);
    let asking = hub.get(path).bearer_auth(other.reveal()).send().await.unwrap();
    assert_eq!(problem(asking).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn watched_branches_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let url = git::RepositoryUrl::from_configuration(&folder.path().join("none").display().to_string()).unwrap();
    let branch = WatchedBranch { url, branch: "prod".into(), folder: Folder::default(), environment: None };
    let pause = std::time::Duration::from_hours(1);
    let git = git::Settings::new(folder.path().join("cache"));
    let reading = |server: Server| {
        let repositories = Arc::new(git::GitRepositories::new(git));
        let resources = Resources { sink: server.desired_state_sink(), repositories };
        let (watches, task) = watch::watch(&resources, vec![branch], pause);
        server.watching(Arc::new(watches)).with_task(task)
    };
    let hub = Hub::start_server(|_| (), reading).await;
    let states: Value = hub.get("/api/v1/watches").send().await.unwrap().json().await.unwrap();
    assert_eq!(states[0]["branch"], "prod");
    let refreshed = hub.post("/api/v1/refresh").send().await.unwrap();
    assert_eq!(refreshed.status(), StatusCode::ACCEPTED);
}
