//! Updates the tallies of reconcilers when the desired content, or the content that their reports identify, changes.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::hosts::RegisteredBy;
use hub_api::timestamp::Timestamp;

use super::history;
use super::naming::{self, Named};
use super::places::{self, Contents, Meaning};
use super::subjects::{self, ReconcilerChange, State};
use super::tally::{self, Transition};
use super::{assigned, silences, workloads};
use crate::store::{
    BranchId, ColumnError, ColumnType, Columns, DatabaseError, DeploymentId, FromRow, PlaceId, ReconcilerId, Rows,
    SqlValue, Transaction,
};

/// The most reconcilers that are counted again in one step.
const STEP: usize = 4_000;

/// The changes of a publication.
pub(crate) struct Changes<'a> {
    /// The branch.
    pub(crate) branch_id: BranchId,
    /// Places with new desired content.
    pub(crate) changed: BTreeSet<PlaceId>,
    /// Places that moved to another group.
    pub(crate) regrouped: BTreeSet<PlaceId>,
    /// New places, by endpoint.
    pub(crate) added: BTreeMap<String, PlaceId>,
    /// The targets whose manifests were listed, with the endpoints of the manifests.
    pub(crate) targets: BTreeMap<Named<'a>, String>,
    /// Whether the commit was not known before. If it was known, there may be reports of it that were resolved to the previous content.
    pub(crate) is_commit_new: bool,
}

/// Updates the tallies after a publication. The cost depends on the number of changed places, not on the number of places of the branch.
pub(crate) async fn after_publication(
    transaction: &mut Transaction,
    contents: &mut Contents,
    changes: Changes<'_>,
) -> Result<(), DatabaseError> {
    let mut again = adopt(transaction, changes.added).await?;
    again.extend(workloads::bring_home(transaction, changes.targets.keys().map(|named| named.path())).await?);
    again.extend(naming::bring_home(transaction, changes.targets).await?);
    again.extend(of_same_version(transaction, &changes.changed).await?);
    let dialect = transaction.dialect();
    let shared = format!(
        "select p.id, case when exists (select 1 from place o where o.place_group_id = p.place_group_id and o.id <> p.id) \
         then 1 else 0 end from place p where {}",
        dialect.any_int("p.id", "$1")
    );
    let ids: Vec<PlaceId> = changes.changed.difference(&changes.regrouped).copied().collect();
    let rows = if ids.is_empty() { Vec::new() } else { transaction.query(&shared, vec![ids.into()]).await? };
    let (together, alone): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, is_shared)| *is_shared);
    let ids_of = |places: Vec<(PlaceId, bool)>| places.into_iter().map(|(id, _)| id);
    let mut one_by_one: Vec<PlaceId> = ids_of(together).collect();
    if changes.is_commit_new {
        move_tallies(transaction, ids_of(alone).collect()).await?;
    } else {
        one_by_one.extend(ids_of(alone));
    }
    one_by_one.extend(changes.regrouped);
    let sql = format!("select id from reconciler where {}", dialect.any_int("place_id", "$1"));
    again.extend(at_places(transaction, &sql, one_by_one).await?);
    if !changes.changed.is_empty() || changes.is_commit_new {
        // Reconcilers that reported a commit which the hub did not know at that time.
        let unresolved = "select a.reconciler_id from tally t cross join attention a cross join reconciler r \
            cross join place p where t.held_commit_id = 0 and t.status <> 0 and t.reconcilers > 0 and a.tally_id = t.id \
            and r.id = a.reconciler_id and p.id = r.place_id and p.branch_id = $1";
        again.extend(transaction.query::<ReconcilerId>(unresolved, vec![changes.branch_id.into()]).await?);
    }
    recount(transaction, contents, again, |_| ()).await
}

/// The reconcilers that a statement returns for places. The places are the parameter of the statement.
async fn at_places(
    transaction: &mut Transaction,
    sql: &str,
    places: Vec<PlaceId>,
) -> Result<Vec<ReconcilerId>, DatabaseError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    transaction.query(sql, vec![places.into()]).await
}

