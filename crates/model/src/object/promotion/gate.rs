//! Gates: the conditions under which a change moves on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::gate_list::GateList;
use super::{Amount, Share, Window, values, window};
use crate::decode;
use crate::decode::Decoder;
use crate::diagnostic::Code;
use crate::shape::{Shape, optional, required};
use crate::yaml::Node;

/// A condition under which a change moves on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// The name, unique in its list.
    pub name: Arc<str>,
    /// The condition.
    pub kind: GateKind,
    /// The changes that the gate is for.
    pub applies_to: BTreeSet<ChangeOrigin>,
}

/// Where a change comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeOrigin {
    /// A commit of the main branch.
    Main,
    /// A release of a workload.
    Release,
    /// Values of the environment, and of other repositories of the platform.
    Values,
    /// Other fields of an application's deployment target.
    Application,
}

impl ChangeOrigin {
    /// All origins, with their names in `for`.
    pub const ALL: [(&'static str, Self); 4] = [
        ("main", Self::Main),
        ("release", Self::Release),
        ("values", Self::Values),
        ("application", Self::Application),
    ];
}

impl Gate {
    /// A gate for changes of every origin.
    pub fn new(name: Arc<str>, kind: GateKind) -> Self {
        Self { name, kind, applies_to: ChangeOrigin::ALL.into_iter().map(|(_, origin)| origin).collect() }
    }
}

impl GateKind {
    /// Whether people or the clock decide, and not a measurement.
    pub fn is_of_people_or_clock(&self) -> bool {
        matches!(self, Self::Window(_) | Self::Approval(_) | Self::Manual)
    }

    /// Whether people approve.
    pub fn is_approval(&self) -> bool {
        matches!(self, Self::Approval(_))
    }

    /// The check that is measured. None: it is no check.
    pub fn check(&self) -> Option<&Check> {
        match self {
            Self::Check(check) => Some(check),
            _ => None,
        }
    }
}

/// The condition of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GateKind {
    /// A share of the expected reconcilers has applied the change.
    Compliant {
        /// The share.
        share: Share,
        /// How silent reconcilers count.
        silent: Silent,
    },
    /// At most this many of the expected reconcilers failed to apply the change.
    Failures(Amount),
    /// All gates of the list that measure the fleet have held for this time without interruption.
    Soak(Duration),
    /// A check that the service runs.
    Check(Check),
    /// The time is in a window.
    Window(Window),
    /// People approved the change.
    Approval(Approval),
    /// A person must let the change through each time.
    Manual,
}

/// How silent reconcilers count for the gates of a list, also those that applied the change before they became silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Silent {
    /// As expected, and not compliant: the gate waits for them.
    #[default]
    Wait,
    /// They are left out of the expected ones.
    Ignore,
    /// As failed ones.
    Fail,
}

/// A check by its name in the configuration of the service, with the result that is expected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    /// The name in `[promotion.checks]` of `kalypso.toml`.
    pub name: Arc<str>,
    /// What is expected of the result.
    pub expect: Expectation,
}

/// The expected result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expectation {
    /// An HTTP answer with a status, and a value at a JSON path if one is named.
    Http {
        /// The status. None: 200 to 299.
        status: Option<u16>,
        /// The JSON path and the text of the value at it.
        json: Option<(Arc<str>, Arc<str>)>,
    },
    /// The value of a Prometheus query lies in a range. Both limits are decimal numbers as in the object, and included.
    Prometheus {
        /// The lowest value.
        min: Option<Arc<str>>,
        /// The highest value.
        max: Option<Arc<str>>,
    },
    /// A command ends with status 0.
    Command,
}

/// Who must approve a change. The author of the change does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Approval {
    /// The number of different people.
    pub count: u32,
    /// A team from `[promotion.teams]` of `kalypso.toml`, whose members count. None: all accounts whose approval the git host or the service accepts.
    pub team: Option<Arc<str>>,
}

