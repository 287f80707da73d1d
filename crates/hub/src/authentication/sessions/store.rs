//! The table of sessions.

use hub_api::audit::Action;
use hub_api::sessions::Session;
use hub_api::timestamp::Timestamp;
use hub_api::token::SecretDigest;
use serde_json::json;

use super::{ClaimValues, NewSession, SessionBasis, SessionError, StoredSession};
use crate::authentication::random_secret::RandomSecret;
use crate::authentication::tokens::JsonColumn;
use crate::limits::{SESSION_CLOCK_SKEW, SESSION_IDLE_MAX, SESSIONS_PER_PERSON_MAX};
use crate::management::audit::{self, AuditRecord};
use crate::store::{
    ColumnError, ColumnType, Columns, Database, DatabaseError, Dialect, FromColumn, FromRow, Rows, SqlValue,
    Transaction,
};

/// The condition that a session is one of the person of another session, `$1`: with the same token, or the same account.
const SAME_PERSON: &str = "name = (select name from session where id = $1) \
    and coalesce(token_id, '') = (select coalesce(token_id, '') from session where id = $1) \
    and coalesce(issuer, '') = (select coalesce(issuer, '') from session where id = $1)";

/// Creates a session, with a secret that only the answer contains. The session with the id `replaced`, which the same browser had, ends.
///
/// # Errors
/// There are no random numbers; the database can't store the session.
pub async fn create(
    database: &Database,
    session: &NewSession,
    replaced: Option<&str>,
) -> Result<(RandomSecret, StoredSession), SessionError> {
    let (secret, now) = (RandomSecret::random()?, Timestamp::now());
    let NewSession { name, basis, .. } = session.clone();
    let (id, ends_on) = (secret.digest(), session.ends_on(now));
    let stored = StoredSession { id, name, basis, created_on: now, last_seen_on: now, ends_on };
    let mut transaction = database.begin().await?;
    if let Some(replaced) = replaced {
        transaction.execute("delete from session where id = $1", vec![replaced.into()]).await?;
    }
    insert(&mut transaction, &stored).await?;
    // A loop that signs in again and again must not fill the database.
    let surplus = format!(
        "delete from session where id in (select id from session where {SAME_PERSON} order by created_on desc, id limit {} offset {})",
        i64::MAX,
        SESSIONS_PER_PERSON_MAX
    );
    transaction.execute(&surplus, vec![stored.id.as_str().into()]).await?;
    let detail = match &stored.basis {
        SessionBasis::Token { id, .. } => json!({"token": id, "endsOn": ends_on}),
        SessionBasis::Claims(ClaimValues { issuer, .. }) => json!({"issuer": issuer, "endsOn": ends_on}),
    };
    let (actor, action, subject) = (&stored.name, Action::SignIn, &stored.name);
    audit::note(&mut transaction, AuditRecord { actor, action, subject, detail: Some(detail) }).await?;
    transaction.commit().await?;
    Ok((secret, stored))
}

async fn insert(transaction: &mut Transaction, session: &StoredSession) -> Result<(), DatabaseError> {
    let instant = |parameter| transaction.dialect().instant(parameter);
    let sql = format!(
        "insert into session (id, name, token_id, token_sha256, issuer, claim, claim_values, created_on, last_seen_on, ends_on) \
         values ($1, $2, $3, $4, $5, $6, $7, {}, {}, {})",
        instant("$8"),
        instant("$8"),
        instant("$9"),
    );
    let (token, claims) = match &session.basis {
        SessionBasis::Token { id, secret } => (Some((id.as_str(), secret.to_hex())), None),
        SessionBasis::Claims(claims) => (None, Some(claims)),
    };
    let (token_id, digest) = token.unzip();
    let values = vec![
        session.id.as_str().into(),
        session.name.as_str().into(),
        token_id.into(),
        digest.into(),
        claims.map(|claims| claims.issuer.as_str()).into(),
        claims.map(|claims| claims.claim.as_str()).into(),
        claims.map(|claims| json!(claims.values).to_string()).into(),
        session.created_on.into(),
        session.ends_on.into(),
    ];
    transaction.execute(&sql, values).await
}

/// The session with a secret, also if it has ended.
///
/// # Errors
/// The database can't answer.
pub async fn find(database: &Database, secret: &RandomSecret) -> Result<Option<StoredSession>, DatabaseError> {
    let sql = format!("select {} from session where id = $1", names(database.dialect()));
    database.first(&sql, vec![secret.digest().into()]).await
}

/// All valid sessions, by name, the latest first.
///
/// # Errors
/// The database can't answer.
pub async fn list(database: &Database, now: Timestamp) -> Result<Vec<Session>, DatabaseError> {
    let sql = format!("select {} from session order by name, created_on desc, id", names(database.dialect()));
    let sessions = database.query::<StoredSession>(&sql, vec![]).await?.into_iter();
    Ok(sessions.filter(|session| session.is_valid_at(now)).map(|session| session.to_session()).collect())
}

