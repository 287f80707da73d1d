//! The results of queries for Microsoft's hub with the views that replace its tables, compared with a separate count.

use std::collections::{BTreeMap, BTreeSet};

use hub::desired::DesiredUpdate;
use hub::management::hosts::{self, HostPart, Registration};
use hub::questions::export::{MICROSOFT_TABLES, grant_read_microsoft_views};
use hub::store::{Database, Row, SqlValue};
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::ReadProgress;
use hub_api::report::{Report, Status};

use crate::sample::{Applied, REPOSITORY, hash, lines, publication, report};
use crate::twins::Ground;

twins![
    each_host_counts_once_for_a_commit,
    latest_row_is_the_present_state,
    no_assignment_is_there_twice,
    the_history_is_read_along_its_chains;
    reader_of_microsofts_views_reads_nothing_else,
];

const STATUSES: [Status; 3] = [Status::Success, Status::Failure, Status::InProgress];
const HOSTS: i64 = 9;
/// One host moves from one workload to the other, one is retired at the end, and one never reports.
const MOVES: i64 = 6;
const RETIRES: i64 = 7;
const QUIET: i64 = 8;

/// The expected data about a host: its place, and for each commit that it reported of that place, its last status and the time.
#[derive(Default)]
struct Known {
    workload: &'static str,
    said: BTreeMap<i64, (Status, i64)>,
}

/// Simulates hosts: rollouts begin, continue, and succeed or fail; hosts repeat reports, go back to earlier commits, and move.
async fn fill(ground: &Ground) -> BTreeMap<i64, Known> {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    for commit in 1..=4 {
        ingest.publish(publication("dev", commit)).await.unwrap();
    }
    let mut known: BTreeMap<i64, Known> = BTreeMap::new();
    for at in 1..=60_i64 {
        let mut reports = Vec::new();
        for host in (0..HOSTS).filter(|host| *host != QUIET) {
            // Pseudo-random values: the commit goes up and down, and a status often stays.
            let mixed = (at / 3 * 31 + host * 17) % 23;
            let (commit, status) = (1 + mixed % 4, STATUSES[((at / 2 + host + mixed) % 3) as usize]);
            let workload = if host == MOVES && at > 30 || host % 3 == 1 { "portal" } else { "cart" };
            let place = Endpoint::new(REPOSITORY, "dev", workload).ok();
            let said = report(&format!("host-{host}"), "dev", workload, Applied { commit, at: 1_000 + at });
            let said = Report { reconciler: "one".into(), endpoint: place, status, ..said };
            reports.push(said);
            let entry = known.entry(host).or_default();
            if entry.workload != workload {
                *entry = Known { workload, ..Known::default() };
            }
            entry.said.insert(commit, (status, at));
        }
        ingest.submit(reports).await.unwrap();
    }
    let (host, labels) = (format!("host-{QUIET}"), BTreeMap::new());
    let quiet = Registration { host, kind: None, labels, reconciler: None };
    hosts::register(&ground.database, &quiet, "test").await.unwrap();
    let host = format!("host-{RETIRES}");
    hosts::retire(&ground.database, HostPart { host: &host, reconciler: None }, "test").await.unwrap();
    known.remove(&RETIRES);
    known
}

/// The rows of a query in which tables of Microsoft's hub are written in braces.
async fn ask(database: &Database, sql: &str) -> BTreeSet<String> {
    let sql = sql.replace('{', "microsoft_").replace('}', "");
    let text = |value: &SqlValue| if let SqlValue::Text(Some(text)) = value { text.clone() } else { String::new() };
    let cells = |row: &Row| row.values().iter().map(text).collect::<Vec<_>>().join(" ");
    database.rows(&sql, Vec::new()).await.unwrap().iter().map(cells).collect()
}

/// The query of Microsoft's dashboard "Environment History": the reconcilers of a target, joined with all their reports of commits that the target was
/// assigned.
const HISTORY: &str = "select l.name, x.version, x.gitops_commit_id, \
      cast(sum(case x.status when 'success' then 1 else 0 end) as text) as succeeded, \
      cast(sum(case x.status when 'failure' then 1 else 0 end) as text) as failed, \
      cast(sum(case x.status when 'in_progress' then 1 else 0 end) as text) as in_progress \
    from {reconciler} r join {host} h on h.id = r.host_id \
    left join (select d.reconciler_id, d.status, v.version, d.gitops_commit_id from {deployment} d \
      join {deployment_assignment} a on a.gitops_commit_id = d.gitops_commit_id join {workload_version} v on v.id = a.workload_version_id \
      join {deployment_target} t on t.id = a.deployment_target_id \
      join {reconciler} r on r.id = d.reconciler_id and r.manifests_endpoint = t.manifests_endpoint) x on x.reconciler_id = r.id \
    join {deployment_target} t on t.manifests_endpoint = r.manifests_endpoint and t.manifests_storage_type = r.manifests_storage_type \
    join {workload} l on l.id = t.workload_id join {application} p on p.id = l.application_id \
    join {workspace} w on w.id = p.workspace_id join {environment} e on e.id = t.environment_id and e.name = 'dev' \
    group by l.name, x.version, x.gitops_commit_id";

