//! Functions that split texts.

use super::arguments::{bytes, int};
use super::function;
use super::strings::find;
use crate::function::{Call, Function, FunctionError, Type};
use crate::runes::runes;
use crate::value::Value;

use Type::{Int, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("split", &[Text, Text], |call, args| Ok(numbered(parts(call, bytes(args, 1)?, bytes(args, 0)?, -1)?))),
    function("splitList", &[Text, Text], |call, args| {
        Ok(Value::texts(parts(call, bytes(args, 1)?, bytes(args, 0)?, -1)?))
    }),
    function("splitn", &[Text, Int, Text], |call, args| {
        Ok(numbered(parts(call, bytes(args, 2)?, bytes(args, 0)?, int(args, 1)?)?))
    }),
];

/// A map of the parts, with the keys `_0`, `_1` …
fn numbered(parts: Vec<&[u8]>) -> Value {
    Value::text_map(parts.into_iter().enumerate().map(|(number, part)| (format!("_{number}"), part)))
}

/// `strings.SplitN`: at most `count` parts, or all if `count` is negative. Without a separator, every character is a part.
fn parts<'a>(
    call: &mut Call<'_>,
    text: &'a [u8],
    separator: &[u8],
    count: i64,
) -> Result<Vec<&'a [u8]>, FunctionError> {
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    if limit == 0 {
        return Ok(Vec::new());
    }
    // A character has at most four bytes. A search in the whole rest would take quadratic time.
    let width = |rest: &[u8]| runes(rest.get(..4).unwrap_or(rest)).next().map_or(0, |rune| rune.bytes.len());
    let mut parts = Vec::new();
    let mut rest = text;
    while parts.len() + 1 < limit {
        let end = if separator.is_empty() {
            Some(width(rest)).filter(|&end| end < rest.len())
        } else {
            find(rest, separator)
        };
        let Some(end) = end else { break };
        call.budget.steps(1)?;
        let (part, following) = rest.split_at(end);
        parts.push(part);
        rest = following.get(separator.len()..).unwrap_or_default();
    }
    if !(separator.is_empty() && text.is_empty()) {
        parts.push(rest);
    }
    Ok(parts)
}
