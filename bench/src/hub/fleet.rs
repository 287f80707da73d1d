//! A fleet of hosts for the hub, loaded in bulk before the measurements.

use std::collections::BTreeMap;

use ::hub::store::{ColumnType, Database, Dialect, Rows};
use ::hub::writer::Writer;
use ::hub_api::endpoint::Endpoint;
use ::hub_api::report::{Report, Status};
use ::hub_api::timestamp::Timestamp;
use anyhow::Result;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};

/// The size of the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Hosts, each with three reconcilers.
    pub(crate) hosts: i64,
    /// Rows of the history.
    pub(crate) history: i64,
}

impl Size {
    /// The same with this share of the hosts and of the history.
    pub(crate) fn share(self, share: f64) -> Self {
        let of = |number: i64| ((number as f64 * share) as i64).max(RECONCILERS);
        Self { hosts: of(self.hosts), history: of(self.history).max(of(self.hosts) * RECONCILERS) }
    }
}

/// The environments. [`environment`] assigns the hosts to them.
const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];
/// Cluster types of each environment.
const CLUSTER_TYPES: i64 = 300;
/// Workloads, each with a target in each environment.
const WORKLOADS: i64 = 20;
/// The number of publications of each branch.
const PUBLICATIONS: i64 = 4;
/// Reconcilers of each host.
pub(crate) const RECONCILERS: i64 = 3;
/// The platform's GitOps repository.
const PLATFORM: &str = "https://git.example/acme/platform-gitops";
/// The applications' GitOps repository.
const APPLICATIONS: &str = "https://git.example/acme/app-gitops";
/// The time of the first publication: 2026-01-01.
const START: i64 = 1_767_225_600_000;
const HOUR: i64 = 3_600_000;

/// The commit of the publication with this number.
pub(crate) fn commit(publication: i64) -> String {
    format!("{publication:040x}")
}

/// The repository, branch and path that a reconciler of a host applies. Reconciler 0 applies the platform's, 1 and 2 those of workloads.
pub(crate) fn endpoint(host: i64, reconciler: i64) -> (&'static str, &'static str, String) {
    let environment = ENVIRONMENTS[environment(host)];
    let cluster_type = host % CLUSTER_TYPES;
    match reconciler {
        0 => (PLATFORM, environment, format!("type-{cluster_type}")),
        1 => (APPLICATIONS, environment, format!("workload-{}", cluster_type % WORKLOADS)),
        _ => (APPLICATIONS, environment, format!("workload-{}", (cluster_type + 7) % WORKLOADS)),
    }
}

/// The index of a host's environment: one tenth of the hosts is in dev, two tenths are in stage, the rest is in prod.
fn environment(host: i64) -> usize {
    match host % 10 {
        0 => 0,
        1 | 2 => 1,
        _ => 2,
    }
}

/// Fills an empty database.
pub(crate) async fn fill(url: &str, size: Size) -> Result<()> {
    let database = Database::open(&url.parse()?).await?;
    let (ingest, writer) = Writer::start(database.clone());
    load(&database, &ingest, size).await?;
    drop(ingest);
    writer.await?;
    database.close().await;
    Ok(())
}

async fn load(database: &Database, ingest: &Writer, size: Size) -> Result<()> {
    for number in 1..=PUBLICATIONS {
        for environment in ENVIRONMENTS {
            ingest.publish(platform(environment, number)).await?;
            ingest.publish(applications(environment, number)).await?;
        }
    }
    profiles(database).await?;
    let dialect = database.dialect();
    for sql in statements(dialect, size) {
        let mut transaction = database.begin().await?;
        transaction.run(&sql).await?;
        transaction.commit().await?;
    }
    Ok(())
}

fn platform(environment: &str, number: i64) -> BranchContent {
    let place = |cluster_type: i64| DesiredPlace {
        path: format!("type-{cluster_type}"),
        tree: Some(format!("{:040x}", number * 1_000 + cluster_type)),
        role: Role::Platform,
        environment: Some(environment.to_owned()),
        cluster_type: Some(format!("type-{cluster_type}")),
        cluster: None,
        earlier_names: Vec::new(),
        config_version: Some(format!("{:016x}", number * 1_000 + cluster_type)),
        targets: [cluster_type % WORKLOADS, (cluster_type + 7) % WORKLOADS]
            .map(|w| target(environment, w, None))
            .into(),
    };
    publication(PLATFORM, environment, number, (0..CLUSTER_TYPES).map(place).collect())
}

