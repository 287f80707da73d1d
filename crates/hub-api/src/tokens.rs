//! Tokens: what they permit, as they are created and listed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// The tokens, by name; revoked ones too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tokens {
    /// They, without their secrets.
    pub items: Vec<Token>,
}

/// A token as the hub knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// The public part of its text.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is good for.
    #[serde(flatten)]
    pub scope: Scope,
    /// Whether signatures are accepted.
    pub signs: bool,
    /// When it was made.
    pub created_on: Timestamp,
    /// Until when it is good.
    pub expires_on: Option<Timestamp>,
    /// Since when it is revoked.
    pub revoked_on: Option<Timestamp>,
    /// When it was used last, to the minute.
    pub last_used_on: Option<Timestamp>,
    /// Until when the secret before the last rotation is good.
    pub previous_until: Option<Timestamp>,
}

/// What somebody may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Scope {
    /// Report for one host.
    Host {
        /// Its name.
        host: String,
    },
    /// Report for hosts of a group, which register themselves.
    Group(Group),
    /// Ask.
    Read(Reach),
    /// Say what is desired.
    Publish(Reach),
    /// Manage tokens and hosts, and see who did what.
    Manage,
    /// Everything: ask, report for every host, change.
    Admin,
}

/// What scopes are limited to that have no limit.
static NO_LIMIT: Reach = Reach::ALL;

impl Scope {
    /// Whether anything may be reported with it.
    pub fn may_report(&self) -> bool {
        !matches!(self, Self::Read(_) | Self::Publish(_) | Self::Manage)
    }

    /// What it is limited to.
    pub fn reach(&self) -> &Reach {
        match self {
            Self::Read(reach) | Self::Publish(reach) => reach,
            Self::Host { .. } | Self::Group(_) | Self::Manage | Self::Admin => &NO_LIMIT,
        }
    }
}

/// Hosts that share a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The pattern of their names; `*` stands for any characters.
    pub hosts: String,
    /// The types of reconcilers that may report; all if there is none.
    pub reconciler_types: Vec<String>,
    /// What the endpoints of the reported places begin with, by whole segments; all if there is none.
    pub places: Vec<String>,
    /// Labels that their hosts get, over what they say of themselves.
    pub labels: BTreeMap<String, String>,
}

/// The workspaces and environments that a token is limited to. An empty list is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// The workspaces; all if there is none.
    pub workspaces: Vec<String>,
    /// The environments; all if there is none.
    pub environments: Vec<String>,
}

impl Reach {
    /// No limit.
    pub const ALL: Self = Self { workspaces: Vec::new(), environments: Vec::new() };

    /// Whether there is no limit.
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Whether a workspace is within it.
    pub fn has_workspace(&self, name: &str) -> bool {
        self.workspaces.is_empty() || self.workspaces.iter().any(|one| one == name)
    }

    /// Whether an environment is within it.
    pub fn has_environment(&self, name: &str) -> bool {
        self.environments.is_empty() || self.environments.iter().any(|one| one == name)
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |word: &str, names: &[String]| (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")));
        let parts = [part("workspaces", &self.workspaces), part("environments", &self.environments)];
        formatter.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

/// What a token is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenRequest {
    /// Its name, unique among those that are not revoked.
    pub name: String,
    /// `host`, `group`, `read`, `publish`, `manage` or `admin`. Only administrators create the last two.
    pub role: TokenRole,
    /// With `host`: the host that it reports for.
    pub host: Option<String>,
    /// With `group`: the pattern of the hosts that it reports for; `*` stands for any characters.
    pub hosts: Option<String>,
    /// With `group`: the types of reconcilers that may report; all if there is none.
    #[serde(default)]
    pub reconciler_types: Vec<String>,
    /// With `group`: what the endpoints of the reported places begin with; all if there is none.
    #[serde(default)]
    pub places: Vec<String>,
    /// With `group`: labels that the hosts get.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// With `read` and `publish`: only what is of these workspaces; all if there is none.
    #[serde(default)]
    pub workspaces: Vec<String>,
    /// With `read` and `publish`: only what is of these environments; all if there is none.
    #[serde(default)]
    pub environments: Vec<String>,
    /// Whether signatures are accepted, besides the token itself.
    #[serde(default)]
    pub signs: bool,
    /// Until when it is good; for ever if nothing is said.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_on: Option<Timestamp>,
}

/// The role of a token: what it permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenRole {
    /// Report for one host.
    Host,
    /// Report for the hosts of a group.
    Group,
    /// Ask.
    Read,
    /// Publish what is desired.
    Publish,
    /// Manage tokens and hosts.
    Manage,
    /// Everything.
    Admin,
}

/// A token that was created. Its text is shown this once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// The public part of its text.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its text: what is sent as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// The key with which its owner signs, if it is for signing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
}
