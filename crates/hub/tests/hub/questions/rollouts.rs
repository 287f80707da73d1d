//! The progress of rollouts.

use hub::questions::{DeploymentStateRequest, deployment_state, rollout, rollout_hosts, rollouts};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::report::{Report, Status};
use hub_api::rollouts::{EnvironmentRollout, Rollout, RolloutOf};
use model::rollout::Counts;

use crate::questions::fleet::{Fleet, WORKLOAD, hash, of_application};
use crate::twins::Ground;

twins![
    a_commit_and_its_version_are_the_same_rollout,
    workload_rollout_covers_its_desired_versions,
    version_rollout_names_environments_with_another_version,
    ambiguous_names_are_refused_with_the_alternatives,
    rollout_hosts_are_listed_by_state,
    finished_rollout_counts_superseded_reconcilers,
    the_newest_rollouts_come_first,
    commit_prefixes_are_accepted,
    microsofts_deployment_state_is_answered,
];

fn counts(counts: &Counts) -> String {
    let Counts { expected, succeeded, failed, in_progress, outdated, .. } = counts;
    format!("{succeeded} of {expected}, {failed} failed, {in_progress} in progress, {outdated} outdated")
}

/// Version 2.0 with four hosts: one holds it, one applies it, one failed, one has 1.0.
async fn half(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    for host in ["h-1", "h-2", "h-3", "h-4"] {
        fleet.submit(of_application(host, 21, 11)).await;
    }
    fleet.publish_application("prod", 12, "2.0").await;
    fleet.submit(of_application("h-1", 31, 12)).await;
    fleet.submit(Report { status: Status::InProgress, ..of_application("h-2", 31, 12) }).await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-3", 31, 12) }).await;
    fleet
}

async fn a_commit_and_its_version_are_the_same_rollout(ground: Ground) {
    let fleet = half(&ground).await;
    for of in [hash(12), format!("prod@sha1:{}", hash(12)), "2.0".to_owned()] {
        let answer = rollout(&fleet.database, &of, &Filter::default(), None).await.unwrap();
        assert_eq!(counts(&answer.counts), "1 of 4, 1 failed, 1 in progress, 1 outdated", "{of}");
        let attention: Vec<_> = answer.environments[0].attention.iter().map(|row| row.host.as_str()).collect();
        assert_eq!((answer.environments[0].environment.as_str(), attention), ("prod", vec!["h-3"]));
        assert!(!answer.done && answer.superseded == 0);
    }
    let error = rollout(&fleet.database, "3.0", &Filter::default(), None).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no workload, version or commit `3.0`");
}

/// An environment as `name versions instead expected`.
fn environments(answer: &Rollout) -> Vec<String> {
    let row = |one: &EnvironmentRollout| {
        let (versions, instead) = (one.versions.join("+"), one.instead.join("+"));
        format!("{} [{versions}] [{instead}] {}", one.environment, one.counts.expected)
    };
    answer.environments.iter().map(row).collect()
}

async fn workload_rollout_covers_its_desired_versions(ground: Ground) {
    let fleet = half(&ground).await;
    fleet.publish_application("stage", 13, "2.1").await;
    for of in [WORKLOAD, &format!("store/{WORKLOAD}"), &format!("store-team/store/{WORKLOAD}")] {
        let answer = rollout(&fleet.database, of, &Filter::default(), None).await.unwrap();
        assert_eq!(counts(&answer.counts), "1 of 4, 1 failed, 1 in progress, 1 outdated", "{of}");
        assert_eq!(environments(&answer), ["prod [2.0] [] 4", "stage [2.1] [] 0"]);
        assert!(matches!(answer.what, RolloutOf::Workload { workload, .. } if workload == WORKLOAD));
    }
}

async fn version_rollout_names_environments_with_another_version(ground: Ground) {
    let fleet = half(&ground).await;
    fleet.publish_application("stage", 13, "2.1").await;
    let of = async |version: &str| {
        let answer =
            rollout(&fleet.database, &format!("{WORKLOAD}@{version}"), &Filter::default(), None).await.unwrap();
        environments(&answer)
    };
    assert_eq!(of("2.0").await, ["prod [2.0] [] 4", "stage [] [2.1] 0"]);
    assert_eq!(of("1.0").await, ["prod [1.0] [2.0] 4", "stage [] [2.1] 0"]);
    let filter = Filter { environment: Some("stage".into()), ..Filter::default() };
    let answer = rollout(&fleet.database, "2.0", &filter, None).await.unwrap();
    assert_eq!(environments(&answer), ["stage [] [2.1] 0"]);
    let error = rollout(&fleet.database, &format!("{WORKLOAD}@9"), &Filter::default(), None).await.unwrap_err();
    let said = format!("there is no workload, version or commit `{WORKLOAD}@9`; did you mean `{WORKLOAD}@2.1`, `");
    assert!(error.to_string().starts_with(&said), "{error}");
}