/// Assigns new places to reconcilers that reported these places before content was desired there, if their hosts are registered for the places.
async fn adopt(
    transaction: &mut Transaction,
    added: BTreeMap<String, PlaceId>,
) -> Result<BTreeSet<ReconcilerId>, DatabaseError> {
    let mut rows = Rows::new(&[("endpoint", ColumnType::Text), ("place_id", ColumnType::Int)]);
    added.iter().for_each(|(endpoint, id)| rows.push(vec![SqlValue::from(endpoint.as_str()), (*id).into()]));
    let statement = "select r.id, r.registered_by, s.endpoint from source s join reconciler r on r.manifests_endpoint = s.endpoint \
        where r.place_id is null";
    let found = transaction.with::<(ReconcilerId, i64, String)>(rows, statement).await?;
    let is_of_operator = |number: i64| RegisteredBy::from_number(number) == RegisteredBy::Operator;
    let (sure, unsure): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, number, _)| is_of_operator(*number));
    let mut adopted =
        assigned::may_move(transaction, unsure.iter().map(|(id, _, endpoint)| (*id, &**endpoint))).await?;
    adopted.extend(sure.iter().map(|(id, ..)| *id));
    let mut rows = Rows::new(&[("id", ColumnType::Int), ("place_id", ColumnType::Int)]);
    for (id, _, endpoint) in sure.iter().chain(&unsure).filter(|(id, ..)| adopted.contains(id)) {
        rows.push(vec![(*id).into(), added.get(endpoint).copied().into()]);
    }
    let statement = "update reconciler set place_id = s.place_id from source s where reconciler.id = s.id";
    transaction.execute_with(rows, statement).await?;
    Ok(adopted)
}

/// Reconcilers that identify their content only by a version, at places where other content became desired with that version. They then hold the
/// latest content with this version.
async fn of_same_version(
    transaction: &mut Transaction,
    changed: &BTreeSet<PlaceId>,
) -> Result<Vec<ReconcilerId>, DatabaseError> {
    let sql = format!(
        "select r.id from reconciler r join reconciler_state x on x.reconciler_id = r.id join deployment d on d.id = x.deployment_id \
         join place p on p.id = r.place_id join place_revision n on n.id = p.desired_revision_id \
         join gitops_commit c on c.id = n.gitops_commit_id where {} and r.is_by_version = 1 \
         and exists (select 1 from place_group_target m \
           join deployment_assignment a on a.deployment_target_id = m.deployment_target_id and a.gitops_commit_id = c.commit_id \
           join workload_version v on v.id = a.workload_version_id where m.place_group_id = p.place_group_id and v.version = d.version)",
        transaction.dialect().any_int("r.place_id", "$1")
    );
    at_places(transaction, &sql, changed.iter().copied().collect()).await
}

/// Updates the tallies of places that are alone in their group: one update per tally, independent of the number of reconcilers.
async fn move_tallies(transaction: &mut Transaction, places: Vec<PlaceId>) -> Result<(), DatabaseError> {
    if places.is_empty() {
        return Ok(());
    }
    let of_places = transaction.dialect().any_int("p.id", "$1");
    let groups = format!("select p.place_group_id from place p where {of_places}");
    let empty = format!("delete from tally where reconcilers = 0 and place_group_id in ({groups})");
    transaction.execute(&empty, vec![places.clone().into()]).await?;
    let desired = "from place p join place_revision w on w.id = p.desired_revision_id where p.place_group_id = tally.place_group_id";
    let sql = format!(
        "update tally set \
           desired_commit_id = (select case when w.tree is null then 0 else w.gitops_commit_id end {desired}), \
           is_current = (select case when exists (select 1 from place_revision h where h.place_id = p.id \
             and h.gitops_commit_id = tally.held_commit_id and h.tree = w.tree) then 1 else 0 end {desired}) \
         where place_group_id in ({groups})"
    );
    transaction.execute(&sql, vec![places.into()]).await
}

/// Counts reconcilers again after their states changed.
pub(crate) async fn recount(
    transaction: &mut Transaction,
    contents: &mut Contents,
    reconcilers: BTreeSet<ReconcilerId>,
    change: impl Fn(&mut State),
) -> Result<(), DatabaseError> {
    let all: Vec<ReconcilerId> = reconcilers.into_iter().collect();
    for some in all.chunks(STEP) {
        recount_some(transaction, contents, some, &change).await?;
    }
    Ok(())
}

