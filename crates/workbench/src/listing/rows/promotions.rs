//! Promotions.

use model::object::promotion::{ChangeDelivery, Gate, Newer, OnFailure, Require, Ring, Start};
use model::object::{Object, Promotion};
use serde::Serialize;
use utoipa::ToSchema;

use super::{KindFields, ListColumns, columns};

/// A promotion.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionFields {
    /// The environments before it; none: changes reach it first.
    pub from: Vec<String>,
    /// The environment that changes reach.
    pub to: String,
    /// `all` or `any`.
    pub require: &'static str,
    /// The gates that changes pass.
    pub gates: Vec<GateFields>,
    /// The rings, in their order.
    pub rings: Vec<RingFields>,
    /// `automatic` or `manual`.
    pub start: &'static str,
    /// `pullRequest` or `direct`.
    pub delivery: &'static str,
    /// `wait`, `queue` or `supersede`.
    pub newer: &'static str,
    /// `stop`, `rollBackRing` or `rollBackEnvironment`.
    pub on_failure: &'static str,
}

/// A gate.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateFields {
    /// The name of a gate.
    pub name: String,
    /// Its condition, in words.
    pub condition: String,
}

/// A ring.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RingFields {
    /// The name of a ring, in the order of the rings.
    pub name: String,
    /// Its places, in words.
    pub members: String,
    /// The gates before the ring.
    pub enter: Vec<GateFields>,
    /// The gates before the next ring.
    pub gates: Vec<GateFields>,
}

impl PromotionFields {
    pub(super) fn new(object: &Object<Promotion>) -> Self {
        let spec = &object.spec;
        let ring = |ring: &Ring| RingFields {
            name: ring.name.to_string(),
            members: ring.members.to_string(),
            enter: gates(&ring.enter),
            gates: gates(&ring.prove),
        };
        Self {
            from: spec.from.iter().map(ToString::to_string).collect(),
            to: spec.to.to_string(),
            require: if spec.require == Require::Any { "any" } else { "all" },
            gates: gates(&spec.gates),
            rings: spec.rings.iter().map(ring).collect(),
            start: match spec.start {
                Start::Automatic => "automatic",
                Start::Manual => "manual",
            },
            delivery: match spec.delivery {
                ChangeDelivery::PullRequest => "pullRequest",
                ChangeDelivery::Direct => "direct",
            },
            newer: match spec.newer {
                Newer::Wait => "wait",
                Newer::Queue => "queue",
                Newer::Supersede => "supersede",
            },
            on_failure: match spec.on_failure {
                OnFailure::Stop => "stop",
                OnFailure::RollBackRing => "rollBackRing",
                OnFailure::RollBackEnvironment => "rollBackEnvironment",
            },
        }
    }

    fn environments_before(&self) -> String {
        let any = if self.require == "any" && self.from.len() > 1 { "any of " } else { "" };
        if self.from.is_empty() { "(main)".to_owned() } else { format!("{any}{}", self.from.join(", ")) }
    }
}

impl KindFields for PromotionFields {
    const COLUMNS: ListColumns =
        columns(&["NAME", "FROM", "TO", "GATES", "RINGS", "START"], &["DELIVERY", "NEWER", "ON-FAILURE", "SOURCE"]);

    fn cells(&self) -> Vec<String> {
        let joined = |texts: &[&str], separator| if texts.is_empty() { "-".to_owned() } else { texts.join(separator) };
        let gates: Vec<_> = self.gates.iter().map(|gate| gate.condition.as_str()).collect();
        let rings: Vec<_> = self.rings.iter().map(|ring| ring.name.as_str()).collect();
        let words = [self.start, self.delivery, self.newer, self.on_failure].map(str::to_owned);
        let first = [self.environments_before(), self.to.clone(), joined(&gates, ", "), joined(&rings, " > ")];
        first.into_iter().chain(words).collect()
    }
}

fn gates(gates: &[Gate]) -> Vec<GateFields> {
    let fields = |gate: &Gate| GateFields { name: gate.name.to_string(), condition: gate.kind.to_string() };
    gates.iter().map(fields).collect()
}
