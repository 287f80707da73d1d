//! Finds rules of a schema that have no effect, or that no value can satisfy.

use jsonschema::Draft;
use model::diagnostic::Code;
use model::field_path::FieldPath;
use serde_json::{Map, Value as Json};

use super::dialect::{self, SchemaJson};
use super::keywords;

/// A warning about a part of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lint {
    pub(super) code: Code,
    /// The path of the part.
    pub(super) path: FieldPath,
    pub(super) message: String,
    pub(super) help: String,
}

/// The maximum number of warnings for one schema.
const REPORTED_MAX: usize = 20;

/// A keyword that only some drafts have.
struct DraftKeyword {
    name: &'static str,
    first: Draft,
    last: Draft,
    /// What to write instead in the other drafts. Empty if nothing has the same effect.
    instead: &'static str,
}

const fn since(first: Draft, name: &'static str, instead: &'static str) -> DraftKeyword {
    DraftKeyword { name, first, last: Draft::Draft202012, instead }
}

/// `then` and `else` are reported with their `if`.
const DRAFT_KEYWORDS: [DraftKeyword; 14] = [
    since(Draft::Draft6, "const", "`enum` with one value"),
    since(Draft::Draft6, "contains", ""),
    since(Draft::Draft6, "propertyNames", "`patternProperties` with `\"additionalProperties\": false`"),
    since(Draft::Draft7, "if", "`anyOf` with both cases"),
    since(Draft::Draft201909, "dependentRequired", "`dependencies`"),
    since(Draft::Draft201909, "dependentSchemas", "`dependencies`"),
    since(Draft::Draft201909, "unevaluatedProperties", "`additionalProperties` beside all `properties`"),
    since(Draft::Draft201909, "unevaluatedItems", "`additionalItems`"),
    since(Draft::Draft201909, "minContains", ""),
    since(Draft::Draft201909, "maxContains", ""),
    since(Draft::Draft202012, "prefixItems", "`items` with a list of schemas"),
    since(Draft::Draft202012, "$dynamicRef", "`$ref`"),
    DraftKeyword { name: "$recursiveRef", first: Draft::Draft201909, last: Draft::Draft201909, instead: "`$ref`" },
    DraftKeyword {
        name: "additionalItems",
        first: Draft::Draft4,
        last: Draft::Draft201909,
        instead: "`items` beside `prefixItems`",
    },
];

/// Keywords that no supported draft has, with the keyword to write.
const OF_OTHERS: [(&str, &str, &str); 4] = [
    ("nullable", "OpenAPI", "a list of types with `null`: `\"type\": [\"string\", \"null\"]`"),
    ("divisibleBy", "draft 3", "`multipleOf`"),
    ("disallow", "draft 3", "`not`"),
    ("extends", "draft 3", "`allOf`"),
];

/// Keywords beside `$ref` that are no rules.
const NO_RULES: [&str; 14] = [
    "$ref",
    "$schema",
    "$id",
    "id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "writeOnly",
    "x-sensitive",
];

/// A lower limit with its upper limit, and whether both exclude the limit itself.
const LIMITS: [(&str, &str, bool); 7] = [
    ("minimum", "maximum", false),
    ("exclusiveMinimum", "maximum", true),
    ("minimum", "exclusiveMaximum", true),
    ("exclusiveMinimum", "exclusiveMaximum", true),
    ("minLength", "maxLength", false),
    ("minItems", "maxItems", false),
    ("minProperties", "maxProperties", false),
];

/// Finds misspelled keywords, keywords of other drafts, and contradictions in these schemas of a document.
pub(super) fn lints(read: &SchemaJson, schemas: &[(FieldPath, &Json)]) -> Vec<Lint> {
    let mut found: Vec<_> = read.mistaken.iter().map(|uri| unknown_draft(uri)).collect();
    found.extend(keywords::misspelled(&read.json).into_iter().map(misspelled));
    found.extend(of_root(&read.json));
    for (path, schema) in schemas {
        let Some(entries) = schema.as_object() else { continue };
        let place = Place { path, entries, read };
        if entries.get("$ref").is_some_and(Json::is_string) && rank(read.draft) <= rank(Draft::Draft7) {
            found.extend(place.beside_reference());
        } else {
            found.extend(place.without_effect());
            found.extend(place.contradiction());
        }
        if found.len() >= REPORTED_MAX {
            break;
        }
    }
    found.truncate(REPORTED_MAX);
    found
}

