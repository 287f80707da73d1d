//! GitHub's description of its API (OpenAPI 3.0), and the checks of requests and answers against it.

use std::collections::BTreeSet;
use std::path::Path;

use git_host::double::Exchange;
use jsonschema::Draft;
use libtest_mimic::Failed;
use serde_json::{Map, Value, json};

/// The begin of the paths of the double.
const PREFIX: &str = "/api/v3";

/// Paths that the description does not contain: the GraphQL API.
const BESIDE: &str = "/api/graphql";

pub(crate) struct Description {
    json: Value,
}

/// An operation of the description.
struct Operation<'d> {
    description: &'d Description,
    json: &'d Value,
}

impl Description {
    pub(crate) fn read(path: &Path) -> Result<Self, Failed> {
        let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { json: serde_json::from_slice(&text)? })
    }

    /// What is wrong with requests and answers. Each problem is listed once.
    pub(crate) fn problems(&self, exchanges: &[Exchange]) -> Vec<String> {
        let described = exchanges.iter().filter(|exchange| exchange.target != BESIDE);
        let (mut problems, mut count) = (BTreeSet::new(), 0);
        for exchange in described {
            count += 1;
            for problem in self.problems_of(exchange) {
                problems.insert(format!("{} {}: {problem}", exchange.method, exchange.target));
            }
        }
        assert!(count > 40, "the scenario has only {count} requests");
        problems.into_iter().collect()
    }

    pub(crate) fn problems_of(&self, exchange: &Exchange) -> Vec<String> {
        let target = exchange.target.strip_prefix(PREFIX).unwrap_or(&exchange.target);
        let url: reqwest::Url = format!("https://api.github.com{target}").parse().unwrap();
        let Some(operation) = self.operation(url.path(), &exchange.method.to_ascii_lowercase()) else {
            return vec!["is not described".to_owned()];
        };
        let mut problems = operation.problems_of_query(&url);
        problems.extend(operation.problems_of_body(&exchange.body));
        problems.extend(operation.problems_of_answer(exchange.status, &exchange.answer));
        problems
    }

    /// The operation of a path. A path without parameters is more specific than one with.
    fn operation(&self, path: &str, method: &str) -> Option<Operation<'_>> {
        let segments: Vec<&str> = path.split('/').collect();
        let is_of = |template: &&String| {
            let parts: Vec<&str> = template.split('/').collect();
            parts.len() == segments.len()
                && parts.iter().zip(&segments).all(|(part, segment)| part.starts_with('{') || part == segment)
        };
        let paths = self.json["paths"].as_object()?;
        let template = paths.keys().filter(is_of).min_by_key(|template| template.matches('{').count())?;
        Some(Operation { description: self, json: paths[template].get(method)? })
    }

    /// The object that a `$ref` names, or the object itself.
    fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.json.pointer(reference.trim_start_matches('#')).unwrap(),
            None => value,
        }
    }

    /// What is wrong with a value of a schema.
    fn problems_of_value(&self, schema: &Value, value: &Value) -> Vec<String> {
        let mut definitions = Map::new();
        let mut root = self.as_json_schema(schema, &mut definitions);
        root["components"] = json!({ "schemas": definitions });
        let schema = jsonschema::options().with_draft(Draft::Draft4).build(&root).unwrap();
        schema.iter_errors(value).map(|error| format!("{} {error}", error.instance_path())).collect()
    }

    /// A schema of OpenAPI 3.0 as a JSON Schema, with the definitions that it needs: JSON Schema has no `nullable`.
    fn as_json_schema(&self, schema: &Value, definitions: &mut Map<String, Value>) -> Value {
        match schema {
            Value::Object(fields) => {
                if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                    let name = name.rsplit('/').next().unwrap();
                    if !definitions.contains_key(name) {
                        definitions.insert(name.to_owned(), json!({}));
                        let definition = self.as_json_schema(&self.json["components"]["schemas"][name], definitions);
                        definitions.insert(name.to_owned(), definition);
                    }
                }
                let shown =
                    fields.iter().filter(|(name, _)| !matches!(name.as_str(), "example" | "default" | "examples"));
                let converted = shown.map(|(name, value)| (name.clone(), self.as_json_schema(value, definitions)));
                let converted = Value::Object(converted.collect());
                let is_nullable = fields.get("nullable") == Some(&Value::Bool(true));
                if is_nullable { json!({ "anyOf": [{ "type": "null" }, converted] }) } else { converted }
            }
            Value::Array(items) => items.iter().map(|item| self.as_json_schema(item, definitions)).collect(),
            other => other.clone(),
        }
    }
}

impl Operation<'_> {
    fn problems_of_query(&self, url: &reqwest::Url) -> Vec<String> {
        let parameters = self.json["parameters"].as_array().cloned().unwrap_or_default();
        let parameters: Vec<&Value> =
            parameters.iter().map(|value| self.description.resolved(value)).map(|found| found as &Value).collect();
        let problems = url.query_pairs().flat_map(|(name, text)| {
            let is_of = |parameter: &&&Value| parameter["name"] == *name && parameter["in"] == "query";
            let Some(parameter) = parameters.iter().find(is_of) else {
                return vec![format!("parameter `{name}` is not described")];
            };
            let schema = &parameter["schema"];
            let value = match schema["type"].as_str() {
                Some("integer") => text.parse::<u64>().map_or(json!(text), |number| json!(number)),
                _ => json!(text),
            };
            self.description.problems_of_value(schema, &value)
        });
        problems.collect()
    }

    fn problems_of_body(&self, body: &[u8]) -> Vec<String> {
        let schema = &self.json["requestBody"]["content"]["application/json"]["schema"];
        if body.is_empty() {
            return if self.json["requestBody"]["required"] == true {
                vec!["has no body".to_owned()]
            } else {
                Vec::new()
            };
        }
        let value: Value = serde_json::from_slice(body).unwrap();
        if schema.is_null() {
            return vec!["has a body that is not described".to_owned()];
        }
        let mut problems = self.description.problems_of_value(schema, &value);
        // Misspelled fields would have no effect.
        if let (Some(fields), Some(described)) = (value.as_object(), schema["properties"].as_object()) {
            let unknown = fields.keys().filter(|name| !described.contains_key(*name));
            problems.extend(unknown.map(|name| format!("field `{name}` is not described")));
        }
        problems
    }

    fn problems_of_answer(&self, status: u16, body: &[u8]) -> Vec<String> {
        let response = &self.json["responses"][status.to_string()];
        if response.is_null() {
            return vec![format!("status {status} is not described")];
        }
        let schema = &self.description.resolved(response)["content"]["application/json"]["schema"];
        match (schema.is_null(), serde_json::from_slice::<Value>(body)) {
            (true, _) if body.is_empty() => Vec::new(),
            (true, _) => vec![format!("the answer {status} has no described body")],
            (false, Ok(value)) => self.description.problems_of_value(schema, &value),
            (false, Err(error)) => vec![format!("the answer {status} is no JSON: {error}")],
        }
    }
}
