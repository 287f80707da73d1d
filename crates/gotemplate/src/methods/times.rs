//! The methods of times and durations that templates can call.

use super::method;
use crate::function::{Call, Function, FunctionError, Type};
use crate::time::{Time, duration_text};
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
    method("IsZero", &[Type::Time], |_, args| Ok(Value::Bool(time(args, 0)?.is_zero()))),
    method("Local", &[Type::Time], |_, args| in_utc(args)),
    method("Minute", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.second_of_day() / 60 % 60))),
    method("Month", &[Type::Time], |_, args| Ok(Value::Int(time(args, 0)?.civil().month, IntKind::Month))),
    method("Nanosecond", &[Type::Time], |_, args| Ok(Value::int(i64::from(time(args, 0)?.nanosecond())))),
    method("Second", &[Type::Time], |_, args| Ok(Value::int(time(args, 0)?.second_of_day() % 60))),
    method("String", &[Type::Time], |_, args| Ok(Value::text(time(args, 0)?.to_string()))),
    method("Sub", &[Type::Time, Type::Time], sub),
    method("UTC", &[Type::Time], |_, args| in_utc(args)),
    method("Unix", &[Type::Time], |_, args| Ok(Value::int64(time(args, 0)?.unix()))),
    method("UnixNano", &[Type::Time], |_, args| {
        let (seconds, nanoseconds) = time(args, 0)?.timestamp();
        Ok(Value::int64(seconds.wrapping_mul(1_000_000_000).wrapping_add(i64::from(nanoseconds))))
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
    method("String", &[Type::Any], |_, args| Ok(Value::text(duration_text(nanoseconds(args)?)))),
];

fn unexpected() -> FunctionError {
    FunctionError::error("wrong type of argument for a method of time.Time")
}

fn time(args: &[Value], index: usize) -> Result<&Time, FunctionError> {
    if let Some(Value::Time(time)) = args.get(index) { Ok(time) } else { Err(unexpected()) }
}

fn nanoseconds(args: &[Value]) -> Result<i64, FunctionError> {
    if let Some(Value::Duration(nanoseconds)) = args.first() { Ok(*nanoseconds) } else { Err(unexpected()) }
}

fn compare(args: &[Value], test: fn((i64, u32), (i64, u32)) -> bool) -> Result<Value, FunctionError> {
    let (left, right) = (time(args, 0)?, time(args, 1)?);
    Ok(Value::Bool(test(left.timestamp(), right.timestamp())))
}

fn in_utc(args: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::Time(time(args, 0)?.in_utc().into()))
}

fn sub(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::Duration(time(args, 0)?.nanoseconds_since(time(args, 1)?)))
}

fn add_date(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let [Value::Time(time), Value::Int(years, _), Value::Int(months, _), Value::Int(days, _)] = args else {
        return Err(unexpected());
    };
    match time.plus_date([*years, *months, *days]) {
        Some(later) => Ok(Value::Time(later.into())),
        None => Err(FunctionError::error("the date is out of range")),
    }
}
