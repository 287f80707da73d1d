//! Migration of databases with the previous tables.

use std::path::Path;

use hub::store::{Database, DatabaseUrl, tables};
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

use crate::twins::Ground;

twins![desired_names_keep_all_data, reconcilers_without_a_heartbeat_are_counted_apart];

/// The last version before desired content had this name.
const BEFORE_NAMES: &str = "0019";

/// The last version that counted reconcilers with and without a heartbeat together.
const BEFORE_HEARTBEATS: &str = "0025";

/// Two reconcilers that succeeded, two that failed: one of each announced a heartbeat. One never reported.
const HEARTBEATS: &str = "insert into tally (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, reconcilers)
        values (1, 7, 7, 1, 2, 0, 2), (1, 7, 7, 1, 3, 0, 2);
    insert into host (id, name) values (1, 'berlin');
    insert into reconciler (id, name, host_id) values (1, 'a', 1), (2, 'b', 1), (3, 'c', 1), (4, 'd', 1), (5, 'e', 1);
    insert into reconciler_state (reconciler_id, status, digest, held_revision_id, tally_id, silent_after) values
        (1, 2, 0, 3, 1, {at}), (2, 2, 0, 3, 1, null), (3, 3, 0, 3, 2, {at}), (4, 3, 0, 3, 2, null), (5, 0, 0, null, null, null);
    insert into attention (tally_id, reconciler_id) values (2, 3), (2, 4)";

/// A row for each table and column that migration 20 renames, and a reconciler. `{at}` is a timestamp of the database.
const ROWS: &str = "insert into environment (id, name) values (1, 'dev');
    insert into gitops_branch (id, repository, branch) values (1, 'https://git.example/shop', 'dev');
    insert into gitops_commit (id, branch_id, commit_id, sequence, committed_on) values (7, 1, 'c0ffee', 1, {at});
    insert into place_group (id, name, environment_id, role) values (1, 'cart', 1, 'application');
    insert into place (id, endpoint, branch_id, path, place_group_id) values (1, 'git.example/shop/dev/cart', 1, 'cart', 1);
    insert into place_revision (id, place_id, gitops_commit_id, tree, wanted_on) values (3, 1, 7, 'tree', {at});
    update place set wanted_revision_id = 3;
    insert into tally (id, place_group_id, wanted_commit_id, held_commit_id, is_current, status, is_silent, reconcilers)
        values (1, 1, 7, 0, 0, 2, 0, 5);
    insert into host (id, name) values (1, 'berlin');
    insert into reconciler (id, name, host_id, manifests_endpoint, place_id) values (1, 'cart', 1, 'git.example/shop/dev/cart', 1);
    insert into rule_state (name, phase, since_on, looked_on) values ('failing', 'firing', {at}, {at})";

/// The renamed columns and their values, and the reconciler, which stays registered for its place.
const EXPECTED: [(&str, i64); 5] = [
    ("select registered_by from reconciler", 2),
    ("select desired_revision_id from place", 3),
    ("select {desired_on} from place_revision", 86_400_000),
    ("select desired_commit_id from tally", 7),
    ("select {evaluated_on} from rule_state", 86_400_000),
];

/// A migrator with the migrations of a kind of database up to a version.
async fn previous(kind: &str, version: &str) -> Migrator {
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(kind)).unwrap() {
        let file = file.unwrap();
        if file.file_name().to_str().unwrap().split('_').next().unwrap() <= version {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
    }
    Migrator::new(folder.path()).await.unwrap()
}

/// Replaces the tables of the ground by those of a version, with rows.
async fn make_previous(ground: &Ground, (version, rows): (&str, &str)) -> DatabaseUrl {
    match &ground.url {
        DatabaseUrl::Postgres(url) => {
            ground.database.close().await;
            ground.postgres.as_ref().unwrap().psql("drop schema public cascade; create schema public").unwrap();
            let mut connection = PgConnection::connect(url).await.unwrap();
            previous("postgres", version).await.run(&mut connection).await.unwrap();
            let rows = rows.replace("{at}", "'1970-01-02'");
            sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            ground.url.clone()
        }
        DatabaseUrl::Sqlite(file) => {
            let file = file.with_extension("previous");
            let mut connection =
                SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", file.display())).await.unwrap();
            previous("sqlite", version).await.run(&mut connection).await.unwrap();
            let rows = rows.replace("{at}", "86400000");
            sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            DatabaseUrl::Sqlite(file)
        }
        DatabaseUrl::Memory | DatabaseUrl::ReplaceablePostgres(_) => panic!("no other program can open it"),
    }
}

async fn desired_names_keep_all_data(ground: Ground) {
    let url = make_previous(&ground, (BEFORE_NAMES, ROWS)).await;
    let database = Database::open(&url).await.unwrap();
    let dialect = database.dialect();
    for (sql, expected) in EXPECTED {
        let sql = sql.replace("{desired_on}", &dialect.millis("desired_on"));
        let sql = sql.replace("{evaluated_on}", &dialect.millis("evaluated_on"));
        let rows: Vec<i64> = database.query(&sql, Vec::new()).await.unwrap();
        assert_eq!(rows, [expected], "{sql}");
    }
    let mut reading = database.begin_reading().await.unwrap();
    for table in tables(&mut reading).await.unwrap() {
        let is_former = |(column, _): &(String, _)| column.contains("wanted") || column.contains("looked");
        assert!(!table.columns.iter().any(is_former), "{table:?}");
    }
    let named = match &url {
        DatabaseUrl::Postgres(_) => {
            "select indexname::text from pg_indexes where schemaname = current_schema() union \
             select conname::text from pg_constraint where connamespace = current_schema()::regnamespace"
        }
        _ => "select name from sqlite_schema",
    };
    let names: Vec<String> = reading.query(named, Vec::new()).await.unwrap();
    assert!(names.iter().any(|name| name == "tally_desired"));
    assert!(!names.iter().any(|name| name.contains("wanted") || name.contains("looked")), "{names:?}");
}

async fn reconcilers_without_a_heartbeat_are_counted_apart(ground: Ground) {
    let url = make_previous(&ground, (BEFORE_HEARTBEATS, HEARTBEATS)).await;
    let database = Database::open(&url).await.unwrap();
    let of_reconcilers = "select s.reconciler_id, t.status, t.has_heartbeat, t.reconcilers from reconciler_state s \
        join tally t on t.id = s.tally_id order by 1";
    let rows: Vec<(i64, i64, bool, i64)> = database.query(of_reconcilers, Vec::new()).await.unwrap();
    assert_eq!(rows, [(1, 2, true, 1), (2, 2, false, 1), (3, 3, true, 1), (4, 3, false, 1)]);
    let in_attention = "select a.reconciler_id from attention a join reconciler_state s on s.reconciler_id = a.reconciler_id \
        and s.tally_id = a.tally_id order by 1";
    let rows: Vec<i64> = database.query(in_attention, Vec::new()).await.unwrap();
    assert_eq!(rows, [3, 4]);
}
