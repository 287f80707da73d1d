//! The subject of rollouts: which content at which places, and the number of reconcilers in each rollout state.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};

use super::conditions;
use super::groups::StateCount;
use super::manifests::IS_SHARED;
use super::reconciler_state::{self, LIVENESS};
use super::scope::Scope;
use super::walk::{Selected, selected_columns};
use crate::store::{
    CommitId, CountRecordId, DatabaseError, Dialect, EnvironmentId, Parameters, SqlValue, Transaction, WorkloadId,
    WorkloadVersionId,
};

/// The content and the places of one rollout or of several.
///
/// The table `subject` of its statements has the groups of places, and the commits at which the content became desired there, each with the number of its
/// rollout.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    table: String,
    values: Vec<SqlValue>,
}

/// The number of reconcilers of a rollout in each state, in one environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stand {
    pub(super) counts: Counts,
    /// Number of the expected reconcilers whose places now have other desired content.
    pub(super) superseded: i64,
    /// Number of the other reconcilers whose places have another desired version, without pinned ones.
    pub(super) elsewhere: i64,
    /// Number of the reconcilers at pinned places. Of a version: those at places that are pinned to another one.
    pub(super) pinned: i64,
}

/// The places of a scope whose reconcilers are selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopePart<'a> {
    pub(super) scope: &'a Scope,
    within: Within,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// All places.
    All,
    /// The places of an environment, or those without one.
    Environment(Option<EnvironmentId>),
}

impl<'a> ScopePart<'a> {
    /// All places of a scope.
    pub(super) fn all(scope: &'a Scope) -> Self {
        Self { scope, within: Within::All }
    }

    /// The places of a scope in an environment, or those without one.
    pub(super) fn in_environment(scope: &'a Scope, environment: Option<EnvironmentId>) -> Self {
        Self { scope, within: Within::Environment(environment) }
    }

    /// The conditions that a group of places `g` is selected.
    pub(super) fn of_groups(self, parameters: &mut Parameters) -> Vec<String> {
        let of_groups = self.scope.of_groups("g.id", parameters);
        let of_environment = match self.within {
            Within::All => None,
            Within::Environment(environment) => {
                let number = EnvironmentId::or_zero(environment);
                Some(parameters.equals("coalesce(g.environment_id, 0)", number))
            }
        };
        of_groups.into_iter().chain(of_environment).collect()
    }
}

impl Subject {
    /// The changes of a commit. It has several ids if several branches contain it.
    pub(super) fn of_commit(transaction: &Transaction, ids: Vec<CommitId>) -> Self {
        Self::of_changes(transaction, ("0", ids))
    }

    /// The changes of each of these commits: the ids are the numbers of the rollouts.
    pub(super) fn of_commits(transaction: &Transaction, ids: Vec<CommitId>) -> Self {
        Self::of_changes(transaction, ("v.gitops_commit_id", ids))
    }

    fn of_changes(transaction: &Transaction, (rollout, ids): (&str, Vec<CommitId>)) -> Self {
        let of_commits = transaction.dialect().any_int("v.gitops_commit_id", "$1");
        let table = format!(
            "select distinct {rollout} as rollout_id, p.place_group_id, v.gitops_commit_id as commit_id from place_revision v \
             join place p on p.id = v.place_id where {of_commits} and v.tree is not null"
        );
        Self { table, values: vec![ids.into()] }
    }

    /// The manifests of targets for which a version is or was desired.
    pub(super) fn of_version(version: WorkloadVersionId) -> Self {
        let table = format!(
            "select distinct 0 as rollout_id, g.id as place_group_id, c.id as commit_id from workload_version n \
             join deployment_target t on t.workload_id = n.workload_id \
             join deployment_assignment a on a.deployment_target_id = t.id and a.workload_version_id = n.id \
             join place_group_target m on m.deployment_target_id = t.id join place_group g on g.id = m.place_group_id \
             join gitops_commit c on c.commit_id = a.gitops_commit_id where n.id = $1 and g.role = 'application' \
             and exists (select 1 from place p where p.place_group_id = g.id and p.branch_id = c.branch_id) and not {IS_SHARED}"
        );
        Self { table, values: vec![version.into()] }
    }

