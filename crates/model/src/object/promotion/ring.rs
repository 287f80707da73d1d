//! Rings: the parts of an environment that a change reaches one after another.

use std::sync::Arc;
use std::time::Duration;

use super::gate_list::GateList;
use super::{Amount, Gate, GateKind, Share, gate, values};
use crate::decode;
use crate::decode::Decoder;
use crate::diagnostic::Code;
use crate::selector::LabelSelector;
use crate::shape::{LABEL_SELECTOR, Shape, optional, required};
use crate::yaml::Node;

/// A part of an environment's places. A place belongs to the first ring that selects it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    /// The name, unique in the list.
    pub name: Arc<str>,
    /// Its places.
    pub members: RingMembers,
    /// The largest number of places that may be changing at once. None: all. A share always allows one place.
    pub at_once: Option<Amount>,
    /// The largest number of places that may be changing at once in each failure domain.
    pub per: Vec<DomainLimit>,
    /// How long the ring must have been healthy before the next ring begins.
    pub pause: Duration,
    /// The largest number of failed reconcilers. More stop the move.
    pub failures: Amount,
    /// The number of changed places that are released first. The others follow when these are compliant. None: there is no such part.
    pub canary: Option<u32>,
    /// Conditions before the first place is released. Windows also bind each further place.
    pub enter: Vec<Gate>,
    /// More conditions before the next ring begins.
    pub prove: Vec<Gate>,
}

impl Ring {
    /// All gates of the ring.
    pub fn gates(&self) -> impl Iterator<Item = &Gate> {
        self.enter.iter().chain(&self.prove)
    }

    /// The label that names the time zone of each place.
    pub fn zone_label(&self) -> Option<&Arc<str>> {
        self.enter.iter().find_map(|gate| match &gate.kind {
            GateKind::Window(window) => window.zone_label.as_ref(),
            _ => None,
        })
    }
}

/// The places of a ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RingMembers {
    /// The clusters and cluster types that a selector selects.
    Labels(LabelSelector),
    /// A share of all places of the environment, by a stable hash of their names.
    Percent(Share),
    /// The places with these names.
    Names(Vec<Arc<str>>),
    /// All places that are in no earlier ring.
    Rest,
}

/// A limit for the places with the same value of a label, such as a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DomainLimit {
    /// The key of the label. Places without it form one domain.
    pub label: Arc<str>,
    /// The largest number of places that may be changing at once in each domain.
    pub at_once: u32,
}

/// The shape of a ring.
pub(super) const SHAPE: Shape = Shape::Fields(&[
    required("name", Shape::Name, "The name, unique in the list."),
    optional("labelSelector", LABEL_SELECTOR, "The ring's clusters and cluster types, by their labels."),
    optional(
        "percent",
        Shape::TextOrNumber,
        "The ring's share of all places, such as `5%`. A hash of the name of a place decides, so the place stays in its ring.",
    ),
    optional("names", Shape::List(&Shape::Name), "The names of the ring's clusters and cluster types."),
    optional(
        "limits",
        Shape::Fields(&[
            optional(
                "atOnce",
                Shape::TextOrNumber,
                "The number or share of the ring's places that may change at once: `50`, `10%`.",
            ),
            optional(
                "per",
                Shape::List(&Shape::Fields(&[
                    required("label", Shape::Text, "The key of the label that names the site or failure domain."),
                    required("atOnce", Shape::Integer, "The number of places of one domain that may change at once."),
                ])),
                "Limits for each value of a label. Places without the label count together.",
            ),
        ]),
        "How many places may change at once.",
    ),
    optional(
        "pause",
        Shape::TextOrNumber,
        "How long the ring must have been healthy before the next one begins: `30m`, `12h`.",
    ),
    optional(
        "failures",
        Shape::TextOrNumber,
        "How many reconcilers may fail (default `0`): `2`, `1%`. More stop the move.",
    ),
    optional(
        "canary",
        Shape::Integer,
        "The number of changed places of the ring that are released first. The others follow when these are compliant.",
    ),
    optional(
        "enter",
        Shape::List(&gate::SHAPE),
        "Conditions before the first place of the ring is released. A `window` must also be open before each further place.",
    ),
    optional("prove", Shape::List(&gate::SHAPE), "More conditions before the next ring begins."),
    optional("gates", Shape::List(&gate::SHAPE), "The earlier name of `prove`."),
]);

