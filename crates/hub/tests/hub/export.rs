//! Exports, and the role that may only read.

use std::collections::BTreeMap;
use std::path::Path;

use hub::questions::export::{ExportError, ExportFormat, ExportSelection, TABLES, export, grant_read};
use hub::store::{Database, tables};
use hub_api::timestamp::Timestamp;

use crate::sample::fill;
use crate::twins::Ground;

twins![
    every_table_can_be_exported,
    csv_follows_rfc_4180,
    ndjson_has_an_object_a_row,
    rows_are_selected_by_time,
    unknown_tables_are_refused;
    both_databases_have_the_same_columns,
    the_diagram_shows_the_tables_as_they_are,
    a_reader_may_read_and_nothing_else,
];

fn all(table: &str) -> ExportSelection {
    ExportSelection { table: table.to_owned(), since: None, until: None }
}

async fn text(database: &Database, selection: &ExportSelection, format: ExportFormat) -> String {
    let mut bytes = Vec::new();
    export(database, selection, format, &mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Adds rows to tables that are empty after `fill`: silence, rules, notifications, promotions and the order of environments.
async fn tell(database: &Database) {
    let mut transaction = database.begin().await.unwrap();
    for sql in [
        "insert into silence (reconciler_id, is_silent, noticed_on) select min(id), 1, $1 from reconciler",
        "insert into rule_state (name, phase, since_on, evaluated_on) values ('r', 'firing', $1, $1)",
        "insert into notification (message_id, rule, kind, body, created_on) values ('m', 'r', 'firing', '{}', $1)",
        "insert into promotion_event (event_id, happened_on, environment, subject, kind, message) values ('e', $1, 'dev', '', 'held', 'm')",
        "insert into environment_order (name, position) values ('dev', 0)",
    ] {
        let sql = sql.replace("$1", &database.dialect().instant("0"));
        transaction.execute(&sql, Vec::new()).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

async fn every_table_can_be_exported(ground: Ground) {
    fill(&ground.database).await;
    tell(&ground.database).await;
    for table in TABLES {
        let text = text(&ground.database, &all(table), ExportFormat::Csv).await;
        assert!(text.ends_with("\r\n") && text.lines().count() > 1, "{table}: {text}");
    }
}

async fn csv_follows_rfc_4180(ground: Ground) {
    fill(&ground.database).await;
    let text = text(&ground.database, &all("deployment"), ExportFormat::Csv).await;
    assert!(text.starts_with("id,gitops_commit_id,reconciler_id,status,status_message,created_on,"), "{text}");
    assert!(
        text.contains(",failure,\"dry run: \"\"quoted\"\", 100 %; é\nsecond line\",1970-01-01T00:00:00.030Z,"),
        "{text}"
    );
}

async fn ndjson_has_an_object_a_row(ground: Ground) {
    fill(&ground.database).await;
    let text = text(&ground.database, &all("host"), ExportFormat::Ndjson).await;
    let hosts: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut names: Vec<_> = hosts.iter().filter_map(|host| host["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["berlin", "chicago", "門真"]);
    assert!(hosts[0]["retired_on"].is_null() && hosts[0]["created_on"].as_str().unwrap().ends_with('Z'));
}

async fn rows_are_selected_by_time(ground: Ground) {
    fill(&ground.database).await;
    let (since, until) = (Some(Timestamp::from_millis(20)), Some(Timestamp::from_millis(40)));
    let selection = ExportSelection { since, until, ..all("deployment") };
    let mut bytes = Vec::new();
    assert_eq!(export(&ground.database, &selection, ExportFormat::Ndjson, &mut bytes).await.unwrap(), 24);
    let selection = ExportSelection { since, ..all("tally") };
    let refused = export(&ground.database, &selection, ExportFormat::Csv, &mut bytes).await;
    assert!(matches!(refused, Err(ExportError::NoTime(_))), "{refused:?}");
}

async fn unknown_tables_are_refused(ground: Ground) {
    for name in ["", "nothing", "_sqlx_migrations", "host; drop table host"] {
        let refused = export(&ground.database, &all(name), ExportFormat::Csv, &mut Vec::new()).await;
        assert!(matches!(refused, Err(ExportError::NoTable(_))), "{refused:?}");
    }
}

async fn both_databases_have_the_same_columns() {
    let (sqlite, postgres) = (Ground::sqlite().await, Ground::postgres().await);
    let mut found = Vec::new();
    for ground in [&sqlite, &postgres] {
        let mut tables = tables(&mut ground.database.begin_reading().await.unwrap()).await.unwrap();
        tables.iter_mut().for_each(|table| table.columns.sort_by(|one, other| one.0.cmp(&other.0)));
        found.push(tables);
    }
    assert_eq!(found[0], found[1]);
}

fn page(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path)).unwrap()
}

async fn the_diagram_shows_the_tables_as_they_are() {
    let page = page("reference/data-model.md");
    let ground = Ground::postgres().await;
    let mut shown = BTreeMap::new();
    let mut lines = page.lines().skip_while(|line| *line != "erDiagram");
    while let Some(line) = lines.next() {
        if let Some(table) = line.trim().strip_suffix(" {") {
            let columns = lines.by_ref().take_while(|line| line.trim() != "}");
            shown.insert(
                table.to_owned(),
                columns.map(|line| line.trim().replace(" PK", "").replace(" FK", "")).collect(),
            );
        }
    }
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let sql = "select table_name::text, replace(replace(data_type, ' without time zone', ''), 'character varying', 'varchar')::text \
        || ' ' || column_name from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position";
    for (table, column) in ground.database.query(sql, Vec::new()).await.unwrap() {
        expected.entry(table).or_default().push(column);
    }
    expected.retain(|table, _| TABLES.contains(&table.as_str()));
    assert_eq!(shown, expected);
}

async fn a_reader_may_read_and_nothing_else() {
    let ground = Ground::postgres().await;
    fill(&ground.database).await;
    let (database, psql) = (&ground.database, ground.postgres.as_ref().unwrap());
    // Roles belong to the server, which other tests use, too.
    let role = format!("reader \"of\" {}", std::process::id());
    let quoted = role.replace('"', "\"\"");
    psql.psql(&format!("create role \"{quoted}\"")).unwrap();
    let as_reader = |sql: &str| psql.psql(&format!("set role \"{quoted}\"; {sql}"));
    assert!(as_reader("select name from host").is_err());
    grant_read(database, &role).await.unwrap();
    grant_read(database, &role).await.unwrap();
    assert_eq!(as_reader("select count(*) from host").unwrap(), "3");
    for forbidden in [
        "insert into environment (name) values ('x')",
        "update host set name = 'x'",
        "delete from tally",
        "create table x (y int)",
        "truncate deployment",
        "select * from _sqlx_migrations",
        "select nextval('host_id_seq')",
    ] {
        assert!(as_reader(forbidden).is_err(), "{forbidden}");
    }
    assert!(grant_read(database, "nobody of that name").await.is_err());
    psql.psql(&format!("drop owned by \"{quoted}\"; drop role \"{quoted}\"")).unwrap();
}
