//! Attempts to sign in at the OIDC issuer: what the hub remembers while a browser is there. They are stored, because the browser may come back to another
//! replica.

use hub_api::timestamp::Timestamp;

use super::SessionError;
use crate::authentication::random_secret::RandomSecret;
use crate::limits::{SIGN_IN_ATTEMPTS_MAX, SIGN_IN_TIME_MAX};
use crate::store::{ColumnError, Columns, Database, DatabaseError, FromRow};

/// An attempt.
#[derive(Clone, Debug)]
pub struct SignInAttempt {
    /// The secret that the issuer returns with its answer (`state`).
    pub state: RandomSecret,
    /// The secret in the browser's cookie: the answer is accepted only from this browser.
    pub browser: RandomSecret,
    /// The value that the token of the issuer must contain (`nonce`).
    pub nonce: RandomSecret,
    /// The secret whose SHA-256 the issuer knows (PKCE, RFC 7636).
    pub verifier: RandomSecret,
    /// The path to return to.
    pub return_path: String,
}

impl SignInAttempt {
    /// A new attempt. `browser` is the secret that the browser has already, if it has one: it may sign in in several tabs at a time.
    ///
    /// # Errors
    /// There are no random numbers.
    pub fn new(browser: Option<RandomSecret>, return_path: String) -> Result<Self, SessionError> {
        let browser = browser.map_or_else(RandomSecret::random, Ok)?;
        let (state, nonce, verifier) = (RandomSecret::random()?, RandomSecret::random()?, RandomSecret::random()?);
        Ok(Self { state, browser, nonce, verifier, return_path })
    }
}

/// What is necessary to finish an attempt.
#[derive(Clone, Debug)]
pub struct PendingSignIn {
    /// The value that the token of the issuer must contain.
    pub nonce: String,
    /// The secret whose SHA-256 the issuer knows.
    pub verifier: String,
    /// The path to return to.
    pub return_path: String,
    started_on: Timestamp,
}

/// Stores an attempt. If there are too many, the oldest is forgotten: a flood of attempts must not fill the database.
///
/// # Errors
/// The database can't store the attempt.
pub async fn begin(database: &Database, attempt: &SignInAttempt) -> Result<(), DatabaseError> {
    let mut transaction = database.begin().await?;
    let surplus = format!(
        "delete from sign_in_attempt where state_sha256 in \
         (select state_sha256 from sign_in_attempt order by started_on desc limit {} offset {})",
        i64::MAX,
        SIGN_IN_ATTEMPTS_MAX - 1
    );
    transaction.execute(&surplus, vec![]).await?;
    let sql = format!(
        "insert into sign_in_attempt (state_sha256, browser_sha256, nonce, verifier, return_path, started_on) \
         values ($1, $2, $3, $4, $5, {})",
        database.dialect().instant("$6")
    );
    let values = vec![
        attempt.state.digest().into(),
        attempt.browser.digest().into(),
        attempt.nonce.reveal().into(),
        attempt.verifier.reveal().into(),
        attempt.return_path.as_str().into(),
        Timestamp::now().into(),
    ];
    transaction.execute(&sql, values).await?;
    transaction.commit().await
}

/// Takes an attempt: it can't be taken again. None: there is no such attempt, it is too old, or it began in another browser, which still can take it.
///
/// # Errors
/// The database can't delete the attempt.
pub async fn take(
    database: &Database,
    state: &RandomSecret,
    browser: &RandomSecret,
) -> Result<Option<PendingSignIn>, DatabaseError> {
    let sql = format!(
        "delete from sign_in_attempt where state_sha256 = $1 and browser_sha256 = $2 \
         returning nonce, verifier, return_path, {}",
        database.dialect().millis("started_on")
    );
    let mut transaction = database.begin().await?;
    let found = transaction.first::<PendingSignIn>(&sql, vec![state.digest().into(), browser.digest().into()]).await?;
    transaction.commit().await?;
    let now = Timestamp::now();
    Ok(found.filter(|pending| now < pending.started_on.after(SIGN_IN_TIME_MAX)))
}

/// Deletes the attempts that can't be finished any more.
///
/// # Errors
/// The database can't delete them.
pub async fn delete_old(database: &Database, now: Timestamp) -> Result<(), DatabaseError> {
    let condition = format!("started_on <= {}", database.dialect().instant("$1"));
    let values = vec![now.before(SIGN_IN_TIME_MAX).into()];
    // Usually there is nothing to delete, and a read blocks no other transaction.
    if !database.exists(&format!("select 1 from sign_in_attempt where {condition} limit 1"), values.clone()).await? {
        return Ok(());
    }
    let mut transaction = database.begin().await?;
    transaction.execute(&format!("delete from sign_in_attempt where {condition}"), values).await?;
    transaction.commit().await
}

impl FromRow for PendingSignIn {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (nonce, verifier, return_path, started_on) = columns.take()?;
        Ok(Self { nonce, verifier, return_path, started_on })
    }
}
