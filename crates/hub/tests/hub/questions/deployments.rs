//! The present deployments.

use hub::questions::{deployments, environment_targets, environments, rollout_hosts};
use hub_api::deployments::Deployment;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use model::rollout::ReconcilerState;

use crate::questions::fleet::{Fleet, WORKLOAD, of_application, of_folder};
use crate::twins::Ground;

twins![
    hosts_have_versions_with_configurations,
    hosts_show_their_own_content_and_not_the_desired_one,
    deployments_at_a_past_time_are_answered,
    names_and_labels_select,
    unknown_labels_are_reported_with_similar_ones,
    a_cluster_type_selects_hosts_with_everything_on_them,
    unknown_names_are_reported_with_similar_ones,
    pages_follow_each_other_whatever_is_added_meanwhile,
    reconcilers_of_nothing_that_is_known_are_shown_too,
];

fn short(commit: Option<&str>) -> String {
    commit.map_or("-".to_owned(), |commit| commit.trim_start_matches('0').to_owned())
}

/// The rows as `host reconciler version config commit state`.
async fn check(fleet: &Fleet, filter: &Filter, at: Option<i64>) -> Vec<String> {
    let page = Page::default();
    let answer = match deployments(&fleet.database, filter, &page, at.map(Timestamp::from_millis)).await {
        Ok(answer) => answer,
        Err(error) => return vec![error.to_string()],
    };
    let row = |row: &Deployment| {
        let (version, config) = (row.version.as_deref().unwrap_or("-"), row.config_version.as_deref().unwrap_or("-"));
        let state = row.state.map_or("unwanted", ReconcilerState::as_str);
        format!("{} {} {version} {config} {} {state}", row.host, row.reconciler, short(row.commit.as_deref()))
    };
    answer.items.iter().map(row).collect()
}

async fn hosts_have_versions_with_configurations(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_folder("h-1", "edge", 20, 1)).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    let expected = ["h-1 platform - c1 1 succeeded", "h-1 checkout 1.0 c1 b succeeded"];
    assert_eq!(check(&fleet, &Filter::default(), None).await, expected);
}

async fn hosts_show_their_own_content_and_not_the_desired_one(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_folder("h-1", "edge", 20, 1)).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_platform("prod", 2, "c2").await;
    fleet.publish_application("prod", 12, "2.0").await;
    let expected = ["h-1 platform - c1 1 outdated", "h-1 checkout 1.0 c1 b outdated"];
    assert_eq!(check(&fleet, &Filter::default(), None).await, expected);
    fleet.submit(Report { status: Status::Failure, ..of_application("h-1", 31, 12) }).await;
    let failed = Filter { status: Some("failed".into()), ..Filter::default() };
    assert_eq!(check(&fleet, &failed, None).await, ["h-1 checkout 2.0 c1 c failed"]);
}

async fn deployments_at_a_past_time_are_answered(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-1", 40, 30) }).await;
    let filter = Filter::default();
    assert_eq!(check(&fleet, &filter, Some(25)).await, ["h-1 checkout 1.0 - b succeeded"]);
    assert_eq!(check(&fleet, &filter, Some(35)).await, ["h-1 checkout 1.0 - b outdated"]);
    assert_eq!(check(&fleet, &filter, Some(40)).await, ["h-1 checkout 2.0 - 1e failed"]);
    assert_eq!(check(&fleet, &filter, Some(20)).await, Vec::<String>::new());
}

