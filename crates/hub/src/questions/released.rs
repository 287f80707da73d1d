//! Releases in platform folders: at which places each release of a workload is desired, and which reconcilers hold it.
//!
//! The publication of a folder names the release that it was rendered with. The reconciler of the folder, or of the folder of its cluster around it, holds the release
//! of the content that it reported. One commit can have several releases of a workload: another one in each ring, and the pins of people. So they are counted place by
//! place, and not by commit.
//!
//! If the hub knows the folders with the manifests of a target, the versions of these count instead ([`Subject`](super::subject::Subject)).
//!
//! `place_revision` keeps the release of each folder. Above 50,000 places, such a question waits for a permit.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::timestamp::Timestamp;
use model::rollout::ReconcilerState;

use super::groups::StateCount;
use super::manifests::HAS_MANIFESTS;
use super::reconciler_state::{self, LIVENESS, StateNumber};
use super::scope::Scope;
use super::subject::{ScopePart, Stand};
use super::{QuestionError, conditions};
use crate::limits::COUNTED_BY_PLACE_MAX;
use crate::store::{
    ColumnError, Columns, DatabaseError, EnvironmentId, FromRow, Parameters, PlaceGroupId, ReconcilerId, TargetId,
    Transaction, WorkloadId, WorkloadVersionId,
};

/// Which content of a workload is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The desired content of each place, whatever release it has.
    Desired,
    /// A release.
    Release(WorkloadVersionId),
}

/// The platform folders of a workload, or of one of its targets. A place that a person pinned to another release is not expected to have a release.
#[derive(Clone, Debug)]
pub(super) struct Released {
    /// The groups of places, each with the number of characters of the folder's name.
    groups: Vec<(PlaceGroupId, i64)>,
    /// The targets that these folders are for.
    targets: BTreeSet<TargetId>,
    content: Content,
}

/// A release at the places of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DesiredRelease {
    pub(super) environment: Option<EnvironmentId>,
    /// None: publications did not name it.
    pub(super) release: Option<(WorkloadVersionId, String)>,
    /// When it became desired at the last of them.
    pub(super) since: Timestamp,
}

impl FromRow for DesiredRelease {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (environment, id, version, since) = columns.take::<(_, Option<_>, Option<_>, _)>()?;
        Ok(Self { environment, release: id.zip(version), since })
    }
}

/// A page of a list of reconcilers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReleasedPage<'a> {
    /// Only reconcilers in these states.
    pub(super) states: &'a [ReconcilerState],
    /// Only reconcilers with higher ids.
    pub(super) after: i64,
    /// The maximum number of reconcilers.
    pub(super) limit: usize,
}

/// A reconciler of a workload, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReleasedReconciler {
    pub(super) id: ReconcilerId,
    pub(super) host: String,
    pub(super) name: String,
    pub(super) state: ReconcilerState,
}

impl FromRow for ReleasedReconciler {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, host, name, StateNumber(state)) = columns.take()?;
        Ok(Self { id, host, name, state })
    }
}

/// Those of these targets whose manifests the hub knows: their releases do not count.
pub(super) async fn with_manifests(
    transaction: &mut Transaction,
    targets: BTreeSet<TargetId>,
) -> Result<BTreeSet<TargetId>, DatabaseError> {
    if targets.is_empty() {
        return Ok(BTreeSet::new());
    }
    let of_targets = transaction.dialect().any_int("t.id", "$1");
    let sql = format!("select t.id from deployment_target t where {of_targets} and {HAS_MANIFESTS}");
    Ok(transaction.query(&sql, vec![targets.into()]).await?.into_iter().collect())
}

impl Released {
    /// The platform folders of a workload. None: there are none, or the hub knows the manifests of its targets.
    pub(super) async fn of_workload(
        transaction: &mut Transaction,
        (workload, content): (WorkloadId, Content),
    ) -> Result<Option<Self>, DatabaseError> {
        Self::read(transaction, ("t.workload_id = $1", workload.number()), content).await
    }