/// The shape of a gate.
pub(super) const SHAPE: Shape = Shape::Fields(&[
    required("name", Shape::Name, "The name, unique in the list."),
    optional(
        "compliant",
        Shape::Fields(&[
            required("share", Shape::TextOrNumber, "The share of the expected reconcilers, such as `98%`."),
            optional(
                "silent",
                Shape::OneOf(&["wait", "ignore", "fail"]),
                "How silent reconcilers count for all gates of the list, also those that applied the change before: the gate waits for them (default), they are not expected, or they are failed. With `fail`, reconcilers without a heartbeat do not count as compliant.",
            ),
        ]),
        "A share of the expected reconcilers has applied the change: its own folders, or later ones with the same content.",
    ),
    optional(
        "failures",
        Shape::TextOrNumber,
        "The largest number or share of expected reconcilers that failed: `2`, `0.5%`.",
    ),
    optional(
        "soak",
        Shape::TextOrNumber,
        "How long the gates `compliant` and `failures` of the list must have held without interruption: `30m`, `12h`, `2d`.",
    ),
    optional(
        "http",
        Shape::Fields(&[
            required("check", Shape::Name, "The name of the check in `[promotion.checks]` of `kalypso.toml`."),
            optional("status", Shape::Integer, "The expected status. Left out: 200 to 299."),
            optional("path", Shape::Text, "A JSON path in the answer, such as `$.status`."),
            optional("equals", Shape::Text, "The expected text of the value at `path`."),
        ]),
        "The answer of an HTTP request.",
    ),
    optional(
        "prometheus",
        Shape::Fields(&[
            required("check", Shape::Name, "The name of the check in `[promotion.checks]` of `kalypso.toml`."),
            optional("min", Shape::TextOrNumber, "The lowest good value of the query."),
            optional("max", Shape::TextOrNumber, "The highest good value of the query."),
        ]),
        "The value of a Prometheus query.",
    ),
    optional(
        "command",
        Shape::Fields(&[required(
            "check",
            Shape::Name,
            "The name of the check in `[promotion.checks]` of `kalypso.toml`.",
        )]),
        "A command of the service's configuration ends with status 0.",
    ),
    optional("window", window::SHAPE, "The time is in a weekly window."),
    optional(
        "approval",
        Shape::Fields(&[
            optional("count", Shape::Integer, "The number of people other than the author (default 1)."),
            optional("team", Shape::Name, "The name of the team in `[promotion.teams]` of `kalypso.toml`."),
        ]),
        "People other than the author approved the change.",
    ),
    optional("manual", Shape::Fields(&[]), "`{}`: a person lets the change through, each time."),
    optional(
        "for",
        Shape::List(&Shape::OneOf(&["main", "release", "values", "application"])),
        "The changes that the gate is for, if it is a `window`, `approval` or `manual`: commits of main, releases, values of the environment, other fields of an application's target. Left out: all.",
    ),
]);

/// The fields with conditions, of which a gate has exactly one.
const CONDITIONS: [&str; 9] =
    ["compliant", "failures", "soak", "http", "prometheus", "command", "window", "approval", "manual"];

/// Reads the list of gates at the path `keys`.
pub(super) fn decode(root: &Node, keys: &[&str], list: GateList, decoder: &mut Decoder<'_>) -> Vec<Gate> {
    let items = decode::items(root, keys);
    values::check_count(root, keys, decoder);
    values::check_names(items, "gate", decoder);
    items.iter().filter_map(|item| gate(item, list, decoder)).collect()
}

fn gate(item: &Node, list: GateList, decoder: &mut Decoder<'_>) -> Option<Gate> {
    let name = decode::text(item, &["name"]);
    let is_set = |condition: &&&str| item.get(condition).is_some_and(|value| !decode::is_null(value));
    let conditions: Vec<_> = CONDITIONS.iter().filter(is_set).copied().collect();
    let [condition] = *conditions else {
        wrong_count(item, (&name, &conditions), decoder);
        return None;
    };
    let value = item.get(condition)?;
    let kind = match condition {
        "compliant" => compliant(value, decoder),
        "failures" => values::amount(item, condition, decoder).map(GateKind::Failures),
        "soak" => values::duration(item, condition, decoder).map(GateKind::Soak),
        "http" => http(value, decoder).map(|expect| check(value, expect)),
        "prometheus" => prometheus(value, decoder).map(|expect| check(value, expect)),
        "command" => Some(check(value, Expectation::Command)),
        "window" => window::decode(value, list, decoder).map(GateKind::Window),
        "approval" => approval(value, decoder),
        _ => Some(GateKind::Manual),
    };
    let kind = kind?;
    if list == GateList::Enter && matches!(kind, GateKind::Compliant { .. } | GateKind::Failures(_) | GateKind::Soak(_))
    {
        let message = format!("`{condition}` can't be in `enter`: no place of the ring has the change then");
        decoder.error(Code::InvalidPromotion, value.span, message);
        decoder.help("write the gate in `prove` of the ring before");
        return None;
    }
    if let Some(node) = origins(item).filter(|_| list != GateList::Before) {
        let message = "`for` has no meaning in a ring: its gates are for every change";
        decoder.error(Code::InvalidPromotion, node.span, message);
        decoder.help("remove `for`, or write the gate in `gates` of the promotion");
        return None;
    }
    let applies_to = applies_to(item, &kind, condition, decoder)?;
    Some(Gate { applies_to, ..Gate::new(name, kind) })
}

/// The list of the origins of changes that a gate is for.
fn origins(item: &Node) -> Option<&Node> {
    item.get("for").filter(|node| !decode::is_null(node))
}

