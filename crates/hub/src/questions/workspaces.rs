//! Which workspaces workloads have.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{Database, DatabaseError, Parameters};

/// The workloads of deployment targets, with their environments and workspaces.
const FROM: &str = "from deployment_target t join environment e on e.id = t.environment_id join workload l on l.id = t.workload_id \
    join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id";

/// The workspaces of each workload that has a deployment target in an environment.
///
/// # Errors
/// The database can't answer.
pub async fn workspaces_of_workloads(
    database: &Database,
    environment: &str,
) -> Result<BTreeMap<String, BTreeSet<String>>, DatabaseError> {
    let sql = format!("select distinct l.name, w.name {FROM} where e.name = $1");
    let rows: Vec<(String, String)> = database.query(&sql, vec![environment.into()]).await?;
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (workload, workspace) in rows {
        found.entry(workload).or_default().insert(workspace);
    }
    Ok(found)
}

/// The condition that a pair of columns with the names of an environment and a workload is about a workload that has only these workspaces there.
pub(super) fn has_only(workspaces: &[String], columns: (&str, &str), parameters: &mut Parameters) -> String {
    let is_one = parameters.any_text("w.name", workspaces.to_vec());
    let (environment, workload) = columns;
    format!(
        "({environment}, {workload}) in (select e.name, l.name {FROM} group by e.name, l.name having min(case when {is_one} then 1 else 0 end) = 1)"
    )
}

/// The condition that a pair of columns with the names of an environment and a workload is about a workload of this workspace there.
pub(super) fn has(workspace: &str, columns: (&str, &str), parameters: &mut Parameters) -> String {
    let is_one = parameters.equals("w.name", workspace);
    let (environment, workload) = columns;
    format!("({environment}, {workload}) in (select e.name, l.name {FROM} where {is_one})")
}
