//! Assignments.

use delivery::output::rings::{HeldContent, Origins, PlaceHoldings};
use engine::answers::inventory::Assigned;
use hub_api::compiled::{PublishedContent, PublishedOrigins};
use model::name::PolicyName;
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};
use crate::listing::view::or_dash;

/// The answer about the content of a place.
pub fn published_content(content: &HeldContent) -> PublishedContent {
    let (holds, held) = match &content.held {
        PlaceHoldings::Nothing => (NOTHING, None),
        PlaceHoldings::Revision(held) => ("revision", Some(published_origins(held))),
        PlaceHoldings::Unknown => ("unknown", None),
    };
    PublishedContent {
        ring: content.ring.as_deref().map(ToOwned::to_owned),
        since: content.since.map(|since| since.to_string()),
        reason: content.reason.to_string(),
        desired: published_origins(&content.desired),
        holds: holds.to_owned(),
        held,
    }
}

/// What a place holds to which nothing is published.
const NOTHING: &str = "nothing";

fn published_origins(Origins { release, main }: &Origins) -> PublishedOrigins {
    PublishedOrigins { release: release.as_deref().map(ToOwned::to_owned), main: main.map(|main| main.to_string()) }
}

/// The desired release, and the one that is published: `2.4.0 (2.3.0 published)`.
fn releases(content: &PublishedContent) -> String {
    let desired = content.desired.release.as_deref().unwrap_or("-");
    let held = match &content.held {
        None if content.holds == NOTHING => "nothing",
        None => "other content",
        Some(held) if held.release == content.desired.release => "earlier content",
        Some(held) => held.release.as_deref().unwrap_or("no release"),
    };
    format!("{desired} ({held} published)")
}

/// An assignment.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentRow {
    /// The environment.
    pub environment: String,
    /// `CLUSTER_TYPE/TARGET`.
    pub name: String,
    /// The cluster type.
    pub cluster_type: String,
    /// The cluster; `null` if the assignment is the cluster type's.
    pub cluster: Option<String>,
    /// The deployment target.
    pub target: String,
    /// Its workload.
    pub workload: String,
    /// Its workspace.
    pub workspace: String,
    /// The policies that assign it.
    pub policies: Vec<String>,
    /// The release pins that hold it.
    pub release_pins: Vec<String>,
    /// The desired release of the workload there; `null` if no key names it.
    pub release: Option<String>,
    /// What is published, if it is something else; else `null`.
    pub rollout: Option<PublishedContent>,
    /// How long that has been so, for people.
    #[serde(skip)]
    waiting: Option<String>,
}

impl AssignmentRow {
    /// The row of an assignment. `held`: the content that its place has if it is not the desired one, and how long, for people.
    pub fn new(assigned: &Assigned<'_>, environment: &str, held: Option<(&HeldContent, Option<String>)>) -> Self {
        let target = assigned.target;
        let (held, waiting) = held.map_or((None, None), |(held, waiting)| (Some(held), waiting));
        Self {
            environment: environment.to_owned(),
            name: assigned.id().to_string(),
            cluster_type: assigned.place.cluster_type.name.to_string(),
            cluster: assigned.place.cluster.as_ref().map(|cluster| cluster.name.to_string()),
            target: target.name.to_string(),
            workload: target.workload().to_owned(),
            workspace: target.workspace().to_owned(),
            policies: assigned.policies().map(PolicyName::to_string).collect(),
            release_pins: assigned.pins().into_iter().map(|pin| pin.name.to_string()).collect(),
            release: assigned.release().map(|placed| placed.release.text().to_string()),
            rollout: held.map(published_content),
            waiting,
        }
    }

    /// `clinics since 2 h`. `-` if the environment has no rings.
    fn ring(&self) -> String {
        let Some(rollout) = &self.rollout else { return "-".to_owned() };
        let since = self.waiting.as_ref().map(|waiting| format!(" since {waiting}"));
        format!("{}{}", rollout.ring.as_deref().unwrap_or("-"), since.unwrap_or_default())
    }
}

impl KindFields for AssignmentRow {
    const COLUMNS: ListColumns = columns(
        &["NAME", "WORKLOAD", "WORKSPACE", "CLUSTER-TYPE", "POLICIES", "RELEASE"],
        &["CLUSTER", "PINS", "RING"],
    );

    fn cells(&self) -> Vec<String> {
        let release = || or_dash(self.release.as_deref().unwrap_or_default());
        vec![
            self.name.clone(),
            or_dash(&self.workload),
            or_dash(&self.workspace),
            self.cluster_type.clone(),
            self.policies.join(","),
            self.rollout.as_ref().map_or_else(release, releases),
            or_dash(self.cluster.as_deref().unwrap_or_default()),
            or_dash(&self.release_pins.join(",")),
            self.ring(),
        ]
    }
}
