//! The history of promotions: pages of it, and its part of the change feed.

use hub_api::events::FleetChange;
use hub_api::history::{HistoryKind, HistorySelection};
use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use hub_api::promotions::{PromotionChange, PromotionEvent, PromotionEventFilter, PromotionEventPage};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;

use super::cursor::{Cursor, ListPart};
use super::similar_names::similar;
use super::{Question, QuestionError, conditions, workspaces};
use crate::store::{ColumnError, Columns, Database, DatabaseError, Dialect, FromRow, Parameters, Transaction};

/// A page of events, the latest first: those that the filter selects, within the reach.
///
/// # Errors
/// The filter is invalid, or names an environment outside of the reach; the database can't answer.
pub async fn promotion_events(
    database: &Database,
    filter: &PromotionEventFilter,
    reach: &Reach,
) -> Result<PromotionEventPage, QuestionError> {
    if let Some(name) = filter.environment.as_ref().filter(|name| !reach.has_environment(name)) {
        // As for an unknown name, but without similar names.
        return Err(QuestionError::Unknown { what: "environment", name: name.clone(), similar: Vec::new() });
    }
    check_environment(database, filter, reach).await?;
    let before = filter.cursor.as_deref().map(|cursor| Cursor::<1>::read(cursor, LIST)).transpose()?;
    let Cursor([before]) = before.unwrap_or(Cursor([i64::MAX]));
    let limit = filter.limit.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&limit) {
        let message = format!("{limit}; 1 to {PAGE_MAX} are possible");
        return Err(QuestionError::Wrong { parameter: "limit", message });
    }
    let dialect = database.dialect();
    let mut parameters = Parameters::with(dialect, vec![before.into()]);
    let mut selected = vec!["v.id < $1".to_owned()];
    let texts = [
        ("v.environment", &filter.environment),
        ("v.subject", &filter.subject),
        ("v.kind", &filter.kind),
        ("v.revision", &filter.revision),
    ];
    for (column, text) in texts {
        selected.extend(text.as_deref().map(|text| parameters.equals(column, text)));
    }
    selected.extend(within(reach, &mut parameters));
    for (sign, timestamp) in [(">=", filter.since), ("<", filter.until)] {
        let Some(timestamp) = timestamp else { continue };
        let timestamp = parameters.add(timestamp);
        selected.push(format!("v.happened_on {sign} {}", dialect.instant(&timestamp)));
    }
    let sql = format!(
        "select {} from promotion_event v where {} order by v.id desc limit {}",
        columns(dialect),
        conditions::all(selected),
        limit + 1
    );
    let mut rows: Vec<(i64, PromotionEvent)> = database.query(&sql, parameters.into_values()).await?;
    let are_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| are_more).map(|(id, _)| Cursor([*id]).write(LIST));
    Ok(PromotionEventPage { items: rows.into_iter().map(|(_, event)| event).collect(), next })
}

/// Refuses the name of an environment that the hub does not know, neither from the desired state nor from events.
async fn check_environment(
    database: &Database,
    filter: &PromotionEventFilter,
    reach: &Reach,
) -> Result<(), QuestionError> {
    let Some(name) = filter.environment.as_deref() else { return Ok(()) };
    let mut transaction = database.begin_reading().await?;
    let mut alike = Vec::new();
    for (table, column) in [("promotion_event", "environment"), ("environment", "name")] {
        let known = format!("select 1 from {table} where {column} = $1 limit 1");
        if transaction.exists(&known, vec![name.into()]).await? {
            return Ok(());
        }
        alike.extend(similar(&mut transaction, (table, column), name).await?);
    }
    alike.retain(|name| reach.has_environment(name));
    alike.sort();
    alike.dedup();
    Err(QuestionError::Unknown { what: "environment", name: name.to_owned(), similar: alike })
}

/// Events before a time, and of that time before an id, for the history: the latest first. Without a kind, the reasons why promotions wait are left out.
pub(super) async fn listed(
    transaction: &mut Transaction,
    question: Question<'_>,
    selection: &HistorySelection,
    ListPart { after: Cursor([happened, id]), limit }: ListPart,
) -> Result<Vec<(i64, PromotionEvent)>, DatabaseError> {
    let kinds = [HistoryKind::Decision, HistoryKind::Promotion];
    if !kinds.into_iter().any(|kind| selection.has(kind)) || !is_about_environments(question) {
        return Ok(Vec::new());
    }
    let dialect = transaction.dialect();
    let happened = Timestamp::from_millis(happened);
    let mut parameters = Parameters::with(dialect, vec![happened.into(), id.into(), (limit as i64).into()]);
    let mut selected = of_filter(question, &mut parameters);
    if selection.kind == Some(HistoryKind::Decision) {
        selected.push("v.decided_by is not null".to_owned());
    }
    if selection.kind.is_none() {
        selected.push("v.kind <> 'waiting'".to_owned());
    }
    selected.extend(selection.by.as_ref().map(|by| decided_by(&mut parameters, by)));
    let instant = dialect.instant("$1");
    let sql = format!(
        "select {} from promotion_event v \
         where (v.happened_on < {instant} or v.happened_on = {instant} and v.id < $2){} \
         order by v.happened_on desc, v.id desc limit $3",
        columns(dialect),
        conditions::and(selected)
    );
    transaction.query(&sql, parameters.into_values()).await
}