/// The origins in `for`. A measurement is about the change, wherever it comes from.
fn applies_to(
    item: &Node,
    kind: &GateKind,
    condition: &str,
    decoder: &mut Decoder<'_>,
) -> Option<BTreeSet<ChangeOrigin>> {
    let all = || ChangeOrigin::ALL.into_iter();
    let Some(node) = origins(item) else {
        return Some(all().map(|(_, origin)| origin).collect());
    };
    if !kind.is_of_people_or_clock() {
        let message = format!("`for` has no meaning for `{condition}`, which measures every change");
        decoder.error(Code::InvalidPromotion, node.span, message);
        decoder.help("remove `for`; it is for `window`, `approval` and `manual`");
        return None;
    }
    let names = decode::texts(item, &["for"]);
    if names.is_empty() {
        decoder.error(Code::InvalidPromotion, node.span, "`for` is empty, so the gate would have no effect");
        decoder.help("name origins of changes, or remove `for`: then the gate is for all of them");
        return None;
    }
    Some(all().filter(|(name, _)| names.iter().any(|known| **known == **name)).map(|(_, origin)| origin).collect())
}

fn wrong_count(item: &Node, (name, conditions): (&str, &[&str]), decoder: &mut Decoder<'_>) {
    let span = item.get("name").map_or(item.span, |name| name.span);
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if conditions.is_empty() {
        decoder.error(Code::InvalidPromotion, span, format!("the gate `{name}` has no condition"));
        match item.get("manual") {
            Some(_) => decoder.help("write `manual: {}`"),
            None => decoder.help(format!("add one of {}", quoted(&CONDITIONS))),
        }
    } else {
        let message = format!("the gate `{name}` has {} conditions: {}", conditions.len(), quoted(conditions));
        decoder.error(Code::InvalidPromotion, span, message);
        decoder.help("write a gate of its own for each of them: a change moves on when all gates hold");
    }
}

fn compliant(value: &Node, decoder: &mut Decoder<'_>) -> Option<GateKind> {
    let share = values::share(value, "share", decoder)?;
    let silent = match &*decode::text(value, &["silent"]) {
        "ignore" => Silent::Ignore,
        "fail" => Silent::Fail,
        _ => Silent::Wait,
    };
    Some(GateKind::Compliant { share, silent })
}

fn check(value: &Node, expect: Expectation) -> GateKind {
    GateKind::Check(Check { name: decode::text(value, &["check"]), expect })
}

fn http(value: &Node, decoder: &mut Decoder<'_>) -> Option<Expectation> {
    let status = match value.get("status").filter(|status| !decode::is_null(status)) {
        Some(_) => Some(values::number(value, "status", 100..=599, decoder)?),
        None => None,
    };
    let written = |key| value.get(key).filter(|value| !decode::is_null(value));
    let json = match (written("path"), written("equals")) {
        (None, None) => None,
        (Some(path), Some(expected)) => {
            let text = decode::scalar_text(path);
            if !text.starts_with('$') {
                decoder.error(
                    Code::InvalidPromotion,
                    path.span,
                    format!("`path` is no JSON path: {}", values::shown(&text)),
                );
                decoder.help("a JSON path begins with `$`, such as `$.status`");
                return None;
            }
            Some((text, decode::scalar_text(expected)))
        }
        (Some(alone), None) => return values::without(alone.span, ("path", "equals"), decoder),
        (None, Some(alone)) => return values::without(alone.span, ("equals", "path"), decoder),
    };
    Some(Expectation::Http { status: status.and_then(|status| u16::try_from(status).ok()), json })
}

fn prometheus(value: &Node, decoder: &mut Decoder<'_>) -> Option<Expectation> {
    let mut limit = |key| match value.get(key).filter(|value| !decode::is_null(value)) {
        Some(node) => values::decimal(node, key, decoder).map(Some),
        None => Some(None),
    };
    let (min, max) = (limit("min")?, limit("max")?);
    match (&min, &max) {
        (None, None) => {
            decoder.error(Code::InvalidPromotion, value.span, "`prometheus` has no limit, so every value would pass");
            decoder.help("add `min`, `max` or both");
            return None;
        }
        (Some((_, min)), Some((_, max))) if min > max => {
            decoder.error(Code::InvalidPromotion, value.span, format!("no value is at least {min} and at most {max}"));
            decoder.help("exchange `min` and `max`");
            return None;
        }
        _ => {}
    }
    Some(Expectation::Prometheus { min: min.map(|(text, _)| text), max: max.map(|(text, _)| text) })
}

fn approval(value: &Node, decoder: &mut Decoder<'_>) -> Option<GateKind> {
    let count = match value.get("count").filter(|count| !decode::is_null(count)) {
        Some(_) => values::number(value, "count", 1..=100, decoder)?,
        None => 1,
    };
    let team = value.get("team").filter(|team| !decode::is_null(team)).map(decode::scalar_text);
    Some(GateKind::Approval(Approval { count, team }))
}
