//! From what a branch holds to what its places should hold.

use std::collections::{BTreeMap, BTreeSet};

use super::vocabulary::{self, TargetIds, TargetKey};
use super::{Publication, Published, Role, WantedPlace, WantedVersion, retally};
use crate::endpoint::{Endpoint, EndpointError};
use crate::ingest::places::Contents;
use crate::store::{DatabaseError, Kind, Row, Rows, Transaction, Value};

/// A place that the publication names, as far as the store knows it.
struct Known {
    id: i64,
    tree: Option<String>,
}

/// Makes the content of a branch what is wanted. A publication of a commit that is not newer than what is known changes nothing.
pub(crate) async fn publish(
    transaction: &mut Transaction,
    contents: &mut Contents,
    publication: &Publication,
) -> Result<Published, DatabaseError> {
    let branch = Branch::find(transaction, publication).await?;
    let endpoints = publication.endpoints().map_err(|error| DatabaseError::Refused(error.to_string()))?;
    let targets = add_targets(transaction, publication, &endpoints).await?;
    let named: Vec<_> = publication.places.iter().zip(&endpoints).collect();
    add_places(transaction, &branch, &named, &targets).await?;
    let known = known(transaction, &branch).await?;
    let Some(commit_id) = branch.commit(transaction, publication).await? else {
        return Ok(Published { unchanged: endpoints.len(), ..Published::default() });
    };
    let mut published = Published::default();
    let mut revisions = Vec::new();
    let mut versions: Vec<(TargetIds, WantedVersion)> = Vec::new();
    for (place, endpoint) in publication.places.iter().zip(&endpoints) {
        let Some(known) = known.get(&endpoint.to_string()) else { continue };
        if known.tree == place.tree {
            published.unchanged += 1;
            continue;
        }
        *if place.tree.is_some() { &mut published.changed } else { &mut published.removed } += 1;
        revisions.push((known.id, place.tree.clone(), place.config_version.clone()));
        let wanted =
            |target: &super::WantedTarget| Some((*targets.get(&TargetKey::of(target))?, target.version.clone()?));
        versions.extend(place.targets.iter().filter_map(wanted));
    }
    if publication.is_complete {
        let listed: BTreeSet<String> = endpoints.iter().map(ToString::to_string).collect();
        let gone = known.iter().filter(|(endpoint, known)| known.tree.is_some() && !listed.contains(*endpoint));
        let gone: Vec<_> = gone.map(|(_, known)| (known.id, None, None)).collect();
        published.removed += gone.len();
        revisions.extend(gone);
    }
    let changed: BTreeSet<i64> = revisions.iter().map(|(id, _, _)| *id).collect();
    want(transaction, publication, commit_id, revisions).await?;
    vocabulary::assign(transaction, &publication.commit, versions).await?;
    retally::after_publication(transaction, contents, branch.id, changed).await?;
    Ok(published)
}

impl Publication {
    /// The endpoints of its places, in their order.
    fn endpoints(&self) -> Result<Vec<Endpoint>, EndpointError> {
        let endpoint = |place: &WantedPlace| Endpoint::new(&self.repository, &self.branch, &place.path);
        self.places.iter().map(endpoint).collect()
    }
}

struct Branch {
    id: i64,
}

impl Branch {
    /// The branch; added if it is new. Nobody else publishes to it until the transaction ends.
    async fn find(transaction: &mut Transaction, publication: &Publication) -> Result<Self, DatabaseError> {
        let repository = crate::endpoint::repository(&publication.repository);
        let names: Vec<Value> = vec![repository.into(), publication.branch.as_str().into()];
        let sql = "insert into gitops_branch (repository, branch) values ($1, $2) \
            on conflict (repository, branch) do update set branch = excluded.branch returning id";
        let rows = transaction.query(sql, names).await?;
        Ok(Self { id: rows.first().map_or(0, |row| row.int(0)) })
    }

    /// The commit of a publication, which is the branch's last one now; none if the branch was there before, and has gone on.
    async fn commit(
        &self,
        transaction: &mut Transaction,
        publication: &Publication,
    ) -> Result<Option<i64>, DatabaseError> {
        let dialect = transaction.dialect();
        let sql = format!(
            "select id, commit_id, sequence, {} from gitops_commit where branch_id = $1 order by sequence desc limit 1",
            dialect.millis("committed_on")
        );
        let last = transaction.query(&sql, vec![self.id.into()]).await?;
        let last = last.first();
        if let Some(row) = last.filter(|row| row.text(1) == publication.commit) {
            return Ok(Some(row.int(0)));
        }
        if last.and_then(|row| row.moment(3)).is_some_and(|last| last > publication.committed_on) {
            return Ok(None);
        }
        let sequence = last.map_or(0, |row| row.int(2)) + 1;
        let sql = format!(
            "insert into gitops_commit (branch_id, commit_id, sequence, committed_on) values ($1, $2, $3, {}) \
             on conflict (branch_id, commit_id) do update set sequence = excluded.sequence returning id",
            dialect.instant("$4")
        );
        let values =
            vec![self.id.into(), publication.commit.as_str().into(), sequence.into(), publication.committed_on.into()];
        Ok(transaction.query(&sql, values).await?.first().map(|row| row.int(0)))
    }
}

async fn add_targets(
    transaction: &mut Transaction,
    publication: &Publication,
    endpoints: &[Endpoint],
) -> Result<BTreeMap<TargetKey, TargetIds>, DatabaseError> {
    let mut targets = BTreeMap::new();
    for (place, endpoint) in publication.places.iter().zip(endpoints) {
        let own = (place.role == Role::Application).then(|| endpoint.to_string());
        for target in &place.targets {
            let entry = targets.entry(TargetKey::of(target)).or_insert((target, None));
            entry.1 = entry.1.take().or_else(|| own.clone());
        }
    }
    vocabulary::targets(transaction, &targets).await
}

