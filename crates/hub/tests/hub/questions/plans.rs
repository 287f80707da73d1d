//! No query scans all hosts of a large fleet. The query plans of the databases for each statement prove it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hub::count_history::record;
use hub::questions::{self, DeploymentStateRequest, QuestionError};
use hub::store::{Database, Dialect, SqlValue};
use hub_api::compare::Compared;
use hub_api::counts::CountQuery;
use hub_api::drift::DriftKind;
use hub_api::filter::Filter;
use hub_api::history::HistorySelection;
use hub_api::page::Page;
use hub_api::search::SearchQuery;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::questions::crowd::load;
use crate::questions::fleet::hash;
use crate::twins::Ground;

twins![no_query_scans_all_hosts];

/// The number of hosts, each with two reconcilers. With fewer hosts, a scan is rightly the best plan.
const HOSTS: i64 = 50_000;
/// The highest cost of a statement that counts hosts. A scan of all states for one percent of the hosts would cost more.
const COST_MAX: f64 = 100_000.0;
/// The tables that grow with the fleet.
const LARGE: [&str; 4] = ["host", "reconciler", "reconciler_state", "deployment"];

/// Records the statements that are sent to the database.
#[derive(Clone, Default)]
struct Statements(Arc<Mutex<Vec<String>>>);

