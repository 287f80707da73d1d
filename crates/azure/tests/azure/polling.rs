//! What is asked, and what becomes of the answers.

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use hub::questions::deployments;
use hub::store::{Database, DatabaseUrl};
use hub::writer::Writer;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::publication::Publication;
use model::rollout::ReconcilerState;
use serde_json::json;

use super::cloud::{CLUSTERS, CONFIGURATIONS, Cloud, Fault, INSTANCES, TARGETS, error};
use super::rows::{self, TARGET, cluster, cluster_id, configuration, instance, target};
use super::*;

/// A cloud with clusters `edge-0`, `edge-1`, … in `s1`.
async fn clusters(count: usize) -> Cloud {
    let cloud = Cloud::start().await;
    let ids: Vec<_> = (0..count).map(|number| cluster_id("s1", "Plants", &format!("Edge-{number}"))).collect();
    cloud.fill("s1", CLUSTERS, ids.iter().map(|id| cluster(id, "Connected", "2026-11-21T13:44:30Z")).collect());
    cloud.fill("s1", CONFIGURATIONS, ids.iter().map(|id| configuration(id, "Compliant")).collect());
    cloud
}

const THROTTLED: Fault = || {
    let (status, body) =
        (StatusCode::TOO_MANY_REQUESTS, "{\"error\": {\"code\": \"RateLimiting\", \"message\": \"Wait.\"}}");
    (status, [("retry-after", "7")], body).into_response()
};
const EXHAUSTED: Fault = || {
    let headers = [("x-ms-user-quota-remaining", "0"), ("x-ms-user-quota-resets-after", "00:00:05")];
    (headers, axum::Json(json!({"totalRecords": 0, "count": 0, "resultTruncated": "false", "data": []})))
        .into_response()
};
const BROKEN: Fault = || error(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", "Something went wrong.");
const REFUSED: Fault = || error(StatusCode::BAD_REQUEST, "BadRequest", "Please provide below info.");
const TRUNCATED: Fault =
    || axum::Json(json!({"totalRecords": 9, "count": 0, "resultTruncated": "true", "data": []})).into_response();
const CUT_OFF: Fault = || "{\"totalRecords\": 9, \"data\": [{\"id\": \"/sub".into_response();

#[tokio::test]
async fn every_page_is_read() {
    let cloud = clusters(7).await;
    cloud.state().page_rows = 3;
    let polled = Asking::new(source(options(&cloud, &["s1"]))).poll(NOW).await;
    assert_eq!(lines(&polled)[0], "edge-0 platform-edge success 2026-11-21T13:44:00.000Z");
    assert_eq!(lines(&polled)[1], "edge-0 platform-edge success 2026-11-21T13:45:00.000Z");
    assert_eq!((polled.reports.len(), polled.complete, messages(&polled)), (14, 1, Vec::new()));
    assert_eq!((cloud.questions(), cloud.violations()), (7, Vec::new()));
    let endpoint = polled.reports[0].endpoint.as_ref().unwrap().to_string();
    assert_eq!(endpoint, "https://git.example/acme/gitops/prod/chicago-edge");
}

#[tokio::test]
async fn throttling_delays_are_respected() {
    let cloud = clusters(1).await;
    let mut asking = Asking::new(source(options(&cloud, &["s1"])));
    cloud.fail(&[Some(THROTTLED), None, Some(EXHAUSTED)]);
    let polled = asking.poll(NOW).await;
    assert_eq!((asking.waits(), polled.complete, messages(&polled)), (vec![7, 5], 1, Vec::new()));
}

#[tokio::test]
async fn repeated_failures_end_the_requests() {
    let cloud = clusters(1).await;
    let mut asking = Asking::new(source(options(&cloud, &["s1"])));
    cloud.fail(&[Some(BROKEN); 5]);
    let polled = asking.poll(NOW).await;
    assert_eq!(asking.waits().len(), 4);
    assert_eq!((polled.reports.len(), polled.complete), (2, 0));
    let said = "subscription s1: clusters can't be listed, or not in full: Azure returned status 500: Something went wrong. (InternalServerError)";
    assert_eq!(messages(&polled), [said]);
    assert_eq!(asking.poll("2026-11-21T13:50:00Z").await.complete, 1);
}

#[tokio::test]
async fn failing_subscription_does_not_affect_the_others() {
    let cloud = clusters(1).await;
    let polled = Asking::new(source(options(&cloud, &["s3", "s1"]))).poll(NOW).await;
    assert_eq!((polled.reports.len(), polled.complete), (2, 1));
    let said = "subscription s3: clusters can't be listed, or not in full: Azure returned status 403: The client does not have authorization. (AuthorizationFailed)";
    assert_eq!(messages(&polled), [said]);
}

#[tokio::test]
async fn failed_pages_make_the_poll_incomplete() {
    for (fault, said) in [(REFUSED, "status 400"), (TRUNCATED, "cut off"), (CUT_OFF, "can't be read")] {
        let cloud = clusters(4).await;
        cloud.state().page_rows = 2;
        let mut asking = Asking::new(source(options(&cloud, &["s1"])));
        assert_eq!(asking.poll(NOW).await.reports.len(), 8);
        cloud.fail(&[None, None, None, Some(fault)]);
        let polled = asking.poll("2026-11-21T13:50:00Z").await;
        assert_eq!((polled.reports.len(), polled.complete), (2, 0));
        assert!(messages(&polled)[0].contains(said), "{:?}", messages(&polled));
    }
}

#[tokio::test]
async fn invalid_rows_do_not_affect_the_others() {
    let cloud = clusters(1).await;
    let good = configuration(&cluster_id("s1", "Plants", "Edge-0"), "Compliant");
    let rows = vec![json!(3), json!({"id": "x"}), json!({"id": "/a", "properties": {}}), good.clone(), good];
    cloud.fill("s1", CONFIGURATIONS, rows);
    let polled = Asking::new(source(options(&cloud, &["s1"]))).poll(NOW).await;
    assert_eq!((polled.reports.len(), polled.complete), (2, 1));
    let said = messages(&polled);
    assert_eq!(said[0], "a row without an id: is not an object");
    assert_eq!(said[1], "x: properties: are missing");
    assert_eq!(said[2], "/a: id: is not that of a Flux configuration");
    assert!(
        said[3].ends_with("`platform-edge` on `edge-0` has been reported already; this is left out"),
        "{}",
        said[3]
    );
}

#[tokio::test]
async fn clusters_of_one_name_are_distinguished_in_all_sources() {
    let cloud = clusters(1).await;
    let id = cluster_id("s2", "Labs", "edge-0");
    cloud.fill("s2", CLUSTERS, vec![cluster(&id, "Connected", "2026-11-21T13:44:30Z")]);
    cloud.fill("s2", CONFIGURATIONS, vec![configuration(&id, "Failed")]);
    let hosts = HostNames::default();
    let mut first = Asking::with_hosts(source(options(&cloud, &["s1"])), &hosts);
    let mut second = Asking::with_hosts(source(options(&cloud, &["s2"])), &hosts);
    second.poller.read_host_names().await;
    let (first, second) = (first.poll(NOW).await, second.poll(NOW).await);
    assert_eq!(
        (first.reports[0].host.as_str(), second.reports[0].host.as_str()),
        ("edge-0.plants.s1", "edge-0.labs.s2")
    );
    assert!(messages(&first)[0].contains("has the same name as edge-0.labs.s2"), "{:?}", messages(&first));
    assert_eq!(messages(&second), [""; 0]);
}

#[tokio::test]
async fn statuses_missing_in_the_graph_are_requested() {
    let cloud = clusters(2).await;
    let mut rows: Vec<_> =
        (0..2).map(|n| configuration(&cluster_id("s1", "Plants", &format!("Edge-{n}")), "Failed")).collect();
    let path = format!("{}?api-version=2023-05-01", rows[0]["id"].as_str().unwrap());
    cloud.state().resources.insert(path, rows[0].clone());
    rows.iter_mut().for_each(|row| drop(row["properties"].as_object_mut().unwrap().remove("statuses")));
    cloud.fill("s1", CONFIGURATIONS, rows);
    let polled = Asking::new(source(options(&cloud, &["s1"]))).poll(NOW).await;
    assert!(polled.reports[0].message.starts_with("Applied revision"));
    assert_eq!((polled.reports.len(), polled.reports[2].message.as_str()), (4, ""));
    assert!(
        messages(&polled)[0].contains("the statuses of its objects: Azure returned status 404"),
        "{:?}",
        messages(&polled)
    );
}

#[tokio::test]
async fn solutions_are_read_from_the_graph_or_requested() {
    let cloud = Cloud::start().await;
    cloud.fill("s1", TARGETS, vec![target()]);
    cloud.fill("s1", INSTANCES, vec![instance()]);
    let from_graph = Asking::new(source(options(&cloud, &["s1"]))).poll(NOW).await;
    assert_eq!(lines(&from_graph)[0], "chicago line-7/hello success 2026-11-21T13:40:00.000Z");
    assert_eq!((from_graph.reports[0].kind.as_str(), from_graph.reports[0].version.as_deref()), ("wo", Some("1.2.3")));
    cloud.fill("s1", INSTANCES, Vec::new());
    let (solutions, version) = (format!("{TARGET}/solutions"), "?api-version=2025-06-01");
    let next = format!("{solutions}{version}&page=2");
    let pages = [
        (format!("{solutions}{version}"), json!({"value": [], "nextLink": format!("{}{next}", cloud.url)})),
        (next, json!({"value": [{"id": format!("{solutions}/hello"), "properties": {}}]})),
        (format!("{solutions}/hello/instances{version}"), json!({"value": [instance()], "nextLink": null})),
    ];
    cloud.state().resources.extend(pages);
    let from_manager = Asking::new(source(options(&cloud, &["s1"]))).poll(NOW).await;
    assert_eq!((lines(&from_manager), messages(&from_manager)), (lines(&from_graph), Vec::new()));
}

#[tokio::test]
async fn solution_is_the_workload_with_its_name_and_version() {
    let cloud = Cloud::start().await;
    cloud.fill("s1", TARGETS, vec![target()]);
    cloud.fill("s1", INSTANCES, vec![instance()]);
    let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
    let (ingest, _) = Writer::start(database.clone());
    for environment in ["stage", "prod"] {
        let told = json!({
            "repository": "https://git.example/hello", "branch": environment, "commit": rows::COMMIT,
            "places": [{"path": ".", "tree": rows::COMMIT, "role": "application", "environment": environment, "targets": [{
                "workspace": "acme", "application": "greetings", "workload": "hello", "name": "edge",
                "environment": environment, "version": {"version": "1.2.3"},
            }]}],
        });
        let publication = serde_json::from_value::<Publication>(told).unwrap();
        let update = hub::desired::DesiredUpdate::of_publication(publication).remove(0);
        ingest.update_desired(update).await.unwrap();
    }
    let mut options = options(&cloud, &["s1"]);
    options["environment"] = json!("prod");
    ingest.submit(Asking::new(source(options)).poll(NOW).await.reports).await.unwrap();
    let answer = deployments(&database, &Filter::default(), &Page::default(), None).await.unwrap();
    let row = &answer.items[0];
    assert_eq!(
        (row.host.as_str(), row.reconciler.as_str(), row.environment.as_deref()),
        ("chicago", "line-7/hello", Some("prod"))
    );
    assert_eq!((row.version.as_deref(), row.state), (Some("1.2.3"), Some(ReconcilerState::Succeeded)));
}

#[tokio::test]
async fn a_token_never_goes_to_another_server() {
    let cloud = Cloud::start().await;
    cloud.fill("s1", TARGETS, vec![target()]);
    let list = json!({"value": [], "nextLink": format!("{}.evil.example/x", cloud.url)});
    cloud.state().resources.insert(format!("{TARGET}/solutions?api-version=2025-06-01"), list);
    let polled = Asking::new(source(options(&cloud, &["s1"]))).poll(NOW).await;
    assert!(messages(&polled)[0].ends_with("the next page is said to be on another server"), "{:?}", messages(&polled));
}

#[tokio::test]
async fn unchanged_states_add_no_history_and_offline_hosts_fall_silent() {
    let cloud = clusters(1).await;
    let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
    let (ingest, _) = Writer::start(database.clone());
    let mut asking = Asking::new(source(options(&cloud, &["s1"])));
    let state = async |ingest: &Writer, polled: Polled| {
        ingest.submit(polled.reports).await.unwrap();
        let sql = "select (select count(*) from deployment), seen_on from reconciler_state";
        let (count, seen_on): (i64, Timestamp) = database.one(sql, Vec::new()).await.unwrap();
        (count, seen_on.to_string())
    };
    let first = asking.poll(NOW).await;
    assert_eq!(state(&ingest, first).await, (1, "2026-11-21T13:45:00.000Z".to_owned()));
    let later = asking.poll("2026-11-21T13:50:00Z").await;
    assert_eq!(state(&ingest, later).await, (1, "2026-11-21T13:50:00.000Z".to_owned()));
    let offline = cluster(&cluster_id("s1", "Plants", "Edge-0"), "Offline", "2026-11-21T13:52:00Z");
    cloud.fill("s1", CLUSTERS, vec![offline]);
    let away = asking.poll("2026-11-21T14:10:00Z").await;
    assert_eq!(state(&ingest, away).await, (1, "2026-11-21T13:52:00.000Z".to_owned()));
    assert_eq!(lines(&asking.poll("2026-11-21T14:15:00Z").await), [""; 0]);
}

#[tokio::test]
async fn polling_continues_and_stores_reports() {
    let cloud = clusters(3).await;
    let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
    let (ingest, _) = Writer::start(database.clone());
    let poller = Poller::new(source(options(&cloud, &["s1"])), HostNames::default()).unwrap();
    let stored = async {
        let sql = "select count(*) from reconciler_state where silent_after is not null";
        while database.one::<i64>(sql, Vec::new()).await.unwrap() < 3 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = azure::run(vec![poller], Arc::new(ingest)) => panic!("it ended"),
        () = stored => {}
    }
}