/// Adds the places that are new, with the groups in which they are counted; what is known of a place that is there already stays.
async fn add_places(
    transaction: &mut Transaction,
    branch: &Branch,
    named: &[(&WantedPlace, &Endpoint)],
    targets: &BTreeMap<TargetKey, TargetIds>,
) -> Result<(), DatabaseError> {
    let names = named.iter().filter_map(|(place, _)| place.environment.as_deref()).collect();
    let environments = vocabulary::environments(transaction, names).await?;
    let mut groups = BTreeMap::new();
    let mut members = BTreeSet::new();
    let mut places = Rows::new(&[
        ("endpoint", Kind::Text),
        ("branch_id", Kind::Int),
        ("path", Kind::Text),
        ("group_name", Kind::Text),
        ("cluster", Kind::Text),
    ]);
    for (place, endpoint) in named {
        let group = group_name(place, endpoint);
        let environment = place.environment.as_ref().and_then(|name| environments.get(name).copied());
        let ids = place.targets.iter().filter_map(|target| targets.get(&TargetKey::of(target)));
        members.extend(ids.map(|ids| (group.clone(), ids.target)));
        places.push(vec![
            Value::from(endpoint.to_string()),
            branch.id.into(),
            endpoint.path().into(),
            group.as_str().into(),
            place.cluster.as_deref().into(),
        ]);
        groups.insert(group, (environment, place.cluster_type.clone(), place.role));
    }
    add_groups(transaction, groups, members).await?;
    let statement = "insert into place (endpoint, branch_id, path, place_group_id, cluster) \
        select s.endpoint, s.branch_id, s.path, g.id, s.cluster from source s join place_group g on g.name = s.group_name \
        where true on conflict (endpoint) do nothing";
    transaction.with(places, statement).await.map(drop)
}

async fn add_groups(
    transaction: &mut Transaction,
    groups: BTreeMap<String, (Option<i64>, Option<String>, Role)>,
    members: BTreeSet<(String, i64)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("name", Kind::Text),
        ("environment_id", Kind::Int),
        ("cluster_type", Kind::Text),
        ("role", Kind::Text),
    ]);
    for (name, (environment, cluster_type, role)) in groups {
        rows.push(vec![Value::from(name), environment.into(), cluster_type.into(), role.as_str().into()]);
    }
    let statement = "insert into place_group (name, environment_id, cluster_type, role) \
        select name, environment_id, cluster_type, role from source where true on conflict (name) do update set \
        environment_id = coalesce(excluded.environment_id, place_group.environment_id), \
        cluster_type = coalesce(excluded.cluster_type, place_group.cluster_type)";
    transaction.with(rows, statement).await?;
    let mut rows = Rows::new(&[("name", Kind::Text), ("target_id", Kind::Int)]);
    members.into_iter().for_each(|(name, target)| rows.push(vec![Value::from(name), target.into()]));
    let statement = "insert into place_group_target (place_group_id, deployment_target_id) \
        select g.id, s.target_id from source s join place_group g on g.name = s.name where true \
        on conflict (place_group_id, deployment_target_id) do nothing";
    transaction.with(rows, statement).await.map(drop)
}

/// Folders of single clusters are counted with those of the other clusters of their type; every other folder for itself.
fn group_name(place: &WantedPlace, endpoint: &Endpoint) -> String {
    let Some(cluster) = &place.cluster else { return endpoint.to_string() };
    let below = place.path.split_once('/').map_or("", |(_, below)| below);
    let below = if place.path == *cluster { "" } else { below };
    let (environment, cluster_type) = (place.environment.as_deref(), place.cluster_type.as_deref());
    format!("clusters of {} in {}: {below}", cluster_type.unwrap_or("no type"), environment.unwrap_or("no environment"))
}

/// All places of a branch.
async fn known(transaction: &mut Transaction, branch: &Branch) -> Result<BTreeMap<String, Known>, DatabaseError> {
    let sql = format!(
        "select p.endpoint, p.id, w.tree from place p left join place_revision w on w.id = p.wanted_revision_id \
         where p.branch_id = $1 order by p.id{}",
        transaction.dialect().for_update("p")
    );
    let rows = transaction.query(&sql, vec![branch.id.into()]).await?;
    let known = |row: &Row| Known { id: row.int(1), tree: row.optional_text(2).map(str::to_owned) };
    Ok(rows.iter().map(|row| (row.text(0), known(row))).collect())
}

/// Writes what places should hold from a commit on.
async fn want(
    transaction: &mut Transaction,
    publication: &Publication,
    commit_id: i64,
    revisions: Vec<(i64, Option<String>, Option<String>)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("place_id", Kind::Int),
        ("commit_id", Kind::Int),
        ("tree", Kind::Text),
        ("config_version", Kind::Text),
        ("wanted_on", Kind::Moment),
    ]);
    for (place_id, tree, config_version) in revisions {
        rows.push(vec![
            Value::from(place_id),
            commit_id.into(),
            tree.into(),
            config_version.into(),
            publication.committed_on.into(),
        ]);
    }
    let statement = "insert into place_revision (place_id, gitops_commit_id, tree, config_version, wanted_on) \
        select place_id, commit_id, tree, config_version, wanted_on from source where true returning place_id, id";
    let added = transaction.with(rows, statement).await?;
    let mut rows = Rows::new(&[("place_id", Kind::Int), ("revision_id", Kind::Int)]);
    added.iter().for_each(|row| rows.push(vec![row.int(0).into(), row.int(1).into()]));
    let statement = "update place set wanted_revision_id = s.revision_id from source s where place.id = s.place_id";
    transaction.with(rows, statement).await.map(drop)
}
