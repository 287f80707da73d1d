//! Descriptions of the form Swagger 2.0, as OpenAPI 3.0.

use serde_json::{Map, Value, json};

/// The document in the form of OpenAPI 3.0.
///
/// It describes a server in Go, which writes null for what is absent, and reads null as absent. Swagger 2.0 can't say this, so that each field may be null.
pub(crate) fn to_openapi(swagger: &Value) -> Value {
    let schemas = map(&swagger["definitions"], schema);
    let responses = map(&swagger["responses"], response);
    let paths = map(&swagger["paths"], |path| {
        let shared = path["parameters"].as_array().cloned().unwrap_or_default();
        map(path, |found| operation(found, &shared))
    });
    json!({ "paths": paths, "components": { "schemas": schemas, "responses": responses } })
}

/// An object with each value converted.
fn map(object: &Value, convert: impl Fn(&Value) -> Value) -> Value {
    let fields = object.as_object().into_iter().flatten();
    Value::Object(fields.map(|(name, value)| (name.clone(), convert(value))).collect())
}

/// A place in the document. OpenAPI has all definitions below `components`.
fn reference(name: &str) -> Value {
    let name = name.replace("#/definitions/", "#/components/schemas/");
    json!({ "$ref": name.replace("#/responses/", "#/components/responses/") })
}

fn schema(swagger: &Value) -> Value {
    match swagger {
        Value::Object(fields) if fields.get("$ref").is_some_and(Value::is_string) => {
            reference(fields["$ref"].as_str().unwrap())
        }
        Value::Object(fields) => {
            let mut converted: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), schema(value))).collect();
            if let Some(properties) = fields.get("properties") {
                let nullable = map(properties, |property| json!({ "nullable": true, "allOf": [schema(property)] }));
                converted.insert("properties".to_owned(), nullable);
            }
            Value::Object(converted)
        }
        Value::Array(items) => items.iter().map(schema).collect(),
        other => other.clone(),
    }
}

fn response(swagger: &Value) -> Value {
    match (swagger["$ref"].as_str(), swagger.get("schema")) {
        (Some(name), _) => reference(name),
        (None, Some(found)) => json!({ "content": { "application/json": { "schema": schema(found) } } }),
        (None, None) => json!({}),
    }
}

fn operation(swagger: &Value, shared: &[Value]) -> Value {
    let own = swagger["parameters"].as_array().into_iter().flatten();
    let parameters: Vec<&Value> = own.chain(shared).collect();
    let query = parameters.iter().filter(|parameter| parameter["in"] == "query");
    let query = query.map(|parameter| json!({ "name": parameter["name"], "in": "query", "schema": parameter }));
    let mut operation = json!({
        "parameters": query.collect::<Vec<_>>(),
        "responses": map(&swagger["responses"], response),
    });
    if let Some(body) = parameters.iter().find(|parameter| parameter["in"] == "body") {
        let content = json!({ "application/json": { "schema": schema(&body["schema"]) } });
        operation["requestBody"] = json!({ "content": content, "required": body["required"] == true });
    }
    operation
}