async fn ambiguous_names_are_refused_with_the_alternatives(ground: Ground) {
    let fleet = half(&ground).await;
    fleet.publish_workload("cart", 13, "2.0").await;
    fleet.publish_workload("2.0", 14, "7").await;
    let answer_of = async |of: &str, workload: Option<&str>| {
        let filter = Filter { workload: workload.map(str::to_owned), ..Filter::default() };
        rollout(&fleet.database, of, &filter, None).await.map_or_else(|error| error.to_string(), |answer| answer.of)
    };
    let ways = format!("`store-team/store/2.0`, `cart@2.0`, `{WORKLOAD}@2.0`");
    assert_eq!(answer_of("2.0", None).await, format!("`2.0` is ambiguous: {ways}"));
    for of in ["store-team/store/2.0", "cart@2.0", &format!("{WORKLOAD}@2.0"), "2.0@7", "7", "cart"] {
        assert_eq!(answer_of(of, None).await, of);
    }
    assert_eq!(answer_of("2.0", Some("cart")).await, "2.0");
    let error = answer_of("0000000", None).await;
    assert!(error.starts_with("`0000000` is ambiguous: `00000"), "{error}");
}

async fn rollout_hosts_are_listed_by_state(ground: Ground) {
    let fleet = half(&ground).await;
    let hosts = async |status: Option<&str>| {
        let filter = Filter { status: status.map(str::to_owned), ..Filter::default() };
        let answer = rollout_hosts(&fleet.database, "2.0", &filter, &Page::default()).await.unwrap();
        answer.items.iter().map(|row| format!("{} {}", row.host, row.state.unwrap().as_str())).collect::<Vec<_>>()
    };
    assert_eq!(hosts(Some("succeeded")).await, ["h-1 succeeded"]);
    assert_eq!(hosts(Some("failed,outdated")).await, ["h-3 failed", "h-4 outdated"]);
    assert_eq!(hosts(None).await, ["h-1 succeeded", "h-2 inProgress", "h-3 failed", "h-4 outdated"]);
}

async fn finished_rollout_counts_superseded_reconcilers(ground: Ground) {
    let fleet = half(&ground).await;
    let answer = rollout(&fleet.database, "1.0", &Filter::default(), None).await.unwrap();
    assert_eq!(counts(&answer.counts), "1 of 4, 0 failed, 0 in progress, 3 outdated");
    assert_eq!(answer.superseded, 4);
    let desired = |answer: &Rollout| answer.environments.iter().map(|one| one.desired).collect::<Vec<_>>();
    assert_eq!(desired(&answer), [false]);
    let now = rollout(&fleet.database, "2.0", &Filter::default(), None).await.unwrap();
    assert_eq!((desired(&now), now.superseded), (vec![true], 0));
    fleet.remove_application("prod", 40).await;
    let removed = rollout(&fleet.database, "2.0", &Filter::default(), None).await.unwrap();
    assert_eq!(desired(&removed), [false]);
}

async fn the_newest_rollouts_come_first(ground: Ground) {
    let fleet = half(&ground).await;
    let mut page = Page { limit: Some(2), cursor: None };
    let mut rows = Vec::new();
    loop {
        let answer = rollouts(&fleet.database, &Filter::default(), &page, None).await.unwrap();
        rows.extend(answer.items.iter().map(|row| {
            let versions: Vec<_> = row.versions.iter().map(|version| version.version.as_str()).collect();
            format!("{} {} {}", row.commit.trim_start_matches('0'), versions.join(","), row.counts.succeeded)
        }));
        page.cursor = answer.next;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(rows, ["c 2.0 1", "b 1.0 1", "1  0"]);
}

async fn commit_prefixes_are_accepted(ground: Ground) {
    let fleet = half(&ground).await;
    let error = rollout(&fleet.database, "000000", &Filter::default(), None).await.unwrap_err().to_string();
    assert_eq!(error, "there is no workload, version or commit `000000`");
    let digits = &hash(12)[..40];
    assert!(rollout(&fleet.database, digits, &Filter::default(), None).await.is_ok());
}

async fn microsofts_deployment_state_is_answered(ground: Ground) {
    let fleet = half(&ground).await;
    let check = async |endpoint: &str, commit: String| {
        let request = DeploymentStateRequest { manifests_endpoint: endpoint.into(), commit_id: commit };
        serde_json::to_value(deployment_state(&fleet.database, &request).await.unwrap()).unwrap()
    };
    let endpoint = "https://git.example/acme/checkout/prod/checkout";
    let of = |host: &str| serde_json::json!([{"name": "checkout", "host": host, "status_message": "it's done"}]);
    let expected = serde_json::json!({
        "total_subscribers": 4,
        "total_succeeded_subscribers": 1,
        "total_failed_subscribers": 1,
        "total_in_progress_subscribers": 1,
        "succeeded_subscribers": of("h-1"),
        "failed_subscribers": of("h-3"),
        "in_progress_subscribers": of("h-2"),
    });
    assert_eq!(check(endpoint, hash(12)).await, expected);
    assert_eq!(check("%/checkout/%", format!("sha1:{}", hash(12))).await, expected);
    assert_eq!(check("https://git.example/acme/check%/checkout", hash(12)).await, expected);
    for other in ["che_kout/prod/%", "CHECKOUT/prod/%", "check*t/prod/%", "[c]heckout/%", "checkout\\/%"] {
        assert_eq!(
            check(&format!("https://git.example/acme/{other}"), hash(12)).await,
            serde_json::json!({}),
            "{other}"
        );
    }
    assert_eq!(check("https://git.example", hash(12)).await, serde_json::json!({}));
}
