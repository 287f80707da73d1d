//! `Time.Format`.

use super::Time;
use super::calendar::{MONTHS, WEEKDAYS, name};
use super::layout::{Chunk, FractionStyle, OffsetStyle, Precision, next_chunk};

pub(super) fn format(time: &Time, layout: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(layout.len() + 16);
    let mut rest = layout;
    loop {
        let (literal, chunk, following) = next_chunk(rest);
        out.extend_from_slice(literal);
        let Some(chunk) = chunk else { return out };
        out.extend_from_slice(shown(time, chunk).as_bytes());
        rest = following;
    }
}

fn shown(time: &Time, chunk: Chunk) -> String {
    let (date, second_of_day) = (time.civil(), time.second_of_day());
    let (hour, minute, second) = (second_of_day / 3_600, second_of_day / 60 % 60, second_of_day % 60);
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let short = |name: &str| name.chars().take(3).collect();
    match chunk {
        Chunk::LongMonth => name(&MONTHS, date.month - 1).to_owned(),
        Chunk::Month => short(name(&MONTHS, date.month - 1)),
        Chunk::NumMonth => date.month.to_string(),
        Chunk::ZeroMonth => format!("{:02}", date.month),
        Chunk::LongWeekday => name(&WEEKDAYS, date.weekday()).to_owned(),
        Chunk::Weekday => short(name(&WEEKDAYS, date.weekday())),
        Chunk::Day => date.day.to_string(),
        Chunk::UnderDay => format!("{:2}", date.day),
        Chunk::ZeroDay => format!("{:02}", date.day),
        Chunk::UnderYearDay => format!("{:3}", date.day_of_year()),
        Chunk::ZeroYearDay => format!("{:03}", date.day_of_year()),
        Chunk::Hour => format!("{hour:02}"),
        Chunk::Hour12 => hour12.to_string(),
        Chunk::ZeroHour12 => format!("{hour12:02}"),
        Chunk::Minute => minute.to_string(),
        Chunk::ZeroMinute => format!("{minute:02}"),
        Chunk::Second => second.to_string(),
        Chunk::ZeroSecond => format!("{second:02}"),
        Chunk::LongYear if date.year < 0 => format!("-{:04}", -date.year),
        Chunk::LongYear => format!("{:04}", date.year),
        Chunk::Year => format!("{:02}", date.year.max(0) % 100),
        Chunk::UpperPm => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        Chunk::LowerPm => if hour < 12 { "am" } else { "pm" }.to_owned(),
        Chunk::ZoneName => zone_name(time),
        Chunk::Offset(style) => offset(time.offset().0, style),
        Chunk::Fraction(style) => fraction(time.nanoseconds, style),
    }
}

/// The abbreviation, or the offset from UTC if the zone has no abbreviation.
fn zone_name(time: &Time) -> String {
    let (distance, abbreviation) = time.offset();
    let style = OffsetStyle { z: false, colons: false, precision: Precision::Minutes };
    if abbreviation.is_empty() { offset(distance, style) } else { abbreviation }
}

fn offset(seconds: i32, style: OffsetStyle) -> String {
    if style.z && seconds == 0 {
        return "Z".to_owned();
    }
    let colon = if style.colons { ":" } else { "" };
    let sign = if seconds < 0 { '-' } else { '+' };
    let distance = seconds.unsigned_abs();
    let (hours, minutes, seconds) = (distance / 3_600, distance / 60 % 60, distance % 60);
    match style.precision {
        Precision::Hours => format!("{sign}{hours:02}"),
        Precision::Minutes => format!("{sign}{hours:02}{colon}{minutes:02}"),
        Precision::Seconds => format!("{sign}{hours:02}{colon}{minutes:02}{colon}{seconds:02}"),
    }
}

fn fraction(nanoseconds: u32, style: FractionStyle) -> String {
    let all = format!("{nanoseconds:09}");
    let kept: String = all.chars().take(style.digits).collect();
    let kept = if style.trimmed { kept.trim_end_matches('0') } else { &kept };
    if kept.is_empty() { String::new() } else { format!("{}{kept}", char::from(style.separator)) }
}
