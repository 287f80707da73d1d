//! Arithmetic with times.

use super::calendar::{Civil, SECONDS_PER_DAY};
use super::{Time, Zone};

impl Time {
    /// Whether it is the same timestamp as Go's zero time.
    pub(crate) fn is_zero(&self) -> bool {
        self.timestamp() == Self::zero().timestamp()
    }

    /// The seconds since 1970-01-01T00:00:00Z, and the nanoseconds of the second. Times are in the order of their timestamps.
    pub(crate) fn timestamp(&self) -> (i64, u32) {
        (self.seconds, self.nanoseconds)
    }

    /// The same timestamp in UTC.
    pub(crate) fn in_utc(&self) -> Self {
        Self { zone: Zone::Utc, ..self.clone() }
    }

    /// The nanoseconds from `earlier` to this time, limited to the range of an `i64`.
    pub(crate) fn nanoseconds_since(&self, earlier: &Self) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        let total = seconds * 1_000_000_000 + i128::from(self.nanoseconds) - i128::from(earlier.nanoseconds);
        total.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Adds years, months and days. If the day does not exist in the month, the excess days count in the next month. None if a number is too large.
    pub(crate) fn plus_date(&self, [years, months, days]: [i64; 3]) -> Option<Self> {
        /// Far beyond any date, but far from an overflow.
        const FAR: u64 = 1_000_000_000;
        if [years, months, days].iter().any(|number| number.unsigned_abs() > FAR) {
            return None;
        }
        let date = self.civil();
        let later = Civil::new(date.year + years, date.month + months, date.day + days);
        let seconds = (later.days_since_epoch() - date.days_since_epoch()).wrapping_mul(SECONDS_PER_DAY);
        let clock_before = i64::from(self.offset().0);
        let moved = Self { seconds: self.seconds.wrapping_add(seconds), ..self.clone() };
        let clock_change = clock_before - i64::from(moved.offset().0);
        Some(Self { seconds: moved.seconds.wrapping_add(clock_change), ..moved })
    }
}
