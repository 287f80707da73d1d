//! Tokens: the credentials of callers, with their permissions.
//!
//! A token is `kal_<id>_<secret>`. The hub stores the SHA-256 of the secret. It finds a token by its public id, and compares digests in constant time.

mod publishing;
mod reach;
mod scope;

use std::time::Duration;

use hub_api::audit::Action;
use hub_api::limits::NAME_CHARACTERS_MAX;
use hub_api::timestamp::Timestamp;
use hub_api::token::{RandomError, SecretDigest, TokenText};
use hub_api::tokens::{Group, HostScope, Reach, Scope, Token};
use serde::de::DeserializeOwned;

use crate::limits::REACH_NAMES_MAX;
use crate::management::audit::{self, AuditRecord};
use crate::store::{
    ColumnError, ColumnType, Columns, Database, DatabaseError, Dialect, FromColumn, FromRow, Rows, SqlValue,
};
pub use publishing::{PublishingError, check_environment, check_publication};
pub use reach::prune;
pub use scope::{Identity, claim};

/// The properties of a token to create.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its name, unique among the tokens that are not revoked.
    pub name: String,
    /// Its permissions.
    pub scope: Scope,
    /// Whether the hub accepts signatures with the token's key, besides the token itself.
    pub signs: bool,
    /// When it expires; never if there is none.
    pub expires_on: Option<Timestamp>,
}

/// A token can't be created, rotated or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name is empty, is too long, or contains control characters.
    #[error("`{0}` can't be the name of a token: 1 to {NAME_CHARACTERS_MAX} characters that can be read")]
    Name(String),
    /// The token is for signing, but has no permission to report: only reports are signed.
    #[error("only a token that may report can sign: reports are signed")]
    Signing,
    /// The workspaces or environments are invalid.
    #[error(
        "a token is limited to at most {REACH_NAMES_MAX} workspaces and {REACH_NAMES_MAX} environments, and none has an empty name"
    )]
    Reach,
    /// Another token has the name.
    #[error("there is a token `{0}` already")]
    Taken(String),
    /// No active token has this name or id.
    #[error("there is no token `{0}`, or it is revoked")]
    Unknown(String),
    /// The operating system returned no random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Why a token is not accepted although its id exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The secret is wrong.
    #[error("the token is not known")]
    Secret,
    /// The token was revoked.
    #[error("the token is revoked")]
    Revoked,
    /// The token has expired.
    #[error("the token has expired")]
    Expired,
}

/// A token with the digests that authenticate its owner.
#[derive(Clone, Debug)]
pub struct KnownToken {
    /// The token without secrets, as lists show it.
    pub token: Token,
    secret: Option<SecretDigest>,
    previous: Option<SecretDigest>,
}

impl KnownToken {
    /// The identity of a caller with this token.
    ///
    /// # Errors
    /// The secret is wrong; the token is revoked or has expired.
    pub fn recognize(&self, text: &TokenText, now: Timestamp) -> Result<Identity, Invalid> {
        let digest = text.digest();
        self.identity_if(now, |known| known.is(&digest))
    }

    /// The identity of the signer of a message.
    ///
    /// # Errors
    /// The signature is wrong; the token is not for signing, is revoked, or has expired.
    pub fn recognize_signature(&self, message: &[u8], signature: &str, now: Timestamp) -> Result<Identity, Invalid> {
        let signed = |known: &SecretDigest| known.signing_key(&self.token.id).is_of(message, signature);
        self.identity_if(now, |known| self.token.signs && signed(known))
    }

    /// The identity of a person who signed in with this token, from the SHA-256 of its secret at that time.
    ///
    /// # Errors
    /// The secret was replaced; the token is revoked or has expired.
    pub fn recognize_digest(&self, digest: &SecretDigest, now: Timestamp) -> Result<Identity, Invalid> {
        self.identity_if(now, |known| known.is(digest))
    }

    fn identity_if(&self, now: Timestamp, is_right: impl Fn(&SecretDigest) -> bool) -> Result<Identity, Invalid> {
        let previous = self.previous.as_ref().filter(|_| self.token.previous_until.is_some_and(|until| now < until));
        if ![self.secret.as_ref(), previous].into_iter().flatten().any(is_right) {
            return Err(Invalid::Secret);
        }
        if self.token.revoked_on.is_some() {
            return Err(Invalid::Revoked);
        }
        if self.token.expires_on.is_some_and(|end| end <= now) {
            return Err(Invalid::Expired);
        }
        Ok(Identity::new(self.token.name.clone(), self.token.scope.clone()))
    }
}

