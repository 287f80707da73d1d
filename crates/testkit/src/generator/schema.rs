//! `ConfigSchema`s of a generated fleet. Every assignment is valid against them.

use super::GeneratedFile;

/// A schema that applies to every assignment. The kinds of schemas alternate: the first checks nested values, the second checks all top-level keys,
/// the third checks list items and conditional values.
pub(crate) fn config_schema(index: usize) -> GeneratedFile {
    const ALL: [&str; 3] = [NESTED, TOP_LEVEL, CONDITIONAL];
    let name = format!("schema-{index:03}");
    let schema = ALL[index % ALL.len()];
    let text = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata:\n  name: {name}\nspec:\n  schema: |\n{schema}"
    );
    (format!("schemas/{name}.yaml"), text)
}

const NESTED: &str = r##"    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "type": "object",
      "required": ["DATABASE", "CACHE", "ENDPOINTS", "REPLICAS"],
      "definitions": {
        "service": {
          "type": "object",
          "required": ["host", "port"],
          "properties": {
            "host": { "type": "string", "minLength": 1 },
            "port": { "type": "integer", "minimum": 1, "maximum": 65535 },
            "options": { "type": "object", "properties": { "retries": { "type": "integer", "minimum": 0 } } }
          }
        }
      },
      "properties": {
        "DATABASE": { "$ref": "#/definitions/service" },
        "CACHE": { "$ref": "#/definitions/service" },
        "REPLICAS": { "type": "integer", "minimum": 1, "maximum": 99 },
        "ENDPOINTS": {
          "type": "array",
          "minItems": 1,
          "items": {
            "type": "object",
            "required": ["name", "url"],
            "properties": { "url": { "type": "string" }, "weight": { "type": "integer", "minimum": 0, "maximum": 100 } }
          }
        }
      }
    }
"##;

const TOP_LEVEL: &str = r#"    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "type": "object",
      "required": ["LOG_LEVEL"],
      "properties": { "LOG_LEVEL": { "enum": ["debug", "info", "warning", "error"] } },
      "patternProperties": {
        "^SETTING_": { "type": "string", "maxLength": 200 },
        "^LIMIT_": { "type": "integer", "minimum": 0, "maximum": 1000000 }
      },
      "propertyNames": { "maxLength": 64 }
    }
"#;

const CONDITIONAL: &str = r##"    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "type": "object",
      "definitions": {
        "names": {
          "type": "array",
          "uniqueItems": true,
          "items": { "type": "object", "required": ["name"], "properties": { "name": { "pattern": "^[a-z]+$" } } }
        }
      },
      "dependencies": { "QUEUE": ["STORAGE"] },
      "properties": {
        "FEATURES": { "$ref": "#/definitions/names" },
        "ROUTES": { "$ref": "#/definitions/names" },
        "QUEUE": {
          "if": { "properties": { "enabled": { "const": true } } },
          "then": { "required": ["host"] },
          "else": { "type": "object" }
        },
        "STORAGE": {
          "anyOf": [{ "required": ["host", "port"] }, { "required": ["path"] }],
          "properties": { "options": { "not": { "required": ["unlimited"] } } }
        }
      }
    }
"##;
