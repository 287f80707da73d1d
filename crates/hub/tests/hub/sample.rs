//! A small company: its workloads have several versions in two environments, and hosts report them.

use std::collections::BTreeMap;

use hub::store::Database;
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;

pub(crate) const REPOSITORY: &str = "https://git.example/acme/shop";
pub(crate) const ENVIRONMENTS: [&str; 2] = ["dev", "prod"];
pub(crate) const WORKLOADS: [&str; 2] = ["cart", "portal"];
pub(crate) const HOSTS: [&str; 3] = ["berlin", "chicago", "門真"];

/// A commit hash with this number.
pub(crate) fn hash(number: i64) -> String {
    format!("{number:040x}")
}

/// Commit number `commit` of an environment's branch, made at that time in milliseconds: each workload has version `1.<commit>`.
pub(crate) fn publication(environment: &str, commit: i64) -> BranchContent {
    let place = |workload: &&str| DesiredPlace {
        path: (*workload).into(),
        tree: Some(hash(1000 + commit)),
        role: Role::Application,
        environment: Some(environment.into()),
        cluster_type: None,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: vec![target(environment, workload, commit)],
    };
    BranchContent {
        repository: REPOSITORY.into(),
        branch: environment.into(),
        commit: hash(commit),
        committed_on: Timestamp::from_millis(commit),
        places: WORKLOADS.iter().map(place).collect(),
        is_complete: true,
    }
}

fn target(environment: &str, workload: &str, commit: i64) -> DesiredTarget {
    DesiredTarget {
        workspace: "acme".into(),
        application: "shop".into(),
        workload: workload.into(),
        name: "functional-test".into(),
        environment: environment.into(),
        labels: BTreeMap::new(),
        source_endpoint: None,
        version: Some(DesiredVersion { version: format!("1.{commit}"), ..DesiredVersion::default() }),
    }
}

/// A commit that a host applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Applied {
    pub(crate) commit: i64,
    /// The time in milliseconds.
    pub(crate) at: i64,
}

/// A host's report of a workload.
pub(crate) fn report(host: &str, environment: &str, workload: &str, Applied { commit, at }: Applied) -> Report {
    Report {
        host: host.into(),
        reconciler: format!("{environment}.acme.shop.{workload}.functional-test.edge"),
        kind: "flux".into(),
        endpoint: Endpoint::new(REPOSITORY, environment, workload).ok(),
        revision: format!("{environment}@sha1:{}", hash(commit)),
        tree: None,
        version: None,
        workload: None,
        status: Status::Success,
        is_waiting: false,
        message: String::new(),
        observed_on: Timestamp::from_millis(at),
        heartbeat: None,
        labels: BTreeMap::from([("region".into(), "eu".into())]),
    }
}

/// Publishes commits 1 to 4 in both environments. Each host reports all of them in order, but in prod, the last host stays at commit 3 and fails
/// there.
pub(crate) async fn fill(database: &Database) {
    let (ingest, writer) = Writer::start(database.clone());
    for commit in 1..=4 {
        for environment in ENVIRONMENTS {
            ingest.publish(publication(environment, commit)).await.unwrap();
        }
        ingest.submit(reports(commit)).await.unwrap();
    }
    drop(ingest);
    writer.await.unwrap();
}

fn reports(commit: i64) -> Vec<Report> {
    let mut reports = Vec::new();
    for environment in ENVIRONMENTS {
        for (host, workload) in HOSTS.iter().flat_map(|host| WORKLOADS.map(|workload| (*host, workload))) {
            let is_stuck = environment == "prod" && host == HOSTS[2];
            match commit {
                3 if is_stuck => {
                    let failed = report(host, environment, workload, Applied { commit: 3, at: 30 });
                    let message = "dry run: \"quoted\", 100 %; é\nsecond line".into();
                    reports.push(Report { status: Status::Failure, message, ..failed });
                }
                4 if is_stuck => {}
                _ => reports.push(report(host, environment, workload, Applied { commit, at: commit * 10 })),
            }
        }
    }
    reports
}

/// The rows of a query as lines.
pub(crate) async fn lines(database: &Database, sql: &str) -> Vec<String> {
    let rows = database.rows(sql, Vec::new()).await.unwrap();
    let line = |row: &hub::store::Row| {
        let cells = row.values().iter().map(|value| format!("{value:?}"));
        cells.collect::<Vec<_>>().join(" ").replace("Text(None)", "None").replace("Int(None)", "None")
    };
    rows.iter().map(line).collect()
}
