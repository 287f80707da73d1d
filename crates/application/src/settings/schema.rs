//! The JSON Schema of the configuration file, for editors.

use serde_json::{Map, Value, json};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::{ApplicationOptions, FILE_NAME};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Where the descriptions of types are in documents of OpenAPI.
const COMPONENTS: &str = "#/components/schemas/";

/// The fields of a source, of which there is exactly one.
const SOURCES: [&str; 3] = ["chart", "kustomize", "manifests"];

/// The JSON Schema of the configuration file.
pub fn schema() -> Value {
    let mut parts = Vec::new();
    ApplicationOptions::schemas(&mut parts);
    let mut parts: Map<_, _> = parts.into_iter().map(|(name, part)| (name, resolved(json!(part)))).collect();
    if let Some(Value::Object(source)) = parts.get_mut("SourceOptions") {
        let one = SOURCES.map(|field| json!({ "required": [field] }));
        source.insert("oneOf".to_owned(), one.to_vec().into());
    }
    let mut schema = json!({ "$schema": DRAFT, "title": FILE_NAME });
    if let (Some(schema), Value::Object(own)) = (schema.as_object_mut(), resolved(json!(ApplicationOptions::schema())))
    {
        schema.extend(own);
        schema.insert("$defs".to_owned(), parts.into());
    }
    schema
}

/// A schema whose references lead into `$defs`.
fn resolved(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| match value {
                Value::String(text) if key == "$ref" => (key, text.replace(COMPONENTS, "#/$defs/").into()),
                value => (key, resolved(value)),
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(resolved).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All references of a schema.
    fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn all_references_lead_to_definitions() {
        let schema = schema();
        let mut found = Vec::new();
        references(&schema, &mut found);
        assert!(found.len() > 5, "{schema:#}");
        for reference in found {
            let name = reference.strip_prefix("#/$defs/").unwrap();
            assert!(schema["$defs"].get(name).is_some(), "{reference}");
        }
    }

    #[test]
    fn fields_are_named_as_in_the_file() {
        let schema = schema();
        assert_eq!(schema["required"], json!(["workspace", "source", "gitops", "environments"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["git"]["type"], "object");
        assert_eq!(schema["$defs"]["SourceOptions"]["oneOf"][0]["required"][0], "chart");
        let helm = &schema["$defs"]["HelmOptions"];
        assert_eq!((helm["additionalProperties"].as_bool(), helm.get("required")), (Some(false), None));
        assert!(helm["properties"]["include-crds"]["description"].as_str().unwrap().contains("custom resource"));
        assert_eq!(schema["$defs"]["DeliveryMode"]["enum"].as_array().unwrap().len(), 2, "{schema:#}");
    }
}
