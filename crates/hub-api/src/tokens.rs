//! Tokens, with the permissions that they give.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// All tokens by name, including revoked ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    /// The tokens, without their secrets.
    pub items: Vec<Token>,
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// The public part of its text.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its scope.
    #[serde(flatten)]
    pub scope: Scope,
    /// Whether signatures are accepted.
    pub signs: bool,
    /// The time of its creation.
    pub created_on: Timestamp,
    /// The time at which it expires. None: it does not expire.
    pub expires_on: Option<Timestamp>,
    /// The time at which it was revoked.
    pub revoked_on: Option<Timestamp>,
    /// The time of its last use, with a precision of a minute.
    pub last_used_on: Option<Timestamp>,
    /// The time until which the previous secret is valid after a rotation.
    pub previous_until: Option<Timestamp>,
}

/// The caller of a request, as the hub knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Caller {
    /// The name of its token, or its subject at an identity provider.
    pub name: String,
    /// Its permissions.
    #[serde(flatten)]
    pub scope: Scope,
}

/// The permissions of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Scope {
    /// Report for one host.
    Host(HostScope),
    /// Report for the hosts of a group, as far as they are declared clusters, are registered, or are at the places of the token.
    Group(Group),
    /// Query: the role `reader`.
    Read(Reach),
    /// Query, and approve changes.
    Approver(Reach),
    /// Query, approve, and move changes: promote, hold, resume, retry, abort, roll back, sync.
    Operator(Reach),
    /// Publish the desired state.
    Publish(Reach),
    /// Manage tokens and hosts, and read the audit log.
    Manage,
    /// All permissions: query, decide, report for every host, publish, manage.
    Admin,
}

/// What people do about an environment. Who may do one of them may do those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// Query.
    Read,
    /// Approve a change.
    Approve,
    /// Move changes, or stop them.
    Operate,
    /// Pass gates, confirm removals, and everything else.
    Administer,
}

impl Act {
    /// The role with the fewest permissions that may do it.
    pub fn role(self) -> &'static str {
        match self {
            Self::Read => "reader",
            Self::Approve => "approver",
            Self::Operate => "operator",
            Self::Administer => "admin",
        }
    }
}

/// The reach of scopes without limits.
static NO_LIMIT: Reach = Reach::ALL;

impl Scope {
    /// Report for this host, at the places that it is registered for.
    pub fn host(name: impl Into<String>) -> Self {
        Self::Host(HostScope { host: name.into(), ..HostScope::default() })
    }

    /// Whether it permits reports.
    pub fn may_report(&self) -> bool {
        matches!(self, Self::Host(_) | Self::Group(_) | Self::Admin)
    }

    /// The most that it permits people to do, within its reach. None: it is not for people.
    pub fn act(&self) -> Option<Act> {
        Some(match self {
            Self::Read(_) => Act::Read,
            Self::Approver(_) => Act::Approve,
            Self::Operator(_) => Act::Operate,
            Self::Admin => Act::Administer,
            Self::Host(_) | Self::Group(_) | Self::Publish(_) | Self::Manage => return None,
        })
    }

    /// Whether it permits an act, within its reach.
    pub fn may(&self, act: Act) -> bool {
        self.act().is_some_and(|most| act <= most)
    }

    /// The role, as people call it.
    pub fn role(&self) -> &'static str {
        match self {
            Self::Host(_) => "host",
            Self::Group(_) => "group",
            Self::Publish(_) => "publish",
            Self::Manage => "manage",
            Self::Read(_) | Self::Approver(_) | Self::Operator(_) | Self::Admin => self.act().map_or("", Act::role),
        }
    }

    /// The environments that it is limited to, for queries, publications or reports. Empty: all of them.
    pub fn environments(&self) -> &[String] {
        match self {
            Self::Host(host) => &host.environments,
            Self::Group(group) => &group.environments,
            _ => &self.reach().environments,
        }
    }

    /// The workspaces and environments that its queries and publications are limited to.
    pub fn reach(&self) -> &Reach {
        match self {
            Self::Read(reach) | Self::Approver(reach) | Self::Operator(reach) | Self::Publish(reach) => reach,
            Self::Host(_) | Self::Group(_) | Self::Manage | Self::Admin => &NO_LIMIT,
        }
    }
}

