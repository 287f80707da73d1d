//! Go's `time.Time` and `time.Duration`.

mod arithmetic;
mod calendar;
mod duration;
mod format;
mod layout;
mod parse;

use std::fmt;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use calendar::SECONDS_PER_DAY;

pub(crate) use calendar::Civil;
pub(crate) use duration::{parse as parse_duration, show as duration_text};

/// The layout in which Go prints a time.
const STRING_LAYOUT: &[u8] = b"2006-01-02 15:04:05.999999999 -0700 MST";

/// The layout of a time in JSON and YAML.
const RFC3339_NANO: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

/// `time.Time`: a timestamp and a zone. The local zone is UTC, on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Time {
    /// Seconds since 1970-01-01T00:00:00Z.
    seconds: i64,
    /// The nanoseconds of the second, below 1,000,000,000.
    nanoseconds: u32,
    zone: Zone,
}

/// `time.Location`
#[derive(Clone, Debug, PartialEq)]
enum Zone {
    Utc,
    /// A zone of the bundled time zone database.
    Named(TimeZone),
    /// The zone in a parsed text. The offset is in seconds east of UTC.
    Fixed {
        name: String,
        offset: i32,
    },
}

impl Time {
    /// The time this many seconds after 1970-01-01T00:00:00Z (`time.Unix`).
    pub(crate) fn from_unix(seconds: i64) -> Self {
        Self { seconds, nanoseconds: 0, zone: Zone::Utc }
    }

    /// Go's zero time: the first second of year 1.
    pub(crate) fn zero() -> Self {
        Self::from_unix(Civil::new(1, 1, 1).days_since_epoch() * SECONDS_PER_DAY)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn unix(&self) -> i64 {
        self.seconds
    }

    /// The nanoseconds of the second, below 1,000,000,000.
    pub(crate) fn nanosecond(&self) -> u32 {
        self.nanoseconds
    }

    /// Parses `value` with `layout` (`time.ParseInLocation`). None if it does not match.
    pub(crate) fn parse(layout: &[u8], value: &[u8]) -> Option<Self> {
        parse::parse(layout, value)
    }

    /// Formats the time with `layout` (`Time.Format`).
    pub(crate) fn format(&self, layout: &[u8]) -> Vec<u8> {
        format::format(self, layout)
    }

    /// Formats the time as in JSON and YAML.
    pub(crate) fn to_rfc3339(&self) -> String {
        String::from_utf8_lossy(&self.format(RFC3339_NANO)).into_owned()
    }

    /// The year in the zone of the time.
    pub(crate) fn year(&self) -> i64 {
        self.civil().year
    }

    /// The timestamp and its offset from UTC in Go's binary format (`Time.MarshalBinary` of a time in the local zone).
    pub(crate) fn to_binary(&self) -> Vec<u8> {
        const SECONDS_FROM_YEAR_1_TO_1970: i64 = 62_135_596_800;
        let (offset, seconds_of_offset) = (self.offset().0 / 60, self.offset().0 % 60);
        let mut binary = vec![if seconds_of_offset == 0 { 1 } else { 2 }];
        binary.extend(self.seconds.wrapping_add(SECONDS_FROM_YEAR_1_TO_1970).to_be_bytes());
        binary.extend(self.nanoseconds.to_be_bytes());
        binary.extend((offset as i16).to_be_bytes());
        if seconds_of_offset != 0 {
            binary.push(seconds_of_offset as i8 as u8);
        }
        binary
    }

    /// The same timestamp in the named zone. In UTC for `Local`, for the empty name, and for a name that the bundled database does not contain.
    pub(crate) fn in_zone(&self, name: &str) -> Self {
        let zone = match name {
            "" | "UTC" | "Local" => None,
            // The database ignores the case of names, but Go does not.
            name => TimeZoneDatabase::bundled().get(name).ok().filter(|zone| zone.iana_name() == Some(name)),
        };
        Self { zone: zone.map_or(Zone::Utc, Zone::Named), ..*self }
    }

    /// The time this many nanoseconds later.
    pub(crate) fn plus(&self, nanoseconds: i64) -> Self {
        const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;
        let total = i64::from(self.nanoseconds) + nanoseconds.rem_euclid(NANOSECONDS_PER_SECOND);
        let seconds = nanoseconds.div_euclid(NANOSECONDS_PER_SECOND) + total / NANOSECONDS_PER_SECOND;
        Self {
            seconds: self.seconds.wrapping_add(seconds),
            nanoseconds: (total % NANOSECONDS_PER_SECOND) as u32,
            zone: self.zone.clone(),
        }
    }

    /// The offset from UTC in seconds and the zone's abbreviation, at this timestamp.
    fn offset(&self) -> (i32, String) {
        match &self.zone {
            Zone::Utc => (0, "UTC".to_owned()),
            Zone::Fixed { name, offset } => (*offset, name.clone()),
            Zone::Named(zone) => {
                let bounds = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
                let timestamp = Timestamp::from_second(self.seconds.clamp(bounds.0, bounds.1)).unwrap_or_default();
                let info = zone.to_offset_info(timestamp);
                (info.offset().seconds(), info.abbreviation().to_owned())
            }
        }
    }

    /// Seconds since 1970-01-01 in the zone of the time.
    fn local_seconds(&self) -> i64 {
        self.seconds.wrapping_add(i64::from(self.offset().0))
    }

    /// The date in the zone of the time.
    pub(crate) fn civil(&self) -> Civil {
        Civil::from_days_since_epoch(self.local_seconds().div_euclid(SECONDS_PER_DAY))
    }

    /// Seconds since midnight.
    pub(crate) fn second_of_day(&self) -> i64 {
        self.local_seconds().rem_euclid(SECONDS_PER_DAY)
    }
}

/// The format in which Go prints a time: `2020-02-29 00:00:00 +0000 UTC`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.format(STRING_LAYOUT)))
    }
}

/// The name of a month, from 1 for January.
pub(crate) fn month_name(month: i64) -> &'static str {
    calendar::name(&calendar::MONTHS, month - 1)
}

/// The name of a day of the week, from 0 for Sunday.
pub(crate) fn weekday_name(day: i64) -> &'static str {
    calendar::name(&calendar::WEEKDAYS, day)
}

#[cfg(test)]
mod tests;
