//! The facts about single reconcilers, now or at a timestamp: what they reported, which content they hold, and the versions of that content.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::deployments::TargetNames;
use hub_api::report::Status;
use hub_api::timestamp::Timestamp;
use model::rollout::ReconcilerState;

use super::reconciler_state::StateFacts;
use crate::ingest::report_places::PLACE_ID;
use crate::store::{
    BranchId, ColumnError, ColumnType, Columns, CommitId, DatabaseError, Dialect, FromRow, HostId, PlaceGroupId,
    PlaceId, ReconcilerId, Rows, TargetId, Transaction,
};

/// Maximum number of reports of one chain that are read to find the state at a timestamp. Retention keeps chains shorter.
const CHAIN_MAX: i64 = 20_000;

/// The facts about a reconciler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) id: ReconcilerId,
    pub(super) host_id: HostId,
    pub(super) host: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) endpoint: Option<String>,
    pub(super) place: Option<ReconcilerPlace>,
    /// The content that it held, if the hub knows that content.
    pub(super) held: Option<Held>,
    /// The commit at which the content that it holds became desired. If that is not known, the commit that it reported.
    pub(super) commit: Option<String>,
    pub(super) version: Option<String>,
    pub(super) status: Option<Status>,
    pub(super) message: Option<String>,
    pub(super) since: Option<Timestamp>,
    pub(super) seen: Option<Timestamp>,
    pub(super) is_silent: bool,
    /// The workload that its reports name, and possibly the environment.
    pub(super) workload: Option<(String, Option<String>)>,
}

/// The place of a reconciler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReconcilerPlace {
    pub(super) id: PlaceId,
    pub(super) branch_id: Option<BranchId>,
    pub(super) endpoint: String,
    pub(super) path: String,
    pub(super) group_id: PlaceGroupId,
    pub(super) role: String,
    pub(super) environment: Option<String>,
    pub(super) cluster_type: Option<String>,
    pub(super) cluster: Option<String>,
    /// The desired content.
    pub(super) desired: Option<Desired>,
}

/// The desired content of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Desired {
    pub(super) commit_id: CommitId,
    pub(super) commit: String,
    pub(super) tree: String,
    pub(super) since: Option<Timestamp>,
    /// The release that its folder was rendered with.
    pub(super) release: Option<String>,
    pub(super) is_pinned: bool,
}

/// The content that a reconciler holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The commit at which it became desired.
    pub(super) commit_id: CommitId,
    pub(super) sequence: i64,
    pub(super) tree: String,
    pub(super) config_version: Option<String>,
    /// The release that its folder was rendered with.
    pub(super) release: Option<String>,
}

impl Fact {
    /// The rollout state of the reconciler; none if nothing is desired at its place.
    pub(super) fn state(&self) -> Option<ReconcilerState> {
        let desired = self.place.as_ref()?.desired.as_ref()?;
        let holds = self.held.as_ref().is_some_and(|held| held.tree == desired.tree);
        Some(self.state_if(holds))
    }

    /// The rollout state of the reconciler, if it holds the desired content or not.
    pub(super) fn state_if(&self, holds: bool) -> ReconcilerState {
        let facts =
            StateFacts { status: self.status, holds, is_unknown: self.held.is_none(), is_silent: self.is_silent };
        facts.state()
    }
}

/// The facts about reconcilers, in the order of the ids. Retired reconcilers, and reconcilers of retired hosts, are omitted. With a timestamp: the
/// facts at that time.
pub(super) async fn facts(
    transaction: &mut Transaction,
    reconcilers: &[ReconcilerId],
    at: Option<Timestamp>,
) -> Result<Vec<Fact>, DatabaseError> {
    if reconcilers.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = Rows::new(&[("id", ColumnType::Int), ("at", ColumnType::Timestamp)]);
    for id in reconcilers {
        rows.push(vec![(*id).into(), at.unwrap_or(Timestamp::MAX).into()]);
    }
    let statement = if at.is_some() { statement_at(transaction.dialect()) } else { statement(transaction.dialect()) };
    let found = transaction.with::<Fact>(rows, &statement).await?;
    let mut facts: HashMap<ReconcilerId, Fact> = found.into_iter().map(|fact| (fact.id, fact)).collect();
    Ok(reconcilers.iter().filter_map(|id| facts.remove(id)).collect())
}

const OF_RECONCILER: &str = "s.id, r.host_id, h.name, r.name, r.reconciler_type, r.manifests_endpoint, \
    p.id, p.branch_id, p.endpoint, p.path, g.id, g.role, e.name, g.cluster_type, p.cluster";

fn places(place_id: &str) -> String {
    format!(
        "left join place p on p.id = {place_id} left join place_group g on g.id = p.place_group_id \
         left join environment e on e.id = g.environment_id"
    )
}

