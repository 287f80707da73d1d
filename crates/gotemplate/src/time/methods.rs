//! The methods of times and durations that templates can call.

use super::calendar::Civil;
use super::{Time, Zone, duration};
use crate::function::{Call, Failure, Function, Type};
use crate::value::{IntKind, Value};

/// The methods of `time.Time`.
pub(crate) const METHODS: &[Function] = &[
    method("AddDate", &[Type::Time, Type::Int, Type::Int, Type::Int], add_date),
    method("After", &[Type::Time, Type::Time], |_, args| compare(args, |left, right| left > right)),
    method("Before", &[Type::Time, Type::Time], |_, args| compare(args, |left, right| left < right)),
    method("Day", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.civil().day))),
    method("Equal", &[Type::Time, Type::Time], |_, args| compare(args, |left, right| left == right)),
    method("Format", &[Type::Time, Type::Text], |_, args| match args {
        [Value::Time(time), Value::Text(layout)] => Ok(Value::text(time.format(layout.as_bytes()))),
        _ => Err(unexpected()),
    }),
    method("Hour", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.second_of_day() / 3_600))),
    method("IsZero", &[Type::Time], |_, args| {
        let time = time(args, 0)?;
        Ok(Value::Bool(time.seconds == Time::zero().seconds && time.nanoseconds == 0))
    }),
    method("Local", &[Type::Time], |_, args| in_utc(args)),
    method("Minute", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.second_of_day() / 60 % 60))),
    method("Month", &[Type::Time], |_, args| Ok(Value::Int(time(args, 0)?.civil().month, IntKind::Month))),
    method("Nanosecond", &[Type::Time], |_, args| Ok(Value::int(i64::from(time(args, 0)?.nanoseconds)))),
    method("Second", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.second_of_day() % 60))),
    method("String", &[Type::Time], |_, args| Ok(Value::text(time(args, 0)?.to_string()))),
    method("Sub", &[Type::Time, Type::Time], sub),
    method("UTC", &[Type::Time], |_, args| in_utc(args)),
    method("Unix", &[Type::Time], |_, args| Ok(Value::int64(time(args, 0)?.seconds))),
    method("UnixNano", &[Type::Time], |_, args| {
        let time = time(args, 0)?;
        Ok(Value::int64(time.seconds.wrapping_mul(1_000_000_000).wrapping_add(i64::from(time.nanoseconds))))
    }),
    method("Weekday", &[Type::Time], |_, args| Ok(Value::Int(time(args, 0)?.civil().weekday(), IntKind::Weekday))),
    method("Year", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.civil().year))),
    method("YearDay", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.civil().day_of_year()))),
];

/// The methods of `time.Duration`.
pub(crate) const DURATION_METHODS: &[Function] = &[
    method("Hours", &[Type::Any], |_, args| Ok(Value::Float(nanoseconds(args)? as f64 / 3_600e9))),
    method("Milliseconds", &[Type::Any], |_, args| Ok(Value::int64(nanoseconds(args)? / 1_000_000))),
    method("Minutes", &[Type::Any], |_, args| Ok(Value::Float(nanoseconds(args)? as f64 / 60e9))),
    method("Nanoseconds", &[Type::Any], |_, args| Ok(Value::int64(nanoseconds(args)?))),
    method("Seconds", &[Type::Any], |_, args| Ok(Value::Float(nanoseconds(args)? as f64 / 1e9))),
    method("String", &[Type::Any], |_, args| Ok(Value::text(duration::show(nanoseconds(args)?)))),
];

const fn method(
    name: &'static str,
    params: &'static [Type],
    body: fn(&mut Call<'_>, &[Value]) -> Result<Value, Failure>,
) -> Function {
    Function { name, params, variadic: false, reads_deeply: false, body }
}

fn unexpected() -> Failure {
    Failure::error("wrong type of argument for a method of time.Time")
}

fn time(args: &[Value], index: usize) -> Result<&Time, Failure> {
    if let Some(Value::Time(time)) = args.get(index) { Ok(time) } else { Err(unexpected()) }
}

fn nanoseconds(args: &[Value]) -> Result<i64, Failure> {
    if let Some(Value::Duration(nanoseconds)) = args.first() { Ok(*nanoseconds) } else { Err(unexpected()) }
}

fn compare(args: &[Value], test: fn((i64, u32), (i64, u32)) -> bool) -> Result<Value, Failure> {
    let (left, right) = (time(args, 0)?, time(args, 1)?);
    Ok(Value::Bool(test((left.seconds, left.nanoseconds), (right.seconds, right.nanoseconds))))
}

fn in_utc(args: &[Value]) -> Result<Value, Failure> {
    Ok(Value::Time(Time { zone: Zone::Utc, ..time(args, 0)?.clone() }.into()))
}

fn sub(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (left, right) = (time(args, 0)?, time(args, 1)?);
    let seconds = i128::from(left.seconds) - i128::from(right.seconds);
    let total = seconds * 1_000_000_000 + i128::from(left.nanoseconds) - i128::from(right.nanoseconds);
    Ok(Value::Duration(total.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
}

/// Adds years, months and days. If the day does not exist in the month, the excess days count in the next month.
fn add_date(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Failure> {
    /// Far beyond any date, but far from an overflow.
    const FAR: u64 = 1_000_000_000;
    let [Value::Time(time), Value::Int(years, _), Value::Int(months, _), Value::Int(days, _)] = args else {
        return Err(unexpected());
    };
    if [years, months, days].iter().any(|number| number.unsigned_abs() > FAR) {
        return Err(Failure::error("the date is out of range"));
    }
    let date = time.civil();
    let later = Civil::new(date.year + years, date.month + months, date.day + days);
    let seconds = (later.days_since_epoch() - date.days_since_epoch()).wrapping_mul(super::calendar::SECONDS_PER_DAY);
    let clock_before = i64::from(time.offset().0);
    let moved = Time { seconds: time.seconds.wrapping_add(seconds), ..Time::clone(time) };
    let clock_change = clock_before - i64::from(moved.offset().0);
    Ok(Value::Time(Time { seconds: moved.seconds.wrapping_add(clock_change), ..moved }.into()))
}
