//! Many hosts, loaded in bulk: each has a reconciler for the platform and one for a workload.

use std::collections::BTreeMap;

use hub::store::{Database, Dialect};
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;

use crate::questions::fleet::hash;

/// The number of cluster types, and of workloads.
pub(super) const KINDS: i64 = 100;

/// A host of the crowd, identified by its number.
#[derive(Clone, Copy)]
pub(super) struct Member(pub(super) i64);

impl Member {
    pub(super) fn environment(self) -> &'static str {
        if self.0 % 2 == 0 { "prod" } else { "stage" }
    }

    /// The number of its cluster type, and of its workload. A quarter of the hosts have the same number.
    pub(super) fn kind(self) -> i64 {
        if self.0 % 4 == 0 { 0 } else { self.0 % KINDS }
    }

    pub(super) fn is_gold(self) -> bool {
        self.0 % 10 < 3
    }

    /// The status of both reconcilers: 1 in progress, 2 success, 3 failure.
    pub(super) fn status(self) -> i64 {
        match self.0 % 9 {
            0 => 3,
            1 => 1,
            _ => 2,
        }
    }

    pub(super) fn is_silent(self) -> bool {
        self.0 % 7 == 0
    }
}

/// The same in SQL, for the host `h`.
const ENVIRONMENT: &str = "case h.id % 2 when 0 then 'prod' else 'stage' end";
const STATUS: &str = "case h.id % 9 when 0 then 3 when 1 then 1 else 2 end";
const SILENT: &str = "case h.id % 7 when 0 then 1 else 0 end";

fn kind() -> String {
    format!("case h.id % 4 when 0 then 0 else h.id % {KINDS} end")
}

fn place(path: String, (role, environment): (Role, &str), target: DesiredTarget) -> DesiredPlace {
    let cluster_type = (role == Role::Platform).then(|| path.clone());
    let environment = Some(environment.to_owned());
    let (tree, targets) = (Some(hash(7)), vec![target]);
    DesiredPlace {
        path,
        tree,
        role,
        environment,
        cluster_type,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets,
    }
}

fn target(environment: &str, number: i64, version: Option<&str>) -> DesiredTarget {
    let version = version.map(|version| DesiredVersion { version: version.into(), ..DesiredVersion::default() });
    let [workspace, application, name] = ["team", "shop", "eu"].map(str::to_owned);
    let (workload, environment) = (format!("w-{number}"), environment.to_owned());
    DesiredTarget { workspace, application, workload, name, environment, version, ..DesiredTarget::default() }
}

/// The content of a branch: the first one, or the second version of the workloads since a timestamp.
fn publication(environment: &str, role: Role, second: Option<Timestamp>) -> BranchContent {
    let name = if role == Role::Platform { "type" } else { "app" };
    let version = (role == Role::Application).then_some(if second.is_some() { "2.0" } else { "1.0" });
    let tree = Some(hash(if second.is_some() { 8 } else { 7 }));
    let of = |number| DesiredPlace {
        tree: tree.clone(),
        ..place(format!("{name}-{number}"), (role, environment), target(environment, number, version))
    };
    BranchContent {
        repository: format!("https://git.example/{name}"),
        branch: environment.into(),
        commit: hash(if second.is_some() { 2 } else { 1 }),
        committed_on: second.unwrap_or(Timestamp::from_millis(1)),
        places: (0..KINDS).map(of).collect(),
        is_complete: true,
    }
}

/// The second version of the workloads of an environment.
pub(super) fn second_version(environment: &str, since: Timestamp) -> BranchContent {
    publication(environment, Role::Application, Some(since))
}

/// The report of a host in prod that applied the second version.
pub(super) fn second_report(host: i64, observed_on: Timestamp) -> Report {
    let endpoint = format!("app-{}", Member(host).kind());
    Report {
        is_waiting: false,
        host: format!("host-{host}"),
        reconciler: "app".to_owned(),
        kind: "flux".to_owned(),
        endpoint: Some(Endpoint::new("https://git.example/app", "prod", &endpoint).unwrap()),
        revision: hash(2),
        tree: None,
        version: None,
        workload: None,
        status: Status::Success,
        message: String::new(),
        observed_on,
        heartbeat: None,
        labels: BTreeMap::new(),
    }
}