/// Ends a session for its owner. Nothing happens if there is none.
///
/// # Errors
/// The database can't store it.
pub async fn end(database: &Database, secret: &RandomSecret) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    let sql = "delete from session where id = $1 returning name";
    if let Some(name) = transaction.first::<String>(sql, vec![secret.digest().into()]).await? {
        audit::note(&mut transaction, ended((&name, Action::SignOut, &name), 1)).await?;
    }
    transaction.commit().await
}

/// Ends a session for its owner, and all others of the same person. Nothing happens if there is no such session.
///
/// # Errors
/// The database can't store it.
pub async fn end_everywhere(database: &Database, secret: &RandomSecret) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    let sql = format!("delete from session where {SAME_PERSON} returning name");
    let names: Vec<String> = transaction.query(&sql, vec![secret.digest().into()]).await?;
    if let Some(name) = names.first() {
        audit::note(&mut transaction, ended((name, Action::SignOut, name), names.len())).await?;
    }
    transaction.commit().await
}

/// Ends all sessions with a name. The audit log names the actor. Returns their number.
///
/// # Errors
/// The database can't store it.
pub async fn end_of(database: &Database, name: &str, actor: &str) -> Result<usize, DatabaseError> {
    let mut transaction = database.begin().await?;
    let sql = "delete from session where name = $1 returning id";
    let count = transaction.query::<String>(sql, vec![name.into()]).await?.len();
    if count > 0 {
        audit::note(&mut transaction, ended((actor, Action::SessionEnd, name), count)).await?;
    }
    transaction.commit().await?;
    Ok(count)
}

/// Deletes the sessions that are not valid at a time, and those of revoked and expired tokens.
///
/// # Errors
/// The database can't delete them.
pub async fn delete_ended(database: &Database, now: Timestamp) -> Result<(), DatabaseError> {
    let [at, idle, future] = ["$1", "$2", "$3"].map(|parameter| database.dialect().instant(parameter));
    let condition = format!(
        "ends_on <= {at} or last_seen_on <= {idle} or created_on > {future} \
         or token_id in (select id from token where revoked_on is not null or expires_on <= {at})"
    );
    let values: Vec<SqlValue> =
        vec![now.into(), now.before(SESSION_IDLE_MAX).into(), now.after(SESSION_CLOCK_SKEW).into()];
    // Usually there is nothing to delete, and a read blocks no other transaction.
    if !database.exists(&format!("select 1 from session where {condition} limit 1"), values.clone()).await? {
        return Ok(());
    }
    let mut transaction = database.begin().await?;
    transaction.execute(&format!("delete from session where {condition}"), values).await?;
    transaction.commit().await
}

/// Stores when sessions were last used, by their ids.
///
/// # Errors
/// The database can't store the times.
pub(crate) async fn touch(database: &Database, used: Vec<(String, Timestamp)>) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("id", ColumnType::Text), ("used_on", ColumnType::Timestamp)]);
    used.into_iter().for_each(|(id, timestamp)| rows.push(vec![id.into(), timestamp.into()]));
    let mut transaction = database.begin().await?;
    let sql = "update session set last_seen_on = source.used_on from source where session.id = source.id";
    transaction.execute_with(rows, sql).await?;
    transaction.commit().await
}

/// The entry of the audit log about a number of ended sessions: the actor, the action and the person.
fn ended<'a>((actor, action, subject): (&'a str, Action, &'a str), count: usize) -> AuditRecord<'a> {
    AuditRecord { actor, action, subject, detail: Some(json!({"sessions": count})) }
}

fn names(dialect: Dialect) -> String {
    let timestamps = ["created_on", "last_seen_on", "ends_on"].map(|column| dialect.millis(column)).join(", ");
    format!("id, name, token_id, token_sha256, issuer, claim, claim_values, {timestamps}")
}

/// The columns of `names`.
impl FromRow for StoredSession {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, name, token_id) = columns.take::<(_, _, Option<String>)>()?;
        let basis = if let Some(id) = token_id {
            let DigestColumn(secret) = columns.take()?;
            columns.skip(3)?;
            SessionBasis::Token { id, secret }
        } else {
            columns.skip(1)?;
            let (issuer, claim) = columns.take()?;
            let JsonColumn(values) = columns.take()?;
            SessionBasis::Claims(ClaimValues { issuer, claim, values })
        };
        let (created_on, last_seen_on, ends_on) = columns.take()?;
        Ok(Self { id, name, basis, created_on, last_seen_on, ends_on })
    }
}

/// The content of a column that holds the SHA-256 of a secret.
struct DigestColumn(SecretDigest);

impl FromColumn for DigestColumn {
    const EXPECTED: &'static str = "a SHA-256 in hexadecimal digits";

    fn from_value(value: SqlValue) -> Option<Self> {
        SecretDigest::from_hex(&String::from_value(value)?).map(Self)
    }
}
