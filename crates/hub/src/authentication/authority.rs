//! Authenticates callers: tokens, OIDC and sessions, with a short-lived cache.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::Scope;
use tokio::time::Instant;

use crate::authentication::oidc::{Issuer, OidcError};
use crate::authentication::random_secret::RandomSecret;
use crate::authentication::sessions::{self, SessionBasis, StoredSession};
use crate::authentication::tokens::{self, Identity, Invalid, KnownToken};
use crate::limits::{SESSION_SEEN_NOTED, SESSIONS_REMEMBERED_MAX, TOKEN_CACHE, TOKENS_REMEMBERED_MAX};
use crate::management::views::ViewOwner;
use crate::store::{Database, DatabaseError};

/// Authenticates callers. Clones share the cache.
#[derive(Clone, Debug)]
pub struct Authority(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    database: Database,
    issuer: Option<Issuer>,
    /// Whether all callers have all permissions as long as no token was ever created.
    may_be_open: bool,
    /// Whether a token was ever created. It never changes back to false.
    is_closed: AtomicBool,
    known: Mutex<HashMap<String, CachedToken>>,
    used: Mutex<HashMap<String, Timestamp>>,
    /// The sessions whose last use is not stored yet, by their ids.
    seen: Mutex<HashMap<String, Timestamp>>,
}

/// When a token was read, and the token; none if no token has the id.
type CachedToken = (Instant, Option<Arc<KnownToken>>);

/// What a request has to authenticate its sender.
#[derive(Clone, Debug, Default)]
pub struct Credentials<'a> {
    /// The header `Authorization`. With it, cookies do not count.
    pub authorization: Option<&'a str>,
    /// The values of all cookies of sessions. A browser never sends several.
    pub cookies: Vec<&'a str>,
}

/// An authenticated caller.
#[derive(Clone, Debug)]
pub struct Authentication {
    /// The name and the permissions.
    pub identity: Identity,
    /// What the caller was authenticated by.
    pub proof: Proof,
}

impl Authentication {
    /// The caller as the owner of views: the same person with a token, and in a session that began with it.
    pub fn view_owner(&self) -> ViewOwner {
        let basis = match &self.proof {
            Proof::Token(basis) => Some(basis),
            Proof::Session(session) => Some(&session.basis),
            Proof::Open => None,
        };
        let issuer = match basis {
            Some(SessionBasis::Claims(claims)) => claims.issuer.clone(),
            Some(SessionBasis::Token { .. }) | None => String::new(),
        };
        ViewOwner { issuer, name: self.identity.name.clone() }
    }
}

/// What a caller was authenticated by.
#[derive(Clone, Debug)]
pub enum Proof {
    /// A token, of the hub or of the OIDC issuer: what a session of its owner would refer to.
    Token(SessionBasis),
    /// A session.
    Session(Box<StoredSession>),
    /// Nothing: the hub is open to its machine.
    Open,
}

/// A token that is accepted.
#[derive(Debug)]
pub(super) struct AcceptedToken {
    pub(super) identity: Identity,
    /// What a session of its owner refers to.
    pub(super) basis: SessionBasis,
    /// When it expires, if a session must not outlive it.
    pub(super) expires_on: Option<Timestamp>,
}

/// The caller is refused.
#[derive(Debug, thiserror::Error)]
pub enum AccessRefusal {
    /// The request has no credentials.
    #[error("the request has no token")]
    Missing,
    /// The credentials are invalid.
    #[error("{0}")]
    Invalid(String),
    /// The session has ended, or never existed.
    #[error("the session is not valid: {0}")]
    Session(String),
    /// The caller is authenticated, but has no permissions.
    #[error("{0}")]
    Forbidden(String),
    /// The credentials can't be checked at the moment.
    #[error("the caller can't be authenticated now: {0}")]
    Unavailable(String),
}

