//! `time.ParseInLocation` with UTC as the location.

use super::calendar::{Civil, MONTHS, SECONDS_PER_DAY, WEEKDAYS, is_leap};
use super::layout::{Chunk, FractionStyle, OffsetStyle, Precision, next_chunk};
use super::{Time, Zone};

/// The fields that are already parsed.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: u32,
    afternoon: Option<bool>,
    zone: ParsedZone,
}

/// The zone in the parsed text.
#[derive(Default)]
struct ParsedZone {
    is_utc: bool,
    /// Seconds east of UTC.
    offset: Option<i32>,
    name: String,
}

pub(super) fn parse(layout: &[u8], value: &[u8]) -> Option<Time> {
    let mut fields = Fields::default();
    let mut value = Cursor(value);
    let mut layout = layout;
    loop {
        let (literal, chunk, following) = next_chunk(layout);
        value.skip(literal)?;
        let Some(chunk) = chunk else { break };
        fields.read(chunk, &mut value, following)?;
        layout = following;
    }
    value.0.is_empty().then(|| fields.into_time())?
}

impl Fields {
    fn read(&mut self, chunk: Chunk, value: &mut Cursor<'_>, following: &[u8]) -> Option<()> {
        match chunk {
            Chunk::LongMonth => self.month = Some(value.name(&MONTHS, false)? + 1),
            Chunk::Month => self.month = Some(value.name(&MONTHS, true)? + 1),
            Chunk::NumMonth | Chunk::ZeroMonth => {
                self.month = Some(value.number(chunk == Chunk::ZeroMonth).filter(|month| (1..=12).contains(month))?);
            }
            Chunk::LongWeekday => drop(value.name(&WEEKDAYS, false)?),
            Chunk::Weekday => drop(value.name(&WEEKDAYS, true)?),
            Chunk::Day | Chunk::UnderDay | Chunk::ZeroDay => {
                value.skip_blanks(usize::from(chunk == Chunk::UnderDay));
                self.day = Some(value.number(chunk == Chunk::ZeroDay)?);
            }
            Chunk::UnderYearDay | Chunk::ZeroYearDay => {
                value.skip_blanks(if chunk == Chunk::UnderYearDay { 2 } else { 0 });
                self.day_of_year = Some(value.three_digits(chunk == Chunk::ZeroYearDay)?);
            }
            Chunk::Hour => self.hour = value.number(false).filter(|hour| *hour < 24)?,
            Chunk::Hour12 | Chunk::ZeroHour12 => {
                self.hour = value.number(chunk == Chunk::ZeroHour12).filter(|hour| *hour <= 12)?;
            }
            Chunk::Minute | Chunk::ZeroMinute => {
                self.minute = value.number(chunk == Chunk::ZeroMinute).filter(|minute| *minute < 60)?;
            }
            Chunk::Second | Chunk::ZeroSecond => {
                self.second = value.number(chunk == Chunk::ZeroSecond).filter(|second| *second < 60)?;
                if !matches!(next_chunk(following).1, Some(Chunk::Fraction(_))) {
                    self.nanoseconds = value.fraction().unwrap_or(self.nanoseconds);
                }
            }
            Chunk::LongYear => self.year = value.digits(4)?,
            Chunk::Year => self.year = value.digits(2).map(|year| year + if year >= 69 { 1_900 } else { 2_000 })?,
            Chunk::UpperPm => self.afternoon = Some(value.one_of(["AM", "PM"])? == 1),
            Chunk::LowerPm => self.afternoon = Some(value.one_of(["am", "pm"])? == 1),
            Chunk::ZoneName => self.zone.read_name(value)?,
            Chunk::Offset(style) => self.zone.read_offset(style, value)?,
            Chunk::Fraction(style) => self.read_fraction(style, value)?,
        }
        Some(())
    }