async fn names_and_labels_select(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for host in ["h-1", "h_%-2", "h'-3"] {
        fleet.submit(of_application(host, 21, 11)).await;
    }
    let hosts = async |filter: Filter| {
        let rows = check(&fleet, &filter, None).await;
        rows.iter().map(|row| row.replace(" checkout 1.0 - b succeeded", "")).collect::<Vec<_>>().join(", ")
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(hosts(Filter { host: text("h_%-2"), ..Filter::default() }).await, "h_%-2");
    assert_eq!(hosts(Filter { selector: text("number in (1, 3)"), ..Filter::default() }).await, "h-1, h'-3");
    assert_eq!(hosts(Filter { selector: text("region,number!=1"), ..Filter::default() }).await, "h_%-2, h'-3");
    assert_eq!(hosts(Filter { selector: text("!region"), ..Filter::default() }).await, "");
    assert_eq!(hosts(Filter { target_selector: text("purpose=prod"), ..Filter::default() }).await, "h-1, h_%-2, h'-3");
    assert_eq!(hosts(Filter { target_selector: text("purpose!=prod"), ..Filter::default() }).await, "");
    let succeeded = Filter { status: text("succeeded"), selector: text("number=3"), ..Filter::default() };
    assert_eq!(hosts(succeeded).await, "h'-3");
    let of_workload = Filter { workload: text(WORKLOAD), environment: text("prod"), ..Filter::default() };
    assert_eq!(hosts(of_workload).await, "h-1, h_%-2, h'-3");
}

async fn unknown_labels_are_reported_with_similar_ones(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for host in ["h-1", "h-2"] {
        fleet.submit(of_application(host, 21, 11)).await;
    }
    let said = async |filter: Filter| check(&fleet, &filter, None).await.join(", ");
    let hosts = |selector: &str| Filter { selector: Some(selector.to_owned()), ..Filter::default() };
    assert_eq!(said(hosts("regoin=west")).await, "there is no host with label `regoin`; did you mean `region`?");
    assert_eq!(said(hosts("zone")).await, "there is no host with label `zone`");
    assert_eq!(
        said(hosts("number in (3,4)")).await,
        "there is no host with label `number in (3,4)`; did you mean `number=1`, `number=2`?"
    );
    assert_eq!(said(hosts("number=1,number=2")).await, "there is no host with labels `number=1,number=2`");
    let unknown = Filter { target_selector: Some("purpose=prd".into()), ..Filter::default() };
    let expected = "there is no deployment target with label `purpose=prd`; did you mean `purpose=prod`?";
    assert_eq!(said(unknown.clone()).await, expected);
    for filter in [hosts("number=3"), unknown] {
        assert!(environments(&fleet.database, &filter, None).await.is_err());
        assert!(environment_targets(&fleet.database, &filter, &Page::default(), None).await.is_err());
        assert!(rollout_hosts(&fleet.database, WORKLOAD, &filter, &Page::default()).await.is_err());
    }
}

async fn a_cluster_type_selects_hosts_with_everything_on_them(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_folder("h-1", "edge", 20, 1)).await;
    for host in ["h-1", "h-2"] {
        fleet.submit(of_application(host, 21, 11)).await;
    }
    let edge = Filter { cluster_type: Some("edge".into()), ..Filter::default() };
    let both = ["h-1 platform - c1 1 succeeded", "h-1 checkout 1.0 c1 b succeeded"];
    assert_eq!(check(&fleet, &edge, None).await, both);
    let of_workload = Filter { workload: Some(WORKLOAD.into()), status: Some("succeeded".into()), ..edge.clone() };
    assert_eq!(check(&fleet, &of_workload, None).await, both);
    assert_eq!(check(&fleet, &Filter { host: Some("h-2".into()), ..edge.clone() }, None).await, Vec::<String>::new());
    let answer = deployments(&fleet.database, &edge, &Page::default(), None).await.unwrap();
    assert!(answer.items.iter().all(|row| row.cluster_type.as_deref() == Some("edge")));
    let unknown = Filter { cluster_type: Some("egde".into()), ..Filter::default() };
    assert_eq!(check(&fleet, &unknown, None).await, ["there is no cluster type `egde`; did you mean `edge`?"]);
}

async fn unknown_names_are_reported_with_similar_ones(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let filter = Filter { environment: Some("prodd".into()), ..Filter::default() };
    assert_eq!(check(&fleet, &filter, None).await, ["there is no environment `prodd`; did you mean `prod`?"]);
    let filter = Filter { workload: Some("check_out".into()), ..Filter::default() };
    let said = format!("there is no workload `check_out`; did you mean `{WORKLOAD}`?");
    assert_eq!(check(&fleet, &filter, None).await, [said]);
    let filter = Filter { status: Some("good".into()), ..Filter::default() };
    assert!(check(&fleet, &filter, None).await[0].starts_with("`status`: `good` is not one of succeeded, failed"));
}

async fn pages_follow_each_other_whatever_is_added_meanwhile(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for number in 0..5 {
        fleet.submit(of_application(&format!("h-{number}"), 21, 11)).await;
    }
    for status in [None, Some("succeeded".to_owned())] {
        let filter = Filter { status, ..Filter::default() };
        let mut page = Page { limit: Some(2), cursor: None };
        let mut hosts = Vec::new();
        loop {
            let answer = deployments(&fleet.database, &filter, &page, None).await.unwrap();
            assert!(answer.items.len() <= 2);
            hosts.extend(answer.items.into_iter().map(|row| row.host));
            page.cursor = answer.next;
            if page.cursor.is_none() {
                break;
            }
        }
        assert_eq!(hosts, ["h-0", "h-1", "h-2", "h-3", "h-4"]);
    }
}

async fn reconcilers_of_nothing_that_is_known_are_shown_too(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let report = Report { endpoint: None, version: Some("6.7.2".into()), ..of_application("h-1", 21, 11) };
    fleet.submit(report).await;
    assert_eq!(check(&fleet, &Filter::default(), None).await, ["h-1 checkout 6.7.2 - b unwanted"]);
}