    /// The platform folders of a target, under the same conditions.
    pub(super) async fn of_target(
        transaction: &mut Transaction,
        target: TargetId,
    ) -> Result<Option<Self>, DatabaseError> {
        Self::read(transaction, ("t.id = $1", target.number()), Content::Desired).await
    }

    async fn read(
        transaction: &mut Transaction,
        (condition, id): (&str, i64),
        content: Content,
    ) -> Result<Option<Self>, DatabaseError> {
        // The folders of a group have the same name, each in the folder of its cluster.
        let sql = format!(
            "select g.id, (select p.path from place p where p.place_group_id = g.id limit 1) from place_group g \
             where g.role = 'platform' and g.id in (select m.place_group_id from deployment_target t \
             join place_group_target m on m.deployment_target_id = t.id where {condition} and not {HAS_MANIFESTS}) order by g.id"
        );
        let found = transaction.query::<(PlaceGroupId, Option<String>)>(&sql, vec![id.into()]).await?;
        let named = found.into_iter().filter_map(|(group, path)| {
            let path = path?;
            let name = path.rsplit('/').next().unwrap_or_default();
            Some((group, name.chars().count() as i64))
        });
        let groups: Vec<_> = named.collect();
        if groups.is_empty() {
            return Ok(None);
        }
        let sql = format!("select t.id from deployment_target t where {condition} and not {HAS_MANIFESTS}");
        let targets = transaction.query::<TargetId>(&sql, vec![id.into()]).await?.into_iter().collect();
        Ok(Some(Self { groups, targets, content }))
    }

    /// The groups of its places that a scope selects.
    pub(super) fn groups(&self, scope: &Scope) -> Vec<PlaceGroupId> {
        let is_selected = |group: &PlaceGroupId| scope.groups.as_ref().is_none_or(|groups| groups.contains(group));
        self.groups.iter().map(|(group, _)| *group).filter(is_selected).collect()
    }

    /// The targets of these folders that a scope selects.
    pub(super) fn targets(&self, scope: &Scope) -> BTreeSet<TargetId> {
        let is_selected = |target: &TargetId| scope.targets.as_ref().is_none_or(|targets| targets.contains(target));
        self.targets.iter().copied().filter(is_selected).collect()
    }

    /// The number of places. Above [`COUNTED_BY_PLACE_MAX`], it is not exact.
    pub(super) async fn places(&self, transaction: &mut Transaction) -> Result<i64, DatabaseError> {
        let mut parameters = Parameters::new(transaction.dialect());
        let ids: Vec<_> = self.groups.iter().map(|(group, _)| *group).collect();
        let of_groups = parameters.any_int("p.place_group_id", ids);
        let sql = format!(
            "select count(*) from (select p.id from place p where {of_groups} limit {COUNTED_BY_PLACE_MAX} + 1) as q"
        );
        transaction.one(&sql, parameters.into_values()).await
    }

    /// The table `assigned`: the places with desired content, now or at a timestamp, and the folders of clusters around them.
    fn assigned(&self, part: ScopePart<'_>, at: Option<Timestamp>, parameters: &mut Parameters) -> String {
        let pairs = parameters.add(serde_json::json!(self.groups).to_string());
        let pairs = parameters.dialect().pairs(&pairs);
        let conditions = part.of_groups(parameters);
        let then = at.map(|at| parameters.instant(at));
        let revision = conditions::desired_revision("a", then.as_deref());
        format!(
            "assigned as (select a.id as place_id, g.environment_id, w.tree, w.workload_version_id as desired_id, w.is_pinned, \
               w.desired_on, c.id as above_id from {pairs} n join place_group g on g.id = n.first \
               join place a on a.place_group_id = g.id join place_revision w on w.id = {revision} \
               left join place c on c.endpoint = substr(a.endpoint, 1, length(a.endpoint) - cast(n.second as integer) - 1) \
               where w.tree is not null{})",
            conditions::and(conditions)
        )
    }

