//! The progress of a rollout: of a workload, of a version of a workload, or of a commit.

use std::collections::BTreeMap;

use hub_api::deployments::{Deployment, Deployments};
use hub_api::page::Page;
use hub_api::rollouts::{EnvironmentRollout, Rollout, RolloutOf};
use model::rollout::RolloutState;

use super::cursor::Cursor;
use super::resolved::ResolvedRollout;
use super::scope::Scope;
use super::subject::{Subject, Within};
use super::walk::Walk;
use super::{Question, QuestionError, deployments, question};
use crate::desired::order;
use crate::store::{Database, DatabaseError, EnvironmentId, ReconcilerId, TallyId, Transaction};

/// Maximum number of reconcilers that need attention in the answer, for each environment.
const ATTENTION: usize = 20;

/// The progress of the rollout of a workload (its content that is desired now), of a version (`workload@version`, or the version alone), or of a commit in
/// any form that reconcilers write. If several workloads have the same name, `workspace/application/workload` identifies one of them.
///
/// # Errors
/// The text names no rollout, or several; the filter is invalid; the database can't answer.
pub async fn rollout(
    database: &Database,
    of: &str,
    question: impl Into<Question<'_>>,
) -> Result<Rollout, QuestionError> {
    let question = question.into();
    let (mut transaction, scope) = Scope::of_totals(database, question).await?;
    let resolved = ResolvedRollout::of(&mut transaction, of, question).await?;
    let subject = &resolved.subject;
    let mut environments = environments(&mut transaction, &resolved, &scope).await?;
    let mut rollout = Rollout { of: of.to_owned(), what: resolved.of.clone(), ..Rollout::default() };
    for ((_, environment), stand) in subject.stands(&mut transaction, &scope).await? {
        rollout.counts.merge(&stand.counts);
        rollout.superseded += stand.superseded;
        let attention = match stand.counts.failed + stand.counts.silent {
            0 => Vec::new(),
            _ => attention(&mut transaction, subject, (&scope, environment)).await?,
        };
        let row = environments.entry(environment).or_default();
        *row = EnvironmentRollout { counts: stand.counts, superseded: stand.superseded, attention, ..row.clone() };
    }
    if scope.is_limited && environments.is_empty() {
        // The rollout exists, but it is outside of the reach of the token.
        let (what, name, similar) = ("workload, version or commit", of.to_owned(), Vec::new());
        return Err(QuestionError::Unknown { what, name, similar });
    }
    let names = environment_names(&mut transaction).await?;
    for (id, mut environment) in environments {
        environment.environment = id.and_then(|id| names.get(&id)).cloned().unwrap_or_default();
        rollout.environments.push(environment);
    }
    let order = order::read(&mut transaction).await?;
    rollout.environments.sort_by(|one, other| order.key(&one.environment).cmp(&order.key(&other.environment)));
    rollout.done = rollout.counts.succeeded == rollout.counts.expected;
    Ok(rollout)
}

/// The desired content in the environments of a rollout, and in the environments that have another version of the workload.
async fn environments(
    transaction: &mut Transaction,
    resolved: &ResolvedRollout,
    scope: &Scope,
) -> Result<BTreeMap<Option<EnvironmentId>, EnvironmentRollout>, DatabaseError> {
    let mut environments: BTreeMap<_, EnvironmentRollout> = BTreeMap::new();
    for (id, since) in resolved.subject.since(transaction, scope).await? {
        environments.entry(id).or_default().desired_since = Some(since);
    }
    for id in resolved.subject.desired_now(transaction, scope).await? {
        environments.entry(id).or_default().desired = true;
    }
    let Some(workload) = resolved.workload_id else { return Ok(environments) };
    let now = Subject::of_workload(workload).versions(transaction, (scope, workload)).await?;
    for (id, versions) in now {
        let row = environments.entry(id).or_default();
        (row.versions, row.instead) = match &resolved.of {
            RolloutOf::Version { version, .. } => versions.into_iter().partition(|one| one == version),
            _ => (versions.into_iter().collect(), Vec::new()),
        };
    }
    if let RolloutOf::Version { version, .. } = &resolved.of {
        let desired = environments.values_mut().filter(|row| row.desired_since.is_some());
        desired.for_each(|row| row.versions = vec![version.clone()]);
    }
    Ok(environments)
}

