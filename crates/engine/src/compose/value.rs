//! Parses the text of a configuration value.

pub(crate) mod retyped;

use std::hash::{Hash, Hasher};

use gotemplate::value::{Key, MapKind, UintKind, Value};
use model::digest::Digest;
use model::yaml::{self, Node, NodeValue, Resolved, Scalar};

use self::retyped::Retyped;

/// A parsed configuration value.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    /// The value.
    pub(crate) value: Value,
    /// Whether the text was in single quotes. Such a text stays a text, also if it looks like a number.
    pub(crate) is_quoted: bool,
    /// The scalars of a mapping or list that are printed in another form than they are written.
    pub(crate) retyped: Box<[Retyped]>,
}

/// Parses the text of a configuration value. A YAML mapping or list is parsed as such. A text in single quotes loses the quotes. Every
/// other text stays as it is.
pub(crate) fn parse(text: &str) -> Parsed {
    if let Some(node) = yaml::structure(text) {
        return Parsed { value: from_node(&node), is_quoted: false, retyped: retyped::find(&node) };
    }
    let retyped = Box::default();
    let trimmed = text.trim();
    if trimmed.starts_with('\'') && trimmed.ends_with('\'') {
        return Parsed { value: Value::text(trimmed.trim_matches('\'')), is_quoted: true, retyped };
    }
    Parsed { value: Value::text(text), is_quoted: false, retyped }
}

/// Converts a YAML node to a value.
pub(crate) fn from_node(node: &Node) -> Value {
    match &node.value {
        NodeValue::Scalar(scalar) => scalar_value(scalar),
        NodeValue::Sequence(items) => Value::list(items.iter().map(from_node).collect()),
        NodeValue::Mapping(entries) => {
            Value::map(MapKind::AnyToAny, entries.iter().map(|(name, node)| (key(name), from_node(node))).collect())
        }
    }
}

fn scalar_value(scalar: &Scalar) -> Value {
    match scalar.resolve() {
        Resolved::Null => Value::Nil,
        Resolved::Bool(value) => Value::Bool(value),
        Resolved::Int(number) => Value::int(number),
        Resolved::Uint(number) => Value::Uint(number, UintKind::Uint64),
        Resolved::Float(number) => Value::Float(number),
        Resolved::Text(text) => Value::text(&*text),
    }
}

fn key(node: &Node) -> Key {
    // The YAML reader refuses keys that are mappings or lists.
    let Some(scalar) = node.as_scalar() else { return Key::Nil };
    match scalar.resolve() {
        Resolved::Null => Key::Nil,
        Resolved::Bool(value) => Key::Bool(value),
        Resolved::Int(number) => Key::Int(number),
        Resolved::Uint(number) => Key::Uint(number),
        Resolved::Float(number) => Key::Float(gotemplate::value::FloatKey(number)),
        Resolved::Text(text) => Key::Text((&*text).into()),
    }
}

/// The digest of a value. Equal values have equal digests.
pub(crate) fn digest(value: &Value) -> Digest {
    /// Implements `Hash` for values. Of values that composition can't produce, only the kind is hashed.
    struct Hashed<'v>(&'v Value);

    impl Hash for Hashed<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            std::mem::discriminant(self.0).hash(state);
            match self.0 {
                Value::Bool(value) => value.hash(state),
                Value::Int(number, _) | Value::Duration(number) => number.hash(state),
                Value::Uint(number, _) => number.hash(state),
                Value::Float(number) => number.to_bits().hash(state),
                Value::Text(text) => text.hash(state),
                Value::List(list) => {
                    list.items().len().hash(state);
                    list.items().iter().for_each(|item| Hashed(item).hash(state));
                }
                Value::Map(map) => {
                    map.entries().len().hash(state);
                    for (key, value) in map.entries() {
                        key.hash(state);
                        Hashed(value).hash(state);
                    }
                }
                _ => {}
            }
        }
    }

    Digest::from_value(&Hashed(value))
}