async fn each_host_counts_once_for_a_commit(ground: Ground) {
    let known = fill(&ground).await;
    let mut counts: BTreeMap<(&str, i64), [usize; 3]> = BTreeMap::new();
    for Known { workload, said } in known.values() {
        for (commit, (status, _)) in said {
            let number = STATUSES.iter().position(|one| one == status).unwrap();
            counts.entry((workload, *commit)).or_default()[number] += 1;
        }
    }
    let row = |((workload, commit), [succeeded, failed, in_progress]): (&(&str, i64), &[usize; 3])| {
        format!("{workload} 1.{commit} {} {succeeded} {failed} {in_progress}", hash(*commit))
    };
    assert_eq!(ask(&ground.database, HISTORY).await, counts.iter().map(row).collect());
    // The history itself has more rows than the view.
    let reports = HISTORY.replace("{deployment} d", "deployment d");
    assert_ne!(ask(&ground.database, &reports).await, counts.iter().map(row).collect());
}

/// The query of Microsoft's dashboard "Clusters State": for each host, the row that was added last.
const STATE: &str = "select h.name, l.name, v.version, d.status from {deployment} d join {reconciler} r on r.id = d.reconciler_id \
    join {host} h on h.id = r.host_id join {deployment_target} t on t.manifests_endpoint = r.manifests_endpoint \
    join {workload} l on l.id = t.workload_id \
    join {deployment_assignment} a on a.deployment_target_id = t.id and a.gitops_commit_id = d.gitops_commit_id \
    join {workload_version} v on v.id = a.workload_version_id \
    where d.created_on = (select max(o.created_on) from {deployment} o where o.reconciler_id = d.reconciler_id)";

async fn latest_row_is_the_present_state(ground: Ground) {
    let known = fill(&ground).await;
    let row = |(host, known): (&i64, &Known)| {
        let (commit, (status, _)) = known.said.iter().max_by_key(|(_, (_, at))| *at).unwrap();
        format!("host-{host} {} 1.{commit} {}", known.workload, status.as_str())
    };
    assert_eq!(ask(&ground.database, STATE).await, known.iter().map(row).collect());
    let hosts = ask(&ground.database, "select name from {host}").await;
    assert!(hosts.contains("host-8") && !hosts.contains("host-7"), "{hosts:?}");
}

async fn no_assignment_is_there_twice(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let mut before = None;
    for commit in [1, 2, 1, 3, 2] {
        let seen = ReadProgress { before: before.replace(hash(commit)), is_last: true, ..ReadProgress::default() };
        ingest.update_desired(DesiredUpdate::Observed(publication("dev", commit), seen)).await.unwrap();
    }
    let twice = "select deployment_target_id from {deployment_assignment} \
        group by deployment_target_id, workload_version_id, gitops_commit_id having count(*) > 1";
    assert_eq!(ask(&ground.database, twice).await, BTreeSet::new());
    let latest = "select distinct v.version from {deployment_assignment} a join {workload_version} v on v.id = a.workload_version_id \
        where a.id in (select max(o.id) from {deployment_assignment} o group by o.deployment_target_id)";
    assert_eq!(ask(&ground.database, latest).await, BTreeSet::from(["1.2".to_owned()]));
}

/// A query for one reconciler reads the rows of this reconciler, and not those of all.
async fn the_history_is_read_along_its_chains(ground: Ground) {
    fill(&ground).await;
    let explain = if ground.postgres.is_some() { "set enable_seqscan = off; explain" } else { "explain query plan" };
    let sql = "select status from microsoft_deployment where reconciler_id = 1";
    let plan = match &ground.postgres {
        Some(postgres) => postgres.psql(&format!("{explain} {sql}")).unwrap(),
        None => lines(&ground.database, &format!("{explain} {sql}")).await.join("\n"),
    };
    assert!(!plan.contains("SCAN d") && !plan.contains("Seq Scan on deployment"), "{plan}");
    assert!(plan.contains("deployment_pkey") || plan.contains("SEARCH d USING INTEGER PRIMARY KEY"), "{plan}");
}

async fn reader_of_microsofts_views_reads_nothing_else() {
    let ground = Ground::postgres().await;
    fill(&ground).await;
    let postgres = ground.postgres.as_ref().unwrap();
    let role = format!("microsofts_{}", std::process::id());
    postgres.psql(&format!("create role \"{role}\"")).unwrap();
    for _ in 0..2 {
        grant_read_microsoft_views(&ground.database, &role).await.unwrap();
    }
    let read = |sql: &str| postgres.psql(&format!("set role \"{role}\"; set search_path = microsoft; {sql}"));
    for table in MICROSOFT_TABLES {
        assert!(read(&format!("select * from {table}")).is_ok(), "{table}");
    }
    let history = read(&HISTORY.replace(['{', '}'], "")).unwrap();
    assert_eq!(history.lines().count(), ask(&ground.database, HISTORY).await.len());
    for other in ["public.deployment", "public.token", "public.microsoft_host"] {
        assert!(
            read(&format!("select * from {other}")).unwrap_err().to_string().contains("permission denied"),
            "{other}"
        );
    }
    postgres.psql(&format!("drop owned by \"{role}\"; drop role \"{role}\"")).unwrap();
}
