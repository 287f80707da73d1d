//! Go's layouts: an example date. Each known piece of it represents a part of a time.

use Chunk::{
    Day, Fraction, Hour, Hour12, LongMonth, LongWeekday, LongYear, LowerPm, Minute, Month, NumMonth, Offset, Second,
    UnderDay, UnderYearDay, UpperPm, Weekday, Year, ZeroDay, ZeroHour12, ZeroMinute, ZeroMonth, ZeroSecond,
    ZeroYearDay, ZoneName,
};

/// A part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    ZoneName,
    /// The offset from UTC.
    Offset(OffsetStyle),
    /// Fractions of a second.
    Fraction(FractionStyle),
}

/// The format of an offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetStyle {
    /// `Z` for the offset 0.
    pub(super) z: bool,
    /// Colons between hours, minutes and seconds.
    pub(super) colons: bool,
    pub(super) precision: Precision,
}

/// The last part of an offset from UTC that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Hours,
    Minutes,
    Seconds,
}

/// The format of fractions of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FractionStyle {
    /// `.` or `,`
    pub(super) separator: u8,
    pub(super) digits: usize,
    /// Whether trailing zeros are removed (`.999`).
    pub(super) trimmed: bool,
}

/// The pieces of layouts. If two have the same beginning, the longer one is first.
const CHUNKS: &[(&str, Chunk)] = &[
    ("January", LongMonth),
    ("Jan", Month),
    ("Monday", LongWeekday),
    ("Mon", Weekday),
    ("MST", ZoneName),
    ("002", ZeroYearDay),
    ("01", ZeroMonth),
    ("02", ZeroDay),
    ("03", ZeroHour12),
    ("04", ZeroMinute),
    ("05", ZeroSecond),
    ("06", Year),
    ("15", Hour),
    ("1", NumMonth),
    ("2006", LongYear),
    ("2", Day),
    ("__2", UnderYearDay),
    ("_2", UnderDay),
    ("3", Hour12),
    ("4", Minute),
    ("5", Second),
    ("PM", UpperPm),
    ("pm", LowerPm),
    ("-07:00:00", offset(false, true, Precision::Seconds)),
    ("-070000", offset(false, false, Precision::Seconds)),
    ("-07:00", offset(false, true, Precision::Minutes)),
    ("-0700", offset(false, false, Precision::Minutes)),
    ("-07", offset(false, false, Precision::Hours)),
    ("Z07:00:00", offset(true, true, Precision::Seconds)),
    ("Z070000", offset(true, false, Precision::Seconds)),
    ("Z07:00", offset(true, true, Precision::Minutes)),
    ("Z0700", offset(true, false, Precision::Minutes)),
    ("Z07", offset(true, false, Precision::Hours)),
];

const fn offset(z: bool, colons: bool, precision: Precision) -> Chunk {
    Offset(OffsetStyle { z, colons, precision })
}

/// The literal text up to the first chunk, the chunk, and the layout after it.
pub(super) fn next_chunk(layout: &[u8]) -> (&[u8], Option<Chunk>, &[u8]) {
    let found = (0..layout.len()).find_map(|at| {
        let (before, rest) = layout.split_at(at);
        chunk_at(rest).map(|(chunk, length)| (before, Some(chunk), rest.get(length..).unwrap_or_default()))
    });
    found.unwrap_or((layout, None, &[]))
}

fn chunk_at(layout: &[u8]) -> Option<(Chunk, usize)> {
    // `_2006` is an underscore and a year.
    if layout.starts_with(b"_2006") {
        return None;
    }
    if let Some(found) = fraction_at(layout) {
        return Some(found);
    }
    let fits = |(text, chunk): &&(&str, Chunk)| {
        let short_name = matches!(chunk, Month | Weekday);
        let lower_follows = layout.get(text.len()).is_some_and(u8::is_ascii_lowercase);
        layout.starts_with(text.as_bytes()) && !(short_name && lower_follows)
    };
    CHUNKS.iter().find(fits).map(|(text, chunk)| (*chunk, text.len()))
}

/// Recognizes `.000` or `,999`, unless another digit follows.
fn fraction_at(layout: &[u8]) -> Option<(Chunk, usize)> {
    let (&separator, rest) = layout.split_first()?;
    let digit = *rest.first()?;
    if !matches!(separator, b'.' | b',') || !matches!(digit, b'0' | b'9') {
        return None;
    }
    let digits = rest.iter().take_while(|&&byte| byte == digit).count();
    let digit_follows = rest.get(digits).is_some_and(u8::is_ascii_digit);
    (!digit_follows).then_some((Fraction(FractionStyle { separator, digits, trimmed: digit == b'9' }), digits + 1))
}
