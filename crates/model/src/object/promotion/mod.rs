//! `Promotion`: when and how changes reach an environment.

mod amount;
mod display;
mod gate;
mod gate_list;
mod ring;
mod values;
mod window;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::amount::{Amount, Share};
pub use self::gate::{Approval, ChangeOrigin, Check, Expectation, Gate, GateKind, Silent};
pub use self::ring::{DomainLimit, Ring, RingMembers};
pub use self::window::Window;
use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::diagnostic::Code;
use crate::kind::Kind;
use crate::name::PromotionName;
use crate::selector::LabelSelector;
use crate::shape::{Field, LABEL_SELECTOR, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `Promotion`: the environments before an environment, what they must have proved, and the rings of the environment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Promotion {
    /// The environment that changes reach.
    pub to: Arc<str>,
    /// The environments before it. Empty: changes reach it first, from the head of the main branch.
    pub from: Vec<Arc<str>>,
    /// How many of these environments must have proved a change.
    pub require: Require,
    /// Which changes the promotion moves.
    pub select: Selection,
    /// How a change is written into the environment.
    pub delivery: ChangeDelivery,
    /// What starts a move.
    pub start: Start,
    /// What happens to a newer change while one moves.
    pub newer: Newer,
    /// What happens if a move fails.
    pub on_failure: OnFailure,
    /// What the environments before must have proved.
    pub gates: Vec<Gate>,
    /// The rings of the environment, in their order. Empty: changes reach all places at once.
    pub rings: Vec<Ring>,
}

impl Promotion {
    /// Whether commits of the main branch must pass a gate: an environment before, or a gate of the list that is for them.
    pub fn is_gate_of_commits(&self) -> bool {
        let is_gated = || self.gates.iter().any(|gate| gate.applies_to.contains(&ChangeOrigin::Main));
        self.select.platform && (!self.from.is_empty() || is_gated())
    }
}

/// How many of the environments before must have proved a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Require {
    /// All of them.
    #[default]
    All,
    /// One of them.
    Any,
}

/// Which changes a promotion moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Whether it moves commits of the control plane's main branch.
    pub platform: bool,
    /// The workloads whose releases it moves, by the labels of their registrations. None: no releases.
    pub workloads: Option<LabelSelector>,
}

/// How a change is written into an environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChangeDelivery {
    /// By a pull request.
    #[default]
    PullRequest,
    /// By a commit on the environment's branch.
    Direct,
}

/// What starts a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// The controller, as soon as the gates hold.
    #[default]
    Automatic,
    /// `kalypso promote`.
    Manual,
}

/// What happens to a newer change while one moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Newer {
    /// It waits. When the current move ends, only the newest change moves.
    #[default]
    Wait,
    /// All changes move one after another.
    Queue,
    /// It replaces the current one at once, and begins with the first ring.
    Supersede,
}

/// What happens if a move fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// It stops.
    #[default]
    Stop,
    /// The ring that failed returns to the last proved release.
    RollBackRing,
    /// All places of the environment return to the last proved release.
    RollBackEnvironment,
}

impl Spec for Promotion {
    type Name = PromotionName;
    const KIND: Kind = Kind::Promotion;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("to", Shape::Name, "The environment that changes reach."),
            optional(
                "from",
                Shape::List(&Shape::Name),
                "The environments before it. Left out: changes reach `to` first, from the head of the main branch.",
            ),
            optional(
                "require",
                Shape::OneOf(&["all", "any"]),
                "Whether all of the environments in `from` must have proved a change (default), or one of them.",
            ),
            optional(
                "select",
                Shape::Fields(&[
                    optional("platform", Shape::Boolean, "Whether commits of the main branch move (default `true`)."),
                    optional(
                        "workloadSelector",
                        LABEL_SELECTOR,
                        "The workloads whose releases move, by the labels of their registrations; `{}` selects all. Left out: none.",
                    ),
                ]),
                "Which changes move. Left out: commits of the main branch.",
            ),
            optional(
                "delivery",
                Shape::OneOf(&["pullRequest", "direct"]),
                "How a change is written: as a pull request (default), or as a commit on the environment's branch.",
            ),
            optional(
                "start",
                Shape::OneOf(&["automatic", "manual"]),
                "Whether a change moves as soon as the gates hold (default), or with `kalypso promote`.",
            ),
            optional(
                "newer",
                Shape::OneOf(&["wait", "queue", "supersede"]),
                "What happens to newer changes while one moves: the newest waits (default), all move one after another, or the newest replaces the current one at once, from the first ring.",
            ),
            optional(
                "onFailure",
                Shape::OneOf(&["stop", "rollBackRing", "rollBackEnvironment"]),
                "What happens if a move fails (default `stop`).",
            ),
            optional("gates", Shape::List(&gate::SHAPE), "What the environments before must have proved."),
            optional("rings", Shape::List(&ring::SHAPE), "The rings of `to`, in their order."),
        ]),
        "The promotion.",
    )];
    const DOC: &'static str = "When and how changes reach an environment: from which environments, with which proof, and in which rings. \
        Lives in the folder `.environments` of the control plane's `main` branch, and is always read at the head of this branch. \
        `kalypso publish` refuses a commit of `main` that no gate let through, with and without the service. \
        Without any `Promotion`, the annotation `promotion.kalypso.io/next` of `Environment`s gives the order, and refuses nothing.";
    const EXAMPLE: &'static str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Promotion
