//! Reports that name a workload and a version instead of a folder and a commit: those of Workload Orchestration, and of scripts that do not know the
//! GitOps repository.

use hub::questions::{compare, deployments, rollout};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::compare::Compared;
use hub_api::deployments::Deployment;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::publication::BranchContent;
use hub_api::report::{Report, WorkloadName};
use model::rollout::ReconcilerState;

use crate::faults::check_consistent;
use crate::sample;
use crate::twins::Ground;

twins![
    a_version_of_a_workload_is_held_at_its_target,
    the_version_may_become_known_later,
    a_version_means_the_latest_content_that_is_called_so,
    version_at_a_named_place_identifies_the_content,
    targets_are_distinguished_by_environment,
    targets_are_distinguished_by_other_reports_of_the_host,
    workloads_are_distinguished_by_their_versions,
    ambiguous_targets_stay_unplaced_with_a_reason,
    changed_names_lead_to_other_targets,
    moved_targets_keep_their_reconcilers,
];

/// A host's report, at that time in milliseconds, that it has a version of a workload.
fn report(name: &str, (version, at): (&str, i64)) -> Report {
    Report {
        reconciler: format!("line-7/{name}"),
        kind: "wo".into(),
        endpoint: None,
        revision: String::new(),
        version: Some(version.into()),
        workload: Some(WorkloadName { name: name.into(), environment: None }),
        ..sample::report("berlin", "dev", "cart", sample::Applied { commit: 1, at })
    }
}

fn in_environment(report: Report, environment: &str) -> Report {
    let workload = report.workload.map(|workload| WorkloadName { environment: Some(environment.into()), ..workload });
    Report { workload, ..report }
}

/// Checks each reconciler: `environment workload version state`, or why it has no place.
async fn check(database: &Database, expected: &[&str]) {
    let answer = deployments(database, &Filter::default(), &Page::default(), None).await.unwrap();
    let line = |row: &Deployment| {
        let workload = row.target.as_ref().map_or("-", |target| target.workload.as_str());
        let state = row.state.map(ReconcilerState::as_str).or(row.unplaced.as_deref()).unwrap_or("-");
        let (environment, version) = (row.environment.as_deref().unwrap_or("-"), row.version.as_deref().unwrap_or("-"));
        format!("{environment} {workload} {version} {state}")
    };
    let mut lines: Vec<_> = answer.items.iter().map(line).collect();
    lines.sort();
    assert_eq!(lines, expected);
    if answer.items.iter().all(|row| row.target.is_some()) {
        check_consistent(database).await;
    }
}

async fn with(ground: &Ground, publications: &[BranchContent]) -> Writer {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    for publication in publications {
        ingest.publish(publication.clone()).await.unwrap();
    }
    ingest
}

async fn a_version_of_a_workload_is_held_at_its_target(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1)]).await;
    for name in ["cart", "shop/cart", "acme/shop/cart", "cart-functional-test", "portal"] {
        ingest.submit(vec![report(name, ("1.1", 10))]).await.unwrap();
    }
    check(&ground.database, &[&["dev cart 1.1 succeeded"; 4][..], &["dev portal 1.1 succeeded"]].concat()).await;
    let found = rollout(&ground.database, "cart@1.1", &Filter::default(), None).await.unwrap();
    assert_eq!((found.counts.expected, found.counts.succeeded, found.done), (4, 4, true));
    ingest.publish(sample::publication("dev", 2)).await.unwrap();
    ingest.submit(vec![report("cart", ("1.2", 20))]).await.unwrap();
    let found = rollout(&ground.database, "cart@1.2", &Filter::default(), None).await.unwrap();
    assert_eq!((found.counts.expected, found.counts.succeeded, found.counts.outdated), (4, 1, 3));
    let commits = "select gitops_commit_id from deployment order by id desc limit 1";
    assert!(sample::lines(&ground.database, commits).await[0].contains(&sample::hash(2)));
}

async fn the_version_may_become_known_later(ground: Ground) {
    let ingest = with(&ground, &[]).await;
    ingest.submit(vec![report("cart", ("1.2", 10))]).await.unwrap();
    check(&ground.database, &["- - 1.2 no deployment target whose manifests are known is called `cart`"]).await;
    ingest.publish(sample::publication("dev", 1)).await.unwrap();
    check(&ground.database, &["dev cart 1.2 outdated"]).await;
    ingest.publish(sample::publication("dev", 2)).await.unwrap();
    check(&ground.database, &["dev cart 1.2 succeeded"]).await;
}

