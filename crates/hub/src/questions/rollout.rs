//! The progress of a rollout: of a workload, of a version of a workload, or of a commit.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::deployments::{Deployment, Deployments};
use hub_api::page::Page;
use hub_api::rollouts::{EnvironmentRollout, Rollout, RolloutOf};
use hub_api::timestamp::Timestamp;
use model::rollout::ReconcilerState;

use super::counted::counted_alone;
use super::cursor::Cursor;
use super::deployments::RowSelection;
use super::earlier::Totals;
use super::released::{Content, Released, ReleasedPage, ReleasedReconciler};
use super::resolved::ResolvedRollout;
use super::scope::Scope;
use super::subject::{ScopePart, Stand, Subject};
use super::then::ReleaseThen;
use super::walk::Walk;
use super::{Question, QuestionError, deployments, question};
use crate::desired::order;
use crate::store::{Database, DatabaseError, EnvironmentId, ReconcilerId, TallyId, TargetId, Transaction};

/// Maximum number of reconcilers that need attention in the answer, for each environment.
const ATTENTION: usize = 20;

/// The states of reconcilers that need attention.
const WANTING: [ReconcilerState; 2] = [ReconcilerState::Failed, ReconcilerState::Silent];

/// The progress in each environment.
type Environments = BTreeMap<Option<EnvironmentId>, EnvironmentRollout>;

/// The progress of the rollout of a workload (its desired content), of a version (`workload@version`, or the version alone), or of a commit in
/// any form that reconcilers write. If several workloads have the same name, `workspace/application/workload` identifies one of them.
///
/// With a timestamp: what was desired then, and what reconcilers had reported by then. A pin that changed no content counts as if it had been there since that content
/// was desired. Reconcilers that need attention are named only for releases in platform folders.
///
/// # Errors
/// The text names no rollout, or several; the filter is invalid; the counts at the timestamp are not known; the database can't answer.
pub async fn rollout(
    database: &Database,
    of: &str,
    question: impl Into<Question<'_>>,
    at: Option<Timestamp>,
) -> Result<Rollout, QuestionError> {
    let question = question.into();
    let Totals { mut transaction, scope, recorded_on, .. } = Totals::read(database, question, at).await?;
    let resolved = ResolvedRollout::resolve(&mut transaction, (of, at), question).await?;
    let mut environments = environments(&mut transaction, &resolved, (&scope, at)).await?;
    for ((_, environment), stand) in resolved.subject.stands(&mut transaction, &scope).await? {
        let row = environments.entry(environment).or_default();
        add_stand(row, stand);
        if at.is_none() && needs_attention(&stand) {
            row.attention = attention(&mut transaction, &resolved.subject, (&scope, environment)).await?;
        }
    }
    if let Some(released) = resolved.released(&mut transaction).await? {
        let turn;
        let places = released.places(&mut transaction).await?;
        (transaction, turn) = counted_alone(database, transaction, places).await?;
        environments = match at {
            None => with_released(&mut transaction, environments, (&released, &scope)).await?,
            Some(at) => {
                let version = resolved.version();
                let then = ReleaseThen { released: &released, version, at };
                with_released_then(&mut transaction, environments, (then, &scope)).await?
            }
        };
        drop(turn);
    }
    check_reach((&scope, of), environments.is_empty())?;
    Ok(Rollout { recorded_on, ..answer(&mut transaction, of, resolved, environments).await? })
}

/// Refuses a rollout that exists, but is outside of the reach of the token, as if it were unknown.
pub(super) fn check_reach((scope, of): (&Scope, &str), is_empty: bool) -> Result<(), QuestionError> {
    if scope.is_limited && is_empty {
        let (what, name, similar) = ("workload, version or commit", of.to_owned(), Vec::new());
        return Err(QuestionError::Unknown { what, name, similar });
    }
    Ok(())
}

