//! The groups of places that are counted together, and the targets that they are for.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::endpoint::Endpoint;
use hub_api::publication::{DesiredPlace, Role};

use super::vocabulary::{self, TargetIds, TargetKey};
use crate::store::{BranchId, ColumnType, DatabaseError, PlaceGroupId, Rows, SqlValue, TargetId, Transaction};

/// The group of a place. The folder of a single cluster is grouped with those of the other clusters of its type. Every other folder is its own group.
pub(super) fn group_name(place: &DesiredPlace, endpoint: &Endpoint) -> String {
    let Some(cluster) = &place.cluster else { return endpoint.to_string() };
    let mut segments = endpoint.path().split('/');
    let is_below = segments.any(|segment| segment == cluster);
    let below: Vec<_> = if is_below { segments.collect() } else { endpoint.path().split('/').collect() };
    let (environment, cluster_type) = (place.environment.as_deref(), place.cluster_type.as_deref());
    let (cluster_type, environment) = (cluster_type.unwrap_or("no type"), environment.unwrap_or("no environment"));
    format!("clusters of {cluster_type} in {environment}: {}", below.join("/"))
}

/// A stored group of places.
pub(super) struct StoredGroup {
    pub(super) name: String,
    pub(super) cluster_type: Option<String>,
}

/// The group of a place, and whether the place determines the environment and the cluster type of the group. A reader of the branch knows only the names of folders, so it
/// does not replace what a publisher said.
pub(super) fn choose(
    (place, endpoint): (&DesiredPlace, &Endpoint),
    known: Option<&StoredGroup>,
    is_observed: bool,
) -> (String, bool) {
    let own = group_name(place, endpoint);
    // An existing place stays in its group unless the publication names the cluster of the place.
    let Some(known) = known.filter(|_| place.cluster.is_none()) else { return (own, true) };
    if known.name == own {
        let is_folder = |name: &str| endpoint.path().split('/').any(|segment| segment == name);
        return (own, !is_observed || known.cluster_type.as_deref().is_none_or(is_folder));
    }
    let is_other_type = place.cluster_type.is_some() && place.cluster_type != known.cluster_type;
    // What was the folder of a cluster is the folder of a cluster type now.
    let moves = !is_observed && place.tree.is_some() && is_other_type;
    (if moves { own } else { known.name.clone() }, moves)
}

/// A place with its group.
pub(super) struct Grouped<'a> {
    pub(super) group: &'a str,
    pub(super) place: &'a DesiredPlace,
    /// Whether the place determines the environment and the cluster type of the group.
    pub(super) determines_group: bool,
}

