//! Functions on dates. The local zone is UTC, on every machine.

use super::arguments::{any, text, time};
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::time::{Time, parse_duration};
use crate::types::type_name;
use crate::value::{IntKind, Value};

use Type::{Any, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("date", &[Text, Any], |_, args| formatted(any(args, 1), text(args, 0)?.as_bytes(), "Local")),
    function("dateInZone", &[Text, Any, Text], in_zone),
    function("dateModify", &[Text, Type::Time], modify),
    function("date_in_zone", &[Text, Any, Text], in_zone),
    function("date_modify", &[Text, Type::Time], modify),
    function("htmlDate", &[Any], |_, args| formatted(any(args, 0), HTML_DATE, "Local")),
    function("htmlDateInZone", &[Any, Text], |_, args| formatted(any(args, 0), HTML_DATE, &text(args, 1)?.to_str())),
    function("toDate", &[Text, Text], |_, args| {
        let time = Time::parse(text(args, 0)?.as_bytes(), text(args, 1)?.as_bytes());
        Ok(Value::Time(time.unwrap_or_else(Time::zero).into()))
    }),
    function("unixEpoch", &[Type::Time], |_, args| Ok(Value::text(time(args, 0)?.unix().to_string()))),
];

/// The format of `<input type="date">`.
const HTML_DATE: &[u8] = b"2006-01-02";

fn in_zone(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    formatted(any(args, 1), text(args, 0)?.as_bytes(), &text(args, 2)?.to_str())
}

/// Returns an error for a value that is neither a time nor a number of seconds. Go uses the current time there.
fn formatted(date: &Value, layout: &[u8], zone: &str) -> Result<Value, FunctionError> {
    let time = match date {
        Value::Time(time) => time.in_zone(zone),
        Value::Int(seconds, IntKind::Int | IntKind::Int32 | IntKind::Int64) => Time::from_unix(*seconds).in_zone(zone),
        other => {
            return Err(FunctionError::error(format!(
                "not a date: {}, for which sprig shows the current time, and the output would depend on it: give the result of `toDate`, or seconds since 1970 as an integer",
                type_name(other),
            )));
        }
    };
    Ok(Value::text(time.format(layout)))
}

/// A duration that can't be parsed changes nothing.
fn modify(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (duration, time) = (parse_duration(&text(args, 0)?.to_str()), time(args, 1)?);
    Ok(Value::Time(time.plus(duration.unwrap_or(0)).into()))
}
