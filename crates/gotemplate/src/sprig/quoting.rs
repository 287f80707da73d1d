//! Functions that convert any value to text.

use super::arguments::{any, charge_text, rest, text};
use super::{deep, function, variadic};
use crate::format;
use crate::function::{Call, Function, FunctionError, Type};
use crate::text::Text;
use crate::value::{ListKind, Value};

use Type::Any;

pub(super) const FUNCTIONS: &[Function] = &[
    deep(variadic(function("cat", &[Any], cat))),
    deep(function("join", &[Type::Text, Any], join)),
    deep(variadic(function("quote", &[Any], |_, args| {
        Ok(shown(args, |value, out| out.extend_from_slice(format::quote(strval(value).as_bytes()).as_bytes())))
    }))),
    deep(function("sortAlpha", &[Any], sort_alpha)),
    deep(variadic(function("squote", &[Any], |_, args| {
        Ok(shown(args, |value, out| {
            out.push(b'\'');
            format::write_display(value, out);
            out.push(b'\'');
        }))
    }))),
    deep(function("toString", &[Any], |_, args| Ok(Value::Text(strval(any(args, 0)))))),
    deep(function("toStrings", &[Any], |_, args| Ok(Value::texts(texts(any(args, 0)))))),
];

/// The value as text, like sprig's `strval`: as `%v` prints it, but a list of bytes is a text.
pub(super) fn strval(value: &Value) -> Text {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(list) if list.kind == ListKind::Bytes => {
            let byte = |item: &Value| if let Value::Uint(byte, _) = item { *byte as u8 } else { 0 };
            list.items().iter().map(byte).collect::<Vec<u8>>().into()
        }
        other => format::display(other).tainted(other.taint()),
    }
}

/// The items of a list as texts, without nils. A value that is not a list counts as its only item.
pub(super) fn texts(value: &Value) -> Vec<Text> {
    match value {
        Value::List(list) => list.items().iter().filter(|item| !is_nil(item)).map(strval).collect(),
        value if is_nil(value) => Vec::new(),
        other => vec![strval(other)],
    }
}

fn is_nil(value: &Value) -> bool {
    matches!(value, Value::Nil | Value::Missing)
}

/// Joins all arguments but nils with blanks. `write` writes one argument.
fn shown(args: &[Value], write: impl Fn(&Value, &mut Vec<u8>)) -> Value {
    let length = |arg: &Value| if let Value::Text(text) = arg { text.len() } else { 32 };
    let mut out = Vec::with_capacity(args.iter().map(|arg| length(arg) + "'' ".len()).sum());
    for (index, arg) in args.iter().filter(|arg| !is_nil(arg)).enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        write(arg, &mut out);
    }
    Value::text(out)
}

fn joined(parts: &[Text], separator: &[u8]) -> Vec<u8> {
    parts.iter().map(Text::as_bytes).collect::<Vec<_>>().join(separator)
}

/// Go trims only the format with the blanks between the values, so blanks inside the values stay.
#[expect(clippy::unnecessary_wraps, reason = "the type of every function that templates call")]
fn cat(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    Ok(shown(args, format::write_display))
}

fn join(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (separator, parts) = (text(args, 0)?.as_bytes(), texts(any(args, 1)));
    let length = parts.iter().map(Text::len).sum::<usize>();
    charge_text(call, length.saturating_add(separator.len().saturating_mul(parts.len().saturating_sub(1))))?;
    Ok(Value::text(joined(&parts, separator)))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of every function that templates call")]
fn sort_alpha(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let mut parts = match rest(args, 0) {
        [list @ Value::List(_)] => texts(list),
        other => other.iter().map(strval).collect(),
    };
    parts.sort();
    Ok(Value::texts(parts))
}
