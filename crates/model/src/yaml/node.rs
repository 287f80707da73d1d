//! The tree of a YAML document.

use std::sync::Arc;

/// A range of bytes in the text that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`. An end before the start gives the empty range at `start`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The empty range at `offset`.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The range as `std::ops::Range`, to index slices and `str`.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value with its place in the text.
///
/// A node from an alias or a merge key has the place of its definition.
/// Clones are cheap: they share texts and children.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The place of the value, without its tag, anchor and comments. The place of a quoted scalar includes the quotes. That of a block scalar begins at its
    /// `|` or `>`. That of a missing value is the empty range after the colon.
    pub span: Span,
    /// The value.
    pub value: NodeValue,
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// A text, a number, a boolean or null: see [`Scalar::resolve`](super::Scalar::resolve).
    Scalar(Scalar),
    /// A list.
    Sequence(Arc<[Node]>),
    /// Keys with their values, in the order of the text.
    Mapping(Arc<[(Node, Node)]>),
}

/// A value without children, before its type is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text, without quotes, escapes, folding and indentation.
    pub text: Arc<str>,
    /// The style. Only plain scalars can be other types than text.
    pub style: ScalarStyle,
    /// The tag of the scalar, if it has one.
    pub tag: Option<Tag>,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// A block after `|`, whose line breaks are kept.
    Literal,
    /// A block after `>`, whose lines are joined.
    Folded,
}

/// A tag that sets the type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `!!null`
    Null,
    /// `!!bool`
    Bool,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!str`, and the tag `!`, which makes a scalar a text.
    Text,
    /// `!!binary`. The reader decodes the content, and replaces the tag by [`Tag::Text`].
    Binary,
    /// `!!timestamp`: a text, as in Go's `yaml.v2`.
    Timestamp,
    /// `!!merge`, which makes a key a merge key.
    Merge,
    /// An unknown tag: the value is a text.
    Unknown,
}

impl Node {
    /// The value of the mapping entry whose key is the scalar `key`.
    /// None if there is no such entry, or the node is not a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|(_, value)| value)
    }

    /// The place of the key `key` in a mapping.
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.entry(key).map(|(key, _)| key.span)
    }

    /// The element of a sequence at `index`, counted from zero.
    pub fn index(&self, index: usize) -> Option<&Self> {
        self.as_sequence()?.get(index)
    }

    /// The scalar, if the node is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            NodeValue::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The elements, if the node is a sequence.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.value {
            NodeValue::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries in the order of the source, if the node is a mapping.
    pub fn as_mapping(&self) -> Option<&[(Self, Self)]> {
        match &self.value {
            NodeValue::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    fn entry(&self, key: &str) -> Option<&(Self, Self)> {
        self.as_mapping()?.iter().find(|(name, _)| name.as_scalar().is_some_and(|scalar| &*scalar.text == key))
    }
}

fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::yaml::{YamlOptions, read};

    const TEXT: &str = "metadata:\n  name: app\nitems: [a, b]\n";

    fn check(get: impl FnOnce(&super::Node) -> Option<super::Span>, source: Option<&str>) {
        let reading = read(TEXT, &YamlOptions::OBJECTS);
        let span = get(&reading.documents[0].root);
        assert_eq!(span.map(|span| &TEXT[span.range()]), source);
    }

    #[test]
    fn keys_and_elements_are_found_with_their_places() {
        check(|root| root.get("metadata")?.get("name").map(|node| node.span), Some("app"));
        check(|root| root.get("metadata")?.key_span("name"), Some("name"));
        check(|root| root.get("items")?.index(1).map(|node| node.span), Some("b"));
    }

    #[test]
    fn missing_nodes_are_none() {
        check(|root| root.get("name").map(|node| node.span), None);
        check(|root| root.get("items")?.index(2).map(|node| node.span), None);
        check(|root| root.get("items")?.get("a").map(|node| node.span), None);
        check(|root| root.index(0).map(|node| node.span), None);
    }
}
