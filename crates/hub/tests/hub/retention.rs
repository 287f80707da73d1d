//! Retention deletes history, but never the present state.

use std::time::Duration;

use hub::management::retention::{DeletedRows, Keep, Retention, delete_expired, run};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::report::Report;
use hub_api::timestamp::Timestamp;

use crate::sample::{Applied, ENVIRONMENTS, HOSTS, WORKLOADS, fill, lines, publication, report};
use crate::twins::Ground;

twins![
    without_bounds_everything_is_kept,
    the_latest_is_kept_however_old_it_is,
    reports_in_effect_within_the_age_are_kept,
    retention_keeps_the_present_state,
    reports_go_on_after_history_was_forgotten,
    retention_runs_at_each_given_time,
];

/// Queries about the present state.
const PRESENT: [&str; 5] = [
    "select h.name, r.name, d.gitops_commit_id, d.status, d.status_message, d.revision, s.held_revision_id, s.status \
     from reconciler_state s join reconciler r on r.id = s.reconciler_id join host h on h.id = r.host_id \
     left join deployment d on d.id = s.deployment_id order by 1, 2",
    "select p.endpoint, w.tree, c.commit_id from place p left join place_revision w on w.id = p.desired_revision_id \
     left join gitops_commit c on c.id = w.gitops_commit_id order by 1",
    "select r.id, w.tree from reconciler_state s join reconciler r on r.id = s.reconciler_id \
     join place_revision w on w.id = s.held_revision_id order by 1",
    "select place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers from tally order by 1, 2, 3, 4, 5, 6, 7",
    "select distinct r.name, v.version from reconciler_state s join deployment d on d.id = s.deployment_id \
     join reconciler r on r.id = s.reconciler_id join deployment_assignment a on a.gitops_commit_id = d.gitops_commit_id \
     join workload_version v on v.id = a.workload_version_id order by 1, 2",
];

async fn present(database: &Database) -> Vec<Vec<String>> {
    let mut answers = Vec::new();
    for question in PRESENT {
        answers.push(lines(database, question).await);
    }
    assert!(answers.iter().all(|answer| !answer.is_empty()));
    answers
}

fn keep(age_ms: Option<u64>, count: Option<usize>) -> Retention {
    let keep = Keep { age: age_ms.map(Duration::from_millis), count };
    Retention { reports: keep, assignments: keep, revisions: keep, ..Retention::default() }
}

async fn count(database: &Database, table: &str) -> i64 {
    database.one(&format!("select count(*) from {table}"), Vec::new()).await.unwrap()
}

/// Checks that each row is reachable from the latest row of its reconciler.
async fn check_chains(database: &Database) {
    let sql = "select count(*) from deployment d where d.previous_id is not null \
        and not exists (select 1 from deployment p where p.id = d.previous_id and p.reconciler_id = d.reconciler_id)";
    assert_eq!(database.one::<i64>(sql, Vec::new()).await.unwrap(), 0);
    let sql = "with recursive chain(id, previous_id) as (select d.id, d.previous_id from reconciler_state s \
        join deployment d on d.id = s.deployment_id union all select d.id, d.previous_id from chain c \
        join deployment d on d.id = c.previous_id) select count(*) from chain";
    let reached: i64 = database.one(sql, Vec::new()).await.unwrap();
    assert_eq!(reached, count(database, "deployment").await);
}

async fn without_bounds_everything_is_kept(ground: Ground) {
    fill(&ground.database).await;
    let forgotten = delete_expired(&ground.database, &Retention::default(), Timestamp::MAX).await.unwrap();
    assert_eq!(forgotten, DeletedRows::default());
}

async fn the_latest_is_kept_however_old_it_is(ground: Ground) {
    fill(&ground.database).await;
    let forgotten = delete_expired(&ground.database, &keep(Some(0), None), Timestamp::MAX).await.unwrap();
    assert!(forgotten.reports > 0 && forgotten.assignments > 0 && forgotten.revisions > 0, "{forgotten:?}");
    let reconcilers = ENVIRONMENTS.len() * WORKLOADS.len() * HOSTS.len();
    assert_eq!(count(&ground.database, "deployment").await, reconcilers as i64);
    check_chains(&ground.database).await;
}

async fn reports_in_effect_within_the_age_are_kept(ground: Ground) {
    fill(&ground.database).await;
    let retention =
        Retention { reports: Keep { age: Some(Duration::from_millis(15)), count: None }, ..Retention::default() };
    // The reports have the timestamps 10, 20, 30 and 40. The horizon is 25; then the report of 20 was in effect.
    delete_expired(&ground.database, &retention, Timestamp::from_millis(40)).await.unwrap();
    let dialect = ground.database.dialect();
    let sql = format!("select distinct {} from deployment order by 1", dialect.millis("created_on"));
    assert_eq!(ground.database.query::<i64>(&sql, Vec::new()).await.unwrap(), [20, 30, 40]);
    check_chains(&ground.database).await;
}

async fn retention_keeps_the_present_state(ground: Ground) {
    let (database, mut random) = (&ground.database, 12_345_u64);
    let (ingest, _writer) = Writer::start(database.clone());
    fill(database).await;
    for round in 5..17 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = |shift: u32, of: usize| (random >> shift) as usize % of;
        let environment = ENVIRONMENTS[pick(20, 2)];
        ingest.publish(publication(environment, round)).await.unwrap();
        // Some reports are about the new commit, some about an earlier one, and some arrive late.
        let applied = Applied { commit: round - pick(24, 4) as i64, at: round * 10 - pick(28, 25) as i64 };
        ingest.submit(vec![report(HOSTS[pick(32, 3)], environment, WORKLOADS[pick(36, 2)], applied)]).await.unwrap();
        let before = present(database).await;
        let retention = keep(Some(pick(40, 60) as u64), (pick(44, 2) == 0).then(|| 1 + pick(48, 3)));
        delete_expired(database, &retention, Timestamp::from_millis(round * 10)).await.unwrap();
        assert_eq!(present(database).await, before, "round {round}, {retention:?}");
        check_chains(database).await;
    }
}

async fn reports_go_on_after_history_was_forgotten(ground: Ground) {
    fill(&ground.database).await;
    delete_expired(&ground.database, &keep(None, Some(1)), Timestamp::MAX).await.unwrap();
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let late: Report = report(HOSTS[0], "dev", "cart", Applied { commit: 2, at: 25 });
    let new = report(HOSTS[0], "dev", "cart", Applied { commit: 3, at: 50 });
    ingest.submit(vec![late, new]).await.unwrap();
    check_chains(&ground.database).await;
    let sql = "select d.gitops_commit_id from reconciler_state s join deployment d on d.id = s.deployment_id \
        join reconciler r on r.id = s.reconciler_id join host h on h.id = r.host_id \
        where h.name = 'berlin' and r.name like 'dev.%cart%'";
    let found: Vec<String> = ground.database.query(sql, Vec::new()).await.unwrap();
    assert_eq!(found, [crate::sample::hash(3)]);
}

async fn retention_runs_at_each_given_time(ground: Ground) {
    fill(&ground.database).await;
    let retention = keep(Some(5), None);
    let mut times = [1, 100].into_iter().map(Timestamp::from_millis);
    run(ground.database.clone(), retention, move || std::future::ready(times.next())).await;
    assert_eq!(count(&ground.database, "deployment").await, 12);
}
