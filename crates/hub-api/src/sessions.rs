//! Sessions of people who sign in with a browser.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;
use crate::tokens::Scope;

/// Who the caller of a request is, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionState {
    /// The name of the token, or the subject at the OIDC issuer.
    pub name: String,
    /// How the caller is authenticated.
    pub authentication: AuthenticationMethod,
    /// All permissions of the caller, each with its workspaces and environments.
    pub grants: Vec<Scope>,
    /// The time at which the session ends if it is not used until then. None: the caller has no session.
    pub idle_expires_on: Option<Timestamp>,
    /// The time at which the session ends in any case. None: the caller has no session.
    pub expires_on: Option<Timestamp>,
}

/// How a caller is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuthenticationMethod {
    /// By the header `Authorization`.
    Token,
    /// By the cookie of a session.
    Session,
    /// Not at all: the hub has no token yet, and is open to its machine.
    Open,
}

/// The ways to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInMethods {
    /// With a token, which is pasted into a form.
    pub token: bool,
    /// At the OIDC issuer.
    pub oidc: bool,
    /// It is not necessary: the hub has no token yet, and is open to its machine.
    pub open: bool,
}

/// Why a person is not signed in: `error` in the address of the page to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignInFailure {
    /// The token is not known, is revoked, or has expired.
    WrongToken,
    /// The token or the account is valid, but may not read anything.
    NoPermission,
    /// There were too many wrong tokens in the last minute.
    Busy,
    /// The attempt took too long, was already used, or began in another browser.
    Expired,
    /// The person, or the OIDC issuer, refused.
    Denied,
    /// The OIDC issuer can't be reached, or its answer is not valid. The log of the hub has the details.
    Provider,
    /// The hub is not configured for this way to sign in.
    NotConfigured,
    /// The hub can't sign anyone in at the moment. The log of the hub has the details.
    Unavailable,
}

impl SignInFailure {
    /// All failures.
    pub const ALL: [Self; 8] = [
        Self::WrongToken,
        Self::NoPermission,
        Self::Busy,
        Self::Expired,
        Self::Denied,
        Self::Provider,
        Self::NotConfigured,
        Self::Unavailable,
    ];

    /// The code in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WrongToken => "wrong-token",
            Self::NoPermission => "no-permission",
            Self::Busy => "busy",
            Self::Expired => "expired",
            Self::Denied => "denied",
            Self::Provider => "provider",
            Self::NotConfigured => "not-configured",
            Self::Unavailable => "unavailable",
        }
    }

    /// Parses a code.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.as_str() == text)
    }
}

/// The sessions of all people, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sessions {
    /// The sessions, without their secrets.
    pub items: Vec<Session>,
}

/// A session of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The person: the name of the token, or the subject at the OIDC issuer.
    pub name: String,
    /// Whether the person signed in with the account of an OIDC issuer, not with a token of the hub.
    pub oidc: bool,
    /// The time at which the person signed in.
    pub created_on: Timestamp,
    /// The time of its last use, with a precision of some minutes.
    pub last_seen_on: Timestamp,
    /// The time at which it ends if it is not used until then.
    pub idle_expires_on: Timestamp,
    /// The time at which it ends in any case.
    pub expires_on: Timestamp,
}

/// Selects the sessions to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionOwner {
    /// The person: all sessions with this name end.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_one_text_each() {
        for failure in SignInFailure::ALL {
            assert_eq!(SignInFailure::parse(failure.as_str()), Some(failure));
            assert_eq!(serde_json::to_value(failure).unwrap(), failure.as_str());
        }
        assert_eq!(SignInFailure::parse("other"), None);
    }
}