fn unknown_draft(uri: &str) -> Lint {
    let (_, counted) = dialect::name(Draft::Draft7);
    Lint {
        code: Code::UnknownKeyword,
        path: FieldPath::from(["$schema"]),
        message: format!("`$schema` is {uri:?}, which names no draft: {counted} counts"),
        help: dialect::DRAFTS.to_owned(),
    }
}

fn misspelled(word: keywords::Misspelled) -> Lint {
    Lint {
        code: Code::UnknownKeyword,
        message: format!("`{}` is not a keyword of JSON Schema, so it has no effect", word.path),
        help: format!("did you mean `{}`?", word.suggestion),
        path: word.path,
    }
}

/// A root schema that no configuration can satisfy: a configuration is a mapping.
fn of_root(root: &Json) -> Option<Lint> {
    let message = match root.get("type") {
        _ if *root == Json::Bool(false) => "the schema is `false`, so no configuration is valid".to_owned(),
        Some(types) if !allows(types, "object") => {
            format!("a configuration is a mapping (`object`), so none satisfies `\"type\": {types}`")
        }
        _ => return None,
    };
    let path = root.get("type").map_or_else(FieldPath::default, |_| FieldPath::from(["type"]));
    let help = "write the rules for values below `properties`, by their keys".to_owned();
    Some(Lint { code: Code::ContradictorySchema, path, message, help })
}

/// A schema in a document.
struct Place<'a> {
    path: &'a FieldPath,
    entries: &'a Map<String, Json>,
    read: &'a SchemaJson,
}

