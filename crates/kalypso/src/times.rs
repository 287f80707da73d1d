//! Parses timestamps and durations of the command line.

use std::time::Duration;

use hub_api::timestamp::Timestamp;

use crate::exit::Failure;

/// Parses a timestamp in the past: a date, a timestamp, or a duration before now.
pub(crate) fn timestamp(name: &str, text: &str) -> Result<Timestamp, Failure> {
    let wrong = |_| {
        Failure::usage(format!(
            "`{name} {text}` is neither a date (2026-11-21), a timestamp (2026-11-21T13:44:01Z) nor a time ago (30d, 12h)"
        ))
    };
    date(text).map_or_else(|| Ok(Timestamp::now().before(duration(name, text).map_err(wrong)?)), Ok)
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
    fn times_have_units() {
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
        assert!(check("lately").unwrap_err().message.contains("`--since lately` is neither"));
    }
}
