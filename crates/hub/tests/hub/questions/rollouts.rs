//! How far rollouts are.

use hub::questions::{
    Counts, DeploymentStateRequest, Filter, Page, deployment_state, rollout, rollout_hosts, rollouts,
};
use hub::report::Status;

use crate::questions::fleet::{Fleet, hash};
use crate::twins::Ground;

twins![
    a_commit_and_its_version_are_the_same_rollout,
    who_has_it_and_who_not_can_be_listed,
    a_rollout_that_is_over_says_who_has_gone_on,
    the_newest_rollouts_come_first,
    digits_that_mean_one_commit_are_enough,
    microsofts_question_has_its_answer,
];

fn counts(counts: &Counts) -> String {
    let Counts { expected, succeeded, failed, in_progress, outdated, .. } = counts;
    format!("{succeeded} of {expected}, {failed} failed, {in_progress} in progress, {outdated} outdated")
}

/// Version 2.0 is on one of four hosts; one is at it, one failed, one has 1.0.
async fn half(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    for host in ["h-1", "h-2", "h-3", "h-4"] {
        fleet.application(host, 21, (11, Status::Success)).await;
    }
    fleet.publish_application("prod", 12, "2.0").await;
    fleet.application("h-1", 31, (12, Status::Success)).await;
    fleet.application("h-2", 31, (12, Status::InProgress)).await;
    fleet.application("h-3", 31, (12, Status::Failure)).await;
    fleet
}

async fn a_commit_and_its_version_are_the_same_rollout(ground: Ground) {
    let fleet = half(&ground).await;
    for of in [hash(12), format!("prod@sha1:{}", hash(12)), "2.0".to_owned()] {
        let answer = rollout(&fleet.database, &of, &Filter::default()).await.unwrap();
        assert_eq!(counts(&answer.counts), "1 of 4, 1 failed, 1 in progress, 1 outdated", "{of}");
        let attention: Vec<_> = answer.environments[0].attention.iter().map(|row| row.host.as_str()).collect();
        assert_eq!((answer.environments[0].environment.as_str(), attention), ("prod", vec!["h-3"]));
        assert!(!answer.done && answer.superseded == 0);
    }
    let error = rollout(&fleet.database, "3.0", &Filter::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no commit or version `3.0`");
}

async fn who_has_it_and_who_not_can_be_listed(ground: Ground) {
    let fleet = half(&ground).await;
    let hosts = async |status: Option<&str>| {
        let filter = Filter { status: status.map(str::to_owned), ..Filter::default() };
        let answer = rollout_hosts(&fleet.database, "2.0", &filter, &Page::default()).await.unwrap();
        answer.items.iter().map(|row| format!("{} {}", row.host, row.standing.unwrap().as_str())).collect::<Vec<_>>()
    };
    assert_eq!(hosts(Some("succeeded")).await, ["h-1 succeeded"]);
    assert_eq!(hosts(Some("failed,outdated")).await, ["h-3 failed", "h-4 outdated"]);
    assert_eq!(hosts(None).await, ["h-1 succeeded", "h-2 in_progress", "h-3 failed", "h-4 outdated"]);
}

async fn a_rollout_that_is_over_says_who_has_gone_on(ground: Ground) {
    let fleet = half(&ground).await;
    let answer = rollout(&fleet.database, "1.0", &Filter::default()).await.unwrap();
    assert_eq!(counts(&answer.counts), "1 of 4, 0 failed, 0 in progress, 3 outdated");
    assert_eq!(answer.superseded, 4);
}

async fn the_newest_rollouts_come_first(ground: Ground) {
    let fleet = half(&ground).await;
    let mut page = Page { limit: Some(2), cursor: None };
    let mut rows = Vec::new();
    loop {
        let answer = rollouts(&fleet.database, &Filter::default(), &page).await.unwrap();
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

async fn digits_that_mean_one_commit_are_enough(ground: Ground) {
    let fleet = half(&ground).await;
    let error = rollout(&fleet.database, "0000000", &Filter::default()).await.unwrap_err().to_string();
    assert!(error.starts_with("there is no commit or version `0000000`; did you mean `00000"), "{error}");
    let digits = &hash(12)[..40];
    assert!(rollout(&fleet.database, digits, &Filter::default()).await.is_ok());
}

async fn microsofts_question_has_its_answer(ground: Ground) {
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
    assert_eq!(check("https://git.example/acme/che_kout/prod/%", hash(12)).await, serde_json::json!({}));
    assert_eq!(check("https://git.example", hash(12)).await, serde_json::json!({}));
}
