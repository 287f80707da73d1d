//! The groups of places that are counted together, and the targets that they are for.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::endpoint::Endpoint;
use hub_api::publication::{DesiredPlace, Role};

use super::vocabulary::{self, TargetIds, TargetKey};
use crate::store::{DatabaseError, Kind, Rows, Transaction, Value};

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
) -> Result<(), DatabaseError> {
    let names = grouped.iter().filter_map(|grouped| grouped.place.environment.as_deref()).collect();
    let environments = vocabulary::environments(transaction, names).await?;
    let mut rows = Rows::new(&[
        ("name", Kind::Text),
        ("environment_id", Kind::Int),
        ("cluster_type", Kind::Text),
        ("role", Kind::Text),
    ]);
    let determining = grouped.iter().filter(|grouped| grouped.determines_group);
    let groups: BTreeMap<&str, &DesiredPlace> = determining.map(|grouped| (grouped.group, grouped.place)).collect();
    for (name, place) in groups {
        let environment = place.environment.as_ref().and_then(|name| environments.get(name).copied());
        let cluster_type = place.cluster_type.as_deref();
        rows.push(vec![Value::from(name), environment.into(), cluster_type.into(), place.role.as_str().into()]);
    }
    let statement = "insert into place_group (name, environment_id, cluster_type, role) \
        select name, environment_id, cluster_type, role from source where true on conflict (name) do update set \
        environment_id = coalesce(excluded.environment_id, place_group.environment_id), \
        cluster_type = coalesce(excluded.cluster_type, place_group.cluster_type)";
    transaction.execute_with(rows, statement).await?;
    set_targets(transaction, grouped, targets).await
}

/// Stores the targets of groups. The manifests of a workload are only for the targets of the current publication.
async fn set_targets(
    transaction: &mut Transaction,
    grouped: &[Grouped<'_>],
    targets: &BTreeMap<TargetKey, TargetIds>,
) -> Result<(), DatabaseError> {
    let (mut members, mut applications) = (BTreeSet::new(), BTreeSet::new());
    for Grouped { group, place, .. } in grouped.iter().filter(|grouped| !grouped.place.targets.is_empty()) {
        let ids = place.targets.iter().filter_map(|target| targets.get(&TargetKey::of(target)));
        members.extend(ids.map(|ids| (*group, ids.target)));
        applications.extend((place.role == Role::Application).then_some(*group));
    }
    let mut rows = Rows::new(&[("name", Kind::Text)]);
    applications.into_iter().for_each(|name| rows.push(vec![name.into()]));
    let statement = "delete from place_group_target where place_group_id in \
        (select g.id from source s join place_group g on g.name = s.name)";
    transaction.execute_with(rows, statement).await?;
    let mut rows = Rows::new(&[("name", Kind::Text), ("target_id", Kind::Int)]);
    members.into_iter().for_each(|(name, target)| rows.push(vec![Value::from(name), target.into()]));
    let statement = "insert into place_group_target (place_group_id, deployment_target_id) \
        select g.id, s.target_id from source s join place_group g on g.name = s.name where true \
        on conflict (place_group_id, deployment_target_id) do nothing";
    transaction.execute_with(rows, statement).await
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
