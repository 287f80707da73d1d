//! Stores the history of promotions, and what the controller of the same process needs of the hub.

use std::collections::BTreeSet;

use hub_api::audit::Action;
use hub_api::filter::Filter;
use hub_api::limits::PLACES_PAGE_MAX;
use hub_api::page::Page;
use hub_api::places::PlaceState;
use hub_api::promotions::{PromotionEvent, PromotionEventError, PromotionEventReceipt};
use serde_json::json;

use crate::management::audit::{self, AuditRecord};
use crate::questions::{self, QuestionError};
use crate::store::{ColumnType, Database, DatabaseError, Dialect, Rows, Transaction};

/// The reason why events are not stored.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// An event is not valid.
    #[error(transparent)]
    Invalid(#[from] PromotionEventError),
    /// The database can't store them.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// The history of promotions and the state of places, for the controller of the same process.
#[derive(Clone, Debug)]
pub struct PromotionStore {
    pub(crate) database: Database,
}

impl PromotionStore {
    /// Appends events to the history: all that are new, or none.
    ///
    /// # Errors
    /// An event is not valid, or the database can't store them.
    pub async fn record(&self, events: &[PromotionEvent]) -> Result<PromotionEventReceipt, RecordError> {
        record(&self.database, events, None).await
    }

    /// The state of all places of an environment: with a workload, of the folders of its assignments.
    ///
    /// # Errors
    /// The environment or the workload is not known; the database can't answer.
    pub async fn place_states(
        &self,
        environment: &str,
        workload: Option<&str>,
    ) -> Result<Vec<PlaceState>, QuestionError> {
        let (environment, workload) = (Some(environment.to_owned()), workload.map(str::to_owned));
        let filter = Filter { environment, workload, ..Filter::default() };
        let (mut states, mut page) = (Vec::new(), Page { cursor: None, limit: Some(PLACES_PAGE_MAX) });
        loop {
            let answer = questions::place_states(&self.database, &filter, &page).await?;
            states.extend(answer.items);
            page.cursor = answer.next;
            if page.cursor.is_none() {
                return Ok(states);
            }
        }
    }
}

/// Appends events to the history: all that are new, or none. With an actor, the audit log has the new events that are decisions of people.
///
/// # Errors
/// An event is not valid, or the database can't store them.
pub async fn record(
    database: &Database,
    events: &[PromotionEvent],
    actor: Option<&str>,
) -> Result<PromotionEventReceipt, RecordError> {
    events.iter().try_for_each(PromotionEvent::check)?;
    let mut transaction = database.begin().await?;
    if transaction.dialect() == Dialect::Postgres {
        // Readers of changes wait for transactions with an id. An insertion takes the id of its row before that of its transaction.
        transaction.rows("select pg_current_xact_id()::text", Vec::new()).await?;
    }
    let new: BTreeSet<String> = transaction.with(rows(events), INSERT).await?.into_iter().collect();
    if let Some(actor) = actor {
        let mut noted = BTreeSet::new();
        for event in events.iter().filter(|event| new.contains(&event.id) && noted.insert(&event.id)) {
            note(&mut transaction, event, actor).await?;
        }
    }
    transaction.commit().await?;
    Ok(PromotionEventReceipt { stored: new.len(), known: events.len() - new.len() })
}

const INSERT: &str = "insert into promotion_event \
    (event_id, happened_on, environment, subject, revision, kind, ring, message, decided_by, evidence) \
    select event_id, happened_on, environment, subject, revision, kind, ring, message, decided_by, evidence from source where true \
    on conflict (event_id) do nothing returning event_id";

fn rows(events: &[PromotionEvent]) -> Rows {
    let text = |name| (name, ColumnType::Text);
    let mut rows = Rows::new(&[
        text("event_id"),
        ("happened_on", ColumnType::Timestamp),
        text("environment"),
        text("subject"),
        text("revision"),
        text("kind"),
        text("ring"),
        text("message"),
        text("decided_by"),
        text("evidence"),
    ]);
    for event in events {
        rows.push(vec![
            event.id.as_str().into(),
            event.at.into(),
            event.environment.as_str().into(),
            event.subject.as_deref().unwrap_or_default().into(),
            event.revision.as_deref().into(),
            event.kind.as_str().into(),
            event.ring.as_deref().into(),
            event.text.as_str().into(),
            event.by.as_deref().into(),
            event.evidence.as_ref().map(ToString::to_string).into(),
        ]);
    }
    rows
}

/// Notes an event in the audit log if a person decided it. The actor is the authenticated sender, which names the person.
async fn note(transaction: &mut Transaction, event: &PromotionEvent, actor: &str) -> Result<(), DatabaseError> {
    let Some(by) = &event.by else { return Ok(()) };
    let PromotionEvent { environment, subject, revision, kind, text, .. } = event;
    let detail = json!({"kind": kind, "subject": subject, "revision": revision, "by": by, "text": text});
    let record = AuditRecord { actor, action: Action::Promotion, subject: environment, detail: Some(detail) };
    audit::note(transaction, record).await
}
