//! Gates that the time decides: weekly windows in a time zone.

use jiff::civil::{Date, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};
use model::object::promotion::Window;

use super::Verdict;
use crate::promotion::state::GateStatus;

/// How many days ahead a window is searched.
const DAYS_MAX: usize = 400;

/// When a window is open in a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::promotion) enum Opening {
    /// It is open until this time.
    Until(Timestamp),
    /// It opens at this time.
    At(Timestamp),
    /// It does not open in the days that are searched.
    Never,
}

/// Whether the time is in a window. When the clock changes, the time zone database decides: a time that is skipped moves forward, and the first of a
/// repeated time counts.
pub(super) fn verdict(window: &Window, now: Timestamp) -> Verdict {
    let Some(name) = &window.zone else {
        return (GateStatus::Waiting, "the window has no time zone".to_owned());
    };
    let Some(zone) = zone(name) else {
        return (GateStatus::Waiting, format!("the time zone `{name}` is not known"));
    };
    let opening = opening_at(window, &zone, now);
    let status = if matches!(opening, Opening::Until(_)) { GateStatus::Passed } else { GateStatus::Waiting };
    (status, text(opening, &zone, name))
}

/// The time zone that the value of a label names, as `Europe/Berlin`, or as `Europe.Berlin` where a label can't have a slash.
pub(in crate::promotion) fn zone_of_label(value: &str) -> Option<TimeZone> {
    zone(value).or_else(|| zone(&value.replace('.', "/")))
}

/// The time zone with this name.
pub(in crate::promotion) fn zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// When a window is open, or opens next.
pub(in crate::promotion) fn opening_at(window: &Window, zone: &TimeZone, now: Timestamp) -> Opening {
    let today = now.to_zoned(zone.clone()).date();
    let yesterday = today.checked_sub(1.day()).unwrap_or(today);
    let mut openings = yesterday.series(1.day()).take(DAYS_MAX).filter_map(|day| opening(window, day, zone));
    match openings.find(|(_, end)| now < *end) {
        Some((begin, end)) if begin <= now => Opening::Until(end),
        Some((begin, _)) => Opening::At(begin),
        None => Opening::Never,
    }
}

/// When a window is open, in words.
pub(in crate::promotion) fn text(opening: Opening, zone: &TimeZone, name: &str) -> String {
    match opening {
        Opening::Until(end) => format!("the window is open until {}", shown(end, zone, name)),
        Opening::At(begin) => format!("the window opens on {}", shown(begin, zone, name)),
        Opening::Never => format!("the window does not open in the next {DAYS_MAX} days"),
    }
}

/// The beginning and the end of the window that begins on a day.
fn opening(window: &Window, day: Date, zone: &TimeZone) -> Option<(Timestamp, Timestamp)> {
    let is_open = window.days.is_empty() || window.days.contains(&day.weekday());
    if !is_open || window.except.contains(&day) {
        return None;
    }
    let last = if window.until > window.from { day } else { day.checked_add(1.day()).ok()? };
    let at = |date: Date, time| zone.to_timestamp(date.to_datetime(time)).ok();
    Some((at(day, window.from)?, at(last, window.until)?))
}

fn shown(time: Timestamp, zone: &TimeZone, name: &str) -> String {
    let local = time.to_zoned(zone.clone()).datetime();
    let day = match local.weekday() {
        Weekday::Monday => "Mon",
        Weekday::Tuesday => "Tue",
        Weekday::Wednesday => "Wed",
        Weekday::Thursday => "Thu",
        Weekday::Friday => "Fri",
        Weekday::Saturday => "Sat",
        Weekday::Sunday => "Sun",
    };
    format!("{day} {} {:02}:{:02} ({})", local.date(), local.hour(), local.minute(), name)
}