/// Creates a token. The audit log names the actor. The hub does not store the text of the token: only the caller has it.
///
/// # Errors
/// A property of the token is invalid; the name is in use; there are no random numbers; the database can't store the token.
pub async fn create(database: &Database, token: &NewToken, actor: &str) -> Result<TokenText, TokenError> {
    let length = token.name.chars().count();
    if token.name.trim() != token.name
        || !(1..=NAME_CHARACTERS_MAX).contains(&length)
        || token.name.chars().any(char::is_control)
    {
        return Err(TokenError::Name(token.name.clone()));
    }
    if token.signs && !token.scope.may_report() {
        return Err(TokenError::Signing);
    }
    if !reach::is_usable(token.scope.reach()) || !reach::are_usable(token.scope.environments()) {
        return Err(TokenError::Reach);
    }
    let text = TokenText::random()?.signing(token.signs);
    let mut transaction = database.begin().await?;
    let dialect = database.dialect();
    let sql = format!(
        "insert into token (id, name, role, host, reconciler_types, places, labels, signs, secret_sha256, created_on, expires_on, workspaces, environments)
         values ($1, $2, $3, $4, $5, $6, $7, {}, $9, {}, {}, $12, $13) on conflict (name) where revoked_on is null do nothing returning id",
        "cast($8 as integer)",
        dialect.instant("$10"),
        dialect.instant("$11"),
    );
    let (role, host, group) = columns(&token.scope);
    let json = |list: &[String]| serde_json::json!(list).to_string();
    let values = vec![
        text.id().into(),
        token.name.as_str().into(),
        role.into(),
        host.into(),
        json(&group.reconciler_types).into(),
        json(&group.places).into(),
        serde_json::json!(group.labels).to_string().into(),
        token.signs.into(),
        text.digest().to_hex().into(),
        Timestamp::now().into(),
        token.expires_on.into(),
        json(&token.scope.reach().workspaces).into(),
        json(token.scope.environments()).into(),
    ];
    if !transaction.exists(&sql, values).await? {
        return Err(TokenError::Taken(token.name.clone()));
    }
    let mut detail = serde_json::json!(token.scope);
    detail["id"] = text.id().into();
    detail["signs"] = token.signs.into();
    detail["expiresOn"] = serde_json::json!(token.expires_on);
    let (action, subject) = (Action::TokenCreate, token.name.as_str());
    audit::note(&mut transaction, AuditRecord { actor, action, subject, detail: Some(detail) }).await?;
    transaction.commit().await?;
    Ok(text)
}

/// All tokens, also revoked ones, sorted by name.
///
/// # Errors
/// The database can't answer.
pub async fn list(database: &Database) -> Result<Vec<Token>, DatabaseError> {
    let sql = format!("select {} from token order by name, created_on, id", names(database.dialect()));
    Ok(database.query(&sql, vec![]).await?.into_iter().map(|KnownToken { token, .. }| token).collect())
}

/// The token with an id.
///
/// # Errors
/// The database can't answer.
pub async fn find(database: &Database, id: &str) -> Result<Option<KnownToken>, DatabaseError> {
    let sql = format!("select {} from token where id = $1", names(database.dialect()));
    database.first(&sql, vec![id.into()]).await
}

/// Whether a token was ever created.
///
/// # Errors
/// The database can't answer.
pub async fn any(database: &Database) -> Result<bool, DatabaseError> {
    database.exists("select id from token limit 1", vec![]).await
}

/// Revokes the token with this name or id. The audit log names the actor.
///
/// # Errors
/// No active token has this name or id; the database can't store the change.
pub async fn revoke(database: &Database, name: &str, actor: &str) -> Result<(), TokenError> {
    let mut transaction = database.begin().await?;
    let now = database.dialect().instant("$2");
    let sql = format!(
        "update token set revoked_on = {now} where (name = $1 or id = $1) and revoked_on is null returning id, name"
    );
    let revoked: Option<(String, String)> = transaction.first(&sql, vec![name.into(), Timestamp::now().into()]).await?;
    let (id, name) = revoked.ok_or_else(|| TokenError::Unknown(name.to_owned()))?;
    let detail = serde_json::json!({"id": id});
    let action = Action::TokenRevoke;
    audit::note(&mut transaction, AuditRecord { actor, action, subject: &name, detail: Some(detail) }).await?;
    Ok(transaction.commit().await?)
}