impl Visit for Statements {
    fn record_str(&mut self, field: &Field, value: &str) {
        let mut statements = self.0.lock().unwrap();
        if field.name() == "sql" && !statements.iter().any(|known| known == value) {
            statements.push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Statements {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hub::store")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn filters() -> Vec<Filter> {
    let text = |text: &str| Some(text.to_owned());
    vec![
        Filter::default(),
        Filter { environment: text("prod"), ..Filter::default() },
        Filter { workload: text("w-8"), ..Filter::default() },
        Filter { cluster_type: text("type-8"), ..Filter::default() },
        Filter { host: text("host-8"), ..Filter::default() },
        Filter { selector: text("store=store-8"), ..Filter::default() },
        // So many hosts that the database counts them.
        Filter { selector: text("tier=gold"), ..Filter::default() },
        Filter { selector: text("!absent"), ..Filter::default() },
        Filter { cluster_type: text("type-0"), selector: text("tier=gold"), ..Filter::default() },
        Filter { workload: text("w-8"), selector: text("tier"), ..Filter::default() },
    ]
}

/// Runs all queries with a filter.
async fn ask(database: &Database, filter: &Filter) -> Result<(), QuestionError> {
    let page = Page::default();
    let at = Some(Timestamp::from_millis(1));
    questions::environments(database, filter, None).await?;
    questions::environment_targets(database, filter, &page, None).await?;
    questions::environment_targets(database, filter, &page, at).await?;
    questions::deployments(database, filter, &page, None).await?;
    questions::deployments(database, filter, &page, at).await?;
    questions::rollouts(database, filter, &page, None).await?;
    if filter.host.is_none() && filter.selector.is_none() {
        questions::place_states(database, filter, &page).await?;
    }
    questions::history(database, (filter, &HistorySelection::default()), &page).await?;
    questions::drift(database, filter, &page, None).await?;
    for kind in [DriftKind::Silent, DriftKind::UnknownContent, DriftKind::RemovedPlace, DriftKind::UnknownPlace] {
        questions::drift_hosts(database, kind, filter, &page).await?;
    }
    for of in [hash(1), "w-8".to_owned(), "w-8@1.0".to_owned()] {
        questions::rollout(database, &of, filter, None).await?;
        questions::rollout_hosts(database, &of, filter, &page).await?;
    }
    for (rows, columns) in [("environment", "state"), ("workload", "version"), ("configVersion", "hostLabel:tier")] {
        let columns = Some(columns.parse().unwrap());
        let query = CountQuery { columns, ..CountQuery::by(rows.parse().unwrap()) };
        questions::counts(database, filter, &query).await?;
        known(questions::counts(database, filter, &CountQuery { at, ..query }).await)?;
    }
    known(questions::environments(database, filter, at).await)?;
    known(questions::drift(database, filter, &page, at).await)?;
    known(questions::rollouts(database, filter, &page, at).await)?;
    for of in [hash(1), "w-8".to_owned(), "w-8@1.0".to_owned()] {
        known(questions::rollout(database, &of, filter, at).await)?;
    }
    for status in ["failed,silent", "succeeded"] {
        let filter = Filter { status: Some(status.into()), ..filter.clone() };
        questions::deployments(database, &filter, &page, None).await?;
    }
    Ok(())
}

/// Counts of many reconcilers of some hosts are not known for earlier times.
fn known<T>(answered: Result<T, QuestionError>) -> Result<(), QuestionError> {
    match answered {
        Err(QuestionError::Wrong { parameter: "at", .. }) => Ok(()),
        answered => answered.map(drop),
    }
}

/// Runs the queries that do not accept all filters.
async fn ask_others(database: &Database) -> Result<(), QuestionError> {
    let compared = Compared { from: "stage".into(), to: "prod".into(), ..Compared::default() };
    questions::compare(database, &compared, &Filter::default(), &Page::default()).await?;
    let at = Some(Timestamp::from_millis(1));
    let compared = Compared { from_at: at, to_at: at, ..compared };
    questions::compare(database, &compared, &Filter::default(), &Page::default()).await?;
    for of in [hash(1), "w-8".to_owned(), "w-8@1.0".to_owned()] {
        questions::rollout_curve(database, &of, &Filter::default()).await?;
    }
    let team = Reach { workspaces: vec!["team".into()], environments: Vec::new() };
    for q in ["host-8", "8", "st", "0000", "shop w-8", "type-8 host"] {
        for reach in [&Reach::ALL, &team] {
            questions::search(database, reach, &SearchQuery { q: q.into(), limit: None }).await?;
        }
    }
    for path in ["app-8", "app-8%", "./app-8/"] {
        let manifests_endpoint = format!("https://git.example/app/prod/{path}");
        let request = DeploymentStateRequest { manifests_endpoint, commit_id: hash(1) };
        let state = questions::deployment_state(database, &request).await?;
        assert_eq!(state.total_subscribers % 500, 0);
    }
    Ok(())
}

/// The plan of a statement.
struct Plan {
    /// The tables that are scanned completely.
    scanned: Vec<String>,
    /// PostgreSQL's cost estimate: a sequential page read costs 1.
    cost: f64,
}

async fn plan(database: &Database, sql: &str) -> Plan {
    let mut transaction = database.begin().await.unwrap();
    let explain = match transaction.dialect() {
        Dialect::Sqlite => format!("explain query plan {sql}"),
        Dialect::Postgres => {
            let parameters = (1..100).take_while(|number| sql.contains(&format!("${number}"))).count();
            // Plans that are independent of parameters, with the cost of random page reads on an SSD.
            let settings = "set local plan_cache_mode = force_generic_plan; set local random_page_cost = 1.1";
            let prepare = format!("{settings}; prepare statement as {sql}");
            transaction.run(&prepare).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
            match vec!["null"; parameters].join(", ").as_str() {
                "" => "explain execute statement".to_owned(),
                nulls => format!("explain execute statement({nulls})"),
            }
        }
    };
    let plan = transaction.rows(&explain, Vec::new()).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    let text = |value: &SqlValue| if let SqlValue::Text(Some(text)) = value { text.clone() } else { String::new() };
    let lines = plan.iter().flat_map(|row| row.values().iter().take(4).map(text));
    let lines: Vec<String> = lines.collect();
    if transaction.dialect() == Dialect::Postgres {
        transaction.run("deallocate statement").await.unwrap();
    }
    let cost = lines.first().and_then(|line| line.split_once("..")?.1.split(' ').next()?.parse().ok());
    Plan { scanned: of_plan(&lines, sql), cost: cost.unwrap_or_default() }
}

/// Whether a plan counts some of many hosts. Each of these hosts has to be read once: on SQLite by an index, or by a scan of the names of all hosts.
/// PostgreSQL may also scan a table once. A scan of a table for each row of another one is not allowed.
fn is_counting(sql: &str, plan: &Plan) -> bool {
    let counts = sql.contains("count(*) as reconcilers from");
    counts && (plan.cost > 0.0 || plan.scanned.iter().all(|table| table == "host")) && plan.cost < COST_MAX
}

/// SQLite reports a scan without an index as `SCAN r`, PostgreSQL as `Seq Scan on reconciler r`.
fn of_plan(lines: &[String], sql: &str) -> Vec<String> {
    let aliases: BTreeMap<&str, &str> = LARGE
        .iter()
        .flat_map(|table| {
            let behind = sql.match_indices(table).filter_map(|(at, _)| {
                let (before, rest) = (sql.get(..at)?, sql.get(at + table.len()..)?);
                let is_table = before.ends_with("from ") || before.ends_with("join ");
                rest.strip_prefix(' ')?.split([' ', ')']).next().filter(|_| is_table)
            });
            behind.map(|alias| (alias, *table)).collect::<Vec<_>>()
        })
        .collect();
    let scan = |line: &String| {
        let rest = line.split_once("SCAN ").or_else(|| line.split_once("Seq Scan on ")).map(|(_, rest)| rest)?;
        let is_whole = !rest.contains("USING") || rest.contains("USING COVERING INDEX sqlite_auto");
        let name = rest.split(' ').next()?;
        let table = LARGE.iter().find(|table| **table == name).or_else(|| aliases.get(name))?;
        is_whole.then(|| (*table).to_owned())
    };
    lines.iter().filter_map(scan).collect()
}

/// Each tenth host had another place before. Its earlier reports stay with that place.
async fn move_some(database: &Database) {
    let mut transaction = database.begin().await.unwrap();
    let before = "insert into deployment (id, gitops_commit_id, reconciler_id, status, created_on, received_on, digest, manifests_endpoint) \
        select d.id + 1000000, d.gitops_commit_id, d.reconciler_id, d.status, d.created_on, d.received_on, d.digest + 1000000, p.endpoint \
        from deployment d join reconciler r on r.id = d.reconciler_id join place p on p.id = r.place_id % 100 + 1 \
        where r.host_id % 10 = 0";
    let linked = "update deployment set previous_id = id + 1000000 \
        where manifests_endpoint is null and reconciler_id in (select id from reconciler where host_id % 10 = 0)";
    for sql in [before, linked, "analyze"] {
        transaction.run(sql).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

async fn no_query_scans_all_hosts(ground: Ground) {
    load(&ground.database, HOSTS).await;
    move_some(&ground.database).await;
    record(&ground.database, Timestamp::from_millis(1)).await.unwrap();
    let statements = Statements::default();
    let listening = tracing::subscriber::set_default(statements.clone());
    for filter in filters() {
        ask(&ground.database, &filter).await.unwrap();
    }
    ask_others(&ground.database).await.unwrap();
    drop(listening);
    let statements = statements.0.lock().unwrap().clone();
    assert!(statements.len() > 30, "{statements:?}");
    let mut wrong = Vec::new();
    for sql in statements {
        let plan = plan(&ground.database, &sql).await;
        if !plan.scanned.is_empty() && !is_counting(&sql, &plan) {
            wrong.push(format!("{}, cost {}: {sql}", plan.scanned.join(", "), plan.cost));
        }
    }
    assert!(wrong.is_empty(), "{} statements:\n{}", wrong.len(), wrong.join("\n\n"));
}
