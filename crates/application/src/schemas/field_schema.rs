//! The schema of a field, with the keywords that Kubernetes checks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use gotemplate::go_regex;
use regex::{Regex, RegexBuilder};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::limits::PATTERN_BYTES_MAX;

/// The schema of a field: of OpenAPI as in custom resource definitions, or of JSON Schema. Other keywords than these are not checked.
#[derive(Debug, Default, Deserialize)]
#[serde(remote = "Self", default, rename_all = "camelCase")]
pub(super) struct FieldSchema {
    /// Another schema that must also fit.
    #[serde(rename = "$ref")]
    pub(super) reference: Option<Box<str>>,
    #[serde(rename = "type")]
    pub(super) types: FieldTypes,
    #[serde(rename = "x-kubernetes-int-or-string")]
    pub(super) is_int_or_string: bool,
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    pub(super) keeps_unknown: bool,
    #[serde(rename = "x-kubernetes-embedded-resource")]
    pub(super) is_object: bool,
    pub(super) properties: BTreeMap<Box<str>, FieldSchema>,
    /// Fields whose names match patterns. They are not checked.
    pub(super) pattern_properties: Option<IgnoredAny>,
    pub(super) additional_properties: Option<Box<FieldSchema>>,
    pub(super) required: Vec<Box<str>>,
    pub(super) items: Option<Box<FieldSchema>>,
    #[serde(rename = "enum")]
    pub(super) listed: Vec<serde_json::Value>,
    #[serde(rename = "const")]
    pub(super) constant: Option<serde_json::Value>,
    pub(super) format: Option<Box<str>>,
    pub(super) pattern: Option<Pattern>,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) exclusive_minimum: Option<ExclusiveBound>,
    pub(super) exclusive_maximum: Option<ExclusiveBound>,
    pub(super) min_length: Option<usize>,
    pub(super) max_length: Option<usize>,
    pub(super) min_items: Option<usize>,
    pub(super) max_items: Option<usize>,
    pub(super) min_properties: Option<usize>,
    pub(super) max_properties: Option<usize>,
    pub(super) all_of: Vec<FieldSchema>,
    pub(super) any_of: Vec<FieldSchema>,
    pub(super) one_of: Vec<FieldSchema>,
    pub(super) not: Option<Box<FieldSchema>>,
}

/// A bound that itself is not allowed: a number, or `true` beside `minimum` or `maximum`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ExclusiveBound {
    /// Whether the bound beside it is not allowed.
    Is(bool),
    /// The bound.
    Number(f64),
}

impl FieldSchema {
    /// The schema `false`.
    pub(super) fn never() -> Self {
        Self::of(FieldTypes::NONE)
    }

    /// Whether no value fits.
    pub(super) fn is_never(&self) -> bool {
        self.types == FieldTypes::NONE
    }

    /// A schema that only refers to another one.
    pub(super) fn referring(reference: &str) -> Self {
        Self { reference: Some(reference.into()), ..Self::default() }
    }

    /// The schema of a field of a type.
    pub(super) fn of(types: FieldTypes) -> Self {
        Self { types, ..Self::default() }
    }
}

/// Reads a map of keywords, or `true` or `false`. A list, as in `items` of old JSON schemas, allows everything.
impl<'de> Deserialize<'de> for FieldSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SchemaVisitor)
    }
}

struct SchemaVisitor;