/// The fields that name the places of a ring, of which a ring has one.
const MEMBERS: [&str; 3] = ["labelSelector", "percent", "names"];

/// Reads the rings.
pub(super) fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Vec<Ring> {
    let keys = ["spec", "rings"];
    let items = decode::items(root, &keys);
    values::check_count(root, &keys, decoder);
    values::check_names(items, "ring", decoder);
    let names: Vec<_> = items.iter().flat_map(|item| decode::items(item, &["names"])).collect();
    values::check_different(&names, "entry of `names` for", decoder);
    let rings: Vec<_> = items.iter().filter_map(|item| ring(item, decoder)).collect();
    if rings.len() == items.len() {
        check_order(items, &rings, decoder);
        check_percent(items, &rings, decoder);
    }
    rings
}

fn ring(item: &Node, decoder: &mut Decoder<'_>) -> Option<Ring> {
    let written = |key: &str| item.get(key).filter(|value| !decode::is_null(value));
    let members = members(item, decoder);
    let limits = written("limits").filter(|limits| limits.get("atOnce").is_some_and(|value| !decode::is_null(value)));
    let at_once = limits.and_then(|limits| at_once(limits, decoder));
    let per = decode::items(item, &["limits", "per"]);
    let labels: Vec<_> = per.iter().filter_map(|limit| limit.get("label")).collect();
    values::check_different(&labels, "limit for the label", decoder);
    let per: Option<Vec<_>> = per.iter().map(|limit| domain_limit(limit, decoder)).collect();
    let pause = written("pause").map_or(Some(Duration::ZERO), |_| values::duration(item, "pause", decoder));
    let failures = written("failures").map_or(Some(Amount::Count(0)), |_| values::amount(item, "failures", decoder));
    let canary =
        written("canary").map_or(Some(None), |_| values::number(item, "canary", 1..=u32::MAX, decoder).map(Some));
    let (enter, prove) = gates(item, decoder);
    Some(Ring {
        name: decode::text(item, &["name"]),
        members: members?,
        at_once,
        per: per?,
        pause: pause?,
        failures: failures?,
        canary: canary?,
        enter,
        prove,
    })
}

/// The gates before and after the places of a ring.
fn gates(item: &Node, decoder: &mut Decoder<'_>) -> (Vec<Gate>, Vec<Gate>) {
    let enter = gate::decode(item, &["enter"], GateList::Enter, decoder);
    let old = item.get("gates").filter(|gates| !decode::is_null(gates));
    let is_new = item.get("prove").is_some_and(|gates| !decode::is_null(gates));
    let key = if old.is_some() && !is_new { "gates" } else { "prove" };
    let prove = gate::decode(item, &[key], GateList::Prove, decoder);
    if let Some(gates) = old {
        let ring = decode::text(item, &["name"]);
        if is_new {
            let message = format!("the ring `{ring}` has `gates` and `prove`, which are the same");
            decoder.error(Code::InvalidPromotion, gates.span, message);
            decoder.help("move the gates to `prove`");
        } else {
            decoder.note(Code::GatesOfRing, gates.span, format!("`gates` of the ring `{ring}` is read as `prove`"));
            decoder.help("rename it to `prove`, or to `enter` for conditions before the ring begins");
        }
    }
    let lists = [decode::items(item, &["enter"]), decode::items(item, &[key])].concat();
    if enter.iter().any(|gate| prove.iter().any(|other| other.name == gate.name)) {
        values::check_names(&lists, "gate", decoder);
    }
    check_zone_labels(item, &enter, decoder);
    (enter, prove)
}

/// Reports windows with different labels for the zone of a place.
fn check_zone_labels(item: &Node, enter: &[Gate], decoder: &mut Decoder<'_>) {
    let labels = enter.iter().filter_map(|gate| match &gate.kind {
        GateKind::Window(window) => window.zone_label.as_ref(),
        _ => None,
    });
    let labels: std::collections::BTreeSet<_> = labels.collect();
    if labels.len() > 1 {
        let span = item.get("enter").map_or(item.span, |enter| enter.span);
        decoder.error(Code::InvalidPromotion, span, "the windows of the ring have different values of `zoneLabel`");
        decoder.help("write the same label in all of them: a place has one time zone");
    }
}