    /// The tables up to `counted`: a row for each reconciler in each environment, with what it wants and holds at all of its places together.
    fn counted(&self, part: ScopePart<'_>, parameters: &mut Parameters) -> String {
        let assigned = self.assigned(part, None, parameters);
        let hosts = conditions::and(part.scope.of_hosts("r.host_id", parameters));
        let (wants, holds) = match self.content {
            Content::Desired => ("1 = 1".to_owned(), "x.held_tree = x.tree".to_owned()),
            Content::Release(id) => {
                let id = parameters.add(id);
                (format!("x.desired_id = {id}"), format!("x.held_id = {id}"))
            }
        };
        // What a reconciler holds of a folder is the newest revision of it up to the commit of the content that it reported, of this folder or the one around it.
        let held = |column: &str| {
            format!(
                "(select e.{column} from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
                  where e.place_id = y.place_id and o.sequence <= k.sequence order by o.sequence desc, e.id desc limit 1)"
            )
        };
        format!(
            "with {assigned}, \
             applied as (select place_id, place_id as at_id, environment_id, tree, desired_id, is_pinned from assigned \
               union all select place_id, above_id, environment_id, tree, desired_id, is_pinned from assigned where above_id is not null), \
             held as (select y.environment_id, y.tree, y.desired_id, y.is_pinned, r.id as reconciler_id, s.tally_id, {} as held_tree, {} as held_id \
               from applied y join reconciler r on r.place_id = y.at_id join reconciler_state s on s.reconciler_id = r.id \
               left join place_revision v on v.id = s.held_revision_id left join gitops_commit k on k.id = v.gitops_commit_id \
               where s.tally_id is not null{hosts}), \
             marked as (select x.environment_id, x.reconciler_id, x.tally_id, x.is_pinned, x.held_id, \
               case when {wants} then 1 else 0 end as wants, case when {holds} then 1 else 0 end as has from held x), \
             joined as (select environment_id, reconciler_id, tally_id, max(wants) as wants, max(has) as has, \
               min(case when wants = 1 then has else 1 end) as has_all, min(is_pinned) as is_pinned, \
               min(held_id) as held_id, max(held_id) as last_held_id from marked group by environment_id, reconciler_id, tally_id), \
             counted as (select j.environment_id, j.reconciler_id, j.wants, j.is_pinned, j.held_id, j.last_held_id, \
               case when j.wants = 1 then j.has_all else j.has end as holds, \
               case when j.wants = 1 or j.has = 1 and j.is_pinned = 0 then 1 else 0 end as is_expected, \
               t.status, t.is_silent, t.has_heartbeat, t.held_commit_id \
               from joined j join tally t on t.id = j.tally_id)",
            held("tree"),
            held("workload_version_id"),
        )
    }

    /// The reconcilers by environment.
    pub(super) async fn stands(
        &self,
        transaction: &mut Transaction,
        scope: &Scope,
    ) -> Result<BTreeMap<Option<EnvironmentId>, Stand>, DatabaseError> {
        let mut parameters = Parameters::new(transaction.dialect());
        let counted = self.counted(ScopePart::all(scope), &mut parameters);
        let state = reconciler_state::expression("t.holds = 1");
        let sql = format!(
            "{counted} select t.environment_id, t.wants, t.is_pinned, t.is_expected, {state} as state, {LIVENESS}, count(*) from counted t \
             group by 1, 2, 3, 4, 5, 6"
        );
        let mut stands: BTreeMap<_, Stand> = BTreeMap::new();
        for (environment, wants, is_pinned, (is_expected, in_state)) in transaction
            .query::<(Option<EnvironmentId>, bool, bool, (bool, StateCount))>(&sql, parameters.into_values())
            .await?
        {
            let stand = stands.entry(environment).or_default();
            let reconcilers = in_state.reconcilers;
            if is_expected {
                in_state.add_to(&mut stand.counts);
            }
            stand.superseded += if is_expected && !wants { reconcilers } else { 0 };
            stand.elsewhere += if is_expected || is_pinned { 0 } else { reconcilers };
            // Of a version, a place that is pinned to it is one of those that have it.
            stand.pinned +=
                if is_pinned && (!is_expected || self.content == Content::Desired) { reconcilers } else { 0 };
        }
        Ok(stands)
    }

    /// A page of the expected reconcilers, in the order of their ids.
    pub(super) async fn page(
        &self,
        transaction: &mut Transaction,
        part: ScopePart<'_>,
        ReleasedPage { states, after, limit }: ReleasedPage<'_>,
    ) -> Result<Vec<ReleasedReconciler>, QuestionError> {
        let mut parameters = Parameters::new(transaction.dialect());
        let counted = self.counted(part, &mut parameters);
        let state = reconciler_state::expression("t.holds = 1");
        let numbers: Vec<i64> = states.iter().map(|state| reconciler_state::number(*state)).collect();
        let of_states = parameters.any_int("q.state", numbers);
        let (after, limit) = (parameters.add(after), parameters.add(limit as i64));
        let sql = format!(
            "{counted}, listed as (select t.reconciler_id, {state} as state from counted t where t.is_expected = 1) \
             select q.reconciler_id, h.name, r.name, q.state from listed q \
             join reconciler r on r.id = q.reconciler_id join host h on h.id = r.host_id \
             where {of_states} and q.reconciler_id > {after} order by q.reconciler_id limit {limit}"
        );
        Ok(transaction.query(&sql, parameters.into_values()).await?)
    }

    /// The number of reconcilers that hold each release. None: what they hold is not known.
    pub(super) async fn holding(
        &self,
        transaction: &mut Transaction,
    ) -> Result<Vec<(Option<String>, i64)>, DatabaseError> {
        let mut parameters = Parameters::new(transaction.dialect());
        let counted = self.counted(ScopePart::all(&Scope::default()), &mut parameters);
        let sql = format!(
            "{counted} select n.version, count(*) from counted t \
             left join workload_version n on n.id = t.held_id and t.held_id = t.last_held_id group by 1 order by 2 desc, 1"
        );
        transaction.query(&sql, parameters.into_values()).await
    }

    /// The releases that are desired now or at a timestamp, by environment.
    pub(super) async fn desired(
        &self,
        transaction: &mut Transaction,
        (scope, at): (&Scope, Option<Timestamp>),
    ) -> Result<Vec<DesiredRelease>, DatabaseError> {
        let mut parameters = Parameters::new(transaction.dialect());
        let assigned = self.assigned(ScopePart::all(scope), at, &mut parameters);
        let sql = format!(
            "with {assigned} select q.environment_id, q.desired_id, n.version, {} from \
             (select environment_id, desired_id, max(desired_on) as desired_on from assigned group by 1, 2) q \
             left join workload_version n on n.id = q.desired_id order by 1, 3",
            transaction.dialect().millis("q.desired_on")
        );
        transaction.query(&sql, parameters.into_values()).await
    }

    /// When a release became desired at the last place of each environment in which it was ever desired: until now, or a timestamp.
    pub(super) async fn since(
        transaction: &mut Transaction,
        (scope, at): (&Scope, Option<Timestamp>),
        version: WorkloadVersionId,
    ) -> Result<BTreeMap<Option<EnvironmentId>, Timestamp>, DatabaseError> {
        let mut parameters = Parameters::with(transaction.dialect(), vec![version.into()]);
        let until = at.map(|at| format!("v.desired_on <= {}", parameters.instant(at)));
        let groups = conditions::and(scope.of_groups("g.id", &mut parameters).into_iter().chain(until));
        let sql = format!(
            "select g.environment_id, {} from place_revision v join place p on p.id = v.place_id \
             join place_group g on g.id = p.place_group_id where v.workload_version_id = $1{groups} group by 1",
            transaction.dialect().millis("max(v.desired_on)")
        );
        Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().collect())
    }
}
