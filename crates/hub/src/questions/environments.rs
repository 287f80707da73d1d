//! The state of environments: the desired state of each target, and how many reconcilers hold it.

use std::collections::BTreeMap;

use hub_api::deployments::TargetNames;
use hub_api::environments::{Environment, EnvironmentTarget, EnvironmentTargets, Environments};
use hub_api::page::Page;
use hub_api::publication::Role;
use hub_api::timestamp::Timestamp;

use super::cursor::Cursor;
use super::earlier::Totals;
use super::groups::StateCount;
use super::reconciler_state::{self, LIVENESS};
use super::scope::Scope;
use super::{Question, QuestionError, conditions, facts, groups, question};
use crate::desired::order;
use crate::store::{
    ColumnError, Columns, Database, DatabaseError, EnvironmentId, FromRow, Parameters, PlaceGroupId, TargetId,
    Transaction,
};

/// The state of all environments, or of those that the filter names: now, or at a timestamp.
///
/// # Errors
/// The filter is invalid; the counts at the timestamp are not known; the database can't answer.
pub async fn environments(
    database: &Database,
    question: impl Into<Question<'_>>,
    at: Option<Timestamp>,
) -> Result<Environments, QuestionError> {
    let question = question.into();
    let Totals { mut transaction, scope, recorded_on, .. } = Totals::read(database, question, at).await?;
    let mut environments = named(&mut transaction, (&scope, at)).await?;
    let (state, sum) = (
        reconciler_state::expression(reconciler_state::HOLDS_DESIRED),
        transaction.dialect().int("sum(t.reconcilers)"),
    );
    let mut parameters = Parameters::new(transaction.dialect());
    let tallies = scope.tallies(&mut parameters);
    let of_groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
    let sql = format!(
        "select g.environment_id, case when g.role = 'platform' then 1 else 0 end, {state} as state, {LIVENESS}, {sum} \
         from {tallies} t join place_group g on g.id = t.place_group_id \
         where t.desired_commit_id <> 0 and t.reconcilers > 0{of_groups} group by 1, 2, 3, 4"
    );
    let found = transaction.query::<(Option<EnvironmentId>, bool, StateCount)>(&sql, parameters.into_values()).await?;
    for (id, is_platform, in_state) in found {
        let Some(environment) = id.and_then(|id| environments.get_mut(&id)) else { continue };
        let of_role = if is_platform { &mut environment.platform } else { &mut environment.applications };
        in_state.add_to(of_role);
        in_state.add_to(&mut environment.counts);
    }
    let order = order::read(&mut transaction).await?;
    let mut items: Vec<_> = environments.into_values().collect();
    if scope.is_limited {
        items.retain(|one| one.targets > 0 || one.counts.expected > 0);
    }
    items.sort_by(|one, other| order.key(&one.name).cmp(&order.key(&other.name)));
    Ok(Environments { items, recorded_on })
}

async fn named(
    transaction: &mut Transaction,
    (scope, at): (&Scope, Option<Timestamp>),
) -> Result<BTreeMap<EnvironmentId, Environment>, DatabaseError> {
    let environment = EnvironmentId::or_zero(scope.environment_id).into();
    let mut parameters = Parameters::with(transaction.dialect(), vec![environment]);
    let environments = conditions::and(scope.of_environments("e.id", &mut parameters));
    // The numbers of targets and groups do not depend on the filter, only on the reach of the token.
    let (mut of_targets, mut of_groups) = (String::new(), String::new());
    if scope.is_limited {
        of_targets = conditions::and(scope.of_targets("t.id", &mut parameters));
        of_groups = conditions::and(scope.of_groups("g.id", &mut parameters));
    }
    // Groups and targets that were removed from all places do not count.
    let then = at.map(|at| parameters.instant(at));
    let revision = conditions::desired_revision("p", then.as_deref());
    let desired = format!(
        "exists (select 1 from place p join place_revision w on w.id = {revision} where p.place_group_id = g.id and w.tree is not null)"
    );
    let sql = format!(
        "select e.id, e.name, (select count(*) from deployment_target t where t.environment_id = e.id{of_targets} and exists \
           (select 1 from place_group_target m join place_group g on g.id = m.place_group_id \
            where m.deployment_target_id = t.id and {desired})), \
         (select count(distinct g.cluster_type) from place_group g where g.environment_id = e.id{of_groups} and {desired}) \
         from environment e where ($1 = 0 or e.id = $1){environments}"
    );
    Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().collect())
}

impl FromRow for Environment {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (name, targets, cluster_types) = columns.take()?;
        Ok(Self { name, targets, cluster_types, ..Self::default() })
    }
}