metadata:
  name: to-prod
spec:
  from: [stage]
  to: prod
  gates:
    - name: healthy-in-stage
      compliant: {share: 98%}
    - name: a-night-in-stage
      soak: 12h
    - name: release-managers
      approval: {count: 2, team: release-managers}
  rings:
    - name: canary
      labelSelector: {matchLabels: {ring: canary}}
      pause: 1h
    - name: rest
      limits: {atOnce: 50, per: [{label: region, atOnce: 10}]}
      failures: 2%
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        let spec = |keys: &[&'static str]| [&["spec"], keys].concat();
        let text = |key| decode::text(root, &["spec", key]);
        let workloads = spec(&["select", "workloadSelector"]);
        let platform = decode::node(root, &spec(&["select", "platform"])).and_then(decode::boolean).unwrap_or(true);
        check_environments(root, decoder);
        check_selection(root, platform, decoder);
        let gates = gate::decode(root, &["spec", "gates"], gate_list::GateList::Before, decoder);
        check_soak(root, &gates, decoder);
        Self {
            to: text("to"),
            from: decode::texts(root, &["spec", "from"]),
            require: if *text("require") == *"any" { Require::Any } else { Require::All },
            select: Selection {
                platform,
                workloads: decode::node(root, &workloads)
                    .filter(|node| !decode::is_null(node))
                    .map(|_| decoder.selector(root, &workloads)),
            },
            delivery: if *text("delivery") == *"direct" { ChangeDelivery::Direct } else { ChangeDelivery::PullRequest },
            start: if *text("start") == *"manual" { Start::Manual } else { Start::Automatic },
            newer: match &*text("newer") {
                "queue" => Newer::Queue,
                "supersede" => Newer::Supersede,
                _ => Newer::Wait,
            },
            on_failure: match &*text("onFailure") {
                "rollBackRing" => OnFailure::RollBackRing,
                "rollBackEnvironment" => OnFailure::RollBackEnvironment,
                _ => OnFailure::Stop,
            },
            gates,
            rings: ring::decode(root, decoder),
        }
    }
}

fn check_environments(root: &Node, decoder: &mut Decoder<'_>) {
    let from: Vec<_> = decode::items(root, &["spec", "from"]).iter().collect();
    values::check_count(root, &["spec", "from"], decoder);
    values::check_different(&from, "entry of `from` for", decoder);
}

/// Reports a promotion that would move nothing.
fn check_selection(root: &Node, platform: bool, decoder: &mut Decoder<'_>) {
    let Some(select) = decode::node(root, &["spec", "select"]).filter(|_| !platform) else { return };
    if select.get("workloadSelector").is_none_or(decode::is_null) {
        decoder.error(Code::InvalidPromotion, select.span, "`select` selects nothing, so no change would ever move");
        decoder.help("add `workloadSelector`, or remove `platform: false`");
    }
}

/// Reports a soak time without gates whose state it measures. A ring always has one: its `failures`.
fn check_soak(root: &Node, gates: &[Gate], decoder: &mut Decoder<'_>) {
    let is_measured = |gate: &Gate| matches!(gate.kind, GateKind::Compliant { .. } | GateKind::Failures(_));
    if gates.iter().any(is_measured) {
        return;
    }
    for item in decode::items(root, &["spec", "gates"]) {
        if let Some(soak) = item.get("soak").filter(|soak| !decode::is_null(soak)) {
            let message =
                "`soak` is the time for which `compliant` and `failures` have held, and this list has neither";
            decoder.error(Code::InvalidPromotion, soak.span, message);
            decoder.help("add a gate such as `compliant: {share: 100%}`");
        }
    }
}
