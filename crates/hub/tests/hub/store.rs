//! Databases: creation, migration, loss of the connection, and recovery.

use std::process::Command;
use std::str::FromStr as _;

use hub::store::{ColumnType, Database, DatabaseError, DatabaseUrl, Rows, Transaction};
use testkit::postgres::PostgresServer;

use crate::twins::{Ground, wait};

twins![
    tables_of_microsofts_hub_and_of_kalypso_exist,
    several_processes_bring_a_database_up_to_date_at_once,
    a_database_of_a_later_version_is_refused,
    a_database_of_the_last_build_is_upgraded,
    a_database_of_an_earlier_build_is_refused,
    names_round_trip,
    timestamps_round_trip,
    uncommitted_transactions_leave_no_data,
    all_answers_of_a_reading_are_from_one_snapshot;
    a_server_that_comes_back_is_used_again,
    indexes_are_followed_until_the_end_of_a_transaction,
];

/// The argument with which this program opens a database and exits.
pub(crate) const OPEN: &str = "open-the-database";

/// The main function of the other process.
pub(crate) fn open(url: &str) {
    let url = DatabaseUrl::from_str(url).unwrap();
    wait(async { Database::open(&url).await.unwrap().close().await });
}

/// The URL of the database as an argument of a program.
pub(crate) fn argument(url: &DatabaseUrl) -> String {
    match url {
        DatabaseUrl::Sqlite(file) => format!("sqlite:{}", file.display()),
        DatabaseUrl::Memory => "sqlite::memory:".to_owned(),
        DatabaseUrl::Postgres(url) => url.clone(),
        DatabaseUrl::ReplaceablePostgres(_) => panic!("no test has a database whose URL may be replaced"),
    }
}

