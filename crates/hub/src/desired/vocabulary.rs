//! The names in the desired state: workspaces, applications, workloads, environments, targets and versions.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::publication::{DesiredTarget, DesiredVersion};

use crate::store::{ColumnType, DatabaseError, EnvironmentId, Rows, SqlValue, TargetId, Transaction, WorkloadId};

/// A target, identified by its full name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TargetKey {
    workspace: String,
    application: String,
    workload: String,
    environment: String,
    name: String,
}

impl TargetKey {
    pub(super) fn new(target: &DesiredTarget) -> Self {
        Self {
            workspace: target.workspace.clone(),
            application: target.application.clone(),
            workload: target.workload.clone(),
            environment: target.environment.clone(),
            name: target.name.clone(),
        }
    }
}

/// The ids of a stored target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TargetIds {
    pub(super) target: TargetId,
    pub(super) workload: WorkloadId,
}

/// Finds environments, and adds new ones.
pub(super) async fn environments(
    transaction: &mut Transaction,
    names: BTreeSet<&str>,
) -> Result<BTreeMap<String, EnvironmentId>, DatabaseError> {
    let mut rows = Rows::new(&[("name", ColumnType::Text)]);
    names.iter().for_each(|name| rows.push(vec![(*name).into()]));
    let statement = "insert into environment (name) select name from source where true on conflict (name) do nothing";
    transaction.execute_with(rows.clone(), statement).await?;
    let statement = "select e.name, e.id from source s join environment e on e.name = s.name";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// Finds targets, and adds new ones together with their workloads, applications and workspaces.
pub(super) async fn targets(
    transaction: &mut Transaction,
    targets: &BTreeMap<TargetKey, (&DesiredTarget, Option<String>)>,
) -> Result<BTreeMap<TargetKey, TargetIds>, DatabaseError> {
    let mut rows = Rows::new(&[
        ("number", ColumnType::Int),
        ("workspace", ColumnType::Text),
        ("application", ColumnType::Text),
        ("workload", ColumnType::Text),
        ("environment", ColumnType::Text),
        ("name", ColumnType::Text),
        ("labels", ColumnType::Text),
        ("source", ColumnType::Text),
        ("endpoint", ColumnType::Text),
    ]);
    for (number, (key, (target, endpoint))) in targets.iter().enumerate() {
        let labels = (!target.labels.is_empty()).then(|| serde_json::json!(target.labels).to_string());
        rows.push(vec![
            SqlValue::from(number as i64),
            key.workspace.as_str().into(),
            key.application.as_str().into(),
            key.workload.as_str().into(),
            key.environment.as_str().into(),
            key.name.as_str().into(),
            labels.into(),
            target.source_endpoint.as_deref().into(),
            endpoint.as_deref().into(),
        ]);
    }
    for statement in ADD {
        transaction.execute_with(rows.clone(), statement).await?;
    }
    let found = transaction.with(rows, FIND).await?;
    let ids: BTreeMap<usize, TargetIds> =
        found.into_iter().map(|(number, target, workload)| (number, TargetIds { target, workload })).collect();
    let with_ids = |(number, key): (usize, &TargetKey)| Some((key.clone(), *ids.get(&number)?));
    Ok((0..).zip(targets.keys()).filter_map(with_ids).collect())
}

/// Statements, in order from workspace to target. A value that a publication does not have for a target or workload stays unchanged. For the source of
/// a workload, publications of its manifests have precedence: the value of another publication is used only if there is none yet.
const ADD: [&str; 6] = [
    "insert into workspace (name) select distinct workspace from source where true on conflict (name) do nothing",
    "insert into application (name, workspace_id) select distinct s.application, w.id from source s \
     join workspace w on w.name = s.workspace where true on conflict (workspace_id, name) do nothing",
    "insert into workload (name, application_id, source_endpoint) select s.workload, a.id, max(s.source) from source s \
     join workspace w on w.name = s.workspace join application a on a.workspace_id = w.id and a.name = s.application \
     where s.endpoint is null group by s.workload, a.id on conflict (application_id, name) do update set \
     source_endpoint = coalesce(workload.source_endpoint, excluded.source_endpoint)",
    "insert into workload (name, application_id, source_endpoint) select s.workload, a.id, max(s.source) from source s \
     join workspace w on w.name = s.workspace join application a on a.workspace_id = w.id and a.name = s.application \
     where s.endpoint is not null group by s.workload, a.id on conflict (application_id, name) do update set \
     source_endpoint = coalesce(excluded.source_endpoint, workload.source_endpoint)",
    "insert into environment (name) select distinct environment from source where true on conflict (name) do nothing",
    "insert into deployment_target (name, workload_id, environment_id, labels, manifests_endpoint) \
     select s.name, l.id, e.id, s.labels, s.endpoint from source s \
     join workspace w on w.name = s.workspace join application a on a.workspace_id = w.id and a.name = s.application \
     join workload l on l.application_id = a.id and l.name = s.workload join environment e on e.name = s.environment \
     where true on conflict (workload_id, environment_id, name) do update set \
     labels = coalesce(excluded.labels, deployment_target.labels), \
     manifests_endpoint = coalesce(excluded.manifests_endpoint, deployment_target.manifests_endpoint)",
];

const FIND: &str = "select s.number, t.id, l.id from source s join workspace w on w.name = s.workspace \
    join application a on a.workspace_id = w.id and a.name = s.application \
    join workload l on l.application_id = a.id and l.name = s.workload join environment e on e.name = s.environment \
    join deployment_target t on t.workload_id = l.id and t.environment_id = e.id and t.name = s.name";

/// The desired versions of targets.
pub(super) async fn assigned(
    transaction: &mut Transaction,
    targets: BTreeSet<TargetId>,
) -> Result<BTreeMap<TargetId, String>, DatabaseError> {
    let mut rows = Rows::new(&[("target_id", ColumnType::Int)]);
    targets.into_iter().for_each(|target| rows.push(vec![target.into()]));
    let statement = "select s.target_id, v.version from source s join deployment_assignment a on a.id = \
        (select max(l.id) from deployment_assignment l where l.deployment_target_id = s.target_id) \
        join workload_version v on v.id = a.workload_version_id";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// Adds new versions of workloads. What one publication knows about a version is kept if another one does not know it.
pub(super) async fn add_versions<'v>(
    transaction: &mut Transaction,
    versions: impl IntoIterator<Item = (WorkloadId, &'v DesiredVersion)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("workload_id", ColumnType::Int),
        ("version", ColumnType::Text),
        ("build_id", ColumnType::Text),
        ("build_commit_id", ColumnType::Text),
    ]);
    for (workload, version) in versions.into_iter().collect::<BTreeSet<_>>() {
        rows.push(vec![
            SqlValue::from(workload),
            version.version.as_str().into(),
            version.build.as_deref().into(),
            version.commit.as_deref().into(),
        ]);
    }
    let statement = "insert into workload_version (version, build_id, build_commit_id, workload_id) \
        select version, max(build_id), max(build_commit_id), workload_id from source where true \
        group by version, workload_id on conflict (workload_id, version) do update set \
        build_id = coalesce(workload_version.build_id, excluded.build_id), \
        build_commit_id = coalesce(workload_version.build_commit_id, excluded.build_commit_id)";
    transaction.execute_with(rows, statement).await
}

