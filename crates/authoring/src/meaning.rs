//! The meaning of YAML, without places, styles and the order of keys.

use std::collections::BTreeMap;

use model::field_path::FieldStep;
use model::yaml::{Node, NodeValue, Resolved};

use crate::value::NewValue;

/// The meaning of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    /// The type of a scalar, and its text. An edit never writes a number or a key in another way.
    Scalar(Type, String),
    List(Vec<Self>),
    Mapping(BTreeMap<Self, Self>),
}

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Type {
    Null,
    Bool,
    Number,
    Text,
}

impl Meaning {
    pub(crate) fn from_node(node: &Node) -> Self {
        match &node.value {
            NodeValue::Scalar(scalar) => {
                let kind = match scalar.resolve() {
                    Resolved::Null => return Self::Scalar(Type::Null, String::new()),
                    Resolved::Bool(_) => Type::Bool,
                    Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_) => Type::Number,
                    Resolved::Text(_) => Type::Text,
                };
                Self::Scalar(kind, scalar.text.to_string())
            }
            NodeValue::Sequence(items) => Self::List(items.iter().map(Self::from_node).collect()),
            NodeValue::Mapping(entries) => Self::Mapping(
                entries.iter().map(|(key, value)| (Self::from_node(key), Self::from_node(value))).collect(),
            ),
        }
    }

    /// The intended meaning of a value.
    pub(crate) fn of_value(value: &NewValue) -> Self {
        match value {
            NewValue::Text(text) => Self::text(text),
            NewValue::Bool(value) => Self::Scalar(Type::Bool, value.to_string()),
            NewValue::Int(value) => Self::Scalar(Type::Number, value.to_string()),
            NewValue::List(items) => Self::List(items.iter().map(Self::of_value).collect()),
            NewValue::ShortList(items) => Self::List(items.iter().map(|item| Self::text(item)).collect()),
            NewValue::Mapping(entries) => {
                Self::Mapping(entries.iter().map(|(key, value)| (Self::text(key), Self::of_value(value))).collect())
            }
        }
    }

    fn text(text: &str) -> Self {
        Self::Scalar(Type::Text, text.to_owned())
    }

    /// Sets the field at this path, and creates the mappings above it. None if a field above it has another shape.
    pub(crate) fn set(&mut self, steps: &[FieldStep], value: Self) -> Option<()> {
        let Some((step, rest)) = steps.split_first() else {
            *self = value;
            return Some(());
        };
        if let (Self::Scalar(Type::Null, _), FieldStep::Key(_)) = (&*self, step) {
            *self = Self::Mapping(BTreeMap::new());
        }
        match (self, step) {
            (Self::Mapping(entries), FieldStep::Key(key)) => {
                let found = entries.keys().find(|known| known.is_key(key)).cloned();
                let null = || Self::Scalar(Type::Null, String::new());
                entries.entry(found.unwrap_or_else(|| Self::text(key))).or_insert_with(null).set(rest, value)
            }
            (Self::List(items), FieldStep::Index(index)) => items.get_mut(*index)?.set(rest, value),
            _ => None,
        }
    }

    /// Removes the field at this path. None if there is no such field.
    pub(crate) fn remove(&mut self, steps: &[FieldStep]) -> Option<()> {
        let (step, rest) = steps.split_first()?;
        match (self, step) {
            (Self::Mapping(entries), FieldStep::Key(key)) => {
                let found = entries.keys().find(|known| known.is_key(key)).cloned()?;
                if rest.is_empty() { entries.remove(&found).map(drop) } else { entries.get_mut(&found)?.remove(rest) }
            }
            (Self::List(items), FieldStep::Index(index)) => {
                let item = items.get_mut(*index)?;
                if rest.is_empty() {
                    items.remove(*index);
                    return Some(());
                }
                item.remove(rest)
            }
            _ => None,
        }
    }

    /// Gives the entry at this path another key. None if there is no such entry, or if the mapping has that key.
    pub(crate) fn rename_key(&mut self, steps: &[FieldStep], key: &str) -> Option<()> {
        let (last, above) = steps.split_last()?;
        let parent = above.iter().try_fold(self, |node, step| node.child(step))?;
        let (Self::Mapping(entries), FieldStep::Key(old)) = (parent, last) else { return None };
        let old = entries.keys().find(|known| known.is_key(old)).cloned()?;
        let is_free = !entries.keys().any(|known| known.is_key(key));
        let value = is_free.then(|| entries.remove(&old))??;
        entries.insert(Self::text(key), value);
        Some(())
    }

    /// The entry or item at this step.
    fn child(&mut self, step: &FieldStep) -> Option<&mut Self> {
        match (self, step) {
            (Self::Mapping(entries), FieldStep::Key(key)) => {
                entries.iter_mut().find(|(known, _)| known.is_key(key)).map(|(_, value)| value)
            }
            (Self::List(items), FieldStep::Index(index)) => items.get_mut(*index),
            _ => None,
        }
    }

    /// Appends an item to the list at this path, and creates the list if there is none. None if the field has another shape.
    pub(crate) fn append(&mut self, steps: &[FieldStep], value: Self) -> Option<()> {
        let mut present = self.clone();
        let mut found = Some(&mut present);
        for step in steps {
            found = match (found?, step) {
                (Self::Mapping(entries), FieldStep::Key(key)) => {
                    let key = entries.keys().find(|known| known.is_key(key)).cloned();
                    match key {
                        Some(key) => entries.get_mut(&key),
                        None => return self.set(steps, Self::List(vec![value])),
                    }
                }
                (Self::List(items), FieldStep::Index(index)) => items.get_mut(*index),
                (Self::Scalar(Type::Null, _), _) => return self.set(steps, Self::List(vec![value])),
                _ => None,
            };
        }
        let list = match found? {
            Self::List(items) => Self::List(items.drain(..).chain([value]).collect()),
            Self::Scalar(Type::Null, _) => Self::List(vec![value]),
            _ => return None,
        };
        self.set(steps, list)
    }

    /// Whether a key has this text, whatever its type.
    fn is_key(&self, key: &str) -> bool {
        matches!(self, Self::Scalar(_, text) if text == key)
    }
}