async fn a_version_means_the_latest_content_that_is_called_so(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1)]).await;
    ingest.submit(vec![report("cart", ("1.1", 10))]).await.unwrap();
    let mut again = sample::publication("dev", 2);
    for place in &mut again.places {
        place.targets[0].version.as_mut().unwrap().version = "1.1".into();
    }
    ingest.publish(again).await.unwrap();
    check(&ground.database, &["dev cart 1.1 succeeded"]).await;
    ingest.publish(sample::publication("dev", 3)).await.unwrap();
    check(&ground.database, &["dev cart 1.1 outdated"]).await;
}

async fn version_at_a_named_place_identifies_the_content(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1), sample::publication("dev", 2)]).await;
    let of = |at, version: &str| Report {
        revision: String::new(),
        version: Some(version.into()),
        ..sample::report("berlin", "dev", "cart", sample::Applied { commit: 1, at })
    };
    ingest.submit(vec![of(10, "1.1")]).await.unwrap();
    check(&ground.database, &["dev cart 1.1 outdated"]).await;
    ingest.submit(vec![of(20, "1.2")]).await.unwrap();
    check(&ground.database, &["dev cart 1.2 succeeded"]).await;
    let map = Compared { from: "dev".into(), to: "dev".into(), ..Compared::default() };
    let compared = compare(&ground.database, &map, &Filter::default(), &Page::default()).await.unwrap();
    let cart = compared.items.iter().find(|target| target.workload == "cart").unwrap();
    let holding = &cart.from.as_ref().unwrap().holding;
    assert_eq!((holding[0].version.as_deref(), holding[0].reconcilers), (Some("1.2"), 1));
}

async fn targets_are_distinguished_by_environment(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1), sample::publication("prod", 2)]).await;
    ingest.submit(vec![in_environment(report("cart", ("1.2", 10)), "prod")]).await.unwrap();
    check(&ground.database, &["prod cart 1.2 succeeded"]).await;
}

async fn targets_are_distinguished_by_other_reports_of_the_host(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1), sample::publication("prod", 1)]).await;
    ingest
        .submit(vec![sample::report("berlin", "prod", "portal", sample::Applied { commit: 1, at: 10 })])
        .await
        .unwrap();
    ingest.submit(vec![report("cart", ("1.1", 10))]).await.unwrap();
    check(&ground.database, &["prod cart 1.1 succeeded", "prod portal 1.1 succeeded"]).await;
}

async fn workloads_are_distinguished_by_their_versions(ground: Ground) {
    let mut publication = sample::publication("dev", 1);
    let other = &mut publication.places[1].targets[0];
    (other.workload, other.application) = ("cart".into(), "stall".into());
    other.version.as_mut().unwrap().version = "2024-11".into();
    let ingest = with(&ground, &[publication]).await;
    ingest.submit(vec![report("cart", ("2024-11", 10)), report("shop/cart", ("9", 10))]).await.unwrap();
    check(&ground.database, &["dev cart 2024-11 succeeded", "dev cart 9 outdated"]).await;
}

async fn ambiguous_targets_stay_unplaced_with_a_reason(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1), sample::publication("prod", 1)]).await;
    let lost = in_environment(Report { host: "chicago".into(), ..report("cart", ("1.1", 10)) }, "stage");
    ingest.submit(vec![report("cart", ("1.1", 10)), lost]).await.unwrap();
    let several = "- - 1.1 `cart` can be several deployment targets: `dev acme/shop/cart/functional-test`, `prod acme/shop/cart/functional-test`";
    let nothing = "- - 1.1 no deployment target of environment `stage` whose manifests are known is called `cart`";
    check(&ground.database, &[several, nothing]).await;
}

async fn changed_names_lead_to_other_targets(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1), sample::publication("prod", 1)]).await;
    let of = |at, environment| in_environment(report("cart", ("1.1", at)), environment);
    ingest.submit(vec![of(10, "dev")]).await.unwrap();
    ingest.submit(vec![of(20, "prod")]).await.unwrap();
    check(&ground.database, &["prod cart 1.1 succeeded"]).await;
    let placed = sample::report("berlin", "dev", "portal", sample::Applied { commit: 1, at: 30 });
    ingest.submit(vec![Report { reconciler: "line-7/cart".into(), ..placed }]).await.unwrap();
    ingest.submit(vec![of(40, "prod")]).await.unwrap();
    check(&ground.database, &["dev portal 1.1 succeeded"]).await;
}

async fn moved_targets_keep_their_reconcilers(ground: Ground) {
    let ingest = with(&ground, &[sample::publication("dev", 1)]).await;
    ingest.submit(vec![report("cart", ("1.1", 10))]).await.unwrap();
    let mut moved = sample::publication("dev", 2);
    moved.places[0].path = "shop/cart".into();
    ingest.publish(moved).await.unwrap();
    check(&ground.database, &["dev cart 1.1 outdated"]).await;
    ingest.submit(vec![report("cart", ("1.2", 20))]).await.unwrap();
    check(&ground.database, &["dev cart 1.2 succeeded"]).await;
}