fn applications(environment: &str, number: i64) -> BranchContent {
    let place = |workload: i64| DesiredPlace {
        path: format!("workload-{workload}"),
        tree: Some(format!("{:040x}", number * 1_000 + workload)),
        role: Role::Application,
        environment: Some(environment.to_owned()),
        cluster_type: None,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: vec![target(environment, workload, Some(number))],
    };
    publication(APPLICATIONS, environment, number, (0..WORKLOADS).map(place).collect())
}

fn target(environment: &str, workload: i64, version: Option<i64>) -> DesiredTarget {
    DesiredTarget {
        workspace: format!("team-{}", workload % 5),
        application: format!("application-{}", workload % 10),
        workload: format!("workload-{workload}"),
        name: "main".to_owned(),
        environment: environment.to_owned(),
        version: version
            .map(|version| DesiredVersion { version: format!("1.{version}.0"), ..DesiredVersion::default() }),
        ..DesiredTarget::default()
    }
}

fn publication(repository: &str, environment: &str, number: i64, places: Vec<DesiredPlace>) -> BranchContent {
    BranchContent {
        repository: repository.to_owned(),
        branch: environment.to_owned(),
        commit: commit(number),
        committed_on: Timestamp::from_millis(START + number * HOUR),
        places,
        is_complete: true,
    }
}

/// The SQL statements that fill the tables of hosts, reconcilers, history, states and tallies.
fn statements(dialect: Dialect, Size { hosts, history }: Size) -> Vec<String> {
    let numbers = format!("with recursive n(i) as (select 1 union all select i + 1 from n where i < {hosts})");
    let mut statements = vec![
        format!(
            "{numbers} insert into host (id, name, labels) \
             select i, 'host-' || i, '{{\"region\":\"region-' || (i % 10) || '\"}}' from n"
        ),
        "insert into host_label (host_id, key, value) select id, 'region', 'region-' || (id % 10) from host".to_owned(),
    ];
    statements.extend((0..RECONCILERS).map(reconcilers));
    let reconcilers = hosts * RECONCILERS;
    let depth = (history + reconcilers - 1) / reconcilers;
    statements.extend((0..depth).map(|number| deployments(dialect, number, hosts, history)));
    let states_query = states_query(hosts, history);
    statements.push(format!(
        "insert into tally (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers) \
         select place_group_id, desired, held, is_current, status, 0, 0, count(*) from ({states_query}) k group by 1, 2, 3, 4, 5"
    ));
    statements.push(states(dialect, hosts, &states_query));
    statements.push(
        "insert into attention (tally_id, reconciler_id) select tally_id, reconciler_id from reconciler_state where status <> 2"
            .to_owned(),
    );
    if dialect == Dialect::Postgres {
        for table in ["host", "reconciler", "deployment"] {
            statements.push(format!("select setval('{table}_id_seq', (select max(id) from {table}))"));
        }
    }
    statements.push("drop table place_profile".to_owned());
    statements.push("analyze".to_owned());
    statements
}

/// Makes a table with the profile of the reconcilers of each place.
async fn profiles(database: &Database) -> Result<()> {
    let mut rows = Rows::new(&[("id", ColumnType::Int), ("profile", ColumnType::Int)]);
    let sql = "select p.id, b.repository, b.branch, p.path from place p join gitops_branch b on b.id = p.branch_id";
    for (id, repository, branch, path) in database.query::<(i64, String, String, String)>(sql, Vec::new()).await? {
        let report = Report {
            is_waiting: false,
            host: String::new(),
            reconciler: String::new(),
            kind: "flux".to_owned(),
            endpoint: Some(Endpoint::new(&repository, &branch, &path)?),
            revision: String::new(),
            tree: None,
            version: None,
            workload: None,
            status: Status::Success,
            message: String::new(),
            observed_on: Timestamp::default(),
            heartbeat: None,
            labels: BTreeMap::new(),
        };
        rows.push(vec![id.into(), report.profile().into()]);
    }
    let mut transaction = database.begin().await?;
    transaction.run("create table place_profile (place_id bigint primary key, profile bigint)").await?;
    let insert = "insert into place_profile (place_id, profile) select id, profile from source";
    transaction.execute_with(rows, insert).await?;
    Ok(transaction.commit().await?)
}

