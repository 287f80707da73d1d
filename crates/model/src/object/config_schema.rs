//! `ConfigSchema`: a JSON schema for values.

use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::ConfigSchemaName;
use crate::shape::{Field, Shape, required};
use crate::yaml::Node;

/// The `spec` of a `ConfigSchema`. Its labels select assignments, as those of a `ConfigMap` do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigSchema {
    /// A JSON schema, as JSON text.
    pub schema: Arc<str>,
}

/// The path of the field with the schema's text.
pub const SCHEMA: [&str; 2] = ["spec", "schema"];

impl Spec for ConfigSchema {
    type Name = ConfigSchemaName;
    const KIND: Kind = Kind::ConfigSchema;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[required("schema", Shape::Text, "A JSON schema, as JSON text.")]),
        "The schema.",
    )];
    const DOC: &'static str =
        "A JSON schema for the values of all assignments that its labels match; without labels, of all.";
    const EXAMPLE: &'static str = r#"apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata:
  name: regions
spec:
  schema: |
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "type": "object",
      "required": ["REGION"],
      "properties": { "REGION": { "enum": ["east-us", "west-us"] } }
    }
"#;

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self { schema: decode::text(root, &SCHEMA) }
    }
}