fn statement(dialect: Dialect) -> String {
    let (since, seen, desired) =
        (dialect.millis("t.reported_on"), dialect.millis("t.seen_on"), dialect.millis("w.desired_on"));
    let places = places("r.place_id");
    format!(
        "select {OF_RECONCILER}, wc.id, wc.commit_id, w.tree, {desired}, m.version, w.is_pinned, vc.id, vc.sequence, v.tree, v.config_version, n.version, \
         d.gitops_commit_id, d.version, d.status, d.status_message, {since}, {seen}, t.is_silent, r.workload_name, r.workload_environment \
         from source s join reconciler r on r.id = s.id join host h on h.id = r.host_id \
         left join reconciler_state t on t.reconciler_id = r.id left join deployment d on d.id = t.deployment_id {places} \
         left join place_revision w on w.id = p.desired_revision_id left join gitops_commit wc on wc.id = w.gitops_commit_id \
         left join place_revision v on v.id = t.held_revision_id left join gitops_commit vc on vc.id = v.gitops_commit_id \
         left join workload_version n on n.id = v.workload_version_id left join workload_version m on m.id = w.workload_version_id \
         where h.retired_on is null and r.retired_on is null"
    )
}

fn statement_at(dialect: Dialect) -> String {
    let (since, desired) = (dialect.millis("d.created_on"), dialect.millis("w.desired_on"));
    let latest_of = |of: &str| {
        format!(
            "(select v.id from place_revision v join gitops_commit o on o.id = v.gitops_commit_id \
              where v.place_id = p.id and {of} order by o.sequence desc, v.id desc limit 1)"
        )
    };
    let places = places(PLACE_ID);
    let desired_then = latest_of("v.desired_on <= s.at");
    let held_then = latest_of(
        "o.sequence <= (select max(c.sequence) from gitops_commit c where c.branch_id = p.branch_id and c.commit_id = d.gitops_commit_id)",
    );
    format!(
        ", chain(id, at, deployment_id, created_on, previous_id, depth) as (\
           select s.id, s.at, d.id, d.created_on, d.previous_id, 1 from source s \
           join reconciler_state t on t.reconciler_id = s.id join deployment d on d.id = t.deployment_id \
           union all \
           select c.id, c.at, d.id, d.created_on, d.previous_id, c.depth + 1 \
           from chain c join deployment d on d.id = c.previous_id where c.created_on > c.at and c.depth < {CHAIN_MAX}) \
         select {OF_RECONCILER}, wc.id, wc.commit_id, w.tree, {desired}, m.version, w.is_pinned, vc.id, vc.sequence, v.tree, v.config_version, n.version, \
         d.gitops_commit_id, d.version, d.status, d.status_message, {since}, {since}, 0, r.workload_name, r.workload_environment \
         from source s join reconciler r on r.id = s.id join host h on h.id = r.host_id \
         left join chain x on x.id = s.id and x.created_on <= s.at left join deployment d on d.id = x.deployment_id {places} \
         left join place_revision w on w.id = {desired_then} left join gitops_commit wc on wc.id = w.gitops_commit_id \
         left join place_revision v on v.id = {held_then} left join gitops_commit vc on vc.id = v.gitops_commit_id \
         left join workload_version n on n.id = v.workload_version_id left join workload_version m on m.id = w.workload_version_id \
         where (h.created_on <= s.at or x.id is not null) and (h.retired_on is null or h.retired_on > s.at) \
         and (r.retired_on is null or r.retired_on > s.at)"
    )
}

impl FromRow for Fact {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, host_id, host, name, kind, endpoint) = columns.take()?;
        let place = place(columns)?;
        let held = match columns.take()? {
            ((Some(commit_id), Some(sequence)), Some(tree), config_version, release) => {
                Some(Held { commit_id, sequence, tree, config_version, release })
            }
            _ => None,
        };
        let (commit, version) = columns.take::<(Option<String>, _)>()?;
        let status = columns.take::<Option<String>>()?.as_deref().and_then(Status::parse);
        let (message, since, seen) = columns.take()?;
        Ok(Self {
            id,
            host_id,
            host,
            name,
            kind,
            endpoint,
            place,
            held,
            commit: commit.filter(|commit| !commit.is_empty()),
            version,
            status,
            message,
            since,
            seen,
            // A reconciler without a state is not silent.
            is_silent: columns.take::<Option<bool>>()?.unwrap_or_default(),
            workload: match columns.take()? {
                (Some(name), environment) => Some((name, environment)),
                (None, _) => None,
            },
        })
    }
}

/// Reads a place and its desired content.
fn place(columns: &mut Columns) -> Result<Option<ReconcilerPlace>, ColumnError> {
    let Some(id) = columns.take()? else { return columns.skip(14).map(|()| None) };
    let (branch_id, endpoint, path, group_id) = columns.take()?;
    let (role, environment, cluster_type, cluster) = columns.take()?;
    let desired = match columns.take()? {
        ((Some(commit_id), Some(commit)), Some(tree), since, release, Some(is_pinned)) => {
            Some(Desired { commit_id, commit, tree, since, release, is_pinned })
        }
        _ => None,
    };
    Ok(Some(ReconcilerPlace {
        id,
        branch_id,
        endpoint,
        path,
        group_id,
        role,
        environment,
        cluster_type,
        cluster,
        desired,
    }))
}