async fn write(database: &Database, sql: &str) {
    let mut transaction = database.begin().await.unwrap();
    transaction.run(sql).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn environments(database: &Database) -> Vec<String> {
    database.query("select name from environment order by id", Vec::new()).await.unwrap()
}

async fn tables_of_microsofts_hub_and_of_kalypso_exist(ground: Ground) {
    let tables = "workspace application workload workload_version environment deployment_target deployment_assignment host \
        reconciler deployment place place_revision reconciler_state tally";
    for table in tables.split_whitespace() {
        let count: i64 = ground.database.one(&format!("select count(*) from {table}"), Vec::new()).await.unwrap();
        assert_eq!(count, 0, "{table}");
    }
}

async fn several_processes_bring_a_database_up_to_date_at_once(ground: Ground) {
    let url = match &ground.url {
        DatabaseUrl::Sqlite(file) => DatabaseUrl::Sqlite(file.with_extension("fresh")),
        url => {
            // An empty database, as before the first process.
            ground.database.close().await;
            let database = ground.postgres.as_ref().unwrap();
            database.psql("drop schema public cascade; create schema public").unwrap();
            url.clone()
        }
    };
    let program = std::env::current_exe().unwrap();
    let start = |_| Command::new(&program).args([OPEN, &argument(&url)]).spawn().unwrap();
    let processes: Vec<_> = (0..6).map(start).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert!(environments(&Database::open(&url).await.unwrap()).await.is_empty());
}

async fn a_database_of_a_later_version_is_refused(ground: Ground) {
    let sql = "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
        select 999999, 'a later one', success, checksum, 0 from _sqlx_migrations limit 1";
    write(&ground.database, sql).await;
    let refused = Database::open(&ground.url).await;
    assert!(matches!(&refused, Err(DatabaseError::Tables(reason)) if reason.contains("999999")), "{refused:?}");
}

/// Removes what the migrations after the first one made, and replaces the record of the first one by those of the separate migrations that made the same
/// tables, up to a version.
async fn make_earlier(ground: &Ground, last: i64) {
    let later = ["session", "sign_in_attempt", "kept_view", "count_record", "recorded_tally"];
    for table in later {
        write(&ground.database, &format!("drop table {table}")).await;
    }
    for name in ["0", "1", "2", "3", "end"] {
        write(&ground.database, &format!("drop index host_search_{name}")).await;
    }
    let checksum = if ground.postgres.is_some() { r"'\x00'" } else { "x'00'" };
    for version in (1..=last).filter(|version| *version != 17) {
        let sql = format!(
            "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
             values ({}, 'one of them', true, {checksum}, 0)",
            version + 1_000
        );
        write(&ground.database, &sql).await;
    }
    write(&ground.database, "delete from _sqlx_migrations where version < 1000").await;
    write(&ground.database, "update _sqlx_migrations set version = version - 1000").await;
}

async fn a_database_of_the_last_build_is_upgraded(ground: Ground) {
    write(&ground.database, "insert into environment (name) values ('dev')").await;
    make_earlier(&ground, 29).await;
    ground.database.close().await;
    for _ in 0..2 {
        let database = Database::open(&ground.url).await.unwrap();
        assert_eq!(environments(&database).await, ["dev"]);
        let versions: Vec<i64> =
            database.query("select version from _sqlx_migrations order by version", Vec::new()).await.unwrap();
        assert_eq!(versions, [29, 30, 31, 32, 33]);
        database.close().await;
    }
}

async fn a_database_of_an_earlier_build_is_refused(ground: Ground) {
    make_earlier(&ground, 28).await;
    let refused = Database::open(&ground.url).await;
    let is_clear = |reason: &str| reason.contains("version 29 once");
    assert!(matches!(&refused, Err(DatabaseError::Tables(reason)) if is_clear(reason)), "{refused:?}");
}

/// Names in several scripts, and names with characters that have a meaning in SQL, in its patterns, in JSON or in a shell.
const NAMES: &[&str] = &[
    "plain",
    "Ørsted",
    "門真",
    "Ζαχάρω",
    "مصنع",
    "कारखाना",
    "🏭 7",
    "e\u{301}",
    "é",
    "O'Brien",
    "\"quoted\"",
    "a;b--c",
    "100%",
    "a_b",
    "back\\slash",
    "{1,2}",
    "$1",
    "?1",
    ":name",
    " leading",
    "new\nline",
    "x'; drop table environment; --",
    "[null]",
    "NULL",
];

async fn names_round_trip(ground: Ground) {
    let mut rows = Rows::new(&[("name", ColumnType::Text)]);
    NAMES.iter().for_each(|name| rows.push(vec![(*name).into()]));
    let mut transaction = ground.database.begin().await.unwrap();
    transaction.execute_with(rows, "insert into environment (name) select name from source").await.unwrap();
    transaction.commit().await.unwrap();
    let mut found = environments(&ground.database).await;
    found.sort();
    let mut expected: Vec<_> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    expected.sort();
    assert_eq!(found, expected);
    let any = ground.database.dialect().any_text("name", "$1");
    for name in NAMES {
        let parameters = vec![vec![(*name).to_owned()].into()];
        let sql = format!("select name from environment where {any}");
        assert_eq!(ground.database.query::<String>(&sql, parameters).await.unwrap(), [*name]);
    }
}

async fn timestamps_round_trip(ground: Ground) {
    let dialect = ground.database.dialect();
    for millis in [0, 1, 999, 1_795_269_600_123, 253_370_764_799_999] {
        let sql = format!("select {}", dialect.millis(&dialect.instant("$1")));
        assert_eq!(ground.database.one::<i64>(&sql, vec![millis.into()]).await.unwrap(), millis);
    }
}

async fn uncommitted_transactions_leave_no_data(ground: Ground) {
    let mut transaction = ground.database.begin().await.unwrap();
    transaction.run("insert into environment (name) values ('dev')").await.unwrap();
    drop(transaction);
    assert!(environments(&ground.database).await.is_empty());
}

async fn all_answers_of_a_reading_are_from_one_snapshot(ground: Ground) {
    let count = "select count(*) from environment";
    let mut reading = ground.database.begin_reading().await.unwrap();
    let before: i64 = reading.one(count, Vec::new()).await.unwrap();
    write(&ground.database, "insert into environment (name) values ('dev')").await;
    assert_eq!(reading.one::<i64>(count, Vec::new()).await.unwrap(), before);
    assert_eq!(ground.database.one::<i64>(count, Vec::new()).await.unwrap(), 1);
}

async fn a_server_that_comes_back_is_used_again() {
    let server = PostgresServer::start_private(&[]).unwrap();
    let place = server.create_database().unwrap();
    let url = DatabaseUrl::Postgres(place.url());
    let database = Database::open(&url).await.unwrap();
    write(&database, "insert into environment (name) values ('dev')").await;
    server.kill();
    let refused = database.exists("select 1", Vec::new()).await.unwrap_err();
    assert!(matches!(refused, DatabaseError::Unreachable(_)) && refused.is_passing(), "{refused:?}");
    server.start().unwrap();
    assert_eq!(environments(&database).await, ["dev"]);
}

async fn indexes_are_followed_until_the_end_of_a_transaction() {
    let ground = Ground::postgres().await;
    let hosts = "insert into host (name) select 'host-' || i from generate_series(1, 2000) as n(i); analyze host";
    write(&ground.database, hosts).await;
    let mut reading = ground.database.begin_reading().await.unwrap();
    let plan = "explain select name from host where id > 1";
    let scans = async |reading: &mut Transaction| {
        let lines: Vec<String> = reading.query(plan, Vec::new()).await.unwrap();
        lines.iter().filter(|line| line.contains("Seq Scan")).count()
    };
    assert_ne!(scans(&mut reading).await, 0);
    reading.follow_indexes().await.unwrap();
    assert_eq!(scans(&mut reading).await, 0);
    reading.commit().await.unwrap();
    assert_ne!(scans(&mut ground.database.begin_reading().await.unwrap()).await, 0);
}
