//! Authenticates callers: tokens and OIDC, with a short-lived cache.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::Scope;
use tokio::time::Instant;

use crate::authentication::oidc::{Issuer, OidcError};
use crate::authentication::tokens::{self, Identity, Invalid, KnownToken};
use crate::limits::{TOKEN_CACHE, TOKENS_REMEMBERED_MAX};
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
}

/// When a token was read, and the token; none if no token has the id.
type CachedToken = (Instant, Option<Arc<KnownToken>>);

/// The caller is refused.
#[derive(Debug, thiserror::Error)]
pub enum AccessRefusal {
    /// The request has no credentials.
    #[error("the request has no token")]
    Missing,
    /// The credentials are invalid.
    #[error("{0}")]
    Invalid(String),
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
        let (is_closed, known, used) = Default::default();
        Self(Arc::new(Inner { database, issuer, may_be_open, is_closed, known, used }))
    }

    /// The identity of a caller with this `Authorization` header.
    ///
    /// # Errors
    /// The credentials are missing, invalid, or can't be checked.
    pub async fn identify(&self, authorization: Option<&str>) -> Result<Identity, AccessRefusal> {
        let Some(authorization) = authorization else {
            return if self.is_open().await? { Ok(anybody()) } else { Err(AccessRefusal::Missing) };
        };
        let (scheme, credential) = authorization.trim().split_once(' ').unwrap_or_default();
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(AccessRefusal::Invalid("the header `Authorization` is not `Bearer TOKEN`".to_owned()));
        }
        match (credential.trim().parse::<TokenText>(), &self.0.issuer) {
            (Ok(text), _) => {
                let token = self.token(text.id()).await?.ok_or(Invalid::Secret)?;
                let identity = token.recognize(&text, Timestamp::now())?;
                self.note_use(text.id());
                Ok(identity)
            }
            (Err(_), Some(issuer)) => Ok(issuer.identify(credential.trim()).await?),
            (Err(error), None) => Err(AccessRefusal::Invalid(error.to_string())),
        }
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

    /// Stores when tokens were last used.
    ///
    /// # Errors
    /// The database can't store it.
    pub async fn write_uses(&self) -> Result<(), DatabaseError> {
        let used = std::mem::take(&mut *self.0.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return Ok(());
        }
        tokens::touch(&self.0.database, used.into_iter().collect()).await
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
        authority.identify(authorization).await.map_or_else(|refusal| refusal.to_string(), |identity| identity.name)
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
