//! No question looks at all hosts, however many there are: the databases' own plans of every statement say so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hub::ingest::Ingest;
use hub::moment::Moment;
use hub::questions::{self, Compared, DeploymentStateRequest, DriftKind, Filter, Page, QuestionError};
use hub::store::{Database, Dialect};
use hub::wanted::{Publication, Role, WantedPlace, WantedTarget, WantedVersion};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::questions::fleet::hash;
use crate::twins::Ground;

twins![no_question_looks_at_all_hosts];

/// Hosts, each with two reconcilers. Of fewer, databases rightly look at all.
const HOSTS: i64 = 50_000;
/// Cluster types, and as many workloads.
const KINDS: i64 = 100;
/// What grows with the fleet.
const LARGE: [&str; 4] = ["host", "reconciler", "reconciler_state", "deployment"];

/// Keeps what the database is asked.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Visit for Asked {
    fn record_str(&mut self, field: &Field, value: &str) {
        let mut asked = self.0.lock().unwrap();
        if field.name() == "sql" && !asked.iter().any(|known| known == value) {
            asked.push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Asked {
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

fn place(path: String, (role, environment): (Role, &str), target: WantedTarget) -> WantedPlace {
    let cluster_type = (role == Role::Platform).then(|| path.clone());
    let environment = Some(environment.to_owned());
    let (tree, targets) = (Some(hash(7)), vec![target]);
    WantedPlace { path, tree, role, environment, cluster_type, cluster: None, config_version: None, targets }
}

fn target(environment: &str, number: i64, version: Option<&str>) -> WantedTarget {
    let version = version.map(|version| WantedVersion { version: version.into(), ..WantedVersion::default() });
    let [workspace, application, name] = ["team", "shop", "eu"].map(str::to_owned);
    let (workload, environment) = (format!("w-{number}"), environment.to_owned());
    WantedTarget { workspace, application, workload, name, environment, version, ..WantedTarget::default() }
}

/// Two environments with cluster types and workloads; hosts that all have what is wanted.
async fn load(database: &Database) {
    let (ingest, writer) = Ingest::start(database.clone());
    for environment in ["prod", "stage"] {
        for (role, name) in [(Role::Platform, "type"), (Role::Application, "app")] {
            let version = (role == Role::Application).then_some("1.0");
            let of =
                |number| place(format!("{name}-{number}"), (role, environment), target(environment, number, version));
            let publication = Publication {
                repository: format!("https://git.example/{name}"),
                branch: environment.into(),
                commit: hash(1),
                committed_on: Moment::from_millis(1),
                places: (0..KINDS).map(of).collect(),
                is_complete: true,
            };
            ingest.publish(publication).await.unwrap();
        }
    }
    drop(ingest);
    writer.await.unwrap();
    let mut transaction = database.begin().await.unwrap();
    for sql in statements(transaction.dialect()) {
        transaction.run(&sql).await.unwrap();
    }
    transaction.run("analyze").await.unwrap();
    transaction.commit().await.unwrap();
}

fn statements(dialect: Dialect) -> Vec<String> {
    let reconciler = |number: i64, name: &str| {
        format!(
            "insert into reconciler (id, name, host_id, manifests_endpoint, place_id) select h.id * 2 + {number}, '{name}', h.id, \
             p.endpoint, p.id from host h join place p on p.endpoint = 'https://git.example/{name}/' || \
             case h.id % 2 when 0 then 'prod' else 'stage' end || '/{name}-' || (h.id % {KINDS})"
        )
    };
    let at = dialect.instant("1");
    vec![
        format!(
            "insert into host (id, name, created_on) with recursive n(i) as (select 1 union all select i + 1 from n where i < {HOSTS}) \
             select i, 'host-' || i, {at} from n"
        ),
        "insert into host_label (host_id, key, value) select id, 'store', 'store-' || (id % 1000) from host".to_owned(),
        reconciler(0, "type"),
        reconciler(1, "app"),
        format!(
            "insert into deployment (id, gitops_commit_id, reconciler_id, status, created_on, received_on, digest) \
             select id, '{}', id, 'success', {at}, {at}, id from reconciler",
            hash(1)
        ),
        "insert into tally (place_group_id, wanted_commit_id, held_commit_id, is_current, status, is_silent, reconcilers) \
         select p.place_group_id, v.gitops_commit_id, v.gitops_commit_id, 1, 2, 0, count(*) from reconciler r \
         join place p on p.id = r.place_id join place_revision v on v.id = p.wanted_revision_id group by 1, 2, 3"
            .to_owned(),
        format!(
            "insert into reconciler_state (reconciler_id, deployment_id, reported_on, seen_on, status, digest, held_revision_id, tally_id) \
             select r.id, r.id, {at}, {at}, 2, r.id, p.wanted_revision_id, t.id from reconciler r \
             join place p on p.id = r.place_id join tally t on t.place_group_id = p.place_group_id"
        ),
    ]
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
    ]
}

/// Asks everything about what a filter selects.
async fn ask(database: &Database, filter: &Filter) -> Result<(), QuestionError> {
    let page = Page::default();
    let at = Some(Moment::from_millis(1));
    questions::environments(database, filter).await?;
    questions::environment_targets(database, filter, &page, None).await?;
    questions::environment_targets(database, filter, &page, at).await?;
    questions::deployments(database, filter, &page, None).await?;
    questions::deployments(database, filter, &page, at).await?;
    questions::rollouts(database, filter, &page).await?;
    questions::history(database, filter, &page).await?;
    questions::drift(database, filter, &page).await?;
    for kind in [DriftKind::Silent, DriftKind::UnknownContent, DriftKind::Unwanted, DriftKind::UnknownPlace] {
        questions::drift_hosts(database, kind, filter, &page).await?;
    }
    for of in [hash(1), "w-8".to_owned(), "w-8@1.0".to_owned()] {
        questions::rollout(database, &of, filter).await?;
        questions::rollout_hosts(database, &of, filter, &page).await?;
    }
    for status in ["failed,silent", "succeeded"] {
        let filter = Filter { status: Some(status.into()), ..filter.clone() };
        questions::deployments(database, &filter, &page, None).await?;
    }
    Ok(())
}

/// Asks what does not take all filters.
async fn ask_others(database: &Database) -> Result<(), QuestionError> {
    let compared = Compared { from: "stage".into(), to: "prod".into(), ..Compared::default() };
    questions::compare(database, &compared, &Filter::default(), &Page::default()).await?;
    for manifests_endpoint in ["https://git.example/app/prod/app-8", "https://git.example/app/prod/app-8%"] {
        let request = DeploymentStateRequest { manifests_endpoint: manifests_endpoint.into(), commit_id: hash(1) };
        let state = questions::deployment_state(database, &request).await?;
        assert_eq!(state.total_subscribers % 500, 0);
    }
    Ok(())
}

/// The tables that a statement's plan looks at from their beginning to their end.
async fn scanned(database: &Database, sql: &str) -> Vec<String> {
    let mut transaction = database.begin().await.unwrap();
    let explain = match transaction.dialect() {
        Dialect::Sqlite => format!("explain query plan {sql}"),
        Dialect::Postgres => {
            let parameters = (1..100).take_while(|number| sql.contains(&format!("${number}"))).count();
            // Plans for any parameters, where reading pages here and there costs what it costs on an SSD.
            let settings = "set local plan_cache_mode = force_generic_plan; set local random_page_cost = 1.1";
            let prepare = format!("{settings}; prepare asked as {sql}");
            transaction.run(&prepare).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
            match vec!["null"; parameters].join(", ").as_str() {
                "" => "explain execute asked".to_owned(),
                nulls => format!("explain execute asked({nulls})"),
            }
        }
    };
    let plan = transaction.query(&explain, Vec::new()).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    let lines = plan.iter().flat_map(|row| (0..4).map_while(|column| row.value(column).map(|_| row.text(column))));
    let lines: Vec<String> = lines.collect();
    if transaction.dialect() == Dialect::Postgres {
        transaction.run("deallocate asked").await.unwrap();
    }
    of_plan(&lines, sql)
}

/// SQLite says `SCAN r` where it does not go by an index; PostgreSQL says `Seq Scan on reconciler r`.
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

async fn no_question_looks_at_all_hosts(ground: Ground) {
    load(&ground.database).await;
    let asked = Asked::default();
    let listening = tracing::subscriber::set_default(asked.clone());
    for filter in filters() {
        ask(&ground.database, &filter).await.unwrap();
    }
    ask_others(&ground.database).await.unwrap();
    drop(listening);
    let asked = asked.0.lock().unwrap().clone();
    assert!(asked.len() > 30, "{asked:?}");
    let mut wrong = Vec::new();
    for sql in asked {
        let scanned = scanned(&ground.database, &sql).await;
        if !scanned.is_empty() {
            wrong.push(format!("{}: {sql}", scanned.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{} statements:\n{}", wrong.len(), wrong.join("\n\n"));
}
