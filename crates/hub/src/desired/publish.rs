//! Computes the desired state of places from the content of a branch. The cost depends on the number of listed places, not on the number of places of
//! the branch.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hub_api::endpoint::{Endpoint, EndpointError};
use hub_api::publication::{
    BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, PathRange, PublicationReceipt, ReadProgress, Role,
};

use super::branch::{Branch, LatestCommit};
use super::groups::{Grouped, StoredGroup};
use super::vocabulary::{self, TargetIds, TargetKey};
use super::{DesiredUpdate, PlannedContent, groups, order, plans, range};
use crate::ingest::naming;
use crate::ingest::places::Contents;
use crate::ingest::retally::{self, Changes};
use crate::store::{
    ColumnError, ColumnType, Columns, DatabaseError, FromRow, PlaceId, RevisionId, Rows, SqlValue, Transaction,
    WorkloadId,
};

/// A place that a publication lists.
pub(super) struct Named<'a> {
    /// The listed place, completed with earlier plans for its content.
    pub(super) place: Cow<'a, DesiredPlace>,
    /// The place as it is listed.
    listed: &'a DesiredPlace,
    pub(super) endpoint: &'a Endpoint,
    /// The group in which the place is counted.
    pub(super) group: String,
    /// Whether the place determines the environment and the cluster type of the group.
    determines_group: bool,
    /// Whether the place was read from the branch, and not published.
    is_observed: bool,
    known: Option<StoredPlace>,
}

/// The stored data of a place.
struct StoredPlace {
    id: PlaceId,
    tree: Option<String>,
    revision_id: Option<RevisionId>,
    config_version: Option<String>,
    /// The release of its workload, and whether the place is pinned to it.
    release: Option<(WorkloadId, String)>,
    is_pinned: bool,
    group: StoredGroup,
    earlier_names: Option<String>,
}

impl FromRow for StoredPlace {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, tree, revision_id, config_version) = columns.take()?;
        let (workload, version, is_pinned) = columns.take::<(Option<_>, Option<_>, Option<bool>)>()?;
        let (name, cluster_type, earlier_names) = columns.take()?;
        let (release, is_pinned) = (workload.zip(version), is_pinned.unwrap_or_default());
        let group = StoredGroup { name, cluster_type };
        Ok(Self { id, tree, revision_id, config_version, release, is_pinned, group, earlier_names })
    }
}

