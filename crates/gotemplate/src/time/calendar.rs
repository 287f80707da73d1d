//! The Gregorian calendar, for all years in the range of the number types.

/// Seconds of a day. Leap seconds do not count.
pub(super) const SECONDS_PER_DAY: i64 = 86_400;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Begins with Sunday, as in Go.
pub(super) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days of a cycle of 400 years.
const DAYS_PER_CYCLE: i64 = 146_097;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
}

impl Civil {
    pub(super) fn new(year: i64, month: i64, day: i64) -> Self {
        Self { year, month, day }
    }

    /// The date this many days after 1970-01-01. Years are counted from March, so that the leap day is the last day.
    pub(super) fn from_days_since_epoch(days: i64) -> Self {
        let days = days + EPOCH;
        let (cycle, day) = (days.div_euclid(DAYS_PER_CYCLE), days.rem_euclid(DAYS_PER_CYCLE));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Self { year: year + cycle * 400 + i64::from(month <= 2), month, day }
    }

    /// The number of days since 1970-01-01. The day and the month can be out of their range.
    pub(super) fn days_since_epoch(self) -> i64 {
        let months = self.year * 12 + self.month - 3;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
        let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
        let day = (153 * month + 2) / 5 + self.day - 1;
        cycle * DAYS_PER_CYCLE + year * 365 + year / 4 - year / 100 + day - EPOCH
    }

    /// From 1.
    pub(crate) fn day_of_year(self) -> i64 {
        self.days_since_epoch() - Self::new(self.year, 1, 1).days_since_epoch() + 1
    }

    /// From 0 (Sunday).
    pub(crate) fn weekday(self) -> i64 {
        (self.days_since_epoch() + 4).rem_euclid(7)
    }

    /// Whether the day exists in its month.
    pub(super) fn is_valid(self) -> bool {
        Self::from_days_since_epoch(self.days_since_epoch()) == self
    }
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The name with this index.
pub(super) fn name(names: &[&'static str], number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| names.get(number).copied()).unwrap_or_default()
}