/// Stores the desired versions of targets from a commit on, if they changed.
pub(super) async fn assign(
    transaction: &mut Transaction,
    commit: &str,
    desired: Vec<(TargetIds, DesiredVersion)>,
) -> Result<(), DatabaseError> {
    add_versions(transaction, desired.iter().map(|(ids, version)| (ids.workload, version))).await?;
    let mut rows = Rows::new(&[
        ("target_id", ColumnType::Int),
        ("workload_id", ColumnType::Int),
        ("version", ColumnType::Text),
        ("commit_id", ColumnType::Text),
    ]);
    for (ids, version) in desired {
        rows.push(vec![SqlValue::from(ids.target), ids.workload.into(), version.version.into(), commit.into()]);
    }
    // Queries that join the history with assignments must find one row for a target, a version and a commit. The row that was added last is the
    // latest. The rows are found by their commit, because a new commit has few. The unary plus prevents databases from using the index by target.
    let again = "delete from deployment_assignment where id in (select a.id from source s \
        join workload_version v on v.workload_id = s.workload_id and v.version = s.version \
        join deployment_assignment a on a.gitops_commit_id = s.commit_id and +a.deployment_target_id = s.target_id \
        and +a.workload_version_id = v.id \
        where a.id < (select max(l.id) from deployment_assignment l where l.deployment_target_id = s.target_id))";
    transaction.execute_with(rows.clone(), again).await?;
    let statement = "insert into deployment_assignment (deployment_target_id, workload_version_id, gitops_commit_id) \
        select s.target_id, v.id, s.commit_id from source s \
        join workload_version v on v.workload_id = s.workload_id and v.version = s.version \
        where not exists (select 1 from deployment_assignment a where a.deployment_target_id = s.target_id \
            and a.workload_version_id = v.id and a.gitops_commit_id = s.commit_id \
            and a.id = (select max(l.id) from deployment_assignment l where l.deployment_target_id = s.target_id))";
    transaction.execute_with(rows, statement).await
}