    fn read_fraction(&mut self, style: FractionStyle, value: &mut Cursor<'_>) -> Option<()> {
        if style.trimmed {
            self.nanoseconds = value.fraction().unwrap_or(self.nanoseconds);
        } else {
            self.nanoseconds = nanoseconds(value.take(style.digits + 1)?)?;
        }
        Some(())
    }

    fn into_time(self) -> Option<Time> {
        let (month, day) = match self.day_of_year {
            Some(day_of_year) => self.month_and_day(day_of_year)?,
            None => (self.month.unwrap_or(1), self.day.unwrap_or(1)),
        };
        let date = Civil::new(self.year, month, day);
        if day < 1 || !date.is_valid() {
            return None;
        }
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let seconds = date.days_since_epoch() * SECONDS_PER_DAY + hour * 3_600 + self.minute * 60 + self.second;
        let (zone, offset) = self.zone.into_zone();
        Some(Time { seconds: seconds - i64::from(offset), nanoseconds: self.nanoseconds, zone })
    }

    /// The month and the day of a day of the year. None if the parsed month or day contradicts it.
    fn month_and_day(&self, day_of_year: i64) -> Option<(i64, i64)> {
        let length = if is_leap(self.year) { 366 } else { 365 };
        let valid = (1..=length).contains(&day_of_year);
        let first = Civil::new(self.year, 1, 1).days_since_epoch();
        let date = Civil::from_days_since_epoch(first + day_of_year - 1);
        let agrees = self.month.is_none_or(|month| month == date.month) && self.day.is_none_or(|day| day == date.day);
        (valid && agrees).then_some((date.month, date.day))
    }
}

impl ParsedZone {
    fn read_name(&mut self, value: &mut Cursor<'_>) -> Option<()> {
        if value.0.starts_with(b"UTC") {
            self.is_utc = true;
            value.take(3)?;
            return Some(());
        }
        let name = value.take(zone_name_length(value.0)?)?;
        self.name = String::from_utf8_lossy(name).into_owned();
        Some(())
    }

    fn read_offset(&mut self, style: OffsetStyle, value: &mut Cursor<'_>) -> Option<()> {
        if style.z && value.0.starts_with(b"Z") {
            self.is_utc = true;
            value.take(1)?;
            return Some(());
        }
        let negative = value.one_of(["+", "-"])? == 1;
        let mut part = |expected: bool, colon: bool, max: i64| {
            if !expected {
                return Some(0);
            }
            if colon {
                value.one_of([":"])?;
            }
            value.number(true).filter(|number| *number <= max)
        };
        let hours = part(true, false, 24)?;
        let minutes = part(style.precision >= Precision::Minutes, style.colons, 60)?;
        let seconds = part(style.precision >= Precision::Seconds, style.colons, 60)?;
        let offset = ((hours * 60 + minutes) * 60 + seconds) as i32;
        self.offset = Some(if negative { -offset } else { offset });
        Some(())
    }

    /// The zone, and the seconds east of UTC that apply to the parsed clock.
    fn into_zone(self) -> (Zone, i32) {
        if self.is_utc {
            return (Zone::Utc, 0);
        }
        if let Some(offset) = self.offset {
            let local = offset == 0 && (self.name.is_empty() || self.name == "UTC");
            return (if local { Zone::Utc } else { Zone::Fixed { name: self.name, offset } }, offset);
        }
        if self.name.is_empty() {
            return (Zone::Utc, 0);
        }
        // UTC has no such abbreviation. So the zone is a new one. It moves the clock only if its name contains the hours, as in `GMT+3`.
        let hours = self.name.strip_prefix("GMT").and_then(|hours| hours.parse::<i32>().ok()).unwrap_or(0);
        (Zone::Fixed { name: self.name, offset: hours * 3_600 }, 0)
    }
}