fn reconcilers(number: i64) -> String {
    let (repository, path) = match number {
        0 => (PLATFORM, format!("'type-' || (id % {CLUSTER_TYPES})")),
        1 => (APPLICATIONS, format!("'workload-' || ((id % {CLUSTER_TYPES}) % {WORKLOADS})")),
        _ => (APPLICATIONS, format!("'workload-' || (((id % {CLUSTER_TYPES}) + 7) % {WORKLOADS})")),
    };
    let environment = "case id % 10 when 0 then 'dev' when 1 then 'stage' when 2 then 'stage' else 'prod' end";
    format!(
        "insert into reconciler (id, name, host_id, reconciler_type, manifests_endpoint, place_id) \
         select (h.id - 1) * {RECONCILERS} + {number} + 1, 'reconciler-{number}', h.id, 'flux', h.endpoint, p.id from \
         (select id, '{repository}/' || {environment} || '/' || {path} as endpoint from host) h \
         join place p on p.endpoint = h.endpoint"
    )
}

/// Each reconciler's report with this number. The publications follow one another. Not all reconcilers report the last one.
fn deployments(dialect: Dialect, number: i64, hosts: i64, history: i64) -> String {
    let reconcilers = hosts * RECONCILERS;
    let count = (history - number * reconcilers).min(reconcilers);
    let before = if number == 0 { "null".to_owned() } else { format!("{} + id", (number - 1) * reconcilers) };
    let commit = number % PUBLICATIONS + 1;
    format!(
        "insert into deployment (id, gitops_commit_id, reconciler_id, status, status_message, created_on, received_on, \
         revision, digest, previous_id) select {} + id, '{}', id, {}, 'Applied revision', {at}, {at}, '{}', id, {before} \
         from reconciler where id <= {count}",
        number * reconcilers,
        self::commit(commit),
        status_text(),
        self::commit(commit),
        at = dialect.instant(&format!("({} + id % 600000)", START + (number + 1) * HOUR)),
    )
}

/// The SQL expression for the status: two of a hundred fail, three are in progress.
fn status() -> &'static str {
    "case when id % 100 < 2 then 3 when id % 100 < 5 then 1 else 2 end"
}

fn status_text() -> &'static str {
    "case when id % 100 < 2 then 'failure' when id % 100 < 5 then 'in_progress' else 'success' end"
}

/// The SQL query for the state of each reconciler: its last report, the place, and the values that its tally is grouped by.
fn states_query(hosts: i64, history: i64) -> String {
    let reconcilers = hosts * RECONCILERS;
    let (full, rest) = (history / reconcilers, history % reconcilers);
    let number = format!("(case when r.id <= {rest} then {full} else {} end)", full - 1);
    format!(
        "select r.id, {number} as number, {} as status, r.place_id, place_profile.profile, p.place_group_id, v.id as revision_id, \
         w.gitops_commit_id as desired, v.gitops_commit_id as held, case when w.id = v.id then 1 else 0 end as is_current \
         from reconciler r join place_profile on place_profile.place_id = r.place_id join place p on p.id = r.place_id \
         join place_revision w on w.id = p.desired_revision_id join place_revision v on v.place_id = r.place_id \
         join gitops_commit c on c.id = v.gitops_commit_id and c.sequence = {number} % {PUBLICATIONS} + 1",
        status().replace("id", "r.id")
    )
}

/// The SQL statement that inserts the states. Each row is written once, without space for earlier versions.
/// The query for the states is materialized before the join, because databases estimate badly how many rows fulfil an expression.
fn states(dialect: Dialect, hosts: i64, states_query: &str) -> String {
    let reconcilers = hosts * RECONCILERS;
    let at = dialect.instant(&format!("({START} + (k.number + 1) * {HOUR} + k.id % 600000)"));
    format!(
        "insert into reconciler_state (reconciler_id, deployment_id, reported_on, seen_on, status, digest, held_revision_id, \
         tally_id, profile, place_id) with k as materialized ({states_query}) \
         select k.id, k.number * {reconcilers} + k.id, {at}, {at}, k.status, k.id, k.revision_id, t.id, k.profile, k.place_id \
         from k join tally t on t.place_group_id = k.place_group_id and t.desired_commit_id = k.desired \
         and t.held_commit_id = k.held and t.is_current = k.is_current and t.status = k.status and t.is_silent = 0"
    )
}
