//! Schemas and manifests that are made to cost time, memory or the network.

use std::fmt::Write as _;

use super::*;

/// A definition of `Bad` with this schema of its field `spec`.
fn definition(schema: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: bads.acme.example}}\nspec: {{group: acme.example, scope: Namespaced, \
         names: {{kind: Bad, plural: bads}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {schema}}}}}}}}}]}}\n"
    )
}

fn found(schema: &str, spec: &str) -> Vec<String> {
    problems(&format!("{}---\n{}", definition(schema), object("acme.example/v1/Bad", spec)))
}

#[test]
fn references_that_lead_to_themselves_end() {
    assert_eq!(found("{$ref: '#'}", "{spec: {spec: {}}}"), [""; 0]);
    let twice = "{\"allOf\": [{\"$ref\": \"#\"}, {\"$ref\": \"#\"}]}";
    let setup = Setup { folder: &[("bad-acme-v1.json", twice)], steps_max: Some(10_000), ..Setup::default() };
    let found = setup.problems(&object("acme.example/v1/Bad", "{}"));
    assert!(
        found.len() == 1 && found[0].contains("validated only up to Bad shop: the schemas and manifests are too large"),
        "{found:?}"
    );
}

#[test]
fn deep_schemas_and_objects_need_no_deep_stack() {
    let nested = |open: &str, close: &str| format!("{}{{}}{}", open.repeat(45), close.repeat(45));
    let schema = nested("{\"properties\": {\"a\": ", "}}");
    let any = nested("{\"anyOf\": [", "]}");
    for schema in [schema, any, "{\"properties\": {\"a\": {\"$ref\": \"#\"}}}".to_owned()] {
        let setup = Setup { folder: &[("bad-acme-v1.json", &schema)], ..Setup::default() };
        let deep =
            format!("apiVersion: acme.example/v1\nkind: Bad\nmetadata: {{name: a}}\na: {}\n", nested("{a: ", "}"));
        assert_eq!(setup.problems(&deep), [""; 0]);
    }
}

#[test]
fn patterns_do_not_backtrack() {
    let text = "a".repeat(20_000);
    let found = found("{type: string, pattern: '^(a+)+(a+)+$'}", &format!("{text}b"));
    assert!(found[0].contains("does not match the pattern"), "{found:?}");
}

#[test]
fn many_patterns_and_long_texts_end() {
    let mut properties = String::new();
    let mut spec = String::new();
    for number in 0..600 {
        let _ = write!(properties, "f{number}: {{type: string, pattern: '^[a-z{number}]{{0,500}}$'}}, ");
        let _ = write!(spec, "f{number}: a, ");
    }
    let schema = definition(&format!("{{type: object, properties: {{{properties}}}}}"));
    let text = format!("{schema}---\n{}", object("acme.example/v1/Bad", &format!("{{{spec}}}")));
    let is_complete = |steps_max| {
        let found = Setup { steps_max: Some(steps_max), ..Setup::default() }.problems(&text);
        !found.iter().any(|text| text.contains("the schemas and manifests are too large"))
    };
    assert!(is_complete(1_000_000) && !is_complete(500_000));
}

#[test]
fn problems_of_large_manifests_are_limited() {
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {";
    let mut text = String::new();
    for object in 0..200 {
        text.push_str(map);
        for key in 0..300 {
            let _ = write!(text, "k{object}-{key}: 1, ");
        }
        text.push_str("}\n");
    }
    assert!(text.len() > 600_000);
    let found = problems(&text);
    assert_eq!(found.len(), MANIFEST_PROBLEMS_MAX + 1);
    assert!(found[MANIFEST_PROBLEMS_MAX].contains("there are too many problems"));
    let good = text.replace(": 1, ", ": a, ");
    assert_eq!(problems(&good), [""; 0]);
}

#[test]
fn unusable_definitions_are_reported_once() {
    let bad = object("acme.example/v1/Bad", "{}");
    let other = bad.replace("shop", "other");
    let found = problems(&format!("{}---\n{bad}---\n{other}", definition("{type: object, required: 3}")));
    assert_eq!(
        found.iter().filter(|text| text.contains("schema of version `v1` of Bad can't be used")).count(),
        1,
        "{found:?}"
    );
    assert_eq!(found.len(), 2, "the definition does not fit the schema of definitions either: {found:?}");
}