/// The source of a publication.
#[derive(Clone, Copy)]
enum By<'a> {
    /// The client that made the commit. Its publication may arrive late.
    Publisher,
    /// The same client, with all platform folders in a range of the branch.
    PublisherOfAll(&'a PathRange),
    /// The poller of the branch, with its progress of reading.
    Watcher(&'a ReadProgress),
}

/// Updates the desired state.
pub(crate) async fn update(
    transaction: &mut Transaction,
    contents: &mut Contents,
    update: &DesiredUpdate,
) -> Result<PublicationReceipt, DatabaseError> {
    match update {
        DesiredUpdate::Published(publication) => publish(transaction, contents, publication, By::Publisher).await,
        DesiredUpdate::Complete(publication, range) => {
            publish(transaction, contents, publication, By::PublisherOfAll(range)).await
        }
        DesiredUpdate::Ordered(environments) => {
            order::set(transaction, environments).await?;
            Ok(PublicationReceipt::default())
        }
        DesiredUpdate::Completed(completed) => {
            let branch = Branch::find(transaction, &completed.repository, &completed.branch).await?;
            branch.set_published(transaction, completed).await?;
            Ok(PublicationReceipt::default())
        }
        DesiredUpdate::Planned(plan) => note(transaction, contents, plan).await,
        DesiredUpdate::Observed(publication, seen) => {
            publish(transaction, contents, publication, By::Watcher(seen)).await
        }
    }
}

/// Stores a plan, and applies it to content that is already desired.
async fn note(
    transaction: &mut Transaction,
    contents: &mut Contents,
    plan: &PlannedContent,
) -> Result<PublicationReceipt, DatabaseError> {
    let branch = Branch::find(transaction, &plan.repository, &plan.branch).await?;
    let endpoints = endpoints((&plan.repository, &plan.branch), &plan.places)?;
    let desired_places = with_endpoints(&plan.places, &endpoints);
    plans::note(transaction, &desired_places).await?;
    let mut named = named(transaction, &desired_places, false).await?;
    let is_desired = |named: &Named<'_>| named.known.as_ref().is_some_and(|known| known.tree == named.place.tree);
    named.retain(|named| named.place.tree.is_some() && is_desired(named));
    let targets = add_targets(transaction, &named).await?;
    groups::add(transaction, &grouped(&named), &targets, Some(branch.id)).await?;
    let regrouped = regroup(transaction, &named).await?;
    set_earlier_names(transaction, &named, By::Publisher).await?;
    add_releases(transaction, &named, &targets).await?;
    complete(transaction, &named, &targets).await?;
    let (changed, added) = (BTreeSet::new(), BTreeMap::new());
    let targets = manifests(&named);
    let changes = Changes { branch_id: branch.id, changed, regrouped, added, targets, is_commit_new: false };
    retally::after_publication(transaction, contents, changes).await?;
    Ok(PublicationReceipt { unchanged: named.len(), ..PublicationReceipt::default() })
}

fn grouped<'n>(named: &'n [Named<'_>]) -> Vec<Grouped<'n>> {
    let grouped = |named: &'n Named<'_>| {
        let Named { place, group, determines_group, .. } = named;
        Grouped { group, place, determines_group: *determines_group }
    };
    named.iter().map(grouped).collect()
}

/// Makes the content of a branch the desired content. A publication from a client may be late: then the desired content does not change. Nor does it if another poller has
/// read further.
async fn publish(
    transaction: &mut Transaction,
    contents: &mut Contents,
    publication: &BranchContent,
    by: By<'_>,
) -> Result<PublicationReceipt, DatabaseError> {
    let branch = Branch::find(transaction, &publication.repository, &publication.branch).await?;
    if matches!(by, By::Watcher(seen) if branch.is_beyond(seen)) {
        return Ok(PublicationReceipt::default());
    }
    let endpoints = endpoints((&publication.repository, &publication.branch), &publication.places)?;
    let desired_places = with_endpoints(&publication.places, &endpoints);
    let is_observed = matches!(by, By::Watcher(_));
    let Some(commit) = branch.commit(transaction, publication, is_observed).await? else {
        plans::note(transaction, &desired_places).await?;
        return Ok(PublicationReceipt { unchanged: endpoints.len(), ..PublicationReceipt::default() });
    };
    let named = named(transaction, &desired_places, is_observed).await?;
    let targets = add_targets(transaction, &named).await?;
    groups::add(transaction, &grouped(&named), &targets, (!is_observed).then_some(branch.id)).await?;
    let added = add_places(transaction, &branch, &named).await?;
    let regrouped = regroup(transaction, &named).await?;
    set_earlier_names(transaction, &named, by).await?;
    add_releases(transaction, &named, &targets).await?;
    complete(transaction, &named, &targets).await?;
    let mut news = News::new(transaction, &named, (&added, &targets)).await?;
    if publication.is_complete {
        news.remove_unlisted(places(transaction, &branch).await?, &endpoints);
    }
    if let By::PublisherOfAll(range) = by {
        news.remove_unlisted(range::places(transaction, &branch, publication, range).await?, &endpoints);
    }
    let News { published, revisions, versions } = news;
    let changed = revisions.iter().map(|revision| revision.place_id).collect();
    add_revisions(transaction, &commit, revisions).await?;
    vocabulary::assign(transaction, &publication.commit, versions).await?;
    let targets = manifests(&named);
    let changes = Changes { branch_id: branch.id, changed, regrouped, added, targets, is_commit_new: commit.is_new };
    retally::after_publication(transaction, contents, changes).await?;
    if let By::Watcher(seen) = by
        && seen.is_last
    {
        branch.set_read(transaction, (&publication.commit, &seen.folder)).await?;
    }
    Ok(published)
}

/// The endpoints of places, in their order.
fn endpoints((repository, branch): (&str, &str), places: &[DesiredPlace]) -> Result<Vec<Endpoint>, DatabaseError> {
    let endpoint = |place: &DesiredPlace| Endpoint::new(repository, branch, &place.path);
    let endpoints: Result<_, EndpointError> = places.iter().map(endpoint).collect();
    endpoints.map_err(|error| DatabaseError::Refused(error.to_string()))
}

/// The places with their endpoints. If two places have the same endpoint, the last one counts.
fn with_endpoints<'a>(places: &'a [DesiredPlace], endpoints: &'a [Endpoint]) -> Vec<(&'a DesiredPlace, &'a Endpoint)> {
    let by_endpoint: BTreeMap<_, _> = endpoints.iter().zip(places).collect();
    by_endpoint.into_iter().map(|(endpoint, place)| (place, endpoint)).collect()
}

/// The listed places with their plans, their stored data and their groups.
async fn named<'a>(
    transaction: &mut Transaction,
    desired_places: &[(&'a DesiredPlace, &'a Endpoint)],
    is_observed: bool,
) -> Result<Vec<Named<'a>>, DatabaseError> {
    let places = plans::known(transaction, desired_places).await?;
    let mut known = stored_places(transaction, desired_places).await?;
    let named = |(place, (listed, endpoint)): (Cow<'a, DesiredPlace>, &(&'a DesiredPlace, &'a Endpoint))| {
        let known = known.remove(&endpoint.to_string());
        let stored = known.as_ref().map(|known| &known.group);
        let (group, determines_group) = groups::choose((&place, endpoint), stored, is_observed);
        Named { place, listed, endpoint, group, determines_group, is_observed, known }
    };
    Ok(places.into_iter().zip(desired_places).map(named).collect())
}