/// The condition that a person decided: an account, or the name or the email address of a git user such as `Olga <olga@acme.example>`. Case does not matter.
fn decided_by(parameters: &mut Parameters, by: &str) -> String {
    let by = by.to_lowercase();
    let literal: String = by
        .chars()
        .flat_map(|letter| matches!(letter, '\\' | '%' | '_').then_some('\\').into_iter().chain([letter]))
        .collect();
    let column = "lower(v.decided_by)";
    let is_account = parameters.equals(column, by);
    let patterns = [format!("{literal} <%>"), format!("% <{literal}>")];
    let is_user = patterns.map(|pattern| format!("{column} like {} escape '\\'", parameters.add(pattern)));
    format!("({is_account} or {})", is_user.join(" or "))
}

/// Whether a question selects events: a filter on hosts, targets or states selects none.
fn is_about_environments(question: Question<'_>) -> bool {
    let filter = question.filter;
    let others = [
        &filter.application,
        &filter.target,
        &filter.cluster_type,
        &filter.host,
        &filter.status,
        &filter.selector,
        &filter.target_selector,
    ];
    others.into_iter().all(Option::is_none)
}

/// The conditions that an event is about the environment, the workload and the workspace of a filter, in the reach.
fn of_filter(question: Question<'_>, parameters: &mut Parameters) -> Vec<String> {
    let filter = question.filter;
    let mut selected = within(question.reach, parameters);
    selected.extend(filter.workspace.as_deref().map(|name| workspaces::has(name, OF_WORKLOAD, parameters)));
    selected.extend(filter.environment.as_deref().map(|text| parameters.equals("v.environment", text)));
    let subject = ("v.subject", filter.workload.as_deref());
    selected.extend(conditions::of_name(subject, &question.earlier.workloads, parameters));
    selected
}

/// The name of this list in cursors.
const LIST: &str = "promotionEvents";

/// The environment and the workload of an event. The source of an application has the name of its workload with a prefix.
const OF_WORKLOAD: (&str, &str) =
    ("v.environment", "case when v.subject like 'application/%' then substr(v.subject, 13) else v.subject end");

/// The conditions that an event is within the reach: in its environments, and if it is limited to workspaces, about their workloads.
fn within(reach: &Reach, parameters: &mut Parameters) -> Vec<String> {
    let names = [&reach.environments, &reach.workspaces].map(|names| Some(names).filter(|names| !names.is_empty()));
    let [environments, of] = names;
    let in_environment = environments.map(|names| parameters.any_text("v.environment", names.clone()));
    let of_workspace = of.map(|names| workspaces::has_only(names, OF_WORKLOAD, parameters));
    in_environment.into_iter().chain(of_workspace).collect()
}

/// The events behind one id and up to another, for the change feed.
pub(super) async fn changes(
    transaction: &mut Transaction,
    question: Question<'_>,
    (after, until): (i64, i64),
) -> Result<Vec<(i64, FleetChange)>, DatabaseError> {
    if !is_about_environments(question) {
        return Ok(Vec::new());
    }
    let dialect = transaction.dialect();
    let mut parameters = Parameters::with(dialect, vec![after.into(), until.into()]);
    let selected = of_filter(question, &mut parameters);
    let sql = format!(
        "select {} from promotion_event v where v.id > $1 and v.id <= $2{} order by v.id",
        columns(dialect),
        conditions::and(selected)
    );
    let found: Vec<(i64, PromotionEvent)> = transaction.query(&sql, parameters.into_values()).await?;
    let change = |(id, event)| (id, FleetChange::Promotion(PromotionChange { event }));
    Ok(found.into_iter().map(change).collect())
}

/// The id of an event, and the columns of [`PromotionEvent`].
fn columns(dialect: Dialect) -> String {
    let at = dialect.millis("v.happened_on");
    format!(
        "v.id, v.event_id, {at}, v.environment, v.subject, v.revision, v.kind, v.ring, v.message, v.decided_by, v.evidence"
    )
}

impl FromRow for PromotionEvent {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, at, environment, subject) = columns.take::<(_, _, _, String)>()?;
        let (revision, kind, ring) = columns.take()?;
        let (text, by, evidence) = columns.take::<(_, _, Option<String>)>()?;
        let subject = Some(subject).filter(|subject| !subject.is_empty());
        let evidence = evidence.and_then(|text| serde_json::from_str(&text).ok());
        Ok(Self { id, at, environment, subject, revision, kind, ring, text, by, evidence })
    }
}