impl Place<'_> {
    fn beside_reference(&self) -> Option<Lint> {
        let is_rule = |keyword: &&String| !NO_RULES.contains(&keyword.as_str()) && !keyword.starts_with("x-");
        let rule = self.entries.keys().find(|keyword| is_rule(keyword) && keywords::is_known(keyword))?;
        let path = self.path.key(rule.as_str());
        let (_, draft) = dialect::name(self.read.draft);
        Some(Lint {
            code: Code::UnknownKeyword,
            message: format!("`{path}` has no effect: in {draft}, keywords beside `$ref` do not count"),
            help: format!("write `\"allOf\": [{{\"$ref\": …}}, {{\"{rule}\": …}}]`"),
            path,
        })
    }

    fn without_effect(&self) -> Vec<Lint> {
        let draft = self.read.draft;
        let is_without = |keyword: &&DraftKeyword| {
            let in_draft = (rank(keyword.first)..=rank(keyword.last)).contains(&rank(draft));
            self.entries.contains_key(keyword.name) && !in_draft
        };
        let of_drafts = DRAFT_KEYWORDS.iter().filter(is_without).map(|keyword| self.of_other_draft(keyword));
        let of_others = OF_OTHERS
            .iter()
            .filter(|(name, ..)| self.entries.get(*name).is_some_and(|value| *value != Json::Bool(false)));
        let of_others = of_others.map(|(name, origin, instead)| {
            let path = self.path.key(*name);
            let message = format!("`{path}` has no effect: it is a keyword of {origin}");
            Lint { code: Code::UnknownKeyword, path, message, help: format!("write {instead}") }
        });
        of_drafts.chain(of_others).collect()
    }

    fn of_other_draft(&self, keyword: &DraftKeyword) -> Lint {
        let path = self.path.key(keyword.name);
        let (_, counted) = dialect::name(self.read.draft);
        let is_newer = rank(keyword.first) > rank(self.read.draft);
        let (uri, named) = dialect::name(if is_newer { keyword.first } else { keyword.last });
        let since = if is_newer { "a keyword since" } else { "a keyword up to" };
        let why = if self.read.is_written { "the schema is of" } else { "a schema without `$schema` is of" };
        let change = format!("`\"$schema\": \"{uri}\"` makes it count");
        let help = match keyword.instead {
            "" => change,
            instead => format!("write {instead} instead; or {change}"),
        };
        let message = format!("`{path}` has no effect: {why} {counted}, and this is {since} {named}");
        Lint { code: Code::UnknownKeyword, path, message, help }
    }

    /// The first contradiction in this schema.
    fn contradiction(&self) -> Option<Lint> {
        let (keyword, message, help) =
            self.empty_choice().or_else(|| self.limits()).or_else(|| self.types()).or_else(|| self.forbidden())?;
        let path = self.path.key(keyword);
        let subject = if self.path.steps().is_empty() { "the schema".to_owned() } else { format!("`{}`", self.path) };
        let message = format!("no value satisfies {subject}: {message}");
        Some(Lint { code: Code::ContradictorySchema, path, message, help })
    }

    fn empty_choice(&self) -> Option<(&'static str, String, String)> {
        if self.entries.get("enum").and_then(Json::as_array).is_some_and(Vec::is_empty) {
            let help = "list the allowed values, or remove `enum`: then every value is allowed";
            return Some(("enum", "its `enum` is empty".to_owned(), help.to_owned()));
        }
        let negated = self.entries.get("not")?;
        let is_everything = *negated == Json::Bool(true) || negated.as_object().is_some_and(Map::is_empty);
        let help = "write in `not` what must not match";
        is_everything.then(|| ("not", "its `not` excludes every value".to_owned(), help.to_owned()))
    }

    fn limits(&self) -> Option<(&'static str, String, String)> {
        let number = |keyword: &str| self.entries.get(keyword).and_then(Json::as_f64);
        LIMITS.iter().find_map(|(low, high, is_open)| {
            let (least, most) = (number(low)?, number(high)?);
            let is_empty = least > most || (*is_open && least >= most);
            let message = format!("`{low}` {least} and `{high}` {most} leave none");
            is_empty.then(|| (*low, message, format!("write a `{low}` below `{high}`")))
        })
    }

    /// An `enum` or `const` whose values all have other types than `type`.
    fn types(&self) -> Option<(&'static str, String, String)> {
        let types = self.entries.get("type")?;
        let is_of_type = |value: &Json| {
            allows(types, type_of(value))
                || (value.is_number() && allows(types, "number"))
                || is_whole(value) && allows(types, "integer")
        };
        let (keyword, values) = match (self.entries.get("enum").and_then(Json::as_array), self.entries.get("const")) {
            (Some(values), _) if !values.is_empty() => ("enum", values.iter().collect::<Vec<_>>()),
            (_, Some(value)) if rank(self.read.draft) > rank(Draft::Draft4) => ("const", vec![value]),
            _ => return None,
        };
        if values.into_iter().any(is_of_type) {
            return None;
        }
        let message = format!("nothing in its `{keyword}` has the type {types}");
        Some((
            keyword,
            message,
            format!(
                "write the values of `{keyword}` with this type: a text has quotes, a number and a boolean have none"
            ),
        ))
    }

    /// A required key that is not allowed.
    fn forbidden(&self) -> Option<(&'static str, String, String)> {
        let properties = self.entries.get("properties").and_then(Json::as_object);
        let is_closed = self.entries.get("additionalProperties") == Some(&Json::Bool(false))
            && !self.entries.contains_key("patternProperties");
        let is_refused = |name: &&str| match properties.and_then(|properties| properties.get(*name)) {
            Some(schema) => *schema == Json::Bool(false),
            None => is_closed,
        };
        let mut required =
            self.entries.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let name = required.find(is_refused)?;
        let message = format!("`{name}` is required and not allowed");
        Some(("required", message, format!("add `{name}` to `properties`, or remove it from `required`")))
    }
}

/// The position of a draft in the order of their publication.
fn rank(draft: Draft) -> u8 {
    match draft {
        Draft::Draft4 => 0,
        Draft::Draft6 => 1,
        Draft::Draft7 => 2,
        Draft::Draft201909 => 3,
        _ => 4,
    }
}

