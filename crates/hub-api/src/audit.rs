//! The audit log.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// The kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Action {
    /// A publication changed the desired state.
    #[serde(rename = "publish")]
    Publish,
    /// A publication described proposed content without a commit.
    #[serde(rename = "plan")]
    Plan,
    /// Removals were confirmed.
    #[serde(rename = "confirm")]
    Confirm,
    /// A person decided about a promotion.
    #[serde(rename = "promotion")]
    Promotion,
    /// A token was created.
    #[serde(rename = "token.create")]
    TokenCreate,
    /// The secret of a token was replaced.
    #[serde(rename = "token.rotate")]
    TokenRotate,
    /// A token was revoked.
    #[serde(rename = "token.revoke")]
    TokenRevoke,
    /// A host was registered, or its labels or reconcilers were changed.
    #[serde(rename = "host.register")]
    HostRegister,
    /// A host or one of its reconcilers was taken out of service.
    #[serde(rename = "host.retire")]
    HostRetire,
    /// A host or one of its reconcilers was returned to service.
    #[serde(rename = "host.restore")]
    HostRestore,
    /// A person signed in with a browser.
    #[serde(rename = "session.sign-in")]
    SignIn,
    /// A person signed out, in one browser or in all.
    #[serde(rename = "session.sign-out")]
    SignOut,
    /// An administrator ended the sessions of a person.
    #[serde(rename = "session.end")]
    SessionEnd,
}

impl Action {
    /// All actions.
    pub const ALL: [Self; 13] = [
        Self::Publish,
        Self::Plan,
        Self::Confirm,
        Self::Promotion,
        Self::TokenCreate,
        Self::TokenRotate,
        Self::TokenRevoke,
        Self::HostRegister,
        Self::HostRetire,
        Self::HostRestore,
        Self::SignIn,
        Self::SignOut,
        Self::SessionEnd,
    ];

    /// The text in answers and filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Plan => "plan",
            Self::Confirm => "confirm",
            Self::Promotion => "promotion",
            Self::TokenCreate => "token.create",
            Self::TokenRotate => "token.rotate",
            Self::TokenRevoke => "token.revoke",
            Self::HostRegister => "host.register",
            Self::HostRetire => "host.retire",
            Self::HostRestore => "host.restore",
            Self::SignIn => "session.sign-in",
            Self::SignOut => "session.sign-out",
            Self::SessionEnd => "session.end",
        }
    }

    /// Parses the text of an action.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The time.
    pub at: Timestamp,
    /// The actor: the name of the token, the subject of an OIDC token, or the user of the machine for a command line.
    pub actor: String,
    /// The action.
    pub action: Action,
    /// The changed object: a branch, a token, a host or a person.
    pub subject: String,
    /// More data, for example `commit`, `changed` and `removed` of a publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub detail: Option<Json>,
}

/// A page of the audit log, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntries {
    /// The entries.
    pub items: Vec<AuditEntry>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The filter of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// Only entries of this actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Only entries with this action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub action: Option<Action>,
    /// Only entries about this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Only entries at or after this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only entries before this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// The `next` of the previous page. None: the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of entries. Default 100, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}
