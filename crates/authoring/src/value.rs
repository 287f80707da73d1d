//! Values that are written as YAML.

use std::sync::Arc;

/// A value to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// A text. It gets quotes if it would be another type without them, and is a block if it has several lines.
    Text(Arc<str>),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A list, with one line or more for each item.
    List(Vec<Self>),
    /// A list of texts on one line: `[large, huge]`.
    ShortList(Vec<Arc<str>>),
    /// Keys with their values, in the order in which they are written.
    Mapping(Vec<MappingEntry>),
}

/// An entry of a mapping.
pub type MappingEntry = (Arc<str>, NewValue);

impl NewValue {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// A mapping with these entries.
    pub fn mapping<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Mapping(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// A mapping of texts, such as labels.
    pub fn texts<'t>(entries: impl IntoIterator<Item = (&'t Arc<str>, &'t Arc<str>)>) -> Self {
        let entry = |(key, value): (&Arc<str>, &Arc<str>)| (Arc::clone(key), Self::Text(Arc::clone(value)));
        Self::Mapping(entries.into_iter().map(entry).collect())
    }
}