/// The latest report of a reconciler, with its place.
struct Latest {
    place_id: Option<PlaceId>,
    is_retired: bool,
    deployment_id: Option<DeploymentId>,
    commit: String,
    tree: Option<String>,
    version: Option<String>,
    /// The commit that is stored in the row of the report.
    noted_commit: String,
    /// Whether the report is about a place that the reconciler has left.
    is_elsewhere: bool,
}

async fn recount_some(
    transaction: &mut Transaction,
    contents: &mut Contents,
    ids: &[ReconcilerId],
    change: &impl Fn(&mut State),
) -> Result<(), DatabaseError> {
    let before = subjects::states(transaction, ids.iter().copied().collect()).await?;
    let latest = latest(transaction, ids).await?;
    let places = places::places(transaction, latest.values().filter_map(|latest| latest.place_id).collect()).await?;
    let content = |latest: &Latest| {
        let place = places.get(&latest.place_id?)?;
        latest.deployment_id?;
        Some(place.content(Meaning::new(&latest.commit, latest.tree.as_deref(), latest.version.as_deref())))
    };
    contents.look_up(transaction, latest.values().filter_map(content).collect()).await?;
    let held = |latest: &Latest| content(latest).and_then(|content| contents.get(&content));
    let mut after = BTreeMap::new();
    for (id, state) in &before {
        let Some(latest) = latest.get(id) else { continue };
        let mut state = state.clone();
        change(&mut state);
        if latest.is_retired || state.place_id != latest.place_id {
            state.forget_profile();
        }
        after.insert(*id, state);
    }
    let named = latest.values().filter_map(|latest| {
        let held = held(latest)?;
        let is_other = held.commit != latest.noted_commit && !latest.is_elsewhere;
        Some((latest.deployment_id?, held.commit.clone())).filter(|_| is_other)
    });
    history::name_commits(transaction, named.collect()).await?;
    let transition = |(id, state)| {
        let latest = latest.get(id)?;
        let place = latest.place_id.and_then(|id| places.get(&id)).filter(|_| !latest.is_retired);
        Some(Transition { state, place, held: held(latest) })
    };
    tally::apply(transaction, after.iter_mut().filter_map(transition).collect()).await?;
    let change = |(id, after): (ReconcilerId, State)| {
        Some(ReconcilerChange { reconciler_id: id, before: before.get(&id)?, after })
    };
    let changes = after.into_iter().filter_map(change).filter(|change| change.after != *change.before);
    let changes: Vec<_> = changes.collect();
    silences::record(transaction, &changes, Timestamp::now()).await?;
    subjects::write_states(transaction, changes).await
}

async fn latest(
    transaction: &mut Transaction,
    ids: &[ReconcilerId],
) -> Result<BTreeMap<ReconcilerId, Latest>, DatabaseError> {
    let sql = format!(
        "select r.id, r.place_id, case when r.retired_on is null and h.retired_on is null then 0 else 1 end, \
         d.id, d.revision, d.tree, d.version, d.gitops_commit_id, \
         case when d.manifests_endpoint is null then 0 else 1 end from reconciler r join host h on h.id = r.host_id \
         join reconciler_state s on s.reconciler_id = r.id left join deployment d on d.id = s.deployment_id where {}",
        transaction.dialect().any_int("r.id", "$1")
    );
    Ok(transaction.query(&sql, vec![ids.to_vec().into()]).await?.into_iter().collect())
}

impl FromRow for Latest {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (place_id, is_retired, deployment_id) = columns.take()?;
        // These columns are null if there is no report yet.
        let (revision, tree, version, noted_commit) = columns.take::<(Option<String>, _, _, Option<String>)>()?;
        Ok(Self {
            place_id,
            is_retired,
            deployment_id,
            commit: hub_api::revision::commit(&revision.unwrap_or_default()).to_owned(),
            tree,
            version,
            noted_commit: noted_commit.unwrap_or_default(),
            is_elsewhere: columns.take()?,
        })
    }
}