/// Gives the token with this name or id a new secret. The old secret stays valid for some time. The audit log names the actor.
///
/// # Errors
/// No active token has this name or id; the database can't store the change.
pub async fn rotate(
    database: &Database,
    name: &str,
    (grace, actor): (Duration, &str),
) -> Result<TokenText, TokenError> {
    let unknown = || TokenError::Unknown(name.to_owned());
    let mut transaction = database.begin().await?;
    let found = "select id, signs, name from token where (name = $1 or id = $1) and revoked_on is null";
    let found = format!("{found}{}", database.dialect().for_update("token"));
    let found: Option<(String, bool, String)> = transaction.first(&found, vec![name.into()]).await?;
    let (id, signs, name) = found.ok_or_else(unknown)?;
    let text = TokenText::renewed(&id)?.signing(signs);
    let until = database.dialect().instant("$3");
    let sql = format!(
        "update token set previous_sha256 = secret_sha256, previous_until = {until}, secret_sha256 = $2 where id = $1"
    );
    let values = vec![text.id().into(), text.digest().to_hex().into(), Timestamp::now().after(grace).into()];
    transaction.execute(&sql, values).await?;
    let detail = serde_json::json!({"id": text.id(), "graceSeconds": grace.as_secs()});
    let action = Action::TokenRotate;
    audit::note(&mut transaction, AuditRecord { actor, action, subject: &name, detail: Some(detail) }).await?;
    transaction.commit().await?;
    Ok(text)
}

/// Stores when tokens were last used.
///
/// # Errors
/// The database can't store the times.
pub(crate) async fn touch(database: &Database, used: Vec<(String, Timestamp)>) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("id", ColumnType::Text), ("used_on", ColumnType::Timestamp)]);
    used.into_iter().for_each(|(id, timestamp)| rows.push(vec![id.into(), timestamp.into()]));
    let mut transaction = database.begin().await?;
    let sql = "update token set last_used_on = source.used_on from source where token.id = source.id";
    transaction.execute_with(rows, sql).await?;
    transaction.commit().await
}

fn columns(scope: &Scope) -> (&'static str, Option<&str>, Group) {
    match scope {
        Scope::Host(HostScope { host, places, .. }) => {
            ("host", Some(host), Group { places: places.clone(), ..Group::default() })
        }
        Scope::Group(group) => ("group", Some(&group.hosts), group.clone()),
        // The name of a role in the database never changes.
        Scope::Read(_) => ("read", None, Group::default()),
        _ => (scope.role(), None, Group::default()),
    }
}

fn names(dialect: Dialect) -> String {
    let timestamps = ["created_on", "expires_on", "revoked_on", "last_used_on", "previous_until"];
    let timestamps = timestamps.map(|column| dialect.millis(column)).join(", ");
    format!(
        "id, name, role, host, reconciler_types, places, labels, signs, secret_sha256, previous_sha256, {timestamps}, workspaces, environments"
    )
}

/// The columns of `names`.
impl FromRow for KnownToken {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, name, RoleName(role), host) = columns.take::<(_, _, _, Option<String>)>()?;
        let JsonColumn(reconciler_types) = columns.take()?;
        let JsonColumn(places) = columns.take()?;
        let JsonColumn(labels) = columns.take()?;
        let (signs, secret, previous) = columns.take::<(_, String, Option<String>)>()?;
        let (created_on, expires_on, revoked_on, last_used_on, previous_until) = columns.take()?;
        let JsonColumn(workspaces) = columns.take()?;
        let JsonColumn(environments) = columns.take()?;
        let host = host.unwrap_or_default();
        let scope = match role.as_str() {
            "host" => Scope::Host(HostScope { host, places, environments }),
            "group" => Scope::Group(Group { hosts: host, reconciler_types, places, labels, environments }),
            "approver" => Scope::Approver(Reach { workspaces, environments }),
            "operator" => Scope::Operator(Reach { workspaces, environments }),
            "publish" => Scope::Publish(Reach { workspaces, environments }),
            "manage" => Scope::Manage,
            "admin" => Scope::Admin,
            _ => Scope::Read(Reach { workspaces, environments }),
        };
        let token = Token { id, name, scope, signs, created_on, expires_on, revoked_on, last_used_on, previous_until };
        let previous = previous.as_deref().and_then(SecretDigest::from_hex);
        Ok(Self { token, secret: SecretDigest::from_hex(&secret), previous })
    }
}

/// The content of a column that holds JSON.
pub(crate) struct JsonColumn<T>(pub(crate) T);

impl<T: DeserializeOwned> FromColumn for JsonColumn<T> {
    const EXPECTED: &'static str = "a list or labels as JSON";

    fn from_value(value: SqlValue) -> Option<Self> {
        serde_json::from_str(&String::from_value(value)?).ok().map(Self)
    }
}

/// The name of a role in a column. An unknown role is an error: it must not give a token the permissions of another role.
struct RoleName(String);

impl FromColumn for RoleName {
    const EXPECTED: &'static str = "the role of a token";

    fn from_value(value: SqlValue) -> Option<Self> {
        const ROLES: [&str; 8] = ["host", "group", "read", "approver", "operator", "publish", "manage", "admin"];
        String::from_value(value).filter(|role| ROLES.contains(&role.as_str())).map(Self)
    }
}
