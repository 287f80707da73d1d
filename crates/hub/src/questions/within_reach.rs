//! Whether a name exists within the reach of a caller, who must not learn of a name outside of it.

use hub_api::tokens::Reach;

use super::conditions;
use crate::store::{DatabaseError, HostId, Parameters, Transaction};

/// Whether a name of a table of workloads or targets exists within the reach.
pub(super) async fn has(
    transaction: &mut Transaction,
    reach: &Reach,
    (table, name): (&str, &str),
) -> Result<bool, DatabaseError> {
    if reach.is_all() || (table == "workspace" && !reach.workspaces.is_empty()) {
        // A workspace outside of the reach was refused before.
        let sql = format!("select 1 from {table} where name = $1 limit 1");
        return transaction.exists(&sql, vec![name.into()]).await;
    }
    let mut parameters = Parameters::with(transaction.dialect(), vec![name.into()]);
    let mut conditions = vec![format!("{table}.name = $1")];
    for (column, names) in [("workspace.name", &reach.workspaces), ("environment.name", &reach.environments)] {
        conditions.extend((!names.is_empty()).then(|| parameters.any_text(column, names.clone())));
    }
    let sql = format!(
        "select 1 from deployment_target join environment on environment.id = deployment_target.environment_id \
         join workload on workload.id = deployment_target.workload_id \
         join application on application.id = workload.application_id \
         join workspace on workspace.id = application.workspace_id where {} limit 1",
        conditions::all(conditions)
    );
    transaction.exists(&sql, parameters.into_values()).await
}

/// Whether a reconciler of the host is at a place within the reach.
pub(super) async fn has_host(
    transaction: &mut Transaction,
    reach: &Reach,
    host: HostId,
) -> Result<bool, DatabaseError> {
    if reach.is_all() {
        return Ok(true);
    }
    let mut parameters = Parameters::with(transaction.dialect(), vec![host.into()]);
    let within = conditions::and(of_group("p.place_group_id", reach, &mut parameters));
    let sql =
        format!("select 1 from reconciler r join place p on p.id = r.place_id where r.host_id = $1{within} limit 1");
    transaction.exists(&sql, parameters.into_values()).await
}

/// Whether a group of places within the reach is of the cluster type.
pub(super) async fn has_cluster_type(
    transaction: &mut Transaction,
    reach: &Reach,
    name: &str,
) -> Result<bool, DatabaseError> {
    let mut parameters = Parameters::with(transaction.dialect(), vec![name.into()]);
    let within = conditions::and(of_group("c.id", reach, &mut parameters));
    let sql = format!("select 1 from place_group c where c.cluster_type = $1{within} limit 1");
    transaction.exists(&sql, parameters.into_values()).await
}

/// The conditions that a group of places is of an environment within the reach, and that a target there is of a workspace within it.
fn of_group(group_id: &str, reach: &Reach, parameters: &mut Parameters) -> Vec<String> {
    let mut conditions = Vec::new();
    if !reach.environments.is_empty() {
        let named = parameters.any_text("e.name", reach.environments.clone());
        conditions.push(format!(
            "exists (select 1 from place_group g join environment e on e.id = g.environment_id where g.id = {group_id} and {named})"
        ));
    }
    if !reach.workspaces.is_empty() {
        let named = parameters.any_text("w.name", reach.workspaces.clone());
        conditions.push(format!(
            "exists (select 1 from place_group_target m join deployment_target t on t.id = m.deployment_target_id \
             join workload l on l.id = t.workload_id join application a on a.id = l.application_id \
             join workspace w on w.id = a.workspace_id where m.place_group_id = {group_id} and {named})"
        ));
    }
    conditions
}