    /// The manifests that are desired for the targets of a workload, now or at a timestamp.
    pub(super) fn of_workload(dialect: Dialect, workload: WorkloadId, at: Option<Timestamp>) -> Self {
        let mut parameters = Parameters::with(dialect, vec![workload.into()]);
        let then = at.map(|at| parameters.instant(at));
        let revision = conditions::desired_revision("p", then.as_deref());
        let table = format!(
            "select distinct 0 as rollout_id, g.id as place_group_id, v.gitops_commit_id as commit_id from deployment_target t \
             join place_group_target m on m.deployment_target_id = t.id join place_group g on g.id = m.place_group_id \
             join place p on p.place_group_id = g.id join place_revision v on v.id = {revision} \
             where t.workload_id = $1 and v.tree is not null and g.role = 'application' and not {IS_SHARED}"
        );
        Self { table, values: parameters.into_values() }
    }

    /// The parameters of the table `subject`.
    fn parameters(&self, transaction: &Transaction) -> Parameters {
        Parameters::with(transaction.dialect(), self.values.clone())
    }

    /// A statement over the tallies `t` of the subject. In it, `{state}` is the expression for the rollout state of their reconcilers.
    ///
    /// The reconcilers of places at which the content is or was desired are expected. In a group with several places, these are the reconcilers
    /// whose place must hold the content now, or that hold it.
    fn statement(&self, tallies: &str, (select, behind): (&str, &str)) -> String {
        let state = reconciler_state::expression("t.holds = 1");
        format!(
            "with subject as ({}), \
             concerned as (select s.rollout_id, s.place_group_id, \
               case when (select count(*) from place p where p.place_group_id = s.place_group_id) = 1 then 1 else 0 end as is_alone \
               from (select distinct rollout_id, place_group_id from subject) as s), \
             counted as (select c.rollout_id, t.id, t.place_group_id, t.held_commit_id, t.status, t.is_silent, t.has_heartbeat, t.reconcilers, c.is_alone, \
               case when w.commit_id is null then 0 else 1 end as is_desired, \
               case when h.commit_id is not null or t.is_current = 1 and w.commit_id is not null then 1 else 0 end as holds \
               from concerned c join {tallies} t on t.place_group_id = c.place_group_id \
               left join subject w on w.rollout_id = c.rollout_id and w.place_group_id = t.place_group_id and w.commit_id = t.desired_commit_id \
               left join subject h on h.rollout_id = c.rollout_id and h.place_group_id = t.place_group_id and h.commit_id = t.held_commit_id \
               where t.reconcilers > 0 and t.desired_commit_id <> 0) \
             {} from counted t join place_group g on g.id = t.place_group_id \
             where (t.is_alone = 1 or t.is_desired = 1 or t.holds = 1){behind}",
            self.table,
            select.replace("{state}", &state),
        )
    }

    /// The number of reconcilers in each state, by the number of the rollout and by environment.
    pub(super) async fn stands(
        &self,
        transaction: &mut Transaction,
        scope: &Scope,
    ) -> Result<BTreeMap<(i64, Option<EnvironmentId>), Stand>, DatabaseError> {
        let sum = transaction.dialect().int("sum(t.reconcilers)");
        let superseded = transaction.dialect().int("sum(case when t.is_desired = 1 then 0 else t.reconcilers end)");
        let select =
            format!("select t.rollout_id, g.environment_id, {{state}} as state, {LIVENESS}, {sum}, {superseded}");
        let mut parameters = self.parameters(transaction);
        let tallies = scope.tallies(&mut parameters);
        let groups = conditions::and(scope.of_groups("g.id", &mut parameters));
        let sql = self.statement(&tallies, (&select, &format!("{groups} group by 1, 2, 3, 4")));
        let mut stands: BTreeMap<_, Stand> = BTreeMap::new();
        for (rollout, environment, in_state, superseded) in
            transaction.query::<(_, _, StateCount, i64)>(&sql, parameters.into_values()).await?
        {
            let stand = stands.entry((rollout, environment)).or_default();
            in_state.add_to(&mut stand.counts);
            stand.superseded += superseded;
        }
        Ok(stands)
    }