/// Whether a `type` allows the type with this name.
fn allows(types: &Json, name: &str) -> bool {
    match types {
        Json::String(text) => text == name,
        Json::Array(types) => types.iter().any(|text| text == name),
        _ => true,
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

fn is_whole(value: &Json) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::references::Document;
    use super::super::walk;
    use super::*;

    fn check(schema: &str, expected: &[&str]) {
        let read = dialect::read(schema).unwrap();
        let document = Document::new(&read.json, read.draft).unwrap();
        let references = document.references().unwrap();
        let found = lints(&read, &walk::positions(&references, &read.json));
        let found: Vec<_> = found.iter().map(|lint| format!("{}: {}", lint.message, lint.help)).collect();
        assert_eq!(found, expected, "{schema}");
    }

    #[test]
    fn keywords_of_other_drafts_are_reported_with_a_fix() {
        check(
            r#"{"dependentRequired": {"A": ["B"]}}"#,
            &[
                "`dependentRequired` has no effect: a schema without `$schema` is of draft 7, and this is a keyword since draft 2019-09: \
                 write `dependencies` instead; or `\"$schema\": \"https://json-schema.org/draft/2019-09/schema\"` makes it count",
            ],
        );
        check(
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"A": {"const": 1}}}"#,
            &["`properties.A.const` has no effect: the schema is of draft 4, and this is a keyword since draft 6: \
                 write `enum` with one value instead; or `\"$schema\": \"http://json-schema.org/draft-06/schema#\"` makes it count"],
        );
        let new = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
        check(
            &format!(
                r#"{{{new}, "dependentRequired": {{"A": ["B"]}}, "properties": {{"L": {{"prefixItems": [{{}}], "items": false}}}}}}"#
            ),
            &[],
        );
        check(
            r#"{"properties": {"A": {"nullable": true}, "prefixItems": {}, "B": {"default": {"prefixItems": []}}}}"#,
            &[
                "`properties.A.nullable` has no effect: it is a keyword of OpenAPI: write a list of types with `null`: `\"type\": [\"string\", \"null\"]`",
            ],
        );
    }

    #[test]
    fn rules_beside_a_reference_have_no_effect_in_older_drafts() {
        let schema = r##""properties": {"A": {"$ref": "#/definitions/port", "minimum": 1, "description": "a"}}, "definitions": {"port": {}}"##;
        check(
            &format!("{{{schema}}}"),
            &[
                "`properties.A.minimum` has no effect: in draft 7, keywords beside `$ref` do not count: write `\"allOf\": [{\"$ref\": …}, {\"minimum\": …}]`",
            ],
        );
        check(&format!(r#"{{"$schema": "https://json-schema.org/draft/2019-09/schema", {schema}}}"#), &[]);
    }

    #[test]
    fn unsatisfiable_rules_are_reported() {
        let message = |schema: &str| {
            let read = dialect::read(schema).unwrap();
            let document = Document::new(&read.json, read.draft).unwrap();
            let references = document.references().unwrap();
            let found = lints(&read, &walk::positions(&references, &read.json));
            found.into_iter().map(|lint| lint.message).collect::<Vec<_>>()
        };
        let of_a = |rules: &str| message(&format!(r#"{{"properties": {{"A": {rules}}}}}"#));
        assert_eq!(of_a(r#"{"enum": []}"#), ["no value satisfies `properties.A`: its `enum` is empty"]);
        assert_eq!(
            of_a(r#"{"minimum": 5, "maximum": 3}"#),
            ["no value satisfies `properties.A`: `minimum` 5 and `maximum` 3 leave none"]
        );
        assert_eq!(
            of_a(r#"{"type": "integer", "enum": ["1"]}"#),
            ["no value satisfies `properties.A`: nothing in its `enum` has the type \"integer\""]
        );
        assert_eq!(of_a(r#"{"not": {}}"#), ["no value satisfies `properties.A`: its `not` excludes every value"]);
        assert_eq!(
            message(r#"{"required": ["A"], "additionalProperties": false}"#),
            ["no value satisfies the schema: `A` is required and not allowed"]
        );
        assert_eq!(
            message(r#"{"type": "array"}"#),
            ["a configuration is a mapping (`object`), so none satisfies `\"type\": \"array\"`"]
        );
        for good in [
            r#"{"enum": [1.0], "type": "integer"}"#,
            r#"{"minimum": 3, "maximum": 3}"#,
            r#"{"type": ["string", "null"], "const": null}"#,
        ] {
            assert_eq!(of_a(good), [""; 0], "{good}");
        }
    }
}
