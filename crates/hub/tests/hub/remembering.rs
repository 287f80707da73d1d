//! The cache of reconcilers, and that it never returns a wrong id.

use hub::ingest::ReportOutcome;
use hub::store::Database;
use hub::writer::Writer;
use hub_api::report::Report;

use crate::faults::check_consistent;
use crate::sample;
use crate::twins::Ground;

twins![
    similar_name_combinations_are_distinguished,
    reconcilers_are_known_after_a_restart,
    deleted_reconcilers_are_registered_again,
];

fn report(host: &str, reconciler: &str, at: i64) -> Report {
    Report { reconciler: reconciler.into(), ..sample::report(host, "dev", "cart", sample::Applied { commit: 1, at }) }
}

async fn reconcilers(database: &Database) -> Vec<(String, String)> {
    let sql = "select h.name, r.name from reconciler r join host h on h.id = r.host_id order by h.name, r.name";
    database.query(sql, Vec::new()).await.unwrap().into_iter().collect()
}

/// Submits the reports several times, each time with a later timestamp. Each must be stored for its own reconciler.
async fn check(ground: &Ground, ingest: &Writer, subjects: &[(&str, &str)], from: i64) {
    ingest.publish(sample::publication("dev", 1)).await.unwrap();
    for at in from..from + 3 {
        let reports = subjects.iter().map(|(host, name)| report(host, name, at)).collect();
        ingest.submit(reports).await.unwrap();
        let expected: Vec<_> = subjects.iter().map(|(host, name)| ((*host).to_owned(), (*name).to_owned())).collect();
        assert_eq!(reconcilers(&ground.database).await, expected);
        let sql = "select count(*) from reconciler_state where seen_on is null or deployment_id is null";
        assert_eq!(ground.database.one::<i64>(sql, Vec::new()).await.unwrap(), 0);
    }
    check_consistent(&ground.database).await;
}

const SUBJECTS: [(&str, &str); 4] = [("a", "b/c"), ("a", "bc"), ("a/b", "c"), ("ab", "c")];

async fn similar_name_combinations_are_distinguished(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    check(&ground, &ingest, &SUBJECTS, 10).await;
}

async fn reconcilers_are_known_after_a_restart(ground: Ground) {
    for round in 1..=3 {
        let (ingest, writer) = Writer::start(ground.database.clone());
        check(&ground, &ingest, &SUBJECTS, 10 * round).await;
        drop(ingest);
        writer.await.unwrap();
    }
}

/// The tables were emptied: a report must not be treated as a repetition of a deleted one.
async fn deleted_reconcilers_are_registered_again(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let submit = async || ingest.submit(vec![report("berlin", "cart", 10)]).await.unwrap().outcomes;
    assert_eq!(submit().await, [ReportOutcome::Stored]);
    assert_eq!(submit().await, [ReportOutcome::Repeated]);
    let mut transaction = ground.database.begin().await.unwrap();
    for table in ["attention", "deployment", "reconciler_state", "host_label", "reconciler", "host"] {
        transaction.execute(&format!("delete from {table}"), Vec::new()).await.unwrap();
    }
    transaction.commit().await.unwrap();
    assert_eq!(submit().await, [ReportOutcome::Stored]);
    assert_eq!(reconcilers(&ground.database).await, [("berlin".to_owned(), "cart".to_owned())]);
}