/// Loads two environments with cluster types and workloads, and this number of hosts, numbered from 1.
pub(super) async fn load(database: &Database, hosts: i64) {
    let (ingest, writer) = Writer::start(database.clone());
    for environment in ["prod", "stage"] {
        for role in [Role::Platform, Role::Application] {
            ingest.publish(publication(environment, role, None)).await.unwrap();
        }
    }
    drop(ingest);
    writer.await.unwrap();
    let mut transaction = database.begin().await.unwrap();
    for sql in statements(transaction.dialect(), hosts) {
        transaction.run(&sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    transaction.commit().await.unwrap();
}

fn statements(dialect: Dialect, hosts: i64) -> Vec<String> {
    let reconciler = |number: i64, name: &str| {
        format!(
            "insert into reconciler (id, name, host_id, manifests_endpoint, place_id) select h.id * 2 + {number}, '{name}', h.id, \
             p.endpoint, p.id from host h join place p on p.endpoint = 'https://git.example/{name}/' || {ENVIRONMENT} || '/{name}-' || ({})",
            kind()
        )
    };
    let at = dialect.instant("1");
    let label = |key: &str, value: &str, of: &str| {
        format!("insert into host_label (host_id, key, value) select id, '{key}', {value} from host where {of}")
    };
    let mut statements = vec![
        format!(
            "insert into host (id, name, created_on) with recursive n(i) as (select 1 union all select i + 1 from n where i < {hosts}) \
             select i, 'host-' || i, {at} from n"
        ),
        label("store", "'store-' || (id % 1000)", "true"),
        label("tier", "case when id % 10 < 3 then 'gold' else 'silver' end", "id % 10 < 6"),
        reconciler(0, "type"),
        reconciler(1, "app"),
        format!(
            "insert into deployment (id, gitops_commit_id, reconciler_id, status, created_on, received_on, digest) select r.id, '{}', \
             r.id, case {STATUS} when 3 then 'failure' when 1 then 'in_progress' else 'success' end, {at}, {at}, r.id \
             from reconciler r join host h on h.id = r.host_id",
            hash(1)
        ),
        format!(
            "insert into tally (place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers) \
             select p.place_group_id, v.gitops_commit_id, v.gitops_commit_id, 1, {STATUS}, {SILENT}, 0, count(*) from reconciler r \
             join host h on h.id = r.host_id join place p on p.id = r.place_id join place_revision v on v.id = p.desired_revision_id \
             group by 1, 2, 3, 5, 6"
        ),
        // PostgreSQL estimates the selectivity of expressions badly. So they are materialized before the join.
        format!(
            "insert into reconciler_state (reconciler_id, deployment_id, reported_on, seen_on, status, digest, held_revision_id, \
             tally_id, is_silent) with k as materialized (select r.id, p.desired_revision_id, p.place_group_id, {STATUS} as status, \
             {SILENT} as is_silent from reconciler r join host h on h.id = r.host_id join place p on p.id = r.place_id) \
             select k.id, k.id, {at}, {at}, k.status, k.id, k.desired_revision_id, t.id, k.is_silent from k join tally t \
             on t.place_group_id = k.place_group_id and t.status = k.status and t.is_silent = k.is_silent"
        ),
        "insert into attention (tally_id, reconciler_id) select tally_id, reconciler_id from reconciler_state \
         where status <> 2 or is_silent <> 0"
            .to_owned(),
        "analyze".to_owned(),
    ];
    if dialect == Dialect::Postgres {
        let next = |table: &str| format!("select setval('{table}_id_seq', (select max(id) from {table}))");
        statements.extend(["host", "reconciler", "deployment"].map(next));
    }
    statements
}
