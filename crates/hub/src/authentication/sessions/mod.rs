//! Sessions of people who signed in with a browser.
//!
//! The browser has a secret in a cookie, and the hub its SHA-256. A session has no permissions of its own: it refers to a token, or to the values of the
//! claim of an OIDC issuer, and both are evaluated at each use.

pub mod attempts;
mod store;

use std::time::Duration;

use hub_api::sessions::Session;
use hub_api::timestamp::Timestamp;
use hub_api::token::SecretDigest;

use crate::limits::{SESSION_AGE_MAX, SESSION_CLOCK_SKEW, SESSION_IDLE_MAX, SESSIONS_CLEANED};
use crate::store::{Database, DatabaseError};
pub(crate) use store::touch;
pub use store::{create, delete_ended, end, end_everywhere, end_of, find, list};

/// What gives a session its permissions.
#[derive(Clone, Debug)]
pub enum SessionBasis {
    /// A token of the hub, with the SHA-256 of its secret at sign-in: a revoked, expired or rotated token ends the session.
    Token {
        /// The public id of the token.
        id: String,
        /// The SHA-256 of its secret.
        secret: SecretDigest,
    },
    /// The account of an OIDC issuer: the current configuration gives permissions to the values.
    Claims(ClaimValues),
}

/// The values of the claim of an account, as they were at sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimValues {
    /// The URL of the OIDC issuer.
    pub issuer: String,
    /// The claim.
    pub claim: String,
    /// Its values.
    pub values: Vec<String>,
}

/// A session to create.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The name of the token, or the subject at the OIDC issuer.
    pub name: String,
    /// What gives the permissions.
    pub basis: SessionBasis,
    /// The time at which the token expires that the person signed in with; none if it has no influence on the session.
    pub expires_on: Option<Timestamp>,
}

impl NewSession {
    /// When it ends in any case.
    fn ends_on(&self, now: Timestamp) -> Timestamp {
        let end = now.after(SESSION_AGE_MAX);
        self.expires_on.map_or(end, |expires_on| expires_on.min(end))
    }
}

/// A session as it is stored.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// The SHA-256 of its secret, in hexadecimal digits.
    pub id: String,
    /// The name of the token, or the subject at the OIDC issuer.
    pub name: String,
    /// What gives the permissions.
    pub basis: SessionBasis,
    /// When the person signed in.
    pub created_on: Timestamp,
    /// When it was last used, as far as that is stored.
    pub last_seen_on: Timestamp,
    /// When it ends in any case.
    pub ends_on: Timestamp,
}

impl StoredSession {
    /// When it ends if it is not used until then.
    pub fn idle_end(&self) -> Timestamp {
        self.last_seen_on.after(SESSION_IDLE_MAX).min(self.ends_on)
    }

    /// Whether it is valid at a time. It is not valid before its creation: otherwise a clock that is set back would extend it.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.ends_on && now < self.idle_end() && self.created_on <= now.after(SESSION_CLOCK_SKEW)
    }

    /// Without its basis, as lists show it.
    pub fn to_session(&self) -> Session {
        Session {
            name: self.name.clone(),
            oidc: matches!(self.basis, SessionBasis::Claims(_)),
            created_on: self.created_on,
            last_seen_on: self.last_seen_on,
            idle_expires_on: self.idle_end(),
            expires_on: self.ends_on,
        }
    }
}

/// A session can't be created.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The operating system returned no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Deletes ended sessions and attempts periodically, until it is aborted.
pub(crate) async fn run(database: Database) {
    loop {
        let now = Timestamp::now();
        for deleted in [delete_ended(&database, now).await, attempts::delete_old(&database, now).await] {
            if let Err(error) = deleted {
                tracing::warn!(%error, "ended sessions can't be deleted yet");
            }
        }
        tokio::time::sleep(SESSIONS_CLEANED.max(Duration::from_secs(1))).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED_IN: Timestamp = Timestamp::MIN;

    /// Whether a session is valid, this long after the sign-in and this long after its last use.
    fn check(age: Duration, idle: Duration) -> bool {
        let signed_in = SIGNED_IN.after(Duration::from_hours(24 * 365));
        let now = signed_in.after(age);
        let claims = ClaimValues { issuer: String::new(), claim: String::new(), values: Vec::new() };
        let new = NewSession { name: "ada".into(), basis: SessionBasis::Claims(claims), expires_on: None };
        let (ends_on, last_seen_on) = (new.ends_on(signed_in), now.before(idle));
        let (id, name, basis) = (String::new(), new.name, new.basis);
        StoredSession { id, name, basis, created_on: signed_in, last_seen_on, ends_on }.is_valid_at(now)
    }

    #[test]
    fn a_session_ends_when_it_is_idle_or_old() {
        let second = Duration::from_secs(1);
        assert!(check(Duration::ZERO, Duration::ZERO));
        assert!(check(SESSION_AGE_MAX.saturating_sub(second), SESSION_IDLE_MAX.saturating_sub(second)));
        assert!(!check(SESSION_AGE_MAX, Duration::ZERO));
        assert!(!check(SESSION_IDLE_MAX, SESSION_IDLE_MAX));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_extend_a_session() {
        let now = SIGNED_IN.after(Duration::from_hours(24 * 365));
        let basis = SessionBasis::Token { id: "t".into(), secret: SecretDigest::from_hex(&"0".repeat(64)).unwrap() };
        let new = NewSession { name: "ada".into(), basis: basis.clone(), expires_on: None };
        let ends_on = new.ends_on(now);
        let session =
            StoredSession { id: String::new(), name: "ada".into(), basis, created_on: now, last_seen_on: now, ends_on };
        assert!(session.is_valid_at(now.before(SESSION_CLOCK_SKEW)));
        assert!(!session.is_valid_at(now.before(SESSION_CLOCK_SKEW + Duration::from_secs(1))));
        assert!(!session.is_valid_at(now.before(Duration::from_hours(24 * 30))));
        let of_token = NewSession { expires_on: Some(now.after(Duration::from_secs(9))), ..new };
        assert_eq!(of_token.ends_on(now), now.after(Duration::from_secs(9)));
    }
}