/// The targets of groups of places, by their ids.
pub(super) async fn targets(
    transaction: &mut Transaction,
    groups: BTreeSet<PlaceGroupId>,
) -> Result<BTreeMap<PlaceGroupId, BTreeMap<TargetId, TargetNames>>, DatabaseError> {
    if groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let sql = format!(
        "select m.place_group_id, t.id, w.name, a.name, l.name, t.name from place_group_target m \
         join deployment_target t on t.id = m.deployment_target_id join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        transaction.dialect().any_int("m.place_group_id", "$1")
    );
    let mut targets: BTreeMap<PlaceGroupId, BTreeMap<TargetId, TargetNames>> = BTreeMap::new();
    for (group, target, names) in transaction.query(&sql, vec![groups.into()]).await? {
        targets.entry(group).or_default().insert(target, names);
    }
    Ok(targets)
}

/// The names of the environments of targets.
pub(super) async fn environments(
    transaction: &mut Transaction,
    targets: BTreeSet<TargetId>,
) -> Result<BTreeMap<TargetId, String>, DatabaseError> {
    if targets.is_empty() {
        return Ok(BTreeMap::new());
    }
    let of_targets = transaction.dialect().any_int("t.id", "$1");
    let sql = format!(
        "select t.id, e.name from deployment_target t join environment e on e.id = t.environment_id where {of_targets}"
    );
    Ok(transaction.query(&sql, vec![targets.into()]).await?.into_iter().collect())
}

/// The columns are the names, beginning with the workspace.
impl FromRow for TargetNames {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (workspace, application, workload, target) = columns.take()?;
        Ok(Self { workspace, application, workload, target })
    }
}

/// The desired versions of targets, by target and commit.
pub(super) type Versions = HashMap<(TargetId, String), String>;

/// The versions of targets at commits.
pub(super) async fn versions(
    transaction: &mut Transaction,
    keys: &BTreeSet<(TargetId, String)>,
) -> Result<Versions, DatabaseError> {
    let mut rows = Rows::new(&[("target_id", ColumnType::Int), ("commit_id", ColumnType::Text)]);
    for (target, commit) in keys {
        rows.push(vec![(*target).into(), commit.as_str().into()]);
    }
    let statement = "select s.target_id, s.commit_id, v.version from source s \
        join deployment_assignment a on a.id = (select max(o.id) from deployment_assignment o \
            where o.deployment_target_id = s.target_id and o.gitops_commit_id = s.commit_id) \
        join workload_version v on v.id = a.workload_version_id";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// A query for the folders below a folder: the folders of a target, at a commit of the branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Below {
    pub(super) branch_id: Option<BranchId>,
    pub(super) path: String,
    pub(super) target_id: TargetId,
    pub(super) sequence: i64,
}

/// The configuration versions in folders below folders: a reconciler of a cluster type's folder applies all of them.
pub(super) async fn config_versions(
    transaction: &mut Transaction,
    keys: BTreeSet<Below>,
) -> Result<BTreeMap<Below, String>, DatabaseError> {
    let keys: Vec<_> = keys.into_iter().collect();
    let mut rows = Rows::new(&[
        ("number", ColumnType::Int),
        ("branch_id", ColumnType::Int),
        ("prefix", ColumnType::Text),
        ("target_id", ColumnType::Int),
        ("sequence", ColumnType::Int),
    ]);
    for (number, below) in keys.iter().enumerate() {
        let prefix = if below.path.is_empty() { String::new() } else { format!("{}/", below.path) };
        rows.push(vec![
            (number as i64).into(),
            below.branch_id.into(),
            prefix.into(),
            below.target_id.into(),
            below.sequence.into(),
        ]);
    }
    // Cross joins prevent SQLite from beginning with all places of the branch.
    let statement = "select s.number, v.config_version from source s cross join place_group_target m cross join place c \
        join place_revision v on v.id = (select e.id from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
            where e.place_id = c.id and o.sequence <= s.sequence order by o.sequence desc, e.id desc limit 1) \
        where m.deployment_target_id = s.target_id and c.place_group_id = m.place_group_id and c.branch_id = s.branch_id \
        and substr(c.path, 1, length(s.prefix)) = s.prefix and v.config_version is not null order by s.number, c.path";
    let mut versions = BTreeMap::new();
    for (number, version) in transaction.with::<(usize, String)>(rows, statement).await? {
        if let Some(below) = keys.get(number) {
            versions.entry(below.clone()).or_insert(version);
        }
    }
    Ok(versions)
}

/// The reconcilers on the same hosts that apply platform folders: these reconcilers hold the configuration.
pub(super) async fn platform_reconcilers(
    transaction: &mut Transaction,
    hosts: BTreeSet<HostId>,
) -> Result<Vec<ReconcilerId>, DatabaseError> {
    if hosts.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "select r.id from reconciler r join place p on p.id = r.place_id join place_group g on g.id = p.place_group_id \
         where {} and g.role = 'platform' and r.retired_on is null order by r.id",
        transaction.dialect().any_int("r.host_id", "$1")
    );
    transaction.query(&sql, vec![hosts.into()]).await
}