    /// The number of reconcilers in each state, in all environments, by the record of the counts: the scope has the tallies of several.
    pub(super) async fn by_record(
        &self,
        transaction: &mut Transaction,
        scope: &Scope,
    ) -> Result<BTreeMap<CountRecordId, Counts>, DatabaseError> {
        let select =
            format!("select t.id, {{state}} as state, {LIVENESS}, {}", transaction.dialect().int("sum(t.reconcilers)"));
        let mut parameters = self.parameters(transaction);
        let tallies = scope.tallies(&mut parameters);
        let groups = conditions::and(scope.of_groups("g.id", &mut parameters));
        let sql = self.statement(&tallies, (&select, &format!("{groups} group by 1, 2, 3")));
        let mut counts: BTreeMap<_, Counts> = BTreeMap::new();
        for (record, in_state) in transaction.query::<(_, StateCount)>(&sql, parameters.into_values()).await? {
            in_state.add_to(counts.entry(record).or_default());
        }
        Ok(counts)
    }

    /// The tallies of the reconcilers in these states.
    pub(super) async fn selected(
        &self,
        transaction: &mut Transaction,
        part: ScopePart<'_>,
        states: &[ReconcilerState],
    ) -> Result<Vec<Selected>, DatabaseError> {
        let mut parameters = self.parameters(transaction);
        let conditions = conditions::and(part.of_groups(&mut parameters));
        let select = format!("select {}", selected_columns("{state}"));
        let sql = self.statement("tally", (&select, &format!("{conditions} order by t.id")));
        let mut selected = transaction.query::<Selected>(&sql, parameters.into_values()).await?;
        selected.retain(|selected| states.contains(&selected.state));
        Ok(selected)
    }

    /// Since when the content is desired, by environment.
    pub(super) async fn since(
        &self,
        transaction: &mut Transaction,
        scope: &Scope,
    ) -> Result<BTreeMap<Option<EnvironmentId>, Timestamp>, DatabaseError> {
        let mut parameters = self.parameters(transaction);
        let groups = conditions::and(scope.of_desired("g.id", &mut parameters));
        let sql = format!(
            "with subject as ({}) select g.environment_id, {} from subject s \
             join place_group g on g.id = s.place_group_id join gitops_commit c on c.id = s.commit_id where 1 = 1{groups} group by 1",
            self.table,
            transaction.dialect().millis("max(c.committed_on)")
        );
        Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().collect())
    }

    /// The environments with a place at which the content is desired, now or at a timestamp.
    pub(super) async fn desired_in(
        &self,
        transaction: &mut Transaction,
        (scope, at): (&Scope, Option<Timestamp>),
    ) -> Result<BTreeSet<Option<EnvironmentId>>, DatabaseError> {
        let mut parameters = self.parameters(transaction);
        let then = at.map(|at| parameters.instant(at));
        let revision = conditions::desired_revision("p", then.as_deref());
        let groups = conditions::and(scope.of_desired("g.id", &mut parameters));
        let sql = format!(
            "with subject as ({}) select distinct g.environment_id from subject s \
             join place_group g on g.id = s.place_group_id join place p on p.place_group_id = g.id \
             join place_revision w on w.id = {revision} and w.gitops_commit_id = s.commit_id \
             where w.tree is not null{groups}",
            self.table,
        );
        Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().collect())
    }

    /// The versions of the workload in the subject, by environment.
    pub(super) async fn versions(
        &self,
        transaction: &mut Transaction,
        (scope, workload): (&Scope, WorkloadId),
    ) -> Result<BTreeMap<Option<EnvironmentId>, BTreeSet<String>>, DatabaseError> {
        let mut parameters = self.parameters(transaction);
        let groups = conditions::and(scope.of_desired("g.id", &mut parameters));
        let of_workload = parameters.equals("v.workload_id", workload);
        let sql = format!(
            "with subject as ({}) select distinct g.environment_id, v.version from subject s \
             join place_group g on g.id = s.place_group_id join gitops_commit c on c.id = s.commit_id \
             join place_group_target m on m.place_group_id = g.id \
             join deployment_assignment a on a.deployment_target_id = m.deployment_target_id and a.gitops_commit_id = c.commit_id \
             join workload_version v on v.id = a.workload_version_id where {of_workload}{groups}",
            self.table,
        );
        let mut versions: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (environment, version) in transaction.query(&sql, parameters.into_values()).await? {
            versions.entry(environment).or_default().insert(version);
        }
        Ok(versions)
    }
}
