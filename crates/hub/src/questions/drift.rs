//! Differences between the reported and the desired content: since when, silent reconcilers, removed places.

use std::collections::BTreeMap;

use hub_api::deployments::Deployments;
use hub_api::drift::{Drift, DriftKind, Drifting};
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};

use super::cursor::Cursor;
use super::deployments::RowSelection;
use super::earlier::Totals;
use super::groups::StateCount;
use super::reconciler_state::{self, LIVENESS};
use super::scope::Scope;
use super::walk::{Walk, selected_columns};
use super::{Question, QuestionError, conditions, deployments, question};
use crate::store::{Database, DatabaseError, Parameters, Transaction};

/// Parses the name of a kind of drift.
///
/// # Errors
/// No kind has this name.
pub fn drift_kind(text: &str) -> Result<DriftKind, QuestionError> {
    DriftKind::parse(text).ok_or_else(|| {
        let known = DriftKind::ALL.map(DriftKind::as_str).join(", ");
        QuestionError::Wrong { parameter: "kind", message: format!("`{text}` is not one of {known}") }
    })
}

/// The condition on a tally `t` whose reconcilers have this kind of drift.
fn condition(kind: DriftKind) -> &'static str {
    match kind {
        DriftKind::Silent => "t.is_silent = 1",
        DriftKind::UnknownContent => "t.desired_commit_id <> 0 and t.held_commit_id = 0 and t.status <> 0",
        DriftKind::RemovedPlace => "t.desired_commit_id = 0",
        DriftKind::UnknownPlace => "1 = 0",
    }
}

/// The drift, now or at a timestamp: where the reported content is not the desired content. The content that has been desired for the longest time comes first.
///
/// # Errors
/// The filter or the page is invalid; the counts at the timestamp are not known; the database can't answer.
pub async fn drift(
    database: &Database,
    question: impl Into<Question<'_>>,
    page: &Page,
    at: Option<Timestamp>,
) -> Result<Drift, QuestionError> {
    let question = question.into();
    let after = page.cursor.as_deref().map(|cursor| Cursor::<3>::read(cursor, LIST)).transpose()?;
    let limit = question::limit(page)?;
    let Totals { mut transaction, scope, recorded_on, .. } = Totals::read(database, question, at).await?;
    let mut drift = Drift { recorded_on, ..Drift::default() };
    let desired = desired(&mut transaction, &scope, &mut drift).await?;
    let is_drifting = |drifting: &Drifting| drifting.counts.succeeded != drifting.counts.expected;
    let mut items: Vec<_> = desired.into_iter().filter(|(_, drifting)| is_drifting(drifting)).collect();
    items.retain(|(key, _)| after.is_none_or(|after| *key > after));
    drift.next = (items.len() > limit).then(|| items.truncate(limit)).and_then(|()| Some(items.last()?.0.write(LIST)));
    drift.items = items.into_iter().map(|(_, drifting)| drifting).collect();
    others(&mut transaction, &scope, &mut drift).await?;
    if at.is_none() && !scope.is_of_places() {
        unplaced(&mut transaction, &scope, &mut drift).await?;
    }
    Ok(drift)
}

/// The name of this list in cursors.
const LIST: &str = "drift";

/// Since when content is desired, the id of its commit, and the id of its environment; 0 without a commit or environment.
type GroupKey = (Timestamp, i64, i64);

/// The commit, and the name of the environment.
type GroupNames = (String, Option<String>);

