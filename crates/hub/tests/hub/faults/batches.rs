//! Batches of reports with distinguishable content, and checks that the database stored them correctly.

use std::collections::{BTreeMap, BTreeSet};

use hub::store::Database;
use hub::writer::Writer;
use hub_api::report::{Report, Status};

use crate::sample::{self, ENVIRONMENTS, WORKLOADS};

/// The number of reports in a batch: one per reconciler.
pub(super) const SIZE: usize = 40;
/// The number of commits that are known before the first report.
const COMMITS: i64 = 4;

/// Batch number `number`. Each batch has reports of the same reconcilers, at another timestamp. In some batches, the reconcilers are at other places
/// than in the batch before.
pub(super) fn batch(number: usize) -> Vec<Report> {
    of_size(number, SIZE)
}

/// The same, with another number of reconcilers.
pub(super) fn of_size(number: usize, size: usize) -> Vec<Report> {
    let at = number as i64;
    let report = |index: usize| {
        let environment = ENVIRONMENTS[number / 2 % ENVIRONMENTS.len()];
        let (host, workload) = (format!("host-{}", index / 2), WORKLOADS[index % 2]);
        let status = if (number + index).is_multiple_of(5) { Status::Failure } else { Status::Success };
        let message = format!("batch {number}");
        let reported =
            sample::report(&host, environment, workload, sample::Applied { commit: 1 + at % COMMITS, at: 10 + at });
        Report { reconciler: workload.into(), status, message, ..reported }
    };
    (0..size).map(report).collect()
}

/// Publishes the desired state, before the first report.
pub(super) async fn publish(database: &Database) {
    publish_commits(database, 1..=COMMITS).await;
}

/// Publishes these commits in each environment.
pub(super) async fn publish_commits(database: &Database, commits: impl IntoIterator<Item = i64>) {
    let (ingest, writer) = Writer::start(database.clone());
    for commit in commits {
        for environment in ENVIRONMENTS {
            ingest.publish(sample::publication(environment, commit)).await.unwrap();
        }
    }
    drop(ingest);
    writer.await.unwrap();
}

/// The numbers of the batches in the history, each with that many reports. No batch is there in part, and no report twice.
pub(super) async fn stored(database: &Database, size: usize) -> BTreeSet<usize> {
    let sql = "select status_message, count(*), count(distinct reconciler_id) from deployment group by status_message";
    let rows = database.query::<(Option<String>, (i64, i64))>(sql, Vec::new()).await.unwrap();
    let counts: BTreeMap<_, _> =
        rows.into_iter().map(|(message, counts)| (message.unwrap_or_default(), counts)).collect();
    let number = |(message, counts): (String, (i64, i64))| {
        assert_eq!(counts, (size as i64, size as i64), "{message}");
        message.strip_prefix("batch ").unwrap().parse().unwrap()
    };
    counts.into_iter().map(number).collect()
}

/// Checks that the states and tallies agree with the history.
pub(crate) async fn check_consistent(database: &Database) {
    let naive = "select p.place_group_id, case when w.tree is null then 0 else w.gitops_commit_id end, \
        coalesce(v.gitops_commit_id, 0), case when w.tree = v.tree then 1 else 0 end, s.status, s.is_silent, \
        case when s.silent_after is null and s.is_awaited = 0 then 0 else 1 end, count(*) \
        from reconciler_state s join reconciler r on r.id = s.reconciler_id \
        join place p on p.endpoint = r.manifests_endpoint left join place_revision w on w.id = p.desired_revision_id \
        left join place_revision v on v.id = s.held_revision_id group by 1, 2, 3, 4, 5, 6, 7";
    let tallies = "select place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers \
        from tally where reconcilers <> 0";
    let differ =
        format!("select * from ({naive} except {tallies}) a union all select * from ({tallies} except {naive}) b");
    assert_eq!(sample::lines(database, &differ).await, [""; 0], "tallies");
    let misplaced = "select r.id, r.manifests_endpoint from reconciler r left join place p on p.id = r.place_id \
        where p.endpoint is null or p.endpoint <> r.manifests_endpoint";
    assert_eq!(sample::lines(database, misplaced).await, [""; 0], "places");
    let unreached = "with recursive chain(id, reconciler_id, previous_id, created_on) as (\
        select d.id, d.reconciler_id, d.previous_id, d.created_on from reconciler_state s join deployment d on d.id = s.deployment_id \
        union all select d.id, d.reconciler_id, d.previous_id, d.created_on from chain c join deployment d on d.id = c.previous_id \
          where d.reconciler_id = c.reconciler_id and d.created_on < c.created_on) \
        select d.id from deployment d where d.id not in (select id from chain)";
    assert_eq!(sample::lines(database, unreached).await, [""; 0], "the chain from the latest report to the first");
    let late = "select s.reconciler_id from reconciler_state s join deployment d on d.id = s.deployment_id \
        join reconciler r on r.id = s.reconciler_id where exists (\
          select 1 from deployment l where l.reconciler_id = s.reconciler_id and l.created_on > d.created_on)";
    assert_eq!(sample::lines(database, late).await, [""; 0], "the latest report");
}