/// The reconcilers of a rollout that are in the states of the filter; all of them if the filter has no `status`.
///
/// # Errors
/// As [`rollout`]; and the page is invalid.
pub async fn rollout_hosts(
    database: &Database,
    of: &str,
    question: impl Into<Question<'_>>,
    page: &Page,
) -> Result<Deployments, QuestionError> {
    let question = question.into();
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, LIST)).transpose()?;
    let limit = question::limit(page)?;
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::of(&mut transaction, question).await?;
    let subject = ResolvedRollout::of(&mut transaction, of, question).await?.subject;
    let states = scope.states.clone().unwrap_or_else(|| RolloutState::ALL.to_vec());
    let selected = subject.selected(&mut transaction, (&scope, Within::All), &states).await?;
    let targets = scope.targets.clone();
    let state: BTreeMap<_, _> = selected.iter().map(|selected| (selected.id, selected.state)).collect();
    let walk = Walk::of_tallies(scope, selected);
    let found = walk.page(&mut transaction, after, limit).await?;
    let mut items = deployments::rows(&mut transaction, &found.reconcilers, (targets.as_ref(), None)).await?;
    stand(&mut transaction, &found.reconcilers, (&state, &mut items)).await?;
    Ok(Deployments { items, next: found.next.map(|next| next.write(LIST)) })
}

/// The name of this list in cursors.
const LIST: &str = "rollout";

/// Sets the states of rows in this rollout, whose content may differ from the content that is desired now.
async fn stand(
    transaction: &mut Transaction,
    reconcilers: &[ReconcilerId],
    (state, items): (&BTreeMap<TallyId, RolloutState>, &mut [Deployment]),
) -> Result<(), DatabaseError> {
    let sql = format!(
        "select h.name, r.name, s.tally_id from reconciler r join host h on h.id = r.host_id \
         join reconciler_state s on s.reconciler_id = r.id where {}",
        transaction.dialect().any_int("r.id", "$1")
    );
    let found =
        transaction.query::<((String, String), Option<TallyId>)>(&sql, vec![reconcilers.to_vec().into()]).await?;
    let tallies: BTreeMap<_, _> = found.into_iter().collect();
    for item in items {
        let tally = tallies.get(&(item.host.clone(), item.reconciler.clone())).copied().flatten();
        item.state = tally.and_then(|tally| state.get(&tally)).copied();
    }
    Ok(())
}

async fn environment_names(transaction: &mut Transaction) -> Result<BTreeMap<EnvironmentId, String>, DatabaseError> {
    Ok(transaction.query("select id, name from environment", Vec::new()).await?.into_iter().collect())
}

/// The first reconcilers in an environment that failed or became silent.
async fn attention(
    transaction: &mut Transaction,
    subject: &Subject,
    (scope, environment): (&Scope, Option<EnvironmentId>),
) -> Result<Vec<Deployment>, QuestionError> {
    let wanting = [RolloutState::Failed, RolloutState::Silent];
    let selected = subject.selected(transaction, (scope, Within::Environment(environment)), &wanting).await?;
    let state = selected.iter().map(|selected| (selected.id, selected.state)).collect();
    let found = Walk::of_tallies(scope.clone(), selected).page(transaction, None, ATTENTION).await?;
    let mut items = deployments::rows(transaction, &found.reconcilers, (scope.targets.as_ref(), None)).await?;
    stand(transaction, &found.reconcilers, (&state, &mut items)).await?;
    items.truncate(ATTENTION);
    Ok(items)
}
