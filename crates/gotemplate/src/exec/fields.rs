//! Looks up fields of maps and structs, and calls methods.

use super::call::Arguments;
use super::{Eval, Run, Stop, error};
use crate::map_changes::MapChanges;
use crate::methods;
use crate::parse::tree::Field;
use crate::taint::Taint;
use crate::types::type_name;
use crate::value::{Key, Value};

/// Follows `path`. Returns the value at its end.
/// If a value on the way is neither a map nor a struct, returns that value and the fields that are left. Only the returned value is cloned, so the
/// reference counters of shared values on the way do not change. With `requires_keys`, a key that does not exist is an error.
pub(super) fn reach<'p>(
    (changes, requires_keys): (&MapChanges, bool),
    receiver: &Value,
    path: &'p [Field],
) -> Eval<(Value, &'p [Field])> {
    let mut value = receiver;
    let mut rest = path;
    let mut taint = changes.taint;
    while let Some((field, after)) = rest.split_first() {
        if let Value::Tainted(tainted) = value {
            taint = taint.max(tainted.taint);
        }
        value = match value.plain() {
            Value::Map(map) => match changes.entries(map).get(&field.name) {
                Some(entry) => entry,
                None if requires_keys => return Err(no_key(path, field)),
                // A field of a missing value is missing, too.
                None => return Ok((Value::Missing, &[])),
            },
            Value::Struct(fields) => match fields.fields.iter().find(|(name, _)| is_named(field, name)) {
                Some((_, entry)) => entry,
                None => return Err(no_field(field, value.plain())),
            },
            Value::Missing if requires_keys => return Err(no_key(path, field)),
            Value::Missing => return Ok((Value::Missing, &[])),
            Value::Nil => {
                return Err(error(field.at, format!("nil pointer evaluating interface {{}}.{}", shown(field))));
            }
            _ => break,
        };
        rest = after;
    }
    Ok((if taint == Taint::None { value.clone() } else { value.clone().tainted(taint) }, rest))
}

impl Run<'_> {
    /// Follows `path` through maps and structs, and records whether it ends at a key that does not exist.
    fn reach<'p>(&mut self, receiver: &Value, path: &'p [Field]) -> Eval<(Value, &'p [Field])> {
        let reached = reach((self.changes, self.requires_keys), receiver, path)?;
        Ok(self.noted(path, reached))
    }

    /// The result of following `path`, after recording whether it ends at a key that does not exist.
    pub(super) fn noted<'p>(&mut self, path: &[Field], reached: (Value, &'p [Field])) -> (Value, &'p [Field]) {
        if !path.is_empty() && matches!(reached.0, Value::Missing) {
            self.note_missing(path);
        }
        reached
    }

    /// Follows `path`. If there are arguments, the last field must be a method, and gets them.
    pub(super) fn fields(&mut self, receiver: &Value, path: &[Field], mut arguments: Arguments<'_>) -> Eval<Value> {
        let has_arguments = !arguments.is_empty();
        let (plain, method) = match path.split_last() {
            Some((last, before)) if has_arguments => (before, std::slice::from_ref(last)),
            _ => (path, &[][..]),
        };
        let (mut value, mut rest) = self.reach(receiver, plain)?;
        while let Some((field, after)) = rest.split_first() {
            value = self.method(value, field, Arguments::none(arguments.dot))?;
            (value, rest) = self.reach(&value, after)?;
        }
        match method {
            [] => Ok(value),
            [field, ..] => {
                arguments.receiver = None;
                self.method(value, field, arguments)
            }
        }
    }

    fn method(&mut self, receiver: Value, field: &Field, mut arguments: Arguments<'_>) -> Eval<Value> {
        match methods::find(receiver.plain(), &shown(field)) {
            Some(method) => {
                arguments.receiver = Some(receiver);
                self.call(field.at, method, arguments)
            }
            None if arguments.is_empty() => Err(no_field(field, receiver.plain())),
            None => without_method(receiver.plain(), field),
        }
    }
}

/// The result if a field that is not a method gets arguments. Nearly always an error.
fn without_method(receiver: &Value, field: &Field) -> Eval<Value> {
    match receiver {
        Value::Missing => Ok(Value::Missing),
        Value::Map(_) => Err(error(field.at, format!("{} is not a method but has arguments", shown(field)))),
        Value::Struct(fields) if fields.fields.iter().any(|(name, _)| is_named(field, name)) => {
            let message = format!("{} has arguments but cannot be invoked as function", shown(field));
            Err(error(field.at, message))
        }
        Value::Nil => Err(error(field.at, format!("nil pointer evaluating interface {{}}.{}", shown(field)))),
        _ => Err(no_field(field, receiver)),
    }
}

/// The error that the key `field` of `path` does not exist.
#[cold]
fn no_key(path: &[Field], field: &Field) -> Stop {
    let mut stop = error(field.at, format!("map has no entry for key {:?}", shown(field)));
    stop.0.missing = path.first().map(|first| first.at);
    stop
}

fn no_field(field: &Field, receiver: &Value) -> Stop {
    error(field.at, format!("can't evaluate field {} in type {}", shown(field), type_name(receiver)))
}

fn is_named(field: &Field, name: &str) -> bool {
    matches!(&field.name, Key::Text(text) if text.as_bytes() == name.as_bytes())
}

fn shown(field: &Field) -> String {
    match &field.name {
        Key::Text(name) => name.to_str().into_owned(),
        _ => String::new(),
    }
}
