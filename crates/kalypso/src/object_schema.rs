//! JSON Schemas of the kinds, for editors.
//!
//! They use draft 7, which the YAML language server supports best. The reader only warns about some mistakes, such as unknown fields. The schema
//! rejects them, because an editor is the right place to show them.

use model::kind::Kind;
use model::shape::{Field, METADATA, Shape};
use serde_json::{Map, Value, json};

use crate::object_settings::ANNOTATIONS;

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// The JSON Schema of one kind. Without a kind, the schema of all kinds: an object's `apiVersion` and `kind` select its schema.
pub(crate) fn schema(kind: Option<Kind>) -> Value {
    let mut schema = json!({ "$schema": DRAFT });
    if let (Some(schema), Value::Object(body)) = (schema.as_object_mut(), kind.map_or_else(all_kinds, of_kind)) {
        schema.extend(body);
    }
    schema
}

/// Objects of other systems are valid: they may be in the same files.
fn all_kinds() -> Value {
    let definitions: Map<_, _> = Kind::ALL.iter().map(|kind| (definition(*kind), of_kind(*kind))).collect();
    let mut cases: Vec<_> = Kind::ALL
        .iter()
        .map(|kind| {
            let reference = format!("#/definitions/{}", definition(*kind));
            json!({
                "if": { "properties": { "apiVersion": { "pattern": versions(*kind) }, "kind": { "const": kind.name() } }, "required": ["apiVersion", "kind"] },
                "then": { "$ref": reference },
            })
        })
        .collect();
    for kind_of_group in [Kind::ClusterType, Kind::Cluster] {
        let own = Kind::ALL.iter().filter(|kind| kind.group() == kind_of_group.group());
        let own: Vec<_> = own.map(|kind| kind.name()).collect();
        cases.push(json!({
            "if": { "properties": { "apiVersion": { "pattern": versions(kind_of_group) } }, "required": ["apiVersion"] },
            "then": { "properties": { "kind": { "enum": own } } },
        }));
    }
    cases.push(json!({
        "if": { "properties": { "kind": { "const": "List" } }, "required": ["kind"] },
        "then": { "properties": { "items": { "type": "array", "items": { "$ref": "#" } } } },
    }));
    json!({
        "title": "Objects of a Kalypso control plane",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": { "type": "string", "examples": Kind::ALL.iter().map(|kind| kind.api_version()).collect::<Vec<_>>() },
            "kind": { "type": "string", "examples": Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>() },
        },
        "allOf": cases,
        "definitions": definitions,
    })
}

fn definition(kind: Kind) -> String {
    format!("{kind:?}")
}

/// A regular expression for all versions of a kind's API group.
fn versions(kind: Kind) -> String {
    match kind.group() {
        "" => "^[^/]+$".to_owned(),
        group => format!("^{}/[^/]+$", group.replace('.', "\\.")),
    }
}

fn of_kind(kind: Kind) -> Value {
    let version = if kind.is_open() {
        json!({ "type": "string", "pattern": versions(kind), "default": kind.api_version() })
    } else {
        json!({ "const": kind.api_version() })
    };
    let mut properties = Map::new();
    properties.insert("apiVersion".to_owned(), version);
    properties.insert("kind".to_owned(), json!({ "const": kind.name() }));
    properties.insert("metadata".to_owned(), metadata(kind));
    // Kinds of other systems have more fields on their first two levels than Kalypso reads.
    properties.extend(self::properties(kind.fields(), kind.is_open()));
    properties.insert(
        "status".to_owned(),
        json!({ "description": "The status that a cluster reports of the object. Not read." }),
    );
    let required: Vec<_> = ["apiVersion", "kind", "metadata"].into_iter().chain(required(kind.fields())).collect();
    json!({
        "title": kind.name(),
        "description": kind.doc(),
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": kind.is_open(),
    })
}

fn metadata(kind: Kind) -> Value {
    let mut metadata = mapping(METADATA, true);
    let annotations = ANNOTATIONS.iter().filter(|setting| setting.kinds.contains(&kind));
    let known = annotations.map(|setting| {
        let mut schema =
            json!({ "type": "string", "description": format!("{} Values: {}.", setting.doc, setting.values) });
        if let Some(pattern) = setting.pattern {
            schema["pattern"] = pattern.into();
        }
        (setting.key.to_owned(), schema)
    });
    metadata["properties"]["annotations"]["properties"] = known.collect::<Map<_, _>>().into();
    metadata
}

/// A mapping with these fields. If it `is_open`, other fields are valid too.
fn mapping(fields: &[Field], is_open: bool) -> Value {
    json!({
        "type": "object",
        "required": required(fields).collect::<Vec<_>>(),
        "properties": properties(fields, false),
        "additionalProperties": is_open,
    })
}

fn required(fields: &[Field]) -> impl Iterator<Item = &'static str> {
    fields.iter().filter(|field| field.required).map(|field| field.name)
}

fn properties(fields: &[Field], are_open: bool) -> Map<String, Value> {
    fields.iter().map(|field| (field.name.to_owned(), property(field, are_open))).collect()
}

fn property(field: &Field, is_open: bool) -> Value {
    let mut schema = value(&field.shape, is_open);
    schema["description"] = field.doc.into();
    // An optional field may be null.
    if !field.required {
        match schema.get_mut("type") {
            Some(Value::Array(types)) => types.push("null".into()),
            Some(name) => *name = json!([name, "null"]),
            None => {}
        }
    }
    schema
}

fn value(shape: &Shape, is_open: bool) -> Value {
    const PLAIN: &str = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$";
    const DAY_OR_TIMESTAMP: &str = r"^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2}))?$";
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Integer => json!({ "type": "integer" }),
        Shape::TextOrNumber => json!({ "type": ["string", "number"] }),
        Shape::OneOf(texts) => json!({ "enum": texts }),
        Shape::Name => json!({
            "type": "string",
            "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            "maxLength": model::name::NAME_LENGTH_MAX,
        }),
        Shape::Timestamp => json!({ "type": "string", "pattern": DAY_OR_TIMESTAMP }),
        Shape::TextMap => json!({ "type": "object", "additionalProperties": { "type": ["string", "null"] } }),
        Shape::PlainTextMap => json!({
            "type": "object",
            "propertyNames": { "pattern": PLAIN },
            "additionalProperties": { "type": ["string", "null"], "pattern": PLAIN },
        }),
        Shape::Fields(fields) => mapping(fields, is_open),
        Shape::List(item) | Shape::Parts(item) => json!({ "type": "array", "items": value(item, false) }),
        Shape::Any => json!({}),
    }
}
