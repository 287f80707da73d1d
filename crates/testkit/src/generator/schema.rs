//! `ConfigSchema`s of a generated fleet, which every assignment meets.

/// A schema for every assignment. They take turns: the one looks into nested values, the other at all top-level keys.
pub(super) fn config_schema(index: usize) -> (String, String) {
    let name = format!("schema-{index:03}");
    let schema = if index.is_multiple_of(2) { NESTED } else { TOP_LEVEL };
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
