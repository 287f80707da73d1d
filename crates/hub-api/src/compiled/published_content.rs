//! What is published at a place where it is not what is desired.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is published at a place where it is not what is desired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishedContent {
    /// The ring of the place; `null` if the environment has no rings.
    pub ring: Option<String>,
    /// Since when; `null` if that is not known.
    pub since: Option<String>,
    /// Why the place does not have the desired content.
    pub reason: String,
    /// What the desired content is made from.
    pub desired: PublishedOrigins,
    /// `nothing`, `revision` (`held` says which one) or `unknown`.
    pub holds: String,
    /// What the published content is made from; `null` if nothing is published, or if that is not known.
    pub held: Option<PublishedOrigins>,
}

/// What a content was rendered from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishedOrigins {
    /// The release of the workload; `null` if no key names it.
    pub release: Option<String>,
    /// The commit of the main branch; `null` if the environment does not use it.
    pub main: Option<String>,
}