async fn stored_places(
    transaction: &mut Transaction,
    desired_places: &[(&DesiredPlace, &Endpoint)],
) -> Result<BTreeMap<String, StoredPlace>, DatabaseError> {
    let mut rows = Rows::new(&[("endpoint", ColumnType::Text)]);
    desired_places.iter().for_each(|(_, endpoint)| rows.push(vec![endpoint.to_string().into()]));
    let statement = "select p.endpoint, p.id, w.tree, w.id, w.config_version, n.workload_id, n.version, w.is_pinned, g.name, g.cluster_type, \
        p.earlier_names from source s \
        join place p on p.endpoint = s.endpoint join place_group g on g.id = p.place_group_id \
        left join place_revision w on w.id = p.desired_revision_id \
        left join workload_version n on n.id = w.workload_version_id";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// The targets whose manifests are listed, with the endpoints of the manifests.
fn manifests<'a>(named: &'a [Named<'_>]) -> BTreeMap<naming::Named<'a>, String> {
    let applications = named.iter().filter(|named| named.place.role == Role::Application && named.place.tree.is_some());
    let targets = applications.flat_map(|named| named.place.targets.iter().map(|target| (target, named.endpoint)));
    let named = |target: &'a DesiredTarget| naming::Named {
        environment: &target.environment,
        workspace: &target.workspace,
        application: &target.application,
        workload: &target.workload,
        target: &target.name,
    };
    targets.map(|(target, endpoint)| (named(target), endpoint.to_string())).collect()
}

async fn add_targets(
    transaction: &mut Transaction,
    named: &[Named<'_>],
) -> Result<BTreeMap<TargetKey, TargetIds>, DatabaseError> {
    let mut targets = BTreeMap::new();
    for Named { place, endpoint, .. } in named {
        let own = (place.role == Role::Application).then(|| endpoint.to_string());
        for target in &place.targets {
            let entry = targets.entry(TargetKey::new(target)).or_insert((target, None));
            entry.1 = entry.1.take().or_else(|| own.clone());
        }
    }
    vocabulary::targets(transaction, &targets).await
}

/// Adds new places. The result is by endpoint.
async fn add_places(
    transaction: &mut Transaction,
    branch: &Branch,
    named: &[Named<'_>],
) -> Result<BTreeMap<String, PlaceId>, DatabaseError> {
    let mut rows = Rows::new(&[
        ("endpoint", ColumnType::Text),
        ("branch_id", ColumnType::Int),
        ("path", ColumnType::Text),
        ("group_name", ColumnType::Text),
        ("cluster", ColumnType::Text),
    ]);
    for Named { place, endpoint, group, .. } in
        named.iter().filter(|named| named.known.is_none() && named.place.tree.is_some())
    {
        rows.push(vec![
            SqlValue::from(endpoint.to_string()),
            branch.id.into(),
            endpoint.path().into(),
            group.as_str().into(),
            place.cluster.as_deref().into(),
        ]);
    }
    let statement = "insert into place (endpoint, branch_id, path, place_group_id, cluster) \
        select s.endpoint, s.branch_id, s.path, g.id, s.cluster from source s join place_group g on g.name = s.group_name \
        where true on conflict (endpoint) do update set path = excluded.path returning endpoint, id";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// Moves places to another group if the publication shows that they belong to it.
async fn regroup(transaction: &mut Transaction, named: &[Named<'_>]) -> Result<BTreeSet<PlaceId>, DatabaseError> {
    let mut rows =
        Rows::new(&[("place_id", ColumnType::Int), ("group_name", ColumnType::Text), ("cluster", ColumnType::Text)]);
    for Named { place, group, known, .. } in named {
        if let Some(known) = known.as_ref().filter(|known| known.group.name != *group) {
            rows.push(vec![known.id.into(), group.as_str().into(), place.cluster.as_deref().into()]);
        }
    }
    let statement = "update place set place_group_id = g.id, cluster = s.cluster from source s \
        join place_group g on g.name = s.group_name where place.id = s.place_id returning place.id";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// Stores the earlier names of places. A publisher that sends no names replaces stored ones. A branch contains no names, so its poller only adds those of plans.
async fn set_earlier_names(
    transaction: &mut Transaction,
    named: &[Named<'_>],
    by: By<'_>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("endpoint", ColumnType::Text), ("earlier_names", ColumnType::Text)]);
    for Named { place, listed, endpoint, known, .. } in named {
        let names = match by {
            By::Watcher(_) if place.earlier_names.is_empty() => continue,
            By::Watcher(_) => &place.earlier_names,
            By::Publisher | By::PublisherOfAll(_) => &listed.earlier_names,
        };
        let names = (!names.is_empty()).then(|| names.join(","));
        if known.as_ref().and_then(|known| known.earlier_names.as_ref()) != names.as_ref() {
            rows.push(vec![endpoint.to_string().into(), names.into()]);
        }
    }
    let statement = "update place set earlier_names = s.earlier_names from source s where place.endpoint = s.endpoint";
    transaction.execute_with(rows, statement).await
}

/// The release that a platform folder was rendered with. The versions of manifests are stored by target and commit instead ([`vocabulary::assign`]).
fn release<'n>(
    place: &'n DesiredPlace,
    targets: &BTreeMap<TargetKey, TargetIds>,
) -> Option<(WorkloadId, &'n DesiredVersion)> {
    let named =
        |target: &'n DesiredTarget| Some((targets.get(&TargetKey::new(target))?.workload, target.version.as_ref()?));
    (place.role == Role::Platform && place.tree.is_some()).then(|| place.targets.iter().find_map(named)).flatten()
}

async fn add_releases(
    transaction: &mut Transaction,
    named: &[Named<'_>],
    targets: &BTreeMap<TargetKey, TargetIds>,
) -> Result<(), DatabaseError> {
    vocabulary::add_versions(transaction, named.iter().filter_map(|named| release(&named.place, targets))).await
}

/// Stores what revisions that are already desired did not have: the version of their configuration, their release, and whether it is pinned.
async fn complete(
    transaction: &mut Transaction,
    named: &[Named<'_>],
    targets: &BTreeMap<TargetKey, TargetIds>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("revision_id", ColumnType::Int),
        ("config_version", ColumnType::Text),
        ("workload_id", ColumnType::Int),
        ("version", ColumnType::Text),
        ("is_pinned", ColumnType::Int),
    ]);
    for Named { place, known, is_observed, .. } in named {
        let Some(known) = known.as_ref().filter(|known| known.tree == place.tree) else { continue };
        let config = place.config_version.as_ref().filter(|_| known.config_version.is_none());
        let release = release(place, targets);
        let pinned = release.map_or(known.is_pinned, |(_, version)| version.pinned);
        let version = release.map(|(_, version)| version.version.as_str());
        let is_stored = |(workload, version): (WorkloadId, &DesiredVersion)| {
            let is_same =
                |(id, name): &(WorkloadId, String)| *name == version.version && (*is_observed || *id == workload);
            known.release.as_ref().is_some_and(is_same)
        };
        let is_same = release.is_none_or(is_stored);
        if let Some(revision_id) =
            known.revision_id.filter(|_| config.is_some() || !is_same || pinned != known.is_pinned)
        {
            let workload = release.map(|(workload, _)| workload);
            rows.push(vec![
                revision_id.into(),
                config.map(String::as_str).into(),
                workload.into(),
                version.into(),
                pinned.into(),
            ]);
        }
    }
    let statement = "update place_revision set config_version = coalesce(s.config_version, place_revision.config_version), \
        workload_version_id = coalesce(n.id, place_revision.workload_version_id), is_pinned = s.is_pinned \
        from source s left join workload_version n on n.workload_id = s.workload_id and n.version = s.version \
        where place_revision.id = s.revision_id";
    transaction.execute_with(rows, statement).await
}

/// The content of a place from a commit on.
struct NewRevision {
    place_id: PlaceId,
    /// None: the place is removed.
    tree: Option<String>,
    config_version: Option<String>,
    release: Option<(WorkloadId, DesiredVersion)>,
}

impl NewRevision {
    fn removed(place_id: PlaceId) -> Self {
        Self { place_id, tree: None, config_version: None, release: None }
    }
}

/// The changes that a publication makes.
#[derive(Default)]
struct News {
    published: PublicationReceipt,
    revisions: Vec<NewRevision>,
    versions: Vec<(TargetIds, DesiredVersion)>,
}

impl News {
    async fn new(
        transaction: &mut Transaction,
        named: &[Named<'_>],
        (added, targets): (&BTreeMap<String, PlaceId>, &BTreeMap<TargetKey, TargetIds>),
    ) -> Result<Self, DatabaseError> {
        let desired = |target: &DesiredTarget| Some((*targets.get(&TargetKey::new(target))?, target.version.clone()?));
        let desired = |place: &DesiredPlace| match place.role {
            Role::Application => place.targets.iter().filter_map(desired).collect::<Vec<_>>(),
            Role::Platform => Vec::new(),
        };
        let ids = named.iter().flat_map(|named| desired(&named.place)).map(|(ids, _)| ids.target).collect();
        let assigned = vocabulary::assigned(transaction, ids).await?;
        let mut news = Self::default();
        for Named { place, endpoint, known, .. } in named {
            let id = known.as_ref().map(|known| known.id).or_else(|| added.get(&endpoint.to_string()).copied());
            let Some(id) = id else { continue };
            let versions = desired(place);
            let is_new = |(ids, version): &(TargetIds, DesiredVersion)| {
                assigned.get(&ids.target).is_none_or(|assigned| *assigned != version.version)
            };
            let had = known.as_ref().and_then(|known| known.tree.as_ref());
            // The same manifests with another version also count as a rollout.
            let is_changed = had != place.tree.as_ref() || (place.tree.is_some() && versions.iter().any(is_new));
            if !is_changed {
                news.published.unchanged += 1;
                continue;
            }
            *if place.tree.is_some() { &mut news.published.changed } else { &mut news.published.removed } += 1;
            let release = release(place, targets).map(|(workload, version)| (workload, version.clone()));
            let (tree, config_version) = (place.tree.clone(), place.config_version.clone());
            news.revisions.push(NewRevision { place_id: id, tree, config_version, release });
            news.versions.extend(versions.into_iter().filter(|_| place.tree.is_some()));
        }
        Ok(news)
    }

    /// Removes the content of those of these places that are not listed.
    fn remove_unlisted(&mut self, places: Vec<(String, PlaceId)>, listed: &[Endpoint]) {
        let listed: BTreeSet<String> = listed.iter().map(ToString::to_string).collect();
        let unlisted = places.into_iter().filter(|(endpoint, _)| !listed.contains(endpoint));
        let removed: Vec<_> = unlisted.map(|(_, id)| NewRevision::removed(id)).collect();
        self.published.removed += removed.len();
        self.revisions.extend(removed);
    }
}

/// The places of a branch with desired content, with their endpoints.
async fn places(transaction: &mut Transaction, branch: &Branch) -> Result<Vec<(String, PlaceId)>, DatabaseError> {
    let sql = "select p.endpoint, p.id from place p join place_revision w on w.id = p.desired_revision_id \
        where p.branch_id = $1 and w.tree is not null";
    transaction.query(sql, vec![branch.id.into()]).await
}

/// Adds revisions: the content of places from a commit on. A place that returns to earlier content has its versions again, whether the publisher knows them or not.
async fn add_revisions(
    transaction: &mut Transaction,
    commit: &LatestCommit,
    revisions: Vec<NewRevision>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("place_id", ColumnType::Int),
        ("commit_id", ColumnType::Int),
        ("tree", ColumnType::Text),
        ("config_version", ColumnType::Text),
        ("workload_id", ColumnType::Int),
        ("version", ColumnType::Text),
        ("is_pinned", ColumnType::Int),
        ("desired_on", ColumnType::Timestamp),
    ]);
    for NewRevision { place_id, tree, config_version, release } in revisions {
        let (workload, version) = release.unzip();
        rows.push(vec![
            SqlValue::from(place_id),
            commit.id.into(),
            tree.into(),
            config_version.into(),
            workload.into(),
            version.as_ref().map(|version| version.version.as_str()).into(),
            version.as_ref().is_some_and(|version| version.pinned).into(),
            commit.since.into(),
        ]);
    }
    let statement = "insert into place_revision \
        (place_id, gitops_commit_id, tree, config_version, workload_version_id, is_pinned, desired_on) \
        select s.place_id, s.commit_id, s.tree, coalesce(s.config_version, b.config_version), \
            coalesce(n.id, b.workload_version_id), s.is_pinned, s.desired_on from source s \
        left join workload_version n on n.workload_id = s.workload_id and n.version = s.version \
        left join place_revision b on b.id = \
            (select max(e.id) from place_revision e where e.place_id = s.place_id and e.tree = s.tree) where true \
        returning place_id, id";
    let added = transaction.with::<(PlaceId, RevisionId)>(rows, statement).await?;
    let mut rows = Rows::new(&[("place_id", ColumnType::Int), ("revision_id", ColumnType::Int)]);
    added.into_iter().for_each(|(place_id, id)| rows.push(vec![place_id.into(), id.into()]));
    let statement = "update place set desired_revision_id = s.revision_id from source s where place.id = s.place_id";
    transaction.execute_with(rows, statement).await
}
