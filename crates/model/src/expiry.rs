//! The date or timestamp when a pin must be reviewed.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// The time when an object must be reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expiry {
    /// After the end of this day, UTC.
    Day(Date),
    /// From this timestamp on.
    Timestamp(Timestamp),
}

impl Expiry {
    /// Whether it is past at `now`.
    pub fn is_past(self, now: Timestamp) -> bool {
        match self {
            Self::Day(day) => day < TimeZone::UTC.to_datetime(now).date(),
            Self::Timestamp(timestamp) => timestamp <= now,
        }
    }
}

/// Parses `YYYY-MM-DD`, or a timestamp as in RFC 3339.
impl FromStr for Expiry {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        match text.len() {
            // jiff also parses shorter and longer forms of dates, which JSON Schema does not allow and users do not expect.
            10 => text.parse().map(Self::Day),
            _ => text.parse().map(Self::Timestamp),
        }
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => day.fmt(f),
            Self::Timestamp(timestamp) => timestamp.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expiry: &str, now: &str, is_past: bool) {
        let expiry: Expiry = expiry.parse().unwrap();
        assert_eq!(expiry.is_past(now.parse().unwrap()), is_past, "{expiry} at {now}");
    }

    #[test]
    fn days_expire_at_their_end_in_utc() {
        check("2027-01-31", "2027-01-31T23:59:59Z", false);
        check("2027-01-31", "2027-02-01T00:00:00Z", true);
        check("2027-01-31", "2027-01-31T23:00:00-02:00", true);
    }

    #[test]
    fn timestamps_expire_when_they_are_reached() {
        check("2027-01-31T12:00:00+02:00", "2027-01-31T09:59:59Z", false);
        check("2027-01-31T12:00:00+02:00", "2027-01-31T10:00:00Z", true);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "soon", "2027-02-29", "20270131", "2027-01", "2027-01-31T12:00:00"] {
            assert!(text.parse::<Expiry>().is_err(), "{text:?}");
        }
    }
}