impl<'de> Visitor<'de> for SchemaVisitor {
    type Value = FieldSchema;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a schema")
    }

    fn visit_bool<E>(self, allows: bool) -> Result<FieldSchema, E> {
        Ok(if allows { FieldSchema::default() } else { FieldSchema::never() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<FieldSchema, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FieldSchema::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FieldSchema, A::Error> {
        FieldSchema::deserialize(MapAccessDeserializer::new(map))
    }
}

/// The types that a value may have. Without any, it may have all. Null is not one of them: Kubernetes drops fields that are null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "TypeNames")]
pub(super) struct FieldTypes(u8);

#[derive(Deserialize)]
#[serde(untagged)]
enum TypeNames {
    One(String),
    Several(Vec<String>),
}

impl FieldTypes {
    pub(super) const TEXT: Self = Self(1);
    pub(super) const INTEGER: Self = Self(2);
    pub(super) const NUMBER: Self = Self(4);
    pub(super) const BOOLEAN: Self = Self(8);
    pub(super) const LIST: Self = Self(16);
    pub(super) const MAP: Self = Self(32);
    /// No type: no value fits.
    pub(super) const NONE: Self = Self(64);

    /// The types, with their names in schemas and in messages.
    const NAMES: [(Self, &'static str, &'static str); 6] = [
        (Self::TEXT, "string", "a text"),
        (Self::INTEGER, "integer", "an integer"),
        (Self::NUMBER, "number", "a number"),
        (Self::BOOLEAN, "boolean", "`true` or `false`"),
        (Self::LIST, "array", "a list"),
        (Self::MAP, "object", "a map"),
    ];

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl From<TypeNames> for FieldTypes {
    fn from(names: TypeNames) -> Self {
        let names = match names {
            TypeNames::One(name) => vec![name],
            TypeNames::Several(names) => names,
        };
        let known = Self::NAMES.iter().filter(|(_, name, _)| names.iter().any(|own| own == name));
        known.fold(Self::default(), |types, (one, ..)| types.or(*one))
    }
}

/// Writes `a text or an integer`.
impl fmt::Display for FieldTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nouns = Self::NAMES.iter().filter(|(one, ..)| self.contains(*one)).map(|(.., noun)| *noun);
        f.write_str(&nouns.collect::<Vec<_>>().join(" or "))
    }
}

/// A regular expression as Go reads it. It is compiled when it is first used.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Pattern {
    pub(super) text: Box<str>,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Whether a text matches. True if the expression is not one of Go, or exceeds the limit: then it checks nothing.
    pub(super) fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            if self.text.len() > PATTERN_BYTES_MAX {
                return None;
            }
            let pattern = go_regex::translate(&self.text).ok()?.pattern;
            let mut builder = RegexBuilder::new(&pattern);
            builder.size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX).build().ok()
        });
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn schema(value: Value) -> FieldSchema {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn schemas_are_maps_or_booleans() {
        assert!(schema(json!(false)).is_never() && !schema(json!(true)).is_never());
        let object = schema(json!({"properties": {"$ref": {"type": "string"}}, "additionalProperties": false, "x": 1}));
        assert!(object.reference.is_none() && object.additional_properties.unwrap().is_never());
        assert_eq!(object.properties["$ref"].types, FieldTypes::TEXT);
        assert!(!schema(json!({"items": [{"type": "string"}]})).items.unwrap().is_never());
        assert!(serde_json::from_value::<FieldSchema>(json!({"properties": 3})).is_err());
    }

    #[test]
    fn types_are_one_or_several() {
        let types = |value| schema(json!({ "type": value })).types;
        assert_eq!(types(json!("integer")), FieldTypes::INTEGER);
        assert_eq!(types(json!(["string", "null", "integer"])).to_string(), "a text or an integer");
        assert!(types(json!("null")).is_empty());
    }

    #[test]
    fn patterns_are_those_of_go() {
        let is_match =
            |pattern: &str, text: &str| schema(json!({ "pattern": pattern })).pattern.unwrap().is_match(text);
        assert!(is_match(r"^\d+\z", "12") && !is_match(r"^\d+\z", "१"));
        // What Go refuses, or what exceeds the limit, checks nothing.
        assert!(is_match("(?=a)", "b") && is_match(&"(a{900}){900}".repeat(40), "b"));
        // Matching does not backtrack.
        assert!(!is_match("^(a+)+$", &format!("{}!", "a".repeat(60_000))));
    }
}