/// The host of a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostScope {
    /// Its name.
    pub host: String,
    /// The prefixes of the endpoints that the host is registered for, by whole segments. Empty: the folders of the `Cluster` with its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// The environments that the host may report about. Empty: all environments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
}

/// Hosts that share a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The pattern of their names, with the wildcard `*`.
    pub hosts: String,
    /// The types of reconcilers that may report. Empty: all types.
    pub reconciler_types: Vec<String>,
    /// The prefixes of the endpoints that may be reported, by whole segments. All hosts of the pattern are registered for them. Empty: the folders of the
    /// `Cluster`s with the names of the hosts.
    pub places: Vec<String>,
    /// Labels for the hosts. They override reported labels.
    pub labels: BTreeMap<String, String>,
    /// The environments that the hosts may report about. Empty: all environments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
}

/// The workspaces and environments that a token is limited to. An empty list is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// The workspaces. Empty: all of them.
    pub workspaces: Vec<String>,
    /// The environments. Empty: all of them.
    pub environments: Vec<String>,
}

impl Reach {
    /// No limit.
    pub const ALL: Self = Self { workspaces: Vec::new(), environments: Vec::new() };

    /// Whether there is no limit.
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Whether it contains a workspace.
    pub fn has_workspace(&self, name: &str) -> bool {
        self.workspaces.is_empty() || self.workspaces.iter().any(|own| own == name)
    }

    /// Whether it contains all of these workspaces. None are not contained in a reach with a limit.
    pub fn has_workspaces<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> bool {
        let mut names = names.into_iter().peekable();
        self.workspaces.is_empty() || (names.peek().is_some() && names.all(|name| self.has_workspace(name)))
    }

    /// Whether it contains an environment.
    pub fn has_environment(&self, name: &str) -> bool {
        self.environments.is_empty() || self.environments.iter().any(|own| own == name)
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |word: &str, names: &[String]| (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")));
        let parts = [part("workspaces", &self.workspaces), part("environments", &self.environments)];
        formatter.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

/// A request to create a token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenRequest {
    /// Its name. It must be unique among the tokens that are not revoked.
    pub name: String,
    /// `host`, `group`, `read`, `approver`, `operator`, `publish`, `manage` or `admin`. Only administrators create approvers, operators, managers and
    /// administrators.
    pub role: TokenRole,
    /// The host, for the role `host`.
    pub host: Option<String>,
    /// The pattern of the names of hosts, with the wildcard `*`, for the role `group`.
    pub hosts: Option<String>,
    /// The types of reconcilers that may report, for the role `group`. Empty: all types.
    #[serde(default)]
    pub reconciler_types: Vec<String>,
    /// The prefixes of the endpoints that may be reported, for the roles `host` and `group`. Empty: the folders of the `Cluster`s with the names of the
    /// hosts.
    #[serde(default)]
    pub places: Vec<String>,
    /// Labels for the hosts, for the role `group`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The workspaces that it is limited to, for the roles `read`, `approver`, `operator` and `publish`. Empty: all of them.
    #[serde(default)]
    pub workspaces: Vec<String>,
    /// The environments that it is limited to, for these roles, `host` and `group`. Empty: all of them.
    #[serde(default)]
    pub environments: Vec<String>,
    /// Whether signatures are accepted in addition to the token itself.
    #[serde(default)]
    pub signs: bool,
    /// The time at which it expires. None: it does not expire.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_on: Option<Timestamp>,
}

/// The role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenRole {
    /// Report for one host.
    Host,
    /// Report for the hosts of a group.
    Group,
    /// Query. `reader` is the same.
    #[serde(alias = "reader")]
    Read,
    /// Query, and approve changes.
    Approver,
    /// Query, approve, and move changes.
    Operator,
    /// Publish the desired state.
    Publish,
    /// Manage tokens and hosts.
    Manage,
    /// All permissions.
    Admin,
}

/// A new token. Only this answer contains its secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// The public part of its text.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its text, for the header `Authorization: Bearer TOKEN`.
    pub token: String,
    /// The key for signatures, if signatures are accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
}
