//! The audit log: who did what, when.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Action {
    /// A publication made something desired, or not desired any more.
    #[serde(rename = "publish")]
    Publish,
    /// A publication said what content is for that has no commit yet.
    #[serde(rename = "plan")]
    Plan,
    /// A token was created.
    #[serde(rename = "token.create")]
    TokenCreate,
    /// A token got another secret.
    #[serde(rename = "token.rotate")]
    TokenRotate,
    /// A token was revoked.
    #[serde(rename = "token.revoke")]
    TokenRevoke,
    /// A host was registered, or its labels or reconcilers were changed.
    #[serde(rename = "host.register")]
    HostRegister,
    /// A host, or a reconciler of it, was taken out of service.
    #[serde(rename = "host.retire")]
    HostRetire,
    /// It was brought back into service.
    #[serde(rename = "host.restore")]
    HostRestore,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Publish,
        Self::Plan,
        Self::TokenCreate,
        Self::TokenRotate,
        Self::TokenRevoke,
        Self::HostRegister,
        Self::HostRetire,
        Self::HostRestore,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Plan => "plan",
            Self::TokenCreate => "token.create",
            Self::TokenRotate => "token.rotate",
            Self::TokenRevoke => "token.revoke",
            Self::HostRegister => "host.register",
            Self::HostRetire => "host.retire",
            Self::HostRestore => "host.restore",
        }
    }

    /// The action that is written like that.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// By whom: the name of the token, the subject of an OIDC token, or the user of the machine at a command line.
    pub actor: String,
    /// What.
    pub action: Action,
    /// What it was done to: a branch, a token, a host.
    pub subject: String,
    /// What else is known, such as `commit`, `changed` and `removed` of a publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub detail: Option<Json>,
}

/// A page of what was done, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntries {
    /// The entries.
    pub items: Vec<AuditEntry>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// Only by this actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Only this action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub action: Option<Action>,
    /// Only to this subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Only from this moment on (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only before this moment (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// What the page before had as `next`; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many entries at most: 100 if it is not said, 1000 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}
