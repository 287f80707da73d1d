//! Parses timestamps and durations of the command line.

use std::time::Duration;

use hub_api::timestamp::Timestamp;
use jiff::Zoned;
use jiff::civil::{DateTime, Time};

use crate::exit::Failure;

/// The maximum length of a time without a date: `22:00:59`.
const CLOCK_LEN_MAX: usize = 8;

/// Parses a timestamp in the past: a date, a timestamp, a time by the clock of this machine, or a duration before now.
pub(crate) fn timestamp(name: &str, text: &str) -> Result<Timestamp, Failure> {
    let wrong = |_| {
        Failure::usage(format!(
            "`{name} {text}` is neither a date (2026-11-21), a timestamp (2026-11-21T13:44:01Z), a local time (2026-11-21T13:44, 22:00) nor a time ago (30d, 12h)"
        ))
    };
    if let Some(given) = date(text).or_else(|| local(text, &Zoned::now())) {
        return Ok(given);
    }
    Ok(Timestamp::now().before(duration(name, text).map_err(wrong)?))
}

/// Parses a local time. Without a date, it is the last time that the clock showed it.
fn local(text: &str, now: &Zoned) -> Option<Timestamp> {
    let zone = now.time_zone();
    let in_zone = |time: DateTime| Some(Timestamp::from_millis(zone.to_zoned(time).ok()?.timestamp().as_millisecond()));
    // A date is accepted as a civil time, too, but it stands for its beginning in UTC.
    if text.contains(':') && text.len() > CLOCK_LEN_MAX {
        return in_zone(text.parse().ok()?);
    }
    let time: Time = text.contains(':').then(|| text.parse().ok())??;
    let today = now.date().to_datetime(time);
    let last = if today <= now.datetime() { today } else { today.yesterday().ok()? };
    in_zone(last)
}

/// Parses a timestamp, or a date. A date stands for its beginning in UTC.
pub(crate) fn date(text: &str) -> Option<Timestamp> {
    text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()
}

/// Parses a duration such as `90d` or `12h`. A day has 24 hours.
pub(crate) fn duration(name: &str, text: &str) -> Result<Duration, Failure> {
    let wrong = || Failure::usage(format!("`{name} {text}` is no length of time: those are like 90d, 12h or 30m"));
    let span: jiff::Span = text.parse().map_err(|_| wrong())?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    duration.try_into().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_require_units() {
        let check = |text| duration("--grace", text).ok().map(|duration| duration.as_secs());
        assert_eq!(check("90d"), Some(90 * 86_400));
        assert_eq!(check("1h30m"), Some(5_400));
        assert_eq!(check("0s"), Some(0));
        assert_eq!([check("90"), check("-1d"), check("soon"), check("1mo")], [None; 4]);
    }

    #[test]
    fn timestamps_are_dates_or_times_ago() {
        let check = |text| timestamp("--since", text).map(|timestamp| timestamp.to_string());
        assert_eq!(check("2026-11-21").unwrap(), "2026-11-21T00:00:00.000Z");
        assert_eq!(check("2026-11-21T12:00:00+02:00").unwrap(), "2026-11-21T10:00:00.000Z");
        assert!(timestamp("--since", "30d").unwrap() < Timestamp::now());
        assert!(check("22:00").unwrap() < Timestamp::now().to_string());
        assert!(check("lately").unwrap_err().message.contains("`--since lately` is neither"));
    }

    #[test]
    fn local_times_use_the_time_zone() {
        let now: Zoned = "2026-11-21T13:44:01+01:00[Europe/Berlin]".parse().unwrap();
        let check = |text: &str| local(text, &now).map(|timestamp| timestamp.to_string());
        assert_eq!(check("2026-07-01T22:00").unwrap(), "2026-07-01T20:00:00.000Z");
        assert_eq!(check("2026-11-20 22:00:30").unwrap(), "2026-11-20T21:00:30.000Z");
        assert_eq!(check("13:44").unwrap(), "2026-11-21T12:44:00.000Z");
        assert_eq!(check("22:00").unwrap(), "2026-11-20T21:00:00.000Z", "not in the future");
        assert_eq!(
            [check("25:00"), check("22"), check("2026-11-21"), check("12h")],
            [None; 4].map(|_: Option<()>| None)
        );
    }
}