/// The number of bytes at the start of `value` that can be the name of a zone.
fn zone_name_length(value: &[u8]) -> Option<usize> {
    if value.len() < 3 {
        return None;
    }
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(rest) = value.strip_prefix(b"GMT") {
        return Some(3 + signed_offset_length(rest));
    }
    if value.starts_with(b"+") || value.starts_with(b"-") {
        return Some(signed_offset_length(value)).filter(|&length| length > 0);
    }
    let upper = value.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    let ends_in_t = value.get(..upper).is_some_and(|name| name.ends_with(b"T"));
    match upper {
        3 => Some(3),
        4 if ends_in_t || value.starts_with(b"WITA") => Some(4),
        5 if ends_in_t => Some(5),
        _ => None,
    }
}

/// The number of bytes of a sign and at most 23 hours. 0 if the text does not begin with them.
fn signed_offset_length(value: &[u8]) -> usize {
    let Some((b'+' | b'-', rest)) = value.split_first() else { return 0 };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = rest.get(..digits).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
    if hours.is_some_and(|hours| hours <= 23) { digits + 1 } else { 0 }
}

/// The rest of the text.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// Skips a literal part of the layout. A blank in the layout matches any number of blanks.
    fn skip(&mut self, literal: &[u8]) -> Option<()> {
        let mut literal = literal;
        while let Some((&expected, rest)) = literal.split_first() {
            if expected == b' ' {
                if self.0.first().is_some_and(|&byte| byte != b' ') {
                    return None;
                }
                literal = without_blanks(literal);
                self.0 = without_blanks(self.0);
                continue;
            }
            (self.take(1)? == [expected]).then_some(())?;
            literal = rest;
        }
        Some(())
    }

    fn skip_blanks(&mut self, most: usize) {
        for _ in 0..most {
            self.0 = self.0.strip_prefix(b" ").unwrap_or(self.0);
        }
    }

    /// The index of the name at this place, in upper or lower case.
    fn name(&mut self, names: &[&str], short: bool) -> Option<i64> {
        for (number, name) in names.iter().enumerate() {
            let length = if short { 3 } else { name.len() };
            let here = self.0.get(..length);
            if here.is_some_and(|here| here.eq_ignore_ascii_case(name.as_bytes().get(..length).unwrap_or_default())) {
                self.take(length)?;
                return Some(number as i64);
            }
        }
        None
    }

    fn one_of<const N: usize>(&mut self, texts: [&str; N]) -> Option<usize> {
        let found = texts.iter().position(|text| self.0.starts_with(text.as_bytes()))?;
        self.take(texts.get(found)?.len())?;
        Some(found)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        decimal(self.take(count)?)
    }

    fn leading_digits(&self, most: usize) -> usize {
        self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// Parses one or two digits, or exactly two if `fixed`.
    fn number(&mut self, fixed: bool) -> Option<i64> {
        let length = Some(self.leading_digits(2)).filter(|&length| length > usize::from(fixed))?;
        self.digits(length)
    }

    /// Parses up to three digits, or exactly three if `fixed`.
    fn three_digits(&mut self, fixed: bool) -> Option<i64> {
        let length = Some(self.leading_digits(3)).filter(|&length| length > 0 && (!fixed || length == 3))?;
        self.digits(length)
    }

    /// Parses a separator and all digits after it, to nanoseconds. None if there is no such text here.
    fn fraction(&mut self) -> Option<u32> {
        let [b'.' | b',', rest @ ..] = self.0 else { return None };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        nanoseconds(self.take(digits + 1)?)
    }
}

fn without_blanks(text: &[u8]) -> &[u8] {
    text.get(text.iter().take_while(|&&byte| byte == b' ').count()..).unwrap_or_default()
}

fn decimal(digits: &[u8]) -> Option<i64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Parses a separator and digits. Only the first nine digits count.
fn nanoseconds(text: &[u8]) -> Option<u32> {
    let [b'.' | b',', digits @ ..] = text else { return None };
    let digits = digits.get(..9).unwrap_or(digits);
    let number = decimal(digits)?;
    Some(number as u32 * 10_u32.pow(9 - digits.len() as u32))
}
