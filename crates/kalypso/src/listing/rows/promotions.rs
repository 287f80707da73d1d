//! The columns of promotions.

use model::object::promotion::{ChangeDelivery, Gate, Newer, OnFailure, Require, Start};
use model::object::{Object, Promotion};
use serde_json::{Value as Json, json};

use super::{Columns, Row, columns};

pub(super) const PROMOTION: Columns =
    columns(&["NAME", "FROM", "TO", "GATES", "RINGS", "START"], &["DELIVERY", "NEWER", "ON-FAILURE", "SOURCE"]);

pub(super) fn promotion(object: &Object<Promotion>) -> Row {
    let spec = &object.spec;
    let gates: Vec<_> = spec.gates.iter().map(|gate| gate.kind.to_string()).collect();
    let rings: Vec<_> = spec.rings.iter().map(|ring| ring.name.to_string()).collect();
    let [start, delivery, newer, on_failure] = words(spec);
    let any = if spec.require == Require::Any && spec.from.len() > 1 { "any of " } else { "" };
    let joined = |texts: &[String], separator| if texts.is_empty() { "-".to_owned() } else { texts.join(separator) };
    let from = if spec.from.is_empty() { "(main)".to_owned() } else { format!("{any}{}", spec.from.join(", ")) };
    Row {
        cells: vec![
            from,
            spec.to.to_string(),
            joined(&gates, ", "),
            joined(&rings, " > "),
            start.to_owned(),
            delivery.to_owned(),
            newer.to_owned(),
            on_failure.to_owned(),
        ],
        json: json!({
            "from": spec.from.iter().map(|from| &**from).collect::<Vec<_>>(),
            "to": &*spec.to,
            "require": if spec.require == Require::Any { "any" } else { "all" },
            "gates": gates_json(&spec.gates),
            "rings": spec.rings.iter().map(|ring| json!({
                "name": &*ring.name,
                "members": ring.members.to_string(),
                "enter": gates_json(&ring.enter),
                "gates": gates_json(&ring.prove),
            })).collect::<Vec<_>>(),
            "start": start,
            "delivery": delivery,
            "newer": newer,
            "onFailure": on_failure,
        }),
    }
}

fn gates_json(gates: &[Gate]) -> Json {
    gates.iter().map(|gate| json!({"name": &*gate.name, "condition": gate.kind.to_string()})).collect()
}

/// The values of `start`, `delivery`, `newer` and `onFailure`, as in the object.
fn words(spec: &Promotion) -> [&'static str; 4] {
    let start = match spec.start {
        Start::Automatic => "automatic",
        Start::Manual => "manual",
    };
    let delivery = match spec.delivery {
        ChangeDelivery::PullRequest => "pullRequest",
        ChangeDelivery::Direct => "direct",
    };
    let newer = match spec.newer {
        Newer::Wait => "wait",
        Newer::Queue => "queue",
        Newer::Supersede => "supersede",
    };
    let on_failure = match spec.on_failure {
        OnFailure::Stop => "stop",
        OnFailure::RollBackRing => "rollBackRing",
        OnFailure::RollBackEnvironment => "rollBackEnvironment",
    };
    [start, delivery, newer, on_failure]
}