impl From<Invalid> for AccessRefusal {
    fn from(error: Invalid) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<DatabaseError> for AccessRefusal {
    fn from(error: DatabaseError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<OidcError> for AccessRefusal {
    fn from(error: OidcError) -> Self {
        match error {
            OidcError::Token(_) => Self::Invalid(error.to_string()),
            OidcError::NoRole(_) => Self::Forbidden(error.to_string()),
            OidcError::Unreachable(_) => Self::Unavailable(error.to_string()),
        }
    }
}

impl Authority {
    /// Accepts the tokens of a database, and the tokens of an issuer. With `may_be_open`, all callers have all permissions as long as no token was ever
    /// created and there is no issuer.
    pub fn new(database: Database, issuer: Option<Issuer>, may_be_open: bool) -> Self {
        let may_be_open = may_be_open && issuer.is_none();
        let (is_closed, known, used, seen) = Default::default();
        Self(Arc::new(Inner { database, issuer, may_be_open, is_closed, known, used, seen }))
    }

    /// The OIDC issuer, if there is one.
    pub fn issuer(&self) -> Option<&Issuer> {
        self.0.issuer.as_ref()
    }

    /// The database with the tokens and sessions.
    pub(super) fn database(&self) -> &Database {
        &self.0.database
    }

    /// Authenticates the sender of a request: by its header, or else by its session. In a hub that is open, nobody has to sign in.
    ///
    /// # Errors
    /// The credentials are missing, invalid, or can't be checked.
    pub async fn authenticate(&self, credentials: &Credentials<'_>) -> Result<Authentication, AccessRefusal> {
        if let Some(authorization) = credentials.authorization {
            let (scheme, token) = authorization.trim().split_once(' ').unwrap_or_default();
            if !scheme.eq_ignore_ascii_case("bearer") {
                return Err(AccessRefusal::Invalid("the header `Authorization` is not `Bearer TOKEN`".to_owned()));
            }
            let AcceptedToken { identity, basis, .. } = self.accept(token.trim()).await?;
            return Ok(Authentication { identity, proof: Proof::Token(basis) });
        }
        match self.session(&credentials.cookies).await {
            Ok(authentication) => Ok(authentication),
            Err(_) if self.is_open().await? => Ok(Authentication { identity: anybody(), proof: Proof::Open }),
            Err(refusal) => Err(refusal),
        }
    }

    /// Checks a token, of the hub or of the OIDC issuer.
    ///
    /// # Errors
    /// The token is invalid, or can't be checked.
    pub(super) async fn accept(&self, token: &str) -> Result<AcceptedToken, AccessRefusal> {
        match (token.parse::<TokenText>(), &self.0.issuer) {
            (Ok(text), _) => {
                let token = self.token(text.id()).await?.ok_or(Invalid::Secret)?;
                let identity = token.recognize(&text, Timestamp::now())?;
                self.note_use(text.id());
                let basis = SessionBasis::Token { id: text.id().to_owned(), secret: text.digest() };
                Ok(AcceptedToken { identity, basis, expires_on: token.token.expires_on })
            }
            (Err(_), Some(issuer)) => {
                let account = issuer.account(token).await?;
                let identity = issuer.identity(&account)?;
                let (expires_on, basis) = (account.expires_on, issuer.basis(account));
                Ok(AcceptedToken { identity, basis, expires_on })
            }
            (Err(error), None) => Err(AccessRefusal::Invalid(error.to_string())),
        }
    }

    /// Authenticates the owner of a session by the values of its cookie. What the session refers to is checked at each use.
    async fn session(&self, cookies: &[&str]) -> Result<Authentication, AccessRefusal> {
        let (session, identity) = self.owner(cookies).await?;
        if let SessionBasis::Token { id, .. } = &session.basis {
            self.note_use(id);
        }
        self.note_seen(&session, Timestamp::now());
        Ok(Authentication { identity, proof: Proof::Session(Box::new(session)) })
    }

    /// A valid session and its owner. This is no use of the session.
    async fn owner(&self, cookies: &[&str]) -> Result<(StoredSession, Identity), AccessRefusal> {
        let refused = |reason: &str| AccessRefusal::Session(reason.to_owned());
        let secret = match cookies {
            [] => return Err(AccessRefusal::Missing),
            [cookie] => RandomSecret::parse(cookie).ok_or_else(|| refused("its cookie can't be read"))?,
            _ => return Err(refused("the request has several cookies of sessions")),
        };
        let (now, session) = (Timestamp::now(), sessions::find(&self.0.database, &secret).await?);
        let session = session.filter(|session| session.is_valid_at(now)).ok_or_else(|| refused("it has ended"))?;
        let identity = match &session.basis {
            SessionBasis::Token { id, secret } => {
                let token = self.token(id).await?.ok_or_else(|| refused("its token does not exist any more"))?;
                token.recognize_digest(secret, now).map_err(|error| refused(&error.to_string()))?
            }
            SessionBasis::Claims(claims) => {
                let issuer = self.0.issuer.as_ref().filter(|issuer| issuer.is_of(claims));
                let issuer = issuer.ok_or_else(|| refused("its OIDC issuer is not configured any more"))?;
                issuer.identity_of(&session.name, &claims.values)?
            }
        };
        Ok((session, identity))
    }

    /// The identity of a caller whose request is still open, such as a stream. An open page is no use of its session: without a person, the session ends.
    ///
    /// # Errors
    /// The credentials are not valid any more, or can't be checked.
    pub async fn check_again(&self, credentials: &Credentials<'_>) -> Result<Identity, AccessRefusal> {
        if credentials.authorization.is_none()
            && let Ok((_, identity)) = self.owner(&credentials.cookies).await
        {
            return Ok(identity);
        }
        // A token, a hub that is open to everyone, or the reason why the session is not valid.
        self.authenticate(credentials).await.map(|authentication| authentication.identity)
    }

    /// The identity of the signer of a message, whose key belongs to the token with this id.
    ///
    /// # Errors
    /// The token is not known or not for signing; the signature is wrong; the token can't be read.
    pub async fn identify_signature(
        &self,
        id: &str,
        message: &[u8],
        signature: &str,
    ) -> Result<Identity, AccessRefusal> {
        let token = self.token(id).await?.ok_or(Invalid::Secret)?;
        let identity = token.recognize_signature(message, signature, Timestamp::now())?;
        self.note_use(id);
        Ok(identity)
    }

    /// Whether all callers have all permissions.
    ///
    /// # Errors
    /// The database can't answer.
    pub async fn is_open(&self) -> Result<bool, DatabaseError> {
        if !self.0.may_be_open || self.0.is_closed.load(Ordering::Acquire) {
            return Ok(false);
        }
        let is_closed = tokens::any(&self.0.database).await?;
        self.0.is_closed.store(is_closed, Ordering::Release);
        Ok(!is_closed)
    }

    /// Stores when tokens and sessions were last used.
    ///
    /// # Errors
    /// The database can't store it.
    pub async fn write_uses(&self) -> Result<(), DatabaseError> {
        let take = |uses: &Mutex<HashMap<String, Timestamp>>| {
            std::mem::take(&mut *uses.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect::<Vec<_>>()
        };
        let (used, seen) = (take(&self.0.used), take(&self.0.seen));
        if !used.is_empty() {
            tokens::touch(&self.0.database, used).await?;
        }
        if !seen.is_empty() {
            sessions::touch(&self.0.database, seen).await?;
        }
        Ok(())
    }

    /// A token from the cache, at most [`TOKEN_CACHE`] old, or from the database. Ids without a token are cached, too.
    async fn token(&self, id: &str) -> Result<Option<Arc<KnownToken>>, DatabaseError> {
        let known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if let Some((_, token)) = known.filter(|(looked_up, _)| looked_up.elapsed() < TOKEN_CACHE) {
            return Ok(token);
        }
        let looked_up = Instant::now();
        let token = tokens::find(&self.0.database, id).await?.map(Arc::new);
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= TOKENS_REMEMBERED_MAX {
            known.retain(|_, (looked_up, _)| looked_up.elapsed() < TOKEN_CACHE);
        }
        if known.len() >= TOKENS_REMEMBERED_MAX {
            known.clear();
        }
        known.insert(id.to_owned(), (looked_up, token.clone()));
        Ok(token)
    }

    fn note_use(&self, id: &str) {
        let mut used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() < TOKENS_REMEMBERED_MAX || used.contains_key(id) {
            used.insert(id.to_owned(), Timestamp::now());
        }
    }

    /// Remembers the use of a session if the stored one is old, or in the future because the clock was set back.
    fn note_seen(&self, session: &StoredSession, now: Timestamp) {
        if now < session.last_seen_on.after(SESSION_SEEN_NOTED) && session.last_seen_on <= now.after(SESSION_SEEN_NOTED)
        {
            return;
        }
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < SESSIONS_REMEMBERED_MAX || seen.contains_key(&session.id) {
            seen.insert(session.id.clone(), now);
        }
    }
}

fn anybody() -> Identity {
    Identity::new("anybody on this machine", Scope::Admin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::tokens::NewToken;
    use crate::store::DatabaseUrl;
    use hub_api::tokens::Reach;

    async fn authority(may_be_open: bool) -> (Database, Authority) {
        let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
        (database.clone(), Authority::new(database, None, may_be_open))
    }

    async fn token(database: &Database) -> TokenText {
        let token = NewToken { name: "t".into(), scope: Scope::Read(Reach::ALL), signs: false, expires_on: None };
        tokens::create(database, &token, "test").await.unwrap()
    }

    async fn check(authority: &Authority, authorization: Option<&str>) -> String {
        let credentials = Credentials { authorization, ..Credentials::default() };
        let authenticated = authority.authenticate(&credentials).await;
        authenticated.map_or_else(|refusal| refusal.to_string(), |authentication| authentication.identity.name)
    }

    #[tokio::test]
    async fn hub_is_open_until_a_token_was_created() {
        let (database, authority) = authority(true).await;
        assert_eq!(check(&authority, None).await, "anybody on this machine");
        token(&database).await;
        tokens::revoke(&database, "t", "test").await.unwrap();
        let replica = Authority::new(database, None, true);
        assert_eq!(check(&replica, None).await, "the request has no token");
    }

    #[tokio::test]
    async fn token_is_required_unless_the_hub_may_be_open() {
        let (_, authority) = authority(false).await;
        assert_eq!(check(&authority, None).await, "the request has no token");
    }

    #[tokio::test]
    async fn only_known_bearer_tokens_are_accepted() {
        let (database, authority) = authority(false).await;
        let text = token(&database).await.reveal();
        assert_eq!(check(&authority, Some(&format!("Bearer {text}"))).await, "t");
        assert_eq!(check(&authority, Some(&format!("bearer  {text} "))).await, "t");
        let forged = TokenText::random().unwrap().reveal();
        assert_eq!(check(&authority, Some(&format!("Bearer {forged}"))).await, "the token is not known");
        for wrong in ["", "Bearer", "Basic x", &text] {
            assert!(check(&authority, Some(wrong)).await.contains("`Bearer TOKEN`"), "{wrong}");
        }
    }

    #[tokio::test]
    async fn last_use_of_a_token_is_stored() {
        let (database, authority) = authority(false).await;
        let text = token(&database).await;
        check(&authority, Some(&format!("Bearer {}", text.reveal()))).await;
        authority.write_uses().await.unwrap();
        assert!(tokens::list(&database).await.unwrap()[0].last_used_on.is_some());
    }
}
