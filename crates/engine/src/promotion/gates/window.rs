//! Gates that the time decides: weekly windows in a time zone.

use jiff::civil::{Date, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};
use model::object::promotion::Window;

use super::Verdict;
use crate::promotion::state::GateStatus;

/// How many days ahead a window is searched.
const DAYS_MAX: usize = 400;

/// Whether the time is in a window. When the clock changes, the time zone database decides: a time that is skipped moves forward, and the first of a
/// repeated time counts.
pub(super) fn verdict(window: &Window, now: Timestamp) -> Verdict {
    let Ok(zone) = TimeZoneDatabase::bundled().get(&window.zone) else {
        return (GateStatus::Waiting, format!("the time zone `{}` is not known", window.zone));
    };
    let today = now.to_zoned(zone.clone()).date();
    let yesterday = today.checked_sub(1.day()).unwrap_or(today);
    let mut openings = yesterday.series(1.day()).take(DAYS_MAX).filter_map(|day| opening(window, day, &zone));
    match openings.find(|(_, end)| now < *end) {
        Some((begin, end)) if begin <= now => {
            (GateStatus::Passed, format!("the window is open until {}", shown(end, &zone, window)))
        }
        Some((begin, _)) => (GateStatus::Waiting, format!("the window opens on {}", shown(begin, &zone, window))),
        None => (GateStatus::Waiting, format!("the window does not open in the next {DAYS_MAX} days")),
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

fn shown(time: Timestamp, zone: &TimeZone, window: &Window) -> String {
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
    format!("{day} {} {:02}:{:02} ({})", local.date(), local.hour(), local.minute(), window.zone)
}
