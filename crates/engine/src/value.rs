//! From the text of a configuration value to the value.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use gotemplate::Text;
use gotemplate::value::{Key, MapKind, UintKind, Value};
use model::digest::Digest;
use model::yaml::{self, Node, NodeValue, Resolved, Scalar};

/// A configuration value.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    /// The value.
    pub(crate) value: Value,
    /// Whether it is a text that stood in single quotes: such a text stays one, whatever it looks like.
    pub(crate) is_quoted: bool,
}

/// Reads the text of a configuration value: a YAML mapping or list is read as such, a text in single quotes loses them, and
/// every other text is kept as it is.
pub(crate) fn parse(text: &str) -> Parsed {
    if let Some(node) = yaml::structure(text) {
        return Parsed { value: of_node(&node), is_quoted: false };
    }
    let trimmed = text.trim();
    if trimmed.starts_with('\'') && trimmed.ends_with('\'') {
        return Parsed { value: Value::text(trimmed.trim_matches('\'')), is_quoted: true };
    }
    Parsed { value: Value::text(text), is_quoted: false }
}

/// The value that a YAML node is.
pub(crate) fn of_node(node: &Node) -> Value {
    match &node.value {
        NodeValue::Scalar(scalar) => scalar_value(scalar),
        NodeValue::Sequence(items) => Value::list(items.iter().map(of_node).collect()),
        NodeValue::Mapping(entries) => {
            Value::map(MapKind::AnyToAny, entries.iter().map(|(name, node)| (key(name), of_node(node))).collect())
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
    // A key that is a mapping or a list is no structure: the reader refuses it.
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

/// What composed values are: equal for equal ones.
pub(crate) fn digest(value: &Value, quoted: &BTreeSet<Text>) -> Digest {
    /// Values as something that can be hashed; what composition can't hold is told apart by its kind only.
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
                    list.items.len().hash(state);
                    list.items.iter().for_each(|item| Hashed(item).hash(state));
                }
                Value::Map(map) => {
                    map.entries.len().hash(state);
                    for (key, value) in &map.entries {
                        key.hash(state);
                        Hashed(value).hash(state);
                    }
                }
                _ => {}
            }
        }
    }

    Digest::of(&(Hashed(value), quoted))
}