/// The answer, with the environments in their order.
async fn answer(
    transaction: &mut Transaction,
    of: &str,
    resolved: ResolvedRollout,
    environments: Environments,
) -> Result<Rollout, QuestionError> {
    let mut rollout = Rollout { of: of.to_owned(), what: resolved.of, ..Rollout::default() };
    let names = environment_names(transaction).await?;
    for (id, mut environment) in environments {
        environment.environment = id.and_then(|id| names.get(&id)).cloned().unwrap_or_default();
        rollout.counts.merge(&environment.counts);
        rollout.superseded += environment.superseded;
        rollout.environments.push(environment);
    }
    let order = order::read(transaction).await?;
    rollout.environments.sort_by(|one, other| order.key(&one.environment).cmp(&order.key(&other.environment)));
    rollout.done = rollout.counts.succeeded == rollout.counts.expected && !rollout.is_partial();
    Ok(rollout)
}

fn add_stand(row: &mut EnvironmentRollout, stand: Stand) {
    row.counts.merge(&stand.counts);
    row.superseded += stand.superseded;
    row.elsewhere += stand.elsewhere;
    row.pinned += stand.pinned;
}

fn needs_attention(stand: &Stand) -> bool {
    stand.counts.failed + stand.counts.silent > 0
}

/// Adds the reconcilers of platform folders.
async fn with_released(
    transaction: &mut Transaction,
    mut environments: Environments,
    (released, scope): (&Released, &Scope),
) -> Result<Environments, QuestionError> {
    for (environment, stand) in released.stands(transaction, scope).await? {
        let row = environments.entry(environment).or_default();
        add_stand(row, stand);
        if needs_attention(&stand) && row.attention.len() < ATTENTION {
            let part = ScopePart::in_environment(scope, environment);
            let page = ReleasedPage { states: &WANTING, after: 0, limit: ATTENTION };
            let found = released.page(transaction, part, page).await?;
            row.attention.extend(released_rows(transaction, (released, scope), &found).await?);
            row.attention.truncate(ATTENTION);
        }
    }
    Ok(environments)
}

