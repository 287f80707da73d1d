//! Timestamps in UTC, in milliseconds.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

/// A timestamp in UTC, in milliseconds since 1970. Its text form is RFC 3339 (`2026-11-21T13:44:01.250Z`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest accepted timestamp, 1970-01-01.
    pub const MIN: Self = Self(0);
    /// The latest accepted timestamp: the end of the year 9998, which has four digits in every time zone.
    pub const MAX: Self = Self(253_370_764_799_999);

    /// The timestamp for milliseconds since 1970. Values outside the range become the nearest valid one.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// The current time, by the clock of this machine.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// The timestamp after a duration.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The timestamp before a duration.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self::from_millis(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The timestamp without its milliseconds.
    #[must_use]
    pub fn whole_seconds(self) -> Self {
        Self(self.0 - self.0.rem_euclid(1_000))
    }

    /// The duration since an earlier timestamp. Zero if that one is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(formatter, "{timestamp:.3}")
    }
}

impl From<Timestamp> for String {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.to_string()
    }
}

impl utoipa::PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl utoipa::ToSchema for Timestamp {}

/// The text is not a timestamp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time as RFC 3339 writes it, such as 2026-11-21T13:44:01Z")]
pub struct TimestampError(String);

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let error = || TimestampError(text.chars().take(64).collect());
        let timestamp: jiff::Timestamp = text.parse().map_err(|_| error())?;
        let millis = timestamp.as_millisecond();
        (Self::MIN.0..=Self::MAX.0).contains(&millis).then_some(Self(millis)).ok_or_else(error)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimestampError;

    fn try_from(text: String) -> Result<Self, TimestampError> {
        text.parse()
    }
}

/// Parses a duration, such as `10m` or `2h`. A day has 24 hours.
pub fn length(text: &str) -> Option<Duration> {
    let span: jiff::Span = text.parse().ok()?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(duration).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_milliseconds_and_accept_any_offset() {
        let timestamp: Timestamp = "2026-11-21T15:44:01.25+02:00".parse().unwrap();
        assert_eq!(timestamp.to_string(), "2026-11-21T13:44:01.250Z");
        assert_eq!(timestamp.to_string().parse(), Ok(timestamp));
    }

    #[test]
    fn invalid_or_out_of_range_timestamps_are_refused() {
        for text in ["1969-12-31T23:59:59Z", "soon", "", "2026-11-21", "-009998-01-02T01:59:59Z"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
        assert_eq!(Timestamp::from_millis(i64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.to_string(), "9998-12-31T23:59:59.999Z");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Timestamp::MAX.after(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.before(Duration::MAX), Timestamp::MIN);
        assert_eq!(Timestamp::MIN.since(Timestamp::MAX), Duration::ZERO);
    }
}
