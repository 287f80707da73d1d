//! The tree a YAML document is read into.

use std::sync::Arc;

/// A byte range of the text something was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
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

    /// The range as what slices and `str` take.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value, with the place it was written at.
///
/// A node that came through an alias or a merge key keeps the place of its definition.
/// Clones are cheap: texts and children are shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value is written: without its tag, anchor and comments; a quoted scalar with its quotes, a block scalar from its `|` or `>` on,
    /// a value that was left out as the empty range behind the colon.
    pub span: Span,
    /// What is written there.
    pub value: NodeValue,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// A text, a number, a boolean or nothing: see [`Scalar::resolve`](super::Scalar::resolve).
    Scalar(Scalar),
    /// A list.
    Sequence(Arc<[Node]>),
    /// Keys with their values, in the order of the source.
    Mapping(Arc<[(Node, Node)]>),
}

/// A value that has no children, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text, with quotes, escapes, folding and indentation taken away.
    pub text: Arc<str>,
    /// How it was written, which decides whether it can be anything else than a text.
    pub style: ScalarStyle,
    /// The tag in front of it.
    pub tag: Option<Tag>,
}

/// How a scalar was written.
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

/// A tag that says how a scalar is to be read.
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
    /// `!!str`, and the tag `!` that only says "not by its looks".
    Text,
    /// `!!binary`. It is decoded when it is read, and then has the tag [`Tag::Text`].
    Binary,
    /// `!!timestamp`: a text, as Go's `yaml.v2` has it.
    Timestamp,
    /// `!!merge`, which makes a key a merge key.
    Merge,
    /// A tag that means nothing here: the value is a text.
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
    use crate::yaml::{Options, read};

    const TEXT: &str = "metadata:\n  name: app\nitems: [a, b]\n";

    fn check(get: impl FnOnce(&super::Node) -> Option<super::Span>, source: Option<&str>) {
        let reading = read(TEXT, &Options::OBJECTS);
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
    fn what_is_not_there_is_none() {
        check(|root| root.get("name").map(|node| node.span), None);
        check(|root| root.get("items")?.index(2).map(|node| node.span), None);
        check(|root| root.get("items")?.get("a").map(|node| node.span), None);
        check(|root| root.index(0).map(|node| node.span), None);
    }
}