/// Adds the reconcilers of platform folders at an earlier timestamp.
async fn with_released_then(
    transaction: &mut Transaction,
    mut environments: Environments,
    (then, scope): (ReleaseThen<'_>, &Scope),
) -> Result<Environments, QuestionError> {
    let stands = then.stands(transaction, scope, ATTENTION).await?;
    let ids: BTreeMap<_, _> = environment_names(transaction).await?.into_iter().map(|(id, name)| (name, id)).collect();
    let only = then.released.targets(scope);
    let selection = of_targets(&only, Some(then.at), scope);
    for (name, found) in stands {
        let row = environments.entry(ids.get(&name).copied()).or_default();
        add_stand(row, found.stand);
        row.attention = deployments::rows(transaction, &found.failed, selection).await?;
        // As a row of the rollout: its version failed, whatever is desired there.
        row.attention.iter_mut().for_each(|row| row.state = Some(ReconcilerState::Failed));
        row.attention.truncate(ATTENTION);
    }
    Ok(environments)
}

/// The desired content in the environments of a rollout, and in the environments that have another version of the workload: now, or at a timestamp.
async fn environments(
    transaction: &mut Transaction,
    resolved: &ResolvedRollout,
    (scope, at): (&Scope, Option<Timestamp>),
) -> Result<Environments, DatabaseError> {
    let mut environments: BTreeMap<_, EnvironmentRollout> = BTreeMap::new();
    for (id, since) in resolved.subject.since(transaction, scope).await? {
        environments.entry(id).or_default().desired_since = Some(since);
    }
    for id in resolved.subject.desired_in(transaction, (scope, at)).await? {
        environments.entry(id).or_default().desired = true;
    }
    let Some((workload, content)) = resolved.workload else { return Ok(environments) };
    let dialect = transaction.dialect();
    let mut now = Subject::of_workload(dialect, workload, at).versions(transaction, (scope, workload)).await?;
    if let Some(released) = resolved.released(transaction).await? {
        if let Content::Release(version) = content {
            for (id, since) in Released::since(transaction, (scope, at), version).await? {
                let row = environments.entry(id).or_default();
                row.desired_since = row.desired_since.max(Some(since));
            }
        }
        for desired in released.desired(transaction, (scope, at)).await? {
            let row = environments.entry(desired.environment).or_default();
            let id = desired.release.as_ref().map(|(id, _)| *id);
            if content == Content::Desired || id.map(Content::Release) == Some(content) {
                row.desired = true;
                row.desired_since = row.desired_since.max(Some(desired.since));
            }
            now.entry(desired.environment).or_default().extend(desired.release.map(|(_, version)| version));
        }
    }
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
    let scope = Scope::read(&mut transaction, question).await?;
    let resolved = ResolvedRollout::resolve(&mut transaction, (of, None), question).await?;
    let states = scope.states.clone().unwrap_or_else(|| ReconcilerState::ALL.to_vec());
    let mut answer = Deployments::default();
    let of_released = after.filter(|Cursor([phase, _])| *phase == RELEASED).map(|Cursor([_, after])| after);
    if of_released.is_none() {
        let selected = resolved.subject.selected(&mut transaction, ScopePart::all(&scope), &states).await?;
        let state: BTreeMap<_, _> = selected.iter().map(|selected| (selected.id, selected.state)).collect();
        let walk = Walk::of_tallies(scope.clone(), selected);
        let found = walk.page(&mut transaction, after, limit).await?;
        let selection = RowSelection { only: scope.targets.as_ref(), ..RowSelection::default() };
        answer.items = deployments::rows(&mut transaction, &found.reconcilers, selection).await?;
        stand(&mut transaction, &found.reconcilers, (&state, &mut answer.items)).await?;
        answer.next = found.next.map(|next| next.write(LIST));
    }
    let Some(released) = resolved.released(&mut transaction).await?.filter(|_| answer.next.is_none()) else {
        return Ok(answer);
    };
    let left = limit.saturating_sub(answer.items.len()).max(1);
    let places = released.places(&mut transaction).await?;
    let (mut transaction, turn) = counted_alone(database, transaction, places).await?;
    let page = ReleasedPage { states: &states, after: of_released.unwrap_or_default(), limit: left };
    let found = released.page(&mut transaction, ScopePart::all(&scope), page).await?;
    drop(turn);
    answer.items.extend(released_rows(&mut transaction, (&released, &scope), &found).await?);
    let last = found.last().filter(|_| found.len() == left);
    answer.next = last.map(|last| Cursor([RELEASED, last.id.number()]).write(LIST));
    Ok(answer)
}

/// The rows of reconcilers of platform folders, one for each target of the workload that they apply, with the state of the workload.
async fn released_rows(
    transaction: &mut Transaction,
    (released, scope): (&Released, &Scope),
    found: &[ReleasedReconciler],
) -> Result<Vec<Deployment>, QuestionError> {
    let ids: Vec<_> = found.iter().map(|one| one.id).collect();
    let by_name: BTreeMap<_, _> = found.iter().map(|one| ((one.host.as_str(), one.name.as_str()), one)).collect();
    let targets = released.targets(scope);
    let mut rows = deployments::rows(transaction, &ids, of_targets(&targets, None, scope)).await?;
    for row in &mut rows {
        let one = by_name.get(&(row.host.as_str(), row.reconciler.as_str()));
        row.state = one.map(|one| one.state);
    }
    Ok(rows)
}

/// One row for each of these targets, also in the folder of a cluster.
fn of_targets<'a>(targets: &'a BTreeSet<TargetId>, at: Option<Timestamp>, scope: &Scope) -> RowSelection<'a> {
    RowSelection { only: Some(targets), at, is_by_workload: true, hides_messages: scope.hides_messages }
}

/// In cursors, the part of the list with the reconcilers of platform folders, in the order of their ids. No lane has this number.
const RELEASED: i64 = -1;

/// The name of this list in cursors.
const LIST: &str = "rollout";

/// Sets the states of rows in this rollout, whose content may differ from the content that is desired now.
async fn stand(
    transaction: &mut Transaction,
    reconcilers: &[ReconcilerId],
    (state, items): (&BTreeMap<TallyId, ReconcilerState>, &mut [Deployment]),
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
    let part = ScopePart::in_environment(scope, environment);
    let selected = subject.selected(transaction, part, &WANTING).await?;
    let state = selected.iter().map(|selected| (selected.id, selected.state)).collect();
    let found = Walk::of_tallies(scope.clone(), selected).page(transaction, None, ATTENTION).await?;
    let selection = RowSelection { only: scope.targets.as_ref(), ..RowSelection::default() };
    let mut items = deployments::rows(transaction, &found.reconcilers, selection).await?;
    stand(transaction, &found.reconcilers, (&state, &mut items)).await?;
    items.truncate(ATTENTION);
    Ok(items)
}
