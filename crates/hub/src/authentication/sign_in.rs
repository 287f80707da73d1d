//! Signs people in: with a token, or at the OIDC issuer.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hub_api::sessions::SignInFailure;
use reqwest::Url;
use tokio::time::Instant;

use super::authority::{AcceptedToken, AccessRefusal, Authority};
use super::oidc::{Issuer, OidcClient, OidcError, shown_code};
use super::random_secret::RandomSecret;
use super::sessions::attempts::{self, PendingSignIn, SignInAttempt};
use super::sessions::{self, NewSession, SessionError, StoredSession};
use crate::limits::WRONG_SIGN_INS_MAX;
use crate::store::DatabaseError;

/// The answer of the OIDC issuer, which the browser brings.
#[derive(Clone, Debug)]
pub struct IssuerAnswer {
    /// The code for the token endpoint; none if the issuer refused.
    pub code: Option<String>,
    /// The error code of the issuer.
    pub error: Option<String>,
    /// The issuer, if it names itself (RFC 9207).
    pub issuer: Option<String>,
}

/// A person who signed in: the secret for the cookie, and the session.
pub type SignedIn = (RandomSecret, StoredSession);

impl Authority {
    /// Signs the owner of a token in. The session `replaced`, which the browser had before, ends.
    ///
    /// # Errors
    /// The token is wrong, or may not read; there is no answer at the moment.
    pub async fn sign_in_with_token(
        &self,
        token: &str,
        replaced: Option<&RandomSecret>,
    ) -> Result<SignedIn, SignInFailure> {
        let AcceptedToken { identity, basis, expires_on } = self.accept(token).await?;
        if !identity.may_read() {
            return Err(SignInFailure::NoPermission);
        }
        let session = NewSession { name: identity.name, basis, expires_on };
        self.create_session(&session, replaced).await
    }

    /// Begins to sign a person in at the OIDC issuer: the attempt, and the address of the issuer.
    ///
    /// # Errors
    /// The hub is no client of an issuer; the issuer or the database can't be used.
    pub async fn begin_sign_in(
        &self,
        browser: Option<RandomSecret>,
        return_path: String,
    ) -> Result<(SignInAttempt, Url), SignInFailure> {
        let (issuer, client) = self.client().ok_or(SignInFailure::NotConfigured)?;
        let attempt = SignInAttempt::new(browser, return_path)?;
        let url = issuer.authorization_url(client, &attempt).await?;
        attempts::begin(self.database(), &attempt).await?;
        Ok((attempt, url))
    }

    /// Takes the attempt that a browser began. It can be taken once.
    ///
    /// # Errors
    /// There is no such attempt, it is too old, or another browser began it; the database can't be used.
    pub async fn take_sign_in(
        &self,
        state: &RandomSecret,
        browser: &RandomSecret,
    ) -> Result<PendingSignIn, SignInFailure> {
        attempts::take(self.database(), state, browser).await?.ok_or(SignInFailure::Expired)
    }

    /// Signs a person in with the answer of the OIDC issuer to an attempt.
    ///
    /// # Errors
    /// The issuer refused, or its answer is not valid; the account may not read; the issuer or the database can't be used.
    pub async fn finish_sign_in(
        &self,
        answer: &IssuerAnswer,
        attempt: &PendingSignIn,
        replaced: Option<&RandomSecret>,
    ) -> Result<SignedIn, SignInFailure> {
        let (issuer, client) = self.client().ok_or(SignInFailure::NotConfigured)?;
        if answer.issuer.as_ref().is_some_and(|name| !issuer.is_called(name)) {
            tracing::warn!("the answer to a sign-in is of another OIDC issuer");
            return Err(SignInFailure::Provider);
        }
        let Some(code) = answer.code.as_deref().filter(|_| answer.error.is_none()) else {
            let error = answer.error.as_deref().unwrap_or_default();
            tracing::warn!(error = shown_code(error), "the OIDC issuer refuses to sign a person in");
            let is_denied = error == "access_denied";
            return Err(if is_denied { SignInFailure::Denied } else { SignInFailure::Provider });
        };
        let account = issuer.exchange((client, code), attempt).await?;
        let identity = issuer.identity(&account)?;
        if !identity.may_read() {
            return Err(SignInFailure::NoPermission);
        }
        let session = NewSession { name: identity.name, basis: issuer.basis(account), expires_on: None };
        self.create_session(&session, replaced).await
    }

    /// The OIDC issuer and the hub as its client, if people can sign in there.
    fn client(&self) -> Option<(&Issuer, &OidcClient)> {
        let issuer = self.issuer()?;
        Some((issuer, issuer.client()?))
    }

    async fn create_session(
        &self,
        session: &NewSession,
        replaced: Option<&RandomSecret>,
    ) -> Result<SignedIn, SignInFailure> {
        let replaced = replaced.map(RandomSecret::digest);
        Ok(sessions::create(self.database(), session, replaced.as_deref()).await?)
    }
}

impl From<AccessRefusal> for SignInFailure {
    fn from(refusal: AccessRefusal) -> Self {
        match refusal {
            AccessRefusal::Missing | AccessRefusal::Invalid(_) | AccessRefusal::Session(_) => Self::WrongToken,
            AccessRefusal::Forbidden(_) => Self::NoPermission,
            AccessRefusal::Unavailable(reason) => unavailable(&reason),
        }
    }
}

impl From<OidcError> for SignInFailure {
    fn from(error: OidcError) -> Self {
        tracing::warn!(%error, "a person can't sign in at the OIDC issuer");
        match error {
            OidcError::NoRole(_) => Self::NoPermission,
            OidcError::Token(_) | OidcError::Unreachable(_) => Self::Provider,
        }
    }
}

impl From<SessionError> for SignInFailure {
    fn from(error: SessionError) -> Self {
        unavailable(&error.to_string())
    }
}

impl From<DatabaseError> for SignInFailure {
    fn from(error: DatabaseError) -> Self {
        unavailable(&error.to_string())
    }
}

fn unavailable(reason: &str) -> SignInFailure {
    tracing::warn!(reason, "a person can't sign in now");
    SignInFailure::Unavailable
}

/// The wrong tokens of the last minute, of all browsers together. It has a limited size.
#[derive(Debug, Default)]
pub(crate) struct WrongSignIns(Mutex<VecDeque<Instant>>);

impl WrongSignIns {
    /// Whether there were fewer than [`WRONG_SIGN_INS_MAX`].
    pub(crate) fn may_try(&self) -> bool {
        let mut wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while wrong.front().is_some_and(|attempt| attempt.elapsed() >= Duration::from_mins(1)) {
            wrong.pop_front();
        }
        wrong.len() < WRONG_SIGN_INS_MAX
    }

    /// Notes a wrong token.
    pub(crate) fn note(&self) {
        let mut wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.truncate(WRONG_SIGN_INS_MAX - 1);
        wrong.push_back(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_are_limited_for_a_minute() {
        let wrong = WrongSignIns::default();
        (0..WRONG_SIGN_INS_MAX - 1).for_each(|_| wrong.note());
        assert!(wrong.may_try());
        (0..10).for_each(|_| wrong.note());
        assert!(!wrong.may_try());
        tokio::time::advance(Duration::from_mins(1)).await;
        assert!(wrong.may_try());
        assert!(wrong.0.lock().unwrap().is_empty());
    }
}
