//! The workspaces of the workloads of an environment.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::{Database, DatabaseError};

/// The workspaces of each workload that has a deployment target in an environment.
///
/// # Errors
/// The database can't answer.
pub async fn workspaces_of_workloads(
    database: &Database,
    environment: &str,
) -> Result<BTreeMap<String, BTreeSet<String>>, DatabaseError> {
    let sql = "select distinct l.name, w.name from deployment_target t
         join environment e on e.id = t.environment_id join workload l on l.id = t.workload_id
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id
         where e.name = $1";
    let rows: Vec<(String, String)> = database.query(sql, vec![environment.into()]).await?;
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (workload, workspace) in rows {
        found.entry(workload).or_default().insert(workspace);
    }
    Ok(found)
}