/// The desired content, by since when, commit and environment.
async fn desired(
    transaction: &mut Transaction,
    scope: &Scope,
    drift: &mut Drift,
) -> Result<BTreeMap<Cursor<3>, Drifting>, DatabaseError> {
    let dialect = transaction.dialect();
    let mut parameters = Parameters::new(dialect);
    let tallies = scope.tallies(&mut parameters);
    let groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
    let sql = format!(
        "select x.since, x.commit_id, x.environment_id, c.commit_id, e.name, x.state, x.liveness, x.reconcilers from \
           (select {} as since, t.desired_commit_id as commit_id, coalesce(g.environment_id, 0) as environment_id, \
              {} as state, {LIVENESS} as liveness, {} as reconcilers \
            from {tallies} t join place_group g on g.id = t.place_group_id join gitops_commit w on w.id = t.desired_commit_id \
            where t.reconcilers > 0{groups} group by w.committed_on, t.desired_commit_id, 3, 4, 5) as x \
         join gitops_commit c on c.id = x.commit_id left join environment e on e.id = x.environment_id",
        dialect.millis("w.committed_on"),
        reconciler_state::expression(reconciler_state::HOLDS_DESIRED),
        dialect.int("sum(t.reconcilers)"),
    );
    let mut desired: BTreeMap<Cursor<3>, Drifting> = BTreeMap::new();
    for ((since, commit_id, environment_id), (commit, environment), in_state) in
        transaction.query::<(GroupKey, GroupNames, StateCount)>(&sql, parameters.into_values()).await?
    {
        in_state.add_to(&mut drift.counts);
        let drifting = desired.entry(Cursor([since.millis(), commit_id, environment_id])).or_insert_with(|| Drifting {
            environment: environment.unwrap_or_default(),
            commit,
            desired_since: since,
            counts: Counts::default(),
        });
        in_state.add_to(&mut drifting.counts);
    }
    Ok(desired)
}

/// Maximum number of reconcilers at unknown places that are counted.
const UNPLACED_MAX: i64 = 10_000;

/// Counts the silent reconcilers, and the reconcilers whose reports match no desired content.
async fn others(transaction: &mut Transaction, scope: &Scope, drift: &mut Drift) -> Result<(), DatabaseError> {
    let dialect = transaction.dialect();
    let mut parameters = Parameters::new(dialect);
    let tallies = scope.tallies(&mut parameters);
    let groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
    let count = |kind: DriftKind| {
        let sum = dialect.int(&format!("sum(case when {} then t.reconcilers else 0 end)", condition(kind)));
        format!("coalesce({sum}, 0)")
    };
    let sql = format!(
        "select {}, {}, {} from {tallies} t where t.reconcilers > 0{groups}",
        count(DriftKind::Silent),
        count(DriftKind::UnknownContent),
        count(DriftKind::RemovedPlace),
    );
    (drift.silent, drift.unknown_content, drift.removed_place) =
        transaction.one(&sql, parameters.into_values()).await?;
    Ok(())
}

/// Counts the reconcilers at unknown places.
async fn unplaced(transaction: &mut Transaction, scope: &Scope, drift: &mut Drift) -> Result<(), DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let of_hosts = conditions::and(scope.of_hosts("r.host_id", &mut parameters));
    let sql = format!(
        "select count(*) from (select 1 from reconciler r join host h on h.id = r.host_id \
         where r.place_id is null and r.retired_on is null and h.retired_on is null{of_hosts} \
         limit {UNPLACED_MAX} + 1) as x"
    );
    let counted: i64 = transaction.one(&sql, parameters.into_values()).await?;
    drift.unknown_place = counted.min(UNPLACED_MAX);
    drift.unknown_place_is_more = counted > UNPLACED_MAX;
    Ok(())
}

/// The reconcilers that are silent, or whose reports match no desired content, by the kind of drift.
///
/// # Errors
/// The filter or the page is invalid; the database can't answer.
pub async fn drift_hosts(
    database: &Database,
    kind: DriftKind,
    question: impl Into<Question<'_>>,
    page: &Page,
) -> Result<Deployments, QuestionError> {
    let question = question.into();
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, kind.as_str())).transpose()?;
    let limit = question::limit(page)?;
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::read(&mut transaction, question).await?;
    let targets = scope.targets.clone();
    if kind == DriftKind::UnknownPlace && scope.is_of_places() {
        return Ok(Deployments::default());
    }
    let walk = if kind == DriftKind::UnknownPlace {
        Walk::of_unplaced(scope)
    } else {
        let mut parameters = Parameters::new(transaction.dialect());
        let groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
        let number = reconciler_state::number(ReconcilerState::Outdated).to_string();
        let sql = format!(
            "select {} from tally t where t.reconcilers > 0 and {}{groups} order by t.id",
            selected_columns(&number),
            condition(kind)
        );
        Walk::of_tallies(scope, transaction.query(&sql, parameters.into_values()).await?)
    };
    let found = walk.page(&mut transaction, after, limit).await?;
    let selection = RowSelection { only: targets.as_ref(), ..RowSelection::default() };
    let items = deployments::rows(&mut transaction, &found.reconcilers, selection).await?;
    Ok(Deployments { items, next: found.next.map(|next| next.write(kind.as_str())) })
}