/// The desired and the reported state of the targets of environments; with a timestamp, the state at that time.
///
/// # Errors
/// The filter or the page is invalid; the counts at the timestamp are not known; the database can't answer.
pub async fn environment_targets(
    database: &Database,
    question: impl Into<Question<'_>>,
    page: &Page,
    at: Option<Timestamp>,
) -> Result<EnvironmentTargets, QuestionError> {
    let question = question.into();
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, LIST)).transpose()?;
    let limit = question::limit(page)?;
    let totals = Totals::read_if_known(database, question, at).await?;
    let are_known = totals.are_known();
    let Totals { mut transaction, scope, recorded_on, .. } = totals;
    let mut listed = list(&mut transaction, &scope, (after.unwrap_or(Cursor([0, 0])), limit + 1)).await?;
    let next = (listed.len() > limit).then(|| listed.truncate(limit)).and_then(|()| listed.last());
    let next = next.map(|last| Cursor([last.group_id.number(), TargetId::or_zero(last.target_id)]).write(LIST));
    let groups: Vec<_> = listed.iter().map(|listed| listed.group_id).collect();
    let desired = groups::desired(&mut transaction, groups.clone(), at).await?;
    // The desired content is of use without the counts.
    let counts = if are_known { Some(groups::counts(&mut transaction, &scope, groups).await?) } else { None };
    let of = |listed: &Listed| Some((listed.target_id?, desired.get(&listed.group_id)?));
    let keys = listed.iter().filter_map(of).map(|(target, desired)| (target, desired.commit.clone())).collect();
    let versions = facts::versions(&mut transaction, &keys).await?;
    let unknown = listed.iter().filter(|listed| listed.role == Role::Platform).filter_map(of);
    let below = unknown.filter(|(_, desired)| desired.config_version.is_none());
    let below = below.map(|(target, desired)| desired.below(target)).collect();
    let configs = facts::config_versions(&mut transaction, below).await?;
    let row = |listed: Listed| {
        let desired = desired.get(&listed.group_id);
        let of_target = desired.zip(listed.target_id);
        let version = of_target.and_then(|(desired, target)| versions.get(&(target, desired.commit.clone())));
        let below = of_target.and_then(|(desired, target)| configs.get(&desired.below(target)));
        let config = desired.and_then(|desired| desired.config_version.as_ref()).or(below);
        EnvironmentTarget {
            environment: listed.environment,
            cluster_type: listed.cluster_type,
            role: listed.role,
            target: listed.target,
            version: version.cloned(),
            config_version: config.cloned(),
            commit: desired.map(|desired| desired.commit.clone()),
            desired_since: desired.and_then(|desired| desired.since),
            counts: counts.as_ref().map(|counts| counts.get(&listed.group_id).copied().unwrap_or_default()),
        }
    };
    Ok(EnvironmentTargets { items: listed.into_iter().map(row).collect(), next, recorded_on })
}

/// The name of this list in cursors.
const LIST: &str = "targets";

struct Listed {
    group_id: PlaceGroupId,
    /// None if the group has no target.
    target_id: Option<TargetId>,
    environment: String,
    cluster_type: Option<String>,
    role: Role,
    target: Option<TargetNames>,
}

/// The targets of groups of places. Of platform folders, only those that reconcilers apply.
async fn list(
    transaction: &mut Transaction,
    scope: &Scope,
    (Cursor([group, target]), limit): (Cursor<2>, usize),
) -> Result<Vec<Listed>, DatabaseError> {
    let behind = vec![group.into(), target.into(), (limit as i64).into()];
    let mut parameters = Parameters::with(transaction.dialect(), behind);
    let of_groups = conditions::and(scope.of_desired("g.id", &mut parameters));
    let of_targets = conditions::and(scope.of_targets("t.id", &mut parameters));
    let sql = format!(
        "select g.id, t.id, e.name, g.cluster_type, g.role, w.name, a.name, l.name, t.name from place_group g \
         join environment e on e.id = g.environment_id left join place_group_target m on m.place_group_id = g.id \
         left join deployment_target t on t.id = m.deployment_target_id left join workload l on l.id = t.workload_id \
         left join application a on a.id = l.application_id left join workspace w on w.id = a.workspace_id \
         where (g.id > $1 or g.id = $1 and coalesce(t.id, 0) > $2){of_groups}{of_targets} \
         and (g.role = 'application' or exists (select 1 from tally n where n.place_group_id = g.id and n.reconcilers > 0)) \
         order by g.id, coalesce(t.id, 0) limit $3"
    );
    transaction.query(&sql, parameters.into_values()).await
}

impl FromRow for Listed {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (group_id, target_id, environment, cluster_type) = columns.take()?;
        let role = columns.take::<String>()?;
        let role = if role == Role::Platform.as_str() { Role::Platform } else { Role::Application };
        let target = match target_id {
            Some(_) => Some(columns.take()?),
            None => columns.skip(4).map(|()| None)?,
        };
        Ok(Self { group_id, target_id, environment, cluster_type, role, target })
    }
}
