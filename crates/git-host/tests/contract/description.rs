//! A description of an API in the form of OpenAPI 3.0, and the checks of requests and answers against it.

use std::collections::BTreeSet;

use git_host::double::Exchange;
use jsonschema::Draft;
use serde_json::{Map, Value, json};

/// The keywords of a schema that are not checked.
const UNCHECKED: [&str; 4] = ["default", "description", "example", "examples"];

/// A description of an API.
pub(crate) struct Description {
    /// A document of OpenAPI 3.0.
    pub(crate) json: Value,
    /// The begin of the paths of the double that the description leaves out.
    pub(crate) prefix: &'static str,
    /// Parts of the API that the host has, but the description has not.
    pub(crate) gaps: &'static [Gap],
    /// Whether answers may contain only described fields. Requests never may contain others.
    pub(crate) is_complete: bool,
}

/// A part of an API that the host has, but its description has not.
pub(crate) struct Gap {
    pub(crate) method: &'static str,
    /// The end of the path.
    pub(crate) path_end: &'static str,
    /// The status of the answer. None if the path itself is not described.
    pub(crate) status: Option<u16>,
}

/// An operation of the description.
struct Operation<'d> {
    description: &'d Description,
    json: &'d Value,
}

impl Description {
    /// What is wrong with requests and answers. Each problem is listed once.
    pub(crate) fn problems(&self, exchanges: &[Exchange]) -> Vec<String> {
        let problem = |exchange: &Exchange, text| format!("{} {}: {text}", exchange.method, exchange.target);
        let problems = exchanges
            .iter()
            .flat_map(|exchange| self.problems_of(exchange).into_iter().map(|text| problem(exchange, text)));
        problems.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What is wrong with a request and its answer.
    pub(crate) fn problems_of(&self, exchange: &Exchange) -> Vec<String> {
        let target = exchange.target.strip_prefix(self.prefix).unwrap_or(&exchange.target);
        let url: reqwest::Url = format!("https://host.example{target}").parse().unwrap();
        let is_gap = |status: Option<u16>| {
            let is_of = |gap: &&Gap| {
                gap.method == exchange.method && url.path().ends_with(gap.path_end) && gap.status == status
            };
            self.gaps.iter().any(|gap| is_of(&gap))
        };
        if is_gap(None) {
            return Vec::new();
        }
        let Some(operation) = self.operation(url.path(), &exchange.method.to_ascii_lowercase()) else {
            return vec!["is not described".to_owned()];
        };
        let mut problems = operation.problems_of_query(&url);
        problems.extend(operation.problems_of_body(&exchange.body));
        if !is_gap(Some(exchange.status)) {
            problems.extend(operation.problems_of_answer(exchange.status, &exchange.answer));
        }
        problems
    }

    /// The operation of a path. A path without parameters is more specific than one with.
    fn operation(&self, path: &str, method: &str) -> Option<Operation<'_>> {
        let segments: Vec<&str> = path.split('/').collect();
        let is_of = |template: &str| {
            let parts: Vec<&str> = template.split('/').collect();
            parts.len() == segments.len() && parts.iter().zip(&segments).all(|(part, segment)| matches(part, segment))
        };
        let paths = self.json["paths"].as_object()?;
        let operations = paths.iter().filter(|(template, _)| is_of(template));
        let operations = operations.filter_map(|(template, path)| Some((template, path.get(method)?)));
        let (_, json) = operations.min_by_key(|(template, _)| parameters(template))?;
        Some(Operation { description: self, json })
    }

    /// The object that a `$ref` names, or the object itself.
    fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.json.pointer(reference.trim_start_matches('#')).unwrap(),
            None => value,
        }
    }

    /// What is wrong with a value of a schema. `is_complete` is whether it may have only described fields.
    pub(crate) fn problems_of_value(&self, schema: &Value, value: &Value, is_complete: bool) -> Vec<String> {
        let mut definitions = Map::new();
        let mut root = self.as_json_schema((schema, is_complete), &mut definitions);
        root["components"] = json!({ "schemas": definitions });
        let schema = jsonschema::options().with_draft(Draft::Draft4).build(&root).unwrap();
        schema.iter_errors(value).map(|error| format!("{} {error}", error.instance_path())).collect()
    }

    /// A schema of OpenAPI 3.0 as a JSON Schema, with the definitions that it needs: JSON Schema has no `nullable`.
    fn as_json_schema(&self, (schema, is_complete): (&Value, bool), definitions: &mut Map<String, Value>) -> Value {
        match schema {
            Value::Object(fields) => {
                if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                    let name = name.rsplit('/').next().unwrap();
                    if !definitions.contains_key(name) {
                        definitions.insert(name.to_owned(), json!({}));
                        let definition = &self.json["components"]["schemas"][name];
                        let definition = self.as_json_schema((definition, is_complete), definitions);
                        definitions.insert(name.to_owned(), definition);
                    }
                }
                let shown =
                    fields.iter().filter(|(name, value)| !UNCHECKED.contains(&name.as_str()) || value.is_object());
                let converted =
                    shown.map(|(name, value)| (name.clone(), self.as_json_schema((value, is_complete), definitions)));
                let mut converted = Value::Object(converted.collect());
                if is_complete && fields.get("properties").is_some_and(Value::is_object) {
                    converted["additionalProperties"] = json!(false);
                }
                let is_nullable = fields.get("nullable") == Some(&Value::Bool(true));
                if is_nullable { json!({ "anyOf": [{ "type": "null" }, converted] }) } else { converted }
            }
            Value::Array(items) => {
                items.iter().map(|item| self.as_json_schema((item, is_complete), definitions)).collect()
            }
            other => other.clone(),
        }
    }
}

