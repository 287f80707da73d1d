//! `unquote`: a text without the quotes around it.

use crate::function::{Call, Function, FunctionError, Type};
use crate::text::Text;
use crate::value::Value;

pub(super) const FUNCTION: Function =
    Function { name: "unquote", params: &[Type::Any], variadic: false, reads_deeply: false, body: unquote };

/// Removes white space, then all double quotes, then all single quotes, at both ends. For a value that is not a text, returns an empty text.
#[allow(clippy::unnecessary_wraps, reason = "the type of every function that templates call")]
fn unquote(_: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let Some(Value::Text(text)) = arguments.first() else { return Ok(Value::text("")) };
    let trimmed = match std::str::from_utf8(text.as_bytes()) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => text.as_bytes().trim_ascii(),
    };
    Ok(Value::Text(Text::from(without(b'\'', without(b'"', trimmed)))))
}

/// `bytes` without the byte `quote` at both ends.
fn without(quote: u8, mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(&[quote]) {
        bytes = rest;
    }
    while let Some(rest) = bytes.strip_suffix(&[quote]) {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::tests::call;
    use crate::value::Value;

    fn check(value: Value, expected: &str) {
        assert_eq!(call("unquote", value), Ok(expected.into()));
    }

    #[test]
    fn double_quotes_are_removed_before_single_ones() {
        check(Value::text("\"'x'\""), "x");
        check(Value::text(" '\"x\"'\u{a0}"), "\"x\"");
        check(Value::text("''it's''"), "it's");
        check(Value::text("\"\""), "");
    }

    #[test]
    fn only_texts_can_be_unquoted() {
        check(Value::int(5), "");
        check(Value::list(vec![Value::text("'x'")]), "");
        check(Value::Nil, "");
    }
}