fn members(item: &Node, decoder: &mut Decoder<'_>) -> Option<RingMembers> {
    let is_set = |key: &&&str| item.get(key).is_some_and(|value| !decode::is_null(value));
    let set: Vec<_> = MEMBERS.iter().filter(is_set).copied().collect();
    match *set {
        [] => match MEMBERS.iter().find_map(|key| item.key_span(key)) {
            // A field that was begun must not select all places.
            Some(span) => {
                decoder.error(Code::InvalidPromotion, span, "this field has no value");
                decoder.help(
                    "write which places the ring has, or remove the field: the last ring then has all other places",
                );
                None
            }
            None => Some(RingMembers::Rest),
        },
        ["labelSelector"] => Some(RingMembers::Labels(decoder.selector(item, &["labelSelector"]))),
        ["percent"] => values::share(item, "percent", decoder).map(RingMembers::Percent),
        ["names"] => names(item, decoder),
        _ => {
            let span = item.get("name").map_or(item.span, |name| name.span);
            let message =
                format!("the ring `{}` names its places in {} ways", decode::text(item, &["name"]), set.len());
            decoder.error(Code::InvalidPromotion, span, message);
            decoder.help("keep one of `labelSelector`, `percent` and `names`");
            None
        }
    }
}

fn names(item: &Node, decoder: &mut Decoder<'_>) -> Option<RingMembers> {
    let names = decode::texts(item, &["names"]);
    values::check_count(item, &["names"], decoder);
    if let (Some(node), true) = (item.get("names"), names.is_empty()) {
        decoder.error(Code::InvalidPromotion, node.span, "`names` is empty, so the ring would have no place");
        decoder.help("name clusters or cluster types, or remove the ring");
        return None;
    }
    Some(RingMembers::Names(names))
}

fn at_once(limits: &Node, decoder: &mut Decoder<'_>) -> Option<Amount> {
    let amount = values::amount(limits, "atOnce", decoder)?;
    if amount.limit(10_000) == 0 {
        let span = limits.get("atOnce").map_or(limits.span, |field| field.span);
        decoder.error(Code::InvalidPromotion, span, "`atOnce` is zero, so nothing would ever move");
        decoder.help("write a number or share above zero, or remove `atOnce`: then all places move at once");
    }
    Some(amount)
}

fn domain_limit(limit: &Node, decoder: &mut Decoder<'_>) -> Option<DomainLimit> {
    let at_once = values::number(limit, "atOnce", 1..=u32::MAX, decoder);
    let label = decode::text(limit, &["label"]);
    if let (Some(node), true) = (limit.get("label"), label.is_empty()) {
        decoder.error(Code::InvalidPromotion, node.span, "`label` is empty");
        decoder.help("write the key of a label, such as `site`");
        return None;
    }
    if let Some(node) = limit.get("label") {
        decoder.label_key(node);
    }
    Some(DomainLimit { label, at_once: at_once? })
}

/// Reports rings before the last one that leave no place to the later ones.
fn check_order(items: &[Node], rings: &[Ring], decoder: &mut Decoder<'_>) {
    for (item, ring) in items.iter().zip(rings).take(rings.len().saturating_sub(1)) {
        let is_all = match &ring.members {
            RingMembers::Rest => true,
            RingMembers::Labels(selector) => selector.requirements.is_empty(),
            RingMembers::Percent(share) => *share == Share::ALL,
            RingMembers::Names(_) => false,
        };
        if is_all {
            let span = item.get("name").map_or(item.span, |name| name.span);
            let message = format!("the ring `{}` has all places, so the rings after it would have none", ring.name);
            decoder.error(Code::InvalidPromotion, span, message);
            decoder.help("only the last ring can have all other places: add `labelSelector`, `percent` or `names`");
        }
    }
}

fn check_percent(items: &[Node], rings: &[Ring], decoder: &mut Decoder<'_>) {
    let mut sum = 0;
    for (item, ring) in items.iter().zip(rings) {
        let RingMembers::Percent(share) = ring.members else { continue };
        sum += u32::from(share.hundredths());
        if sum > u32::from(Share::ALL.hundredths()) {
            let span = item.get("percent").map_or(item.span, |percent| percent.span);
            let message = "the rings up to here have more than 100% of the places".to_owned();
            decoder.error(Code::InvalidPromotion, span, message);
            decoder.help("each `percent` is a share of all places of the environment; for the rest, leave it out in the last ring");
            return;
        }
    }
}