/// Whether a part of a template of a path stands for a part of a path. A parameter can have a prefix, as in `${type}`.
fn matches(part: &str, segment: &str) -> bool {
    match part.split_once('{') {
        Some((prefix, _)) => segment.len() > prefix.len() && segment.starts_with(prefix),
        None => part.eq_ignore_ascii_case(segment),
    }
}

/// The number of parameters in a template of a path. One with a prefix is more specific than one without.
fn parameters(template: &str) -> usize {
    template.matches("/{").count() * 2 + template.matches("${").count()
}

impl Operation<'_> {
    fn problems_of_query(&self, url: &reqwest::Url) -> Vec<String> {
        let parameters = self.json["parameters"].as_array().cloned().unwrap_or_default();
        let parameters: Vec<&Value> = parameters.iter().map(|value| self.description.resolved(value)).collect();
        let problems = url.query_pairs().flat_map(|(name, text)| {
            let is_of = |parameter: &&&Value| parameter["name"] == *name && parameter["in"] == "query";
            let Some(parameter) = parameters.iter().find(is_of) else {
                return vec![format!("parameter `{name}` is not described")];
            };
            let schema = self.description.resolved(&parameter["schema"]);
            let value = match schema["type"].as_str() {
                Some("integer") => text.parse::<u64>().map_or(json!(text), |number| json!(number)),
                Some("boolean") => text.parse::<bool>().map_or(json!(text), |value| json!(value)),
                // A list with one item.
                Some("array") => json!([text]),
                _ => json!(text),
            };
            self.description.problems_of_value(schema, &value, false)
        });
        problems.collect()
    }

    fn problems_of_body(&self, body: &[u8]) -> Vec<String> {
        let content = &self.json["requestBody"]["content"];
        let schema = content.as_object().and_then(|types| types.values().next()).map(|media| &media["schema"]);
        if body.is_empty() {
            return if self.json["requestBody"]["required"] == true {
                vec!["has no body".to_owned()]
            } else {
                Vec::new()
            };
        }
        let value: Value = serde_json::from_slice(body).unwrap();
        let Some(schema) = schema else {
            // A body without fields has no effect.
            return if value == json!({}) { Vec::new() } else { vec!["has a body that is not described".to_owned()] };
        };
        let mut problems = self.description.problems_of_value(schema, &value, self.description.is_complete);
        // Misspelled fields would have no effect.
        let described = self.description.resolved(schema)["properties"].as_object();
        if let (Some(fields), Some(described)) = (value.as_object(), described) {
            let unknown = fields.keys().filter(|name| !described.contains_key(*name));
            problems.extend(unknown.map(|name| format!("field `{name}` is not described")));
        }
        problems
    }

    /// The answer with a status, with a range of statuses such as `4XX`, or with any other status.
    fn response(&self, status: u16) -> Option<&Value> {
        let names = [status.to_string(), format!("{}XX", status / 100), "default".to_owned()];
        let response = names.iter().find_map(|name| self.json["responses"].get(name))?;
        Some(self.description.resolved(response))
    }

    fn problems_of_answer(&self, status: u16, body: &[u8]) -> Vec<String> {
        let Some(response) = self.response(status) else {
            return vec![format!("status {status} is not described")];
        };
        let schema = &response["content"]["application/json"]["schema"];
        match (schema.is_null(), serde_json::from_slice::<Value>(body)) {
            (true, _) if body.is_empty() => Vec::new(),
            (true, _) => vec![format!("the answer {status} has no described body")],
            (false, Ok(value)) => self.description.problems_of_value(schema, &value, self.description.is_complete),
            (false, Err(error)) => vec![format!("the answer {status} is no JSON: {error}")],
        }
    }
}
