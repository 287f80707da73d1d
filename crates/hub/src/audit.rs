//! Who published and decided what: kept with a limit, and asked for.

use std::time::Duration;

use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use hub_api::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

use crate::limits::{AUDIT_KEPT, RETENTION_PERIOD};
use crate::retention::Keep;
use crate::store::{Database, DatabaseError, Row, Transaction, Value};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Action {
    /// A publication made something wanted, or not wanted any more.
    #[serde(rename = "publish")]
    Publish,
    /// A publication said what content is for that has no commit yet.
    #[serde(rename = "plan")]
    Plan,
    /// A token was created.
    #[serde(rename = "token.create")]
    TokenCreate,
    /// A token got another secret.
    #[serde(rename = "token.rotate")]
    TokenRotate,
    /// A token was revoked.
    #[serde(rename = "token.revoke")]
    TokenRevoke,
    /// A host was registered, or its labels or reconcilers were changed.
    #[serde(rename = "host.register")]
    HostRegister,
    /// A host, or a reconciler of it, was taken out of service.
    #[serde(rename = "host.retire")]
    HostRetire,
    /// It was brought back into service.
    #[serde(rename = "host.restore")]
    HostRestore,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Publish,
        Self::Plan,
        Self::TokenCreate,
        Self::TokenRotate,
        Self::TokenRevoke,
        Self::HostRegister,
        Self::HostRetire,
        Self::HostRestore,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Plan => "plan",
            Self::TokenCreate => "token.create",
            Self::TokenRotate => "token.rotate",
            Self::TokenRevoke => "token.revoke",
            Self::HostRegister => "host.register",
            Self::HostRetire => "host.retire",
            Self::HostRestore => "host.restore",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// By whom: the name of the token, the subject of an OIDC token, or the user of the machine at a command line.
    pub actor: String,
    /// What.
    pub action: Action,
    /// What it was done to: a branch, a token, a host.
    pub subject: String,
    /// What else is known: of a publication its commit and how many places changed, of a token what it is good for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub detail: Option<Json>,
}

/// A page of what was done, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntries {
    /// The entries.
    pub items: Vec<AuditEntry>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// Only by this actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Only this action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub action: Option<Action>,
    /// Only to this subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Only from this moment on (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only before this moment (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// What the page before had as `next`; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many entries at most: 100 if it is not said, 1000 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}

/// It can't be asked like that.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A parameter can't be meant.
    #[error("`{0}`: {1}")]
    Wrong(&'static str, &'static str),
    /// The database can't answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Who does something, and what it is that is noted of it.
#[derive(Clone, Debug)]
pub(crate) struct Deed<'a> {
    pub(crate) actor: &'a str,
    pub(crate) action: Action,
    pub(crate) subject: &'a str,
    pub(crate) detail: Option<Json>,
}

/// Notes what is done in a transaction: both are there, or neither.
pub(crate) async fn note(transaction: &mut Transaction, deed: Deed<'_>) -> Result<(), DatabaseError> {
    let instant = transaction.dialect().instant("$1");
    let sql = format!("insert into audit (done_on, actor, action, subject, detail) values ({instant}, $2, $3, $4, $5)");
    let Deed { actor, action, subject, detail } = deed;
    let detail = detail.map(|detail| detail.to_string());
    let values =
        vec![Timestamp::now().into(), actor.into(), action.as_str().into(), subject.into(), Value::from(detail)];
    transaction.query(&sql, values).await.map(drop)
}

/// Notes what was done.
///
/// # Errors
/// The database can't store it.
pub(crate) async fn note_done(database: &Database, deed: Deed<'_>) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    note(&mut transaction, deed).await?;
    transaction.commit().await
}

/// What was done, the newest first.
///
/// # Errors
/// A parameter can't be meant; the database can't answer.
pub async fn entries(database: &Database, filter: &AuditFilter) -> Result<AuditEntries, AuditError> {
    let before = filter.cursor.as_deref().map_or(Ok(i64::MAX), str::parse);
    let before = before.map_err(|_| AuditError::Wrong("cursor", "is the `next` of no page"))?;
    let limit = filter.limit.unwrap_or(PAGE_DEFAULT);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(AuditError::Wrong("limit", "1 to 1000 are possible"));
    }
    let dialect = database.dialect();
    let mut values = vec![Value::from(before)];
    let mut conditions = vec!["id < $1".to_owned()];
    let texts = [
        ("actor", filter.actor.as_deref()),
        ("action", filter.action.map(Action::as_str)),
        ("subject", filter.subject.as_deref()),
    ];
    for (column, text) in texts {
        let Some(text) = text else { continue };
        values.push(text.into());
        conditions.push(format!("{column} = ${}", values.len()));
    }
    for (sign, moment) in [(">=", filter.since), ("<", filter.until)] {
        let Some(moment) = moment else { continue };
        values.push(moment.into());
        conditions.push(format!("done_on {sign} {}", dialect.instant(&format!("${}", values.len()))));
    }
    let sql = format!(
        "select id, {}, actor, action, subject, detail from audit where {} order by id desc limit {}",
        dialect.millis("done_on"),
        conditions.join(" and "),
        limit + 1
    );
    let rows = database.query(&sql, values).await?;
    let next = (rows.len() > limit).then(|| rows.get(limit - 1)).flatten().map(|row| row.int(0).to_string());
    Ok(AuditEntries { items: rows.iter().take(limit).filter_map(entry).collect(), next })
}

/// An action that this version does not know is left out.
fn entry(row: &Row) -> Option<AuditEntry> {
    Some(AuditEntry {
        at: row.moment(1).unwrap_or_default(),
        actor: row.text(2),
        action: Action::parse(&row.text(3))?,
        subject: row.text(4),
        detail: row.optional_text(5).and_then(|text| serde_json::from_str(text).ok()),
    })
}

/// Forgets what is older, or more, than is kept; how many entries that were. Without a count, the latest [`AUDIT_KEPT`] are kept.
///
/// # Errors
/// The database can't do it.
pub async fn forget(database: &Database, keep: Keep, now: Timestamp) -> Result<usize, DatabaseError> {
    let count = i64::try_from(keep.count.unwrap_or(AUDIT_KEPT)).unwrap_or(i64::MAX);
    let horizon = keep.age.map_or(Timestamp::MIN, |age| now.before(age));
    let condition = format!("done_on < {} or id <= (select max(id) from audit) - $2", database.dialect().instant("$1"));
    let values = vec![Value::from(horizon), count.into()];
    // Usually there is nothing to delete, and a read blocks no other transaction.
    let sql = format!("select 1 from audit where {condition} limit 1");
    if database.query(&sql, values.clone()).await?.is_empty() {
        return Ok(0);
    }
    let mut transaction = database.begin().await?;
    let gone = transaction.query(&format!("delete from audit where {condition} returning id"), values).await?.len();
    transaction.commit().await?;
    Ok(gone)
}

/// Forgets again and again, until it is aborted.
pub(crate) async fn run(database: Database, keep: Keep) {
    loop {
        if let Err(error) = forget(&database, keep, Timestamp::now()).await {
            tracing::warn!(%error, "the audit log is not cut yet");
        }
        tokio::time::sleep(RETENTION_PERIOD.max(Duration::from_mins(1))).await;
    }
}
