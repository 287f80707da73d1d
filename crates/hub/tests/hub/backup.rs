//! Backups of either database, restored into either.

use hub::promotions::record;
use hub::store::backup::{BackupError, back_up, restore};
use hub::store::{Database, tables};
use hub::writer::Writer;
use hub_api::promotions::PromotionEvent;

use crate::sample::{Applied, HOSTS, fill, report};
use crate::twins::Ground;

twins![
    a_backup_restored_is_the_same_again,
    restored_database_accepts_reports,
    only_an_empty_database_is_filled,
    a_damaged_backup_restores_nothing,
    a_backup_of_earlier_tables_is_refused;
    backup_round_trips_between_sqlite_and_postgres,
];

async fn backup(database: &Database) -> Vec<u8> {
    let mut bytes = Vec::new();
    back_up(database, &mut bytes).await.unwrap();
    bytes
}

/// The rows of a backup, each with its table, in a fixed order, because tables have no order.
fn sorted(backup: &[u8]) -> Vec<String> {
    let mut table = String::new();
    let mut lines = Vec::new();
    for line in String::from_utf8_lossy(backup).lines() {
        if line.starts_with("{\"table\"") {
            line.clone_into(&mut table);
        }
        lines.push(format!("{table}{line}"));
    }
    lines.sort();
    lines
}

/// An empty database of the same kind.
async fn another(ground: &Ground) -> Ground {
    if ground.postgres.is_some() { Ground::postgres().await } else { Ground::sqlite().await }
}

async fn a_backup_restored_is_the_same_again(ground: Ground) {
    fill(&ground.database).await;
    let [id, environment, kind] = ["e", "prod", "held"].map(str::to_owned);
    let event = PromotionEvent { id, environment, kind, ..PromotionEvent::default() };
    record(&ground.database, &[event], None).await.unwrap();
    let bytes = backup(&ground.database).await;
    let other = another(&ground).await;
    let rows = restore(&other.database, &mut bytes.as_slice()).await.unwrap();
    assert!(rows > 100 && String::from_utf8_lossy(&bytes).contains("\"held\""));
    assert_eq!(sorted(&backup(&other.database).await), sorted(&bytes));
}

async fn restored_database_accepts_reports(ground: Ground) {
    fill(&ground.database).await;
    let other = another(&ground).await;
    restore(&other.database, &mut backup(&ground.database).await.as_slice()).await.unwrap();
    let (ingest, _writer) = Writer::start(other.database.clone());
    let reports = vec![
        report(HOSTS[0], "dev", "cart", Applied { commit: 3, at: 50 }),
        report("a new host", "dev", "cart", Applied { commit: 4, at: 60 }),
    ];
    ingest.submit(reports).await.unwrap();
    let count = "select count(*) from deployment";
    let [before, after] = [&ground, &other].map(|ground| ground.database.one::<i64>(count, Vec::new()));
    assert_eq!(after.await.unwrap(), before.await.unwrap() + 2);
}

async fn only_an_empty_database_is_filled(ground: Ground) {
    fill(&ground.database).await;
    let bytes = backup(&ground.database).await;
    let refused = restore(&ground.database, &mut bytes.as_slice()).await;
    assert!(matches!(refused, Err(BackupError::NotEmpty(_))), "{refused:?}");
}

async fn a_damaged_backup_restores_nothing(ground: Ground) {
    fill(&ground.database).await;
    let text = String::from_utf8(backup(&ground.database).await).unwrap();
    let other = another(&ground).await;
    let lines = text.lines().count();
    let cut_off = text.lines().take(lines - 1).collect::<Vec<_>>().join("\n");
    let without_a_row = text.replacen(text.lines().find(|line| line.starts_with("[1,")).unwrap(), "", 1);
    let renamed = text.replacen("\"table\":\"tally\"", "\"table\":\"tally; drop table host\"", 1);
    let changed = text.replacen("\"berlin\"", "\"vienna\"", 1);
    assert_ne!(changed, text);
    let later = text.replacen("kalypso_hub_backup\":", "kalypso_hub_backup\":9", 1);
    for damaged in
        [cut_off, changed, without_a_row.replace("\n\n", "\n"), renamed, later, "nonsense\n".to_owned(), String::new()]
    {
        let refused = restore(&other.database, &mut damaged.as_bytes()).await;
        assert!(
            matches!(refused, Err(BackupError::Damaged { .. } | BackupError::OtherVersion { .. })),
            "{refused:?}: {}",
            damaged.lines().next().unwrap_or_default()
        );
    }
    let mut reading = other.database.begin_reading().await.unwrap();
    for table in tables(&mut reading).await.unwrap() {
        let has_rows = reading.exists(&format!("select 1 from {}", table.name), Vec::new()).await.unwrap();
        assert!(!has_rows, "{}", table.name);
    }
}

async fn a_backup_of_earlier_tables_is_refused(ground: Ground) {
    let refused = restore(&ground.database, &mut b"{\"kalypso_hub_backup\":28}\n".as_slice()).await;
    assert!(matches!(refused, Err(BackupError::OtherVersion { found: 28, .. })), "{refused:?}");
}

async fn backup_round_trips_between_sqlite_and_postgres() {
    let (first, second, third) = (Ground::sqlite().await, Ground::postgres().await, Ground::sqlite().await);
    fill(&first.database).await;
    let bytes = backup(&first.database).await;
    restore(&second.database, &mut bytes.as_slice()).await.unwrap();
    restore(&third.database, &mut backup(&second.database).await.as_slice()).await.unwrap();
    assert_eq!(sorted(&backup(&third.database).await), sorted(&bytes));
}
