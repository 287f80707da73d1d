//! Windows: the times of a week at which a change may move.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::civil::{Date, Time, Weekday};

use super::gate_list::GateList;
use super::values;
use crate::decode;
use crate::decode::Decoder;
use crate::diagnostic::Code;
use crate::shape::{Shape, optional, required};
use crate::yaml::Node;

/// A weekly window of time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The name of the time zone in the IANA database, for everything that `zone_label` gives none. None: the label must name one.
    pub zone: Option<Arc<str>>,
    /// The label of a place that names its time zone: each place of a ring has its own window.
    pub zone_label: Option<Arc<str>>,
    /// The days of the week. Empty: all.
    pub days: Vec<Weekday>,
    /// The beginning on each day.
    pub from: Time,
    /// The end. If it is not after the beginning, the window ends on the next day.
    pub until: Time,
    /// Days, in the time zone, on which no window begins.
    pub except: BTreeSet<Date>,
}

/// Writes the window: `mon,tue 09:00-17:00 Europe/Berlin`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days: Vec<_> = DAYS.iter().filter(|(_, day)| self.days.contains(day)).map(|(name, _)| *name).collect();
        let days = if days.is_empty() { "daily".to_owned() } else { days.join(",") };
        let time = |time: Time| format!("{:02}:{:02}", time.hour(), time.minute());
        write!(f, "{days} {}-{}", time(self.from), time(self.until))?;
        self.zone.iter().try_for_each(|zone| write!(f, " {zone}"))?;
        self.zone_label.iter().try_for_each(|label| write!(f, " in the zone of label {label}"))
    }
}

/// The shape of a window.
pub(super) const SHAPE: Shape = Shape::Fields(&[
    optional(
        "zone",
        Shape::Text,
        "The time zone, as in the IANA database: `Europe/Berlin`. With `zoneLabel`, for places whose label names no time zone.",
    ),
    optional(
        "zoneLabel",
        Shape::Text,
        "In `enter` of a ring: the label of a place that names its time zone, as `Europe/Berlin` or `Europe.Berlin`. Each place is released while its own window is open.",
    ),
    optional(
        "days",
        Shape::List(&Shape::OneOf(&["mon", "tue", "wed", "thu", "fri", "sat", "sun"])),
        "The days of the week. Left out: all.",
    ),
    required("from", Shape::Text, "The beginning: `09:00`."),
    required("until", Shape::Text, "The end: `17:00`. If it is not after `from`, the window ends on the next day."),
    optional("except", Shape::List(&Shape::Text), "Days without a window: `2026-12-24`."),
]);

const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// Reads a window. Whether its time zone exists is checked where the database of time zones is.
pub(super) fn decode(value: &Node, list: GateList, decoder: &mut Decoder<'_>) -> Option<Window> {
    let zones = zones(value, list, decoder);
    let days = days(value, decoder);
    let (from, until) = (time(value, "from", decoder), time(value, "until", decoder));
    let except: Option<BTreeSet<_>> =
        decode::items(value, &["except"]).iter().map(|item| date(item, decoder)).collect();
    let (zone, zone_label) = zones?;
    Some(Window { zone, zone_label, days: days?, from: from?, until: until?, except: except? })
}

/// A time zone, and the label that names those of places.
type Zones = (Option<Arc<str>>, Option<Arc<str>>);

/// The time zone and the label of a window. At least one of them is there.
fn zones(value: &Node, list: GateList, decoder: &mut Decoder<'_>) -> Option<Zones> {
    let written = |key| value.get(key).filter(|node| !decode::is_null(node));
    if let Some(label) = written("zoneLabel").filter(|_| list != GateList::Enter) {
        decoder.error(Code::InvalidPromotion, label.span, "`zoneLabel` is only for `enter` of a ring");
        decoder.help("write `zone`: only a ring releases its places one by one, each in its own window");
        return None;
    }
    let label = written("zoneLabel").map(decode::scalar_text).filter(|label| !label.is_empty());
    match written("zone") {
        Some(node) => Some((Some(zone(node, decoder)?), label)),
        None if label.is_some() => Some((None, label)),
        None => {
            decoder.error(Code::InvalidPromotion, value.span, "the window has no time zone");
            decoder.help("add `zone`, such as `Europe/Berlin`");
            None
        }
    }
}

fn zone(node: &Node, decoder: &mut Decoder<'_>) -> Option<Arc<str>> {
    let name = decode::scalar_text(node);
    let is_possible = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
    };
    if name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.split('/').all(is_possible)
    {
        return Some(name);
    }
    decoder.error(
        Code::InvalidPromotion,
        node.span,
        format!("`zone` is no name of a time zone: {}", values::shown(&name)),
    );
    decoder.help("write a name of the IANA database, such as `Europe/Berlin` or `UTC`");
    None
}

fn days(value: &Node, decoder: &mut Decoder<'_>) -> Option<Vec<Weekday>> {
    let items = decode::items(value, &["days"]);
    if let (Some(node), true) = (value.get("days").filter(|days| !decode::is_null(days)), items.is_empty()) {
        decoder.error(Code::InvalidPromotion, node.span, "`days` is empty, so the window would never open");
        decoder.help("name days, or remove `days`, which allows all");
        return None;
    }
    let mut days: Vec<_> = items
        .iter()
        .filter_map(|item| DAYS.iter().find(|(name, _)| **name == *decode::scalar_text(item)).map(|(_, day)| *day))
        .collect();
    days.sort_by_key(|day| day.to_monday_zero_offset());
    days.dedup();
    Some(days)
}

fn time(value: &Node, key: &str, decoder: &mut Decoder<'_>) -> Option<Time> {
    let node = value.get(key)?;
    let text = decode::scalar_text(node);
    let number = |part: &str| match part.len() {
        2 if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse::<i8>().ok(),
        _ => None,
    };
    let time = text.split_once(':').and_then(|(hour, minute)| Time::new(number(hour)?, number(minute)?, 0, 0).ok());
    if time.is_none() {
        decoder.error(
            Code::InvalidPromotion,
            node.span,
            format!("`{key}` is no time of a day: {}", values::shown(&text)),
        );
        match &*text {
            "24:00" => decoder.help("write the end of a day as `00:00`"),
            _ => decoder.help("write hours and minutes with two digits each, such as `09:00`"),
        }
    }
    time
}

fn date(node: &Node, decoder: &mut Decoder<'_>) -> Option<Date> {
    let text = decode::scalar_text(node);
    // jiff also reads other forms of dates.
    let date = (text.len() == 10).then(|| text.parse().ok()).flatten();
    if date.is_none() {
        decoder.error(Code::InvalidPromotion, node.span, format!("this is no day: {}", values::shown(&text)));
        decoder.help("write a day as `2026-12-24`");
    }
    date
}
