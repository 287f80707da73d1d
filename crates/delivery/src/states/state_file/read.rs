//! Reads the values of a file strictly: every field must be known, and every error has its place.

use std::any::type_name;
use std::borrow::Cow;
use std::fmt::Display;

use jiff::Timestamp;
use model::yaml::{Node, NodeValue, Resolved, Span};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::FLATTEN;

/// An error with its place, if it is known.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Located {
    pub(super) message: String,
    pub(super) span: Option<Span>,
}

type Result<T> = std::result::Result<T, Located>;

impl Located {
    /// The error, at this place unless an inner one is known.
    pub(super) fn at(self, span: Span) -> Self {
        Self { span: self.span.or(Some(span)), ..self }
    }
}

impl Error for Located {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::custom(format_args!("unknown field `{field}`"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("field `{field}` is missing"))
    }
}

/// A value.
struct Value<'n>(&'n Node);

/// A mapping, or the rest of one.
pub(super) struct Mapping<'n>(Vec<&'n (Node, Node)>);

/// The fields of a mapping that are still to be read. `rest`: the content of a flattened field.
struct Fields<'n> {
    entries: std::vec::IntoIter<&'n (Node, Node)>,
    value: Option<&'n Node>,
    rest: Option<Mapping<'n>>,
}

struct Items<'n>(std::slice::Iter<'n, Node>);

pub(super) fn text(node: &Node) -> Result<Cow<'_, str>> {
    match node.as_scalar().map(|scalar| scalar.resolve()) {
        Some(Resolved::Text(text)) => Ok(text),
        _ => Err(Located::custom("a text is expected").at(node.span)),
    }
}

/// Reads the value of a node.
fn read<'de, S: DeserializeSeed<'de>>(node: &Node, seed: S) -> Result<S::Value> {
    seed.deserialize(Value(node)).map_err(|error| error.at(node.span))
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Located;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.0.value {
            NodeValue::Scalar(_) => self.deserialize_str(visitor),
            NodeValue::Sequence(_) => self.deserialize_seq(visitor),
            NodeValue::Mapping(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.as_scalar().map(|scalar| scalar.resolve()) {
            Some(Resolved::Bool(value)) => visitor.visit_bool(value),
            _ => Err(Located::custom("`true` or `false` is expected")),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let number = match self.0.as_scalar().map(|scalar| scalar.resolve()) {
            Some(Resolved::Int(number)) => u64::try_from(number).ok(),
            Some(Resolved::Uint(number)) => Some(number),
            _ => None,
        };
        visitor.visit_u64(number.ok_or_else(|| Located::custom("a number is expected that is not negative"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let is_time = type_name::<V::Value>() == type_name::<Timestamp>();
        visitor.visit_str(&text(self.0)?).map_err(|error| {
            // The parser of times says how far it came, not what is expected.
            if is_time { Located::custom("a time such as `2026-11-24T09:30:00Z` is expected") } else { error }
        })
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let items = self.0.as_sequence().ok_or_else(|| Located::custom("a list is expected"))?;
        visitor.visit_seq(Items(items.iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Mapping::from_node(self.0)?.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        Mapping::from_node(self.0)?.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let word = text(self.0)?;
        if !variants.contains(&&*word) {
            return Err(Located::custom(format_args!("{} is expected", alternatives(variants))));
        }
        visitor.visit_enum(word.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

impl<'n> Mapping<'n> {
    pub(super) fn from_node(node: &'n Node) -> Result<Self> {
        let entries = node.as_mapping().ok_or_else(|| Located::custom("fields are expected"))?;
        Ok(Self(entries.iter().collect()))
    }

    /// Takes the value of a field out of the mapping.
    pub(super) fn take(&mut self, key: &'static str) -> Result<&'n Node> {
        let found = self.0.iter().position(|(name, _)| has_text(name, key));
        let (_, value) = self.0.remove(found.ok_or_else(|| Located::missing_field(key))?);
        Ok(value)
    }

    fn fields(self, rest: Option<Self>) -> Fields<'n> {
        Fields { entries: self.0.into_iter(), value: None, rest }
    }
}

fn has_text(node: &Node, expected: &str) -> bool {
    text(node).is_ok_and(|text| text == expected)
}

impl<'de> Deserializer<'de> for Mapping<'_> {
    type Error = Located;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_map(self.fields(None))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.0.is_empty() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if !fields.contains(&FLATTEN) {
            return visitor.visit_map(self.fields(None));
        }
        let is_own = |(key, _): &&(Node, Node)| fields.iter().any(|field| *field != FLATTEN && has_text(key, field));
        let (own, rest) = self.0.into_iter().partition(is_own);
        visitor.visit_map(Mapping(own).fields(Some(Mapping(rest))))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let mut keys: Vec<_> = variants.iter().filter_map(|variant| variant.split(": ").next()).collect();
        keys.retain(|key| !key.is_empty());
        keys.dedup();
        if let Some((key, _)) = self.0.iter().find(|(key, _)| !keys.iter().any(|known| has_text(key, known))) {
            return Err(Located::unknown_field(&text(key)?, variants).at(key.span));
        }
        match *self.0 {
            [] if variants.contains(&"") => visitor.visit_enum("".into_deserializer()),
            [(key, value)] => match variant_with(&text(key)?, value, variants)? {
                Some(variant) => visitor.visit_enum(variant.into_deserializer()),
                None => visitor.visit_enum(MapAccessDeserializer::new(self.fields(None))),
            },
            [] => Err(Located::custom(format_args!("{} is missing", alternatives(&keys)))),
            _ => Err(Located::custom(format_args!("{} is expected, not more than one", alternatives(&keys)))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// The variant that is a field with a text. None: the variant is a field with content.
fn variant_with(key: &str, value: &Node, variants: &'static [&'static str]) -> Result<Option<&'static str>> {
    if variants.contains(&key) {
        return Ok(None);
    }
    let word_of = |variant: &&'static str| Some((variant.strip_prefix(key)?.strip_prefix(": ")?, *variant));
    let words: Vec<(&str, &str)> = variants.iter().filter_map(word_of).collect();
    let found = words.iter().find(|(word, _)| has_text(value, word)).map(|(_, variant)| *variant);
    let words: Vec<_> = words.into_iter().map(|(word, _)| word).collect();
    let error = || Located::custom(format_args!("{} is expected", alternatives(&words))).at(value.span);
    found.map(Some).ok_or_else(error)
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Located;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.entries.next() {
            Some((key, value)) => {
                self.value = Some(value);
                read(key, seed).map(Some)
            }
            None if self.rest.is_some() => seed.deserialize(FLATTEN.into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        match self.value.take() {
            Some(value) => read(value, seed),
            None => match self.rest.take() {
                Some(rest) => seed.deserialize(rest),
                None => Err(Located::custom("each value has a key")),
            },
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Located;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.0.next().map(|item| read(item, seed)).transpose()
    }
}

/// These names in words: `a`, `b` or `c`.
fn alternatives(names: &[&str]) -> String {
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    if others.is_empty() { format!("`{last}`") } else { format!("`{}` or `{last}`", others.join("`, `")) }
}
