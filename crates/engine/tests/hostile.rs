//! Hostile values and schemas stop their own assignment, in time, and nothing else.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::suite::{self, Outcome, run_with};

/// Much more than any of these takes, also on a busy machine: what it catches has no end.
const TIME_MAX: Duration = Duration::from_secs(30);

/// What the small shop gives with these files added.
fn shop_with(files: &[(&str, String)]) -> Outcome {
    let shop = suite::cases(&Path::new(suite::FOLDER).join("shop.md")).unwrap().remove(0);
    let mut all = shop.files();
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), text.clone().into_bytes())));
    let start = Instant::now();
    // Threads of tests, and of rayon, have 2 MiB of stack, as those of the product.
    let outcome = run_with(&shop, &all).unwrap();
    assert!(start.elapsed() < TIME_MAX, "it took {:?}", start.elapsed());
    outcome
}

fn is_made(outcome: &Outcome, cluster_type: &str) -> bool {
    outcome.tree.file(&format!("{cluster_type}/hello-web/reconciler.yaml"), &model::tree::closed).unwrap().is_some()
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}

/// A schema for `drone` either gives this code there, or (empty) stops nothing; `large` is always made.
fn check_schema(schema: &str, code: &str) {
    let object = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata: {{name: hostile, labels: {{size: small}}}}\n\
         spec:\n  schema: |\n{}",
        indented(schema)
    );
    let outcome = shop_with(&[("hostile.yaml", object)]);
    let start: String = schema.chars().take(80).collect();
    assert!(is_made(&outcome, "large"), "{start}: {}", outcome.says);
    assert_eq!(is_made(&outcome, "drone"), code.is_empty(), "{start}: {}", outcome.says);
    assert!(outcome.says.contains(code), "{start}: {}", outcome.says);
}

/// A `ConfigMap` with this data for `drone` gives this code there, or (empty) stops nothing; `large` is always made.
fn check_values(maps: &[String], code: &str) {
    let map = |(number, data): (usize, &String)| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: hostile-{number:04}, labels: {{platform-config: \"true\", size: small}}}}\n\
             data:\n{data}"
        )
    };
    let maps: Vec<_> = maps.iter().enumerate().map(map).collect();
    let outcome = shop_with(&[("hostile.yaml", maps.join("---\n"))]);
    assert!(is_made(&outcome, "large"), "{}", outcome.says);
    assert_eq!(is_made(&outcome, "drone"), code.is_empty(), "{}", outcome.says);
    assert!(outcome.says.contains(code), "{}", outcome.says);
}