/// Adds new groups, and updates groups for which a publication has more data.
pub(super) async fn add(
    transaction: &mut Transaction,
    grouped: &[Grouped<'_>],
    targets: &BTreeMap<TargetKey, TargetIds>,
    replaced_in: Option<BranchId>,
) -> Result<(), DatabaseError> {
    let names = grouped.iter().filter_map(|grouped| grouped.place.environment.as_deref()).collect();
    let environments = vocabulary::environments(transaction, names).await?;
    let mut rows = Rows::new(&[
        ("name", ColumnType::Text),
        ("environment_id", ColumnType::Int),
        ("cluster_type", ColumnType::Text),
        ("role", ColumnType::Text),
    ]);
    let determining = grouped.iter().filter(|grouped| grouped.determines_group);
    let groups: BTreeMap<&str, &DesiredPlace> = determining.map(|grouped| (grouped.group, grouped.place)).collect();
    for (name, place) in groups {
        let environment = place.environment.as_ref().and_then(|name| environments.get(name).copied());
        let cluster_type = place.cluster_type.as_deref();
        rows.push(vec![SqlValue::from(name), environment.into(), cluster_type.into(), place.role.as_str().into()]);
    }
    let statement = "insert into place_group (name, environment_id, cluster_type, role) \
        select name, environment_id, cluster_type, role from source where true on conflict (name) do update set \
        environment_id = coalesce(excluded.environment_id, place_group.environment_id), \
        cluster_type = coalesce(excluded.cluster_type, place_group.cluster_type)";
    transaction.execute_with(rows, statement).await?;
    set_targets(transaction, (grouped, targets), replaced_in).await
}

/// Stores the targets of groups. The manifests of a workload are only for the targets of the current publication. At platform folders of a branch, they replace the same
/// targets of other applications.
async fn set_targets(
    transaction: &mut Transaction,
    (grouped, targets): (&[Grouped<'_>], &BTreeMap<TargetKey, TargetIds>),
    replaced_in: Option<BranchId>,
) -> Result<(), DatabaseError> {
    let (mut members, mut applications, mut assigned) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for Grouped { group, place, .. } in grouped.iter().filter(|grouped| !grouped.place.targets.is_empty()) {
        let ids = place.targets.iter().filter_map(|target| targets.get(&TargetKey::new(target)));
        let ids: Vec<_> = ids.map(|ids| ids.target).collect();
        members.extend(ids.iter().map(|id| (*group, *id)));
        match place.role {
            Role::Application => drop(applications.insert(*group)),
            Role::Platform => assigned.extend(ids),
        }
    }
    let mut rows = Rows::new(&[("name", ColumnType::Text)]);
    applications.into_iter().for_each(|name| rows.push(vec![name.into()]));
    let statement = "delete from place_group_target where place_group_id in \
        (select g.id from source s join place_group g on g.name = s.name)";
    transaction.execute_with(rows, statement).await?;
    if let Some(branch) = replaced_in {
        replace_targets(transaction, branch, assigned).await?;
    }
    let mut rows = Rows::new(&[("name", ColumnType::Text), ("target_id", ColumnType::Int)]);
    members.into_iter().for_each(|(name, target)| rows.push(vec![SqlValue::from(name), target.into()]));
    // What is left of the same target is the one that a publisher said.
    let statement = "insert into place_group_target (place_group_id, deployment_target_id) \
        select g.id, t.id from source s join place_group g on g.name = s.name \
        join deployment_target t on t.id = s.target_id join workload l on l.id = t.workload_id \
        where g.role <> 'platform' or not exists (select 1 from place_group_target m \
          join deployment_target o on o.id = m.deployment_target_id join workload k on k.id = o.workload_id \
          where m.place_group_id = g.id and o.id <> t.id and o.name = t.name and o.environment_id = t.environment_id and k.name = l.name) \
        on conflict (place_group_id, deployment_target_id) do nothing";
    transaction.execute_with(rows, statement).await
}

/// Replaces the same targets of other applications at the platform folders of a branch. The application of a workload changes with its registration, also at folders whose
/// content stays the same.
async fn replace_targets(
    transaction: &mut Transaction,
    branch: BranchId,
    assigned: BTreeSet<TargetId>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("target_id", ColumnType::Int), ("branch_id", ColumnType::Int)]);
    assigned.into_iter().for_each(|target| rows.push(vec![target.into(), branch.into()]));
    let statement = "select g.id, o.id, t.id from source s join deployment_target t on t.id = s.target_id \
        join workload l on l.id = t.workload_id join workload k on k.name = l.name and k.id <> l.id \
        join deployment_target o on o.workload_id = k.id and o.environment_id = t.environment_id and o.name = t.name \
        join place_group_target m on m.deployment_target_id = o.id \
        join place_group g on g.id = m.place_group_id where g.role = 'platform' \
        and exists (select 1 from place p where p.place_group_id = g.id and p.branch_id = s.branch_id)";
    let found: Vec<(PlaceGroupId, TargetId, TargetId)> = transaction.with(rows, statement).await?;
    let mut rows =
        Rows::new(&[("group_id", ColumnType::Int), ("former_id", ColumnType::Int), ("target_id", ColumnType::Int)]);
    found.into_iter().for_each(|(group, former, target)| rows.push(vec![group.into(), former.into(), target.into()]));
    let statement = "insert into place_group_target (place_group_id, deployment_target_id) \
        select group_id, target_id from source where true on conflict (place_group_id, deployment_target_id) do nothing";
    transaction.execute_with(rows.clone(), statement).await?;
    let statement = "delete from place_group_target where exists (select 1 from source s \
        where s.group_id = place_group_target.place_group_id and s.former_id = place_group_target.deployment_target_id)";
    transaction.execute_with(rows.clone(), statement).await?;
    replace_releases(transaction, rows).await
}

/// Makes the desired releases at groups of replaced targets those of the new targets. `replaced`: the group, the former target and the new one.
async fn replace_releases(transaction: &mut Transaction, replaced: Rows) -> Result<(), DatabaseError> {
    let releases = "source s join place p on p.place_group_id = s.group_id \
        join place_revision w on w.id = p.desired_revision_id join workload_version v on v.id = w.workload_version_id \
        join deployment_target o on o.id = s.former_id and o.workload_id = v.workload_id \
        join deployment_target t on t.id = s.target_id";
    let statement = format!(
        "insert into workload_version (version, build_id, build_commit_id, workload_id) \
         select distinct v.version, v.build_id, v.build_commit_id, t.workload_id from {releases} where true \
         on conflict (workload_id, version) do nothing"
    );
    transaction.execute_with(replaced.clone(), &statement).await?;
    let statement = format!(
        "update place_revision set workload_version_id = x.version_id from \
           (select w.id as revision_id, n.id as version_id from {releases} \
            join workload_version n on n.workload_id = t.workload_id and n.version = v.version) as x \
         where place_revision.id = x.revision_id"
    );
    transaction.execute_with(replaced, &statement).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, cluster: Option<&str>) -> String {
        let place = DesiredPlace {
            path: path.into(),
            tree: None,
            role: Role::Platform,
            environment: Some("prod".into()),
            cluster_type: Some("edge".into()),
            cluster: cluster.map(str::to_owned),
            earlier_names: Vec::new(),
            config_version: None,
            targets: Vec::new(),
        };
        group_name(&place, &Endpoint::new("https://git.example/r", "b", path).unwrap())
    }

    #[test]
    fn clusters_of_a_type_are_counted_together_wherever_their_folders_are() {
        for path in ["line-7/checkout", "d3/5c/line-7/checkout", "fleet/line-7/checkout"] {
            assert_eq!(check(path, Some("line-7")), "clusters of edge in prod: checkout", "{path}");
        }
        assert_eq!(check("a/line-7", Some("line-7")), "clusters of edge in prod: ");
        assert_eq!(check("edge/checkout", None), "https://git.example/r/b/edge/checkout");
    }
}
