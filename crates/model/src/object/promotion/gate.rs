//! Gates: the conditions under which a change moves on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::{Date, Time, Weekday};

use super::{Amount, Share};
use crate::decode::Decoder;
use crate::shape::{Shape, optional, required};
use crate::yaml::Node;

/// A condition under which a change moves on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// The name, unique in its list.
    pub name: Arc<str>,
    /// The condition.
    pub kind: GateKind,
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

/// How silent reconcilers count for the share of compliant ones.
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

/// A weekly window of time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The name of the time zone in the IANA database.
    pub zone: Arc<str>,
    /// The days of the week. Empty: all.
    pub days: Vec<Weekday>,
    /// The beginning on each day.
    pub from: Time,
    /// The end. If it is not after the beginning, the window ends on the next day.
    pub until: Time,
    /// Days, in the time zone, on which no window begins.
    pub except: BTreeSet<Date>,
}

/// Who must approve a change. The author of the change does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Approval {
    /// The number of different people.
    pub count: u32,
    /// A team from `[promotion.teams]` of `kalypso.toml`, whose members count. None: everyone whose approval the git host or the service accepts.
    pub team: Option<Arc<str>>,
}

/// The shape of a gate.
pub(super) const SHAPE: Shape = Shape::Fields(&[
    required("name", Shape::Name, "The name, unique in the list."),
    optional(
        "compliant",
        Shape::Fields(&[
            required("share", Shape::Text, "The share of the expected reconcilers, such as `98%`."),
            optional(
                "silent",
                Shape::OneOf(&["wait", "ignore", "fail"]),
                "How silent reconcilers count: the gate waits for them (default), they are not expected, or they are failed.",
            ),
        ]),
        "A share of the expected reconcilers has applied the change, or a newer one that contains it.",
    ),
    optional("failures", Shape::Text, "The largest number or share of expected reconcilers that failed: `2`, `0.5%`."),
    optional(
        "soak",
        Shape::Text,
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
            optional("min", Shape::Text, "The lowest good value of the query."),
            optional("max", Shape::Text, "The highest good value of the query."),
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
    optional(
        "window",
        Shape::Fields(&[
            required("zone", Shape::Text, "The time zone, as in the IANA database: `Europe/Berlin`."),
            optional(
                "days",
                Shape::List(&Shape::OneOf(&["mon", "tue", "wed", "thu", "fri", "sat", "sun"])),
                "The days of the week. Left out: all.",
            ),
            required("from", Shape::Text, "The beginning: `09:00`."),
            required(
                "until",
                Shape::Text,
                "The end: `17:00`. If it is not after `from`, the window ends on the next day.",
            ),
            optional("except", Shape::List(&Shape::Text), "Days without a window: `2026-12-24`."),
        ]),
        "The time is in a weekly window.",
    ),
    optional(
        "approval",
        Shape::Fields(&[
            optional("count", Shape::Integer, "The number of people other than the author (default 1)."),
            optional("team", Shape::Name, "The name of the team in `[promotion.teams]` of `kalypso.toml`."),
        ]),
        "People other than the author approved the change.",
    ),
    optional("manual", Shape::Fields(&[]), "`{}`: a person lets the change through, each time."),
]);

/// Reads a list of gates.
pub(super) fn decode(_root: &Node, _keys: &[&str], _decoder: &mut Decoder<'_>) -> Vec<Gate> {
    Vec::new()
}