#[test]
fn schemas_that_refer_to_themselves_are_refused() {
    let around = r##"{"a": {"anyOf": [{"$ref": "#/definitions/b"}]}, "b": {"not": {"$ref": "#/definitions/a"}}}"##;
    check_schema(r##"{"$ref": "#"}"##, "K0310");
    check_schema(r##"{"allOf": [{"$ref": "#"}]}"##, "K0310");
    check_schema(
        &format!(r##"{{"properties": {{"REGION": {{"$ref": "#/definitions/a"}}}}, "definitions": {around}}}"##),
        "K0310",
    );
    check_schema(r#"{"$id": "https://a.example/s", "$ref": "https://a.example/s"}"#, "K0310");
}

/// Circles that our own walk does not see are seen by the validator, which goes round once.
#[test]
fn circles_by_other_names_end() {
    const NEW: &str = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
    const OLD: &str = r#""$schema": "https://json-schema.org/draft/2019-09/schema""#;
    check_schema(
        r#"{"$id": "https://a.example/s", "allOf": [{"$ref": "s#/definitions/a"}], "definitions": {"a": {"$ref": "s"}}}"#,
        "",
    );
    check_schema(&format!(r##"{{{NEW}, "$dynamicAnchor": "a", "$dynamicRef": "#a"}}"##), "");
    check_schema(&format!(r##"{{{NEW}, "dependentSchemas": {{"REGION": {{"$ref": "#"}}}}}}"##), "");
    check_schema(&format!(r##"{{{OLD}, "$recursiveAnchor": true, "$recursiveRef": "#"}}"##), "");
    check_schema(r##"{"definitions": {"a": {"$id": "#a", "$ref": "#a"}}, "$ref": "#a"}"##, "");
    check_schema(r##"{"dependencies": {"REGION": {"$ref": "#"}}}"##, "");
}

#[test]
fn schemas_that_go_down_into_the_value_are_fine() {
    check_schema(r##"{"properties": {"REGION": {"$ref": "#"}, "x": {"additionalProperties": {"$ref": "#"}}}}"##, "");
    check_schema(r#"{"$ref": "http://json-schema.org/draft-07/schema#"}"#, "");
}

#[test]
fn nothing_is_fetched() {
    check_schema(r#"{"$ref": "https://schemas.example/a.json"}"#, "K0310");
    check_schema(r#"{"$ref": "file:///etc/passwd"}"#, "K0310");
    check_schema(r#"{"$schema": "https://schemas.example/meta.json"}"#, "K0310");
}

#[test]
fn deeply_nested_schemas_are_refused() {
    let nested = |depth: usize| format!("{}{{}}{}", r#"{"not":"#.repeat(depth), "}".repeat(depth));
    check_schema(&nested(100), "");
    check_schema(&nested(100_000), "K0310");
    let chain: Vec<_> =
        (0..2000).map(|number| format!(r##""d{number}": {{"$ref": "#/definitions/d{}"}}"##, number + 1)).collect();
    check_schema(&format!(r##"{{"$ref": "#/definitions/d0", "definitions": {{{}}}}}"##, chain.join(",")), "K0310");
}

/// Each of `levels` definitions refers to the next one `times` times, in a schema made of `part`.
fn unfolding(levels: usize, times: usize, part: &str) -> String {
    let of_level = |level: usize| {
        let next = part.replace("NEXT", &format!(r##"{{"$ref": "#/definitions/d{}"}}"##, level + 1));
        format!(r#""d{level}": {{"allOf": [{}]}}"#, vec![next; times].join(","))
    };
    let definitions: Vec<_> = (0..levels).map(of_level).collect();
    format!(r##"{{"$ref": "#/definitions/d0", "definitions": {{{}, "d{levels}": {{}}}}}}"##, definitions.join(","))
}

#[test]
fn schemas_that_multiply_are_refused() {
    check_schema(&unfolding(10, 2, "NEXT"), "");
    check_schema(&unfolding(30, 2, "NEXT"), "K0310");
    check_schema(&unfolding(100, 2, "NEXT"), "K0310");
    check_schema(&unfolding(3, 200, r#"{"additionalProperties": NEXT}"#), "K0310");
}

#[test]
fn patterns_take_linear_time() {
    check_schema(r#"{"properties": {"REGION": {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}}}"#, "K0312");
    check_schema(r#"{"properties": {"REGION": {"pattern": "(x{1000}){1000}"}}}"#, "K0310");
    check_schema(r#"{"properties": {"REGION": {"pattern": "(?=a)b"}}}"#, "K0310");
    check_schema(r#"{"properties": {"REGION": {"pattern": "("}}}"#, "K0310");
}

#[test]
fn huge_schemas_end() {
    let choices: Vec<_> = (0..50_000).map(|number| format!("\"{number}\"")).collect();
    check_schema(&format!(r#"{{"properties": {{"REGION": {{"enum": [{}]}}}}}}"#, choices.join(",")), "K0312");
    let required = choices.join(",");
    check_schema(&format!(r#"{{"required": [{required}]}}"#), "K0311");
}

#[test]
fn deep_values_stay_texts() {
    let deep = |depth: usize| format!("  DEEP: \"{}{}\"\n", "[".repeat(depth), "]".repeat(depth));
    check_values(&[deep(90)], "");
    check_values(&[deep(100_000)], "");
}

#[test]
fn values_that_multiply_by_aliases_stay_texts() {
    let level = |number: usize| {
        format!(
            "    l{number}: &l{number} [*l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}]\n",
            number - 1
        )
    };
    let laughs: String = (1..10).map(level).collect();
    check_values(&[format!("  LAUGHS: |\n    l0: &l0 ha\n{laughs}")], "");
}

#[test]
fn lists_that_multiply_stop_their_assignment() {
    let items: String = (0..3000).map(|_| "    - {name: a, list: [1]}\n").collect();
    check_values(&[format!("  LIST: |\n{items}"), format!("  LIST: |\n{items}")], "K0302");
}

#[test]
fn lists_that_many_maps_append_to_are_fine() {
    let map = |number: usize| format!("  LIST: |\n    - {{name: item-{number}, port: {number}}}\n    - [{number}]\n");
    check_values(&(0..500).map(map).collect::<Vec<_>>(), "");
}

#[test]
fn sensitive_properties_of_schemas_that_refer_to_themselves_are_hidden() {
    let properties: Vec<_> = (0..50).map(|number| format!(r##""p{number}": {{"$ref": "#"}}"##)).collect();
    let schema = |mark: &str| {
        format!(r#"{{"properties": {{"REGION": {{"enum": ["a"]}}, "x": {mark}, {}}}}}"#, properties.join(","))
    };
    check_schema(&schema("{}"), "here it is \"none\"");
    check_schema(&schema(r#"{"items": {"properties": {"y": {"writeOnly": true}}}}"#), "here it is (sensitive, ");
}
