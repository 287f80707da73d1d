//! The error of a call to a git host.

use jiff::Timestamp;

use crate::kind::HostKind;
use crate::repository::RepositoryUrlError;

/// The reason why a call to a git host failed. No message contains a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The settings can't be used.
    #[error("{0}")]
    Settings(String),
    /// The URL is not that of a repository of the host.
    #[error(transparent)]
    Url(#[from] RepositoryUrlError),
    /// There is no connection, or it ended before the answer was complete.
    #[error("{call}: the git host can't be reached: {reason}")]
    Unreachable {
        /// The method and the path of the call.
        call: String,
        /// The reason.
        reason: String,
        /// Whether the host may have received the request, and done it.
        is_sent: bool,
    },
    /// The host refuses the request (status 4xx).
    #[error("{call}: {status}: {message}{}", hint(*.status))]
    Refused {
        /// The method and the path of the call.
        call: String,
        /// The HTTP status.
        status: u16,
        /// The host's message, shortened.
        message: String,
    },
    /// The host has a failure (status 5xx).
    #[error("{call}: {status}: {message}")]
    Failed {
        /// The method and the path of the call.
        call: String,
        /// The HTTP status.
        status: u16,
        /// The host's message, shortened.
        message: String,
    },
    /// The answer is not what the API describes: another server, a login page, an incompatible version.
    #[error("{call}: {status}: the answer is not that of the API: {reason}")]
    Unexpected {
        /// The method and the path of the call.
        call: String,
        /// The HTTP status.
        status: u16,
        /// The reason.
        reason: String,
    },
    /// The host limits requests, for longer than the caller waits.
    #[error("{call}: the git host limits requests: try again after {retry_at:.0}")]
    RateLimited {
        /// The method and the path of the call.
        call: String,
        /// When the host accepts requests again.
        retry_at: Timestamp,
    },
    /// The host redirects to another host. The credential is not sent there.
    #[error("{call}: the git host redirects to `{to}`: if that is right, configure this address")]
    Redirected {
        /// The method and the path of the call.
        call: String,
        /// The scheme and the host of the other address.
        to: String,
    },
    /// A list has more pages or bytes than the limit.
    #[error("{call}: the list has more than {pages} pages, or pages of unusual size")]
    TooMany {
        /// The method and the path of the call.
        call: String,
        /// The limit.
        pages: u32,
    },
    /// Hosts of this kind can't do this.
    #[error("{} has no {what}", .kind.title())]
    NotSupported {
        /// The kind of the host.
        kind: HostKind,
        /// What it does not have, in the plural.
        what: &'static str,
    },
    /// The caller ended the wait before the next attempt.
    #[error("{call}: stopped")]
    Stopped {
        /// The method and the path of the call.
        call: String,
    },
}

impl HostError {
    /// The HTTP status of a refusal or a failure.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::Failed { status, .. } | Self::Unexpected { status, .. } => {
                Some(*status)
            }
            _ => None,
        }
    }

    /// Whether the object does not exist, or the credential can't see it.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404 | 410, .. })
    }

    /// Whether the credential is not sufficient.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403, .. })
    }

    /// Whether the host may have done what was requested, in spite of the error.
    pub fn may_be_done(&self) -> bool {
        match self {
            Self::Unreachable { is_sent, .. } => *is_sent,
            Self::Failed { .. } => true,
            Self::Unexpected { status, .. } => *status < 300,
            _ => false,
        }
    }

    /// Whether the same call may succeed later, without a change of settings or permissions.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Failed { .. } | Self::RateLimited { .. } | Self::Stopped { .. })
    }
}

/// Advice for a status.
fn hint(status: u16) -> &'static str {
    match status {
        401 => " (the token is missing, wrong, expired or revoked)",
        403 => " (the token's scopes or its account's role do not allow this)",
        404 => " (it does not exist, or the token can't see it)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16) -> HostError {
        HostError::Refused { call: "GET /repos/acme/gitops".to_owned(), status, message: "Not Found".to_owned() }
    }

    #[test]
    fn messages_name_the_call_the_status_and_the_remedy() {
        let expected = "GET /repos/acme/gitops: 404: Not Found (it does not exist, or the token can't see it)";
        assert_eq!(refused(404).to_string(), expected);
        assert_eq!(refused(422).to_string(), "GET /repos/acme/gitops: 422: Not Found");
        let limited =
            HostError::RateLimited { call: "GET /user".to_owned(), retry_at: Timestamp::from_second(0).unwrap() };
        assert_eq!(
            limited.to_string(),
            "GET /user: the git host limits requests: try again after 1970-01-01T00:00:00Z"
        );
    }

    #[test]
    fn only_server_failures_may_have_been_applied() {
        let failed = HostError::Failed { call: String::new(), status: 502, message: String::new() };
        let unsent = HostError::Unreachable { call: String::new(), reason: String::new(), is_sent: false };
        assert!(failed.may_be_done() && !unsent.may_be_done() && !refused(422).may_be_done());
    }
}
