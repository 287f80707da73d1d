//! Hostile values and schemas stop only their own assignments, and the run ends in time.

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::suite::{self, CaseOutcome, run_with};

/// Much longer than any of these tests takes on a busy machine. It catches runs that never end.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Runs the small shop with additional files.
fn shop_with(files: &[(&str, String)]) -> CaseOutcome {
    let shop = suite::cases(&Path::new(suite::FOLDER).join("shop.md")).unwrap().remove(0);
    let mut all = shop.files();
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), text.clone().into_bytes())));
    let start = Instant::now();
    // The threads of tests and of rayon have 2 MiB of stack, like the threads of the product.
    let outcome = run_with(&shop, &all).unwrap();
    assert!(start.elapsed() < TIME_MAX, "it took {:?}", start.elapsed());
    outcome
}

fn is_made(outcome: &CaseOutcome, cluster_type: &str) -> bool {
    outcome.tree.file(&format!("{cluster_type}/hello-web/reconciler.yaml"), &model::tree::closed).unwrap().is_some()
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}

/// Runs with a schema for `drone`. Its assignment fails with this code, or does not fail if the code is empty. `large` is always rendered.
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

/// Runs with a `ConfigMap` for `drone`. Its assignment fails with this code, or does not fail if the code is empty. `large` is always rendered.
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

/// Circles by ids, by anchors, and by keywords that apply only to some values.
#[test]
fn circles_by_other_names_are_refused() {
    const NEW: &str = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
    const OLD: &str = r#""$schema": "https://json-schema.org/draft/2019-09/schema""#;
    check_schema(
        r#"{"$id": "https://a.example/s", "allOf": [{"$ref": "s#/definitions/a"}], "definitions": {"a": {"$ref": "s"}}}"#,
        "K0310",
    );
    check_schema(&format!(r##"{{{NEW}, "$dynamicAnchor": "a", "$dynamicRef": "#a"}}"##), "K0310");
    check_schema(&format!(r##"{{{NEW}, "dependentSchemas": {{"REGION": {{"$ref": "#"}}}}}}"##), "K0310");
    check_schema(&format!(r##"{{{OLD}, "$recursiveAnchor": true, "$recursiveRef": "#"}}"##), "K0310");
    check_schema(r##"{"definitions": {"a": {"$id": "#a", "$ref": "#a"}}, "$ref": "#a"}"##, "K0310");
    check_schema(r##"{"dependencies": {"REGION": {"$ref": "#"}}}"##, "K0310");
}

#[test]
fn schemas_that_recurse_into_the_value_are_accepted() {
    check_schema(r##"{"properties": {"REGION": {"$ref": "#"}, "x": {"additionalProperties": {"$ref": "#"}}}}"##, "");
    check_schema(r#"{"$ref": "http://json-schema.org/draft-07/schema#"}"#, "");
}

#[test]
fn remote_references_are_not_fetched() {
    check_schema(r#"{"$ref": "https://schemas.example/a.json"}"#, "K0310");
    check_schema(r#"{"$ref": "file:///etc/passwd"}"#, "K0310");
    // An address of other rules for schemas does not matter.
    check_schema(r#"{"$schema": "https://schemas.example/meta.json"}"#, "");
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

/// A schema with `levels` definitions. Each one refers to the next one `times` times, inside of `part`.
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

/// References that are not plain JSON pointers.
#[test]
fn schemas_that_multiply_by_other_names_are_refused() {
    let levels = |level: &dyn Fn(usize, &str) -> String, reference: &dyn Fn(usize) -> String| {
        let twice = |number: usize| format!(r#"{{"$ref": "{}"}}"#, reference(number + 1));
        let of_level = |number: usize| level(number, &format!(r#""allOf": [{0}, {0}]"#, twice(number)));
        (0..40).map(of_level).chain([level(40, r#""title": "end""#)]).collect::<Vec<_>>().join(",")
    };
    let new = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
    let anchors = levels(&|number, all| format!(r#""d{number}": {{"$anchor": "a{number}", {all}}}"#), &|number| {
        format!("#a{number}")
    });
    check_schema(&format!(r##"{{{new}, "$ref": "#a0", "$defs": {{{anchors}}}}}"##), "K0310");
    let ids =
        levels(&|number, all| format!(r#""d{number}": {{"$id": "i{number}", {all}}}"#), &|number| format!("i{number}"));
    check_schema(&format!(r#"{{{new}, "$id": "https://a.example/", "$ref": "i0", "$defs": {{{ids}}}}}"#), "K0310");
    let encoded =
        levels(&|number, all| format!(r#""d {number}": {{{all}}}"#), &|number| format!("#/%24defs/d%20{number}"));
    check_schema(&format!(r##"{{{new}, "$ref": "#/$defs/d%200", "$defs": {{{encoded}}}}}"##), "K0310");
    let old = r#""$schema": "http://json-schema.org/draft-04/schema#""#;
    let ids =
        levels(&|number, all| format!(r#""d{number}": {{"id": "i{number}", {all}}}"#), &|number| format!("i{number}"));
    check_schema(
        &format!(r#"{{{old}, "id": "https://a.example/", "allOf": [{{"$ref": "i0"}}], "definitions": {{{ids}}}}}"#),
        "K0310",
    );
}

#[test]
fn alternatives_multiplied_by_depth_stop_their_assignment() {
    let again = r##"{"properties": {"a": {"$ref": "#/definitions/x"}}}"##;
    let value = format!("  DEEP: |\n    {}1{}\n", "{a: ".repeat(80), "}".repeat(80));
    let map = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: deep, labels: {{platform-config: \"true\", size: small}}}}\ndata:\n{value}"
    );
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let schema = format!(
            r##"{{"properties": {{"DEEP": {{"$ref": "#/definitions/x"}}}}, "definitions": {{"x": {{"{keyword}": [{again}, {again}, {again}]}}}}}}"##
        );
        let object = format!(
            "---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata: {{name: hostile, labels: {{size: small}}}}\n\
             spec:\n  schema: |\n{}",
            indented(&schema)
        );
        let outcome = shop_with(&[("hostile.yaml", map.clone() + &object)]);
        assert!(is_made(&outcome, "large") && !is_made(&outcome, "drone"), "{keyword}: {}", outcome.says);
        assert!(outcome.says.contains("K0314"), "{keyword}: {}", outcome.says);
    }
}

#[test]
fn patterns_take_linear_time() {
    check_schema(r#"{"properties": {"REGION": {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}}}"#, "K0312");
    check_schema(r#"{"properties": {"REGION": {"pattern": "(x{1000}){1000}"}}}"#, "K0310");
    check_schema(r#"{"properties": {"REGION": {"pattern": "(?=a)b"}}}"#, "K0310");
    check_schema(r#"{"properties": {"REGION": {"pattern": "("}}}"#, "K0310");
}

#[test]
fn huge_schemas_end_with_a_diagnostic() {
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

#[test]
fn hundreds_of_copies_of_a_workload_are_reported_in_a_few_lines() {
    let copy = |number: usize| {
        format!(
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {{name: page}}\nspec: {{deploymentTargets: \
             [{{name: t{number}, environment: dev, manifests: {{}}}}]}}\n"
        )
    };
    let copies = (0..500).map(copy).collect::<Vec<_>>().join("---\n");
    for claims in [&["one"][..], &["one", "two"]] {
        let files: Vec<_> = claims.iter().map(|name| (format!("{name}@main:workload.yaml"), copies.clone())).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        let outcome = shop_with(&files);
        assert!(is_made(&outcome, "drone") && is_made(&outcome, "large"));
        let lines = outcome.says.lines().filter(|line| line.contains("@main:workload.yaml:")).count();
        assert!((2..=12).contains(&lines), "{lines} lines");
    }
}

#[test]
fn marks_and_types_behind_references_of_every_form_are_seen() {
    let new = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
    let hidden = "here it is (sensitive, ";
    let secret = r#""enum": ["a"], "x-sensitive": true"#;
    for (reference, definition) in [
        ("#s", format!(r#""x": {{"$anchor": "s", {secret}}}"#)),
        ("s.json", format!(r#""x": {{"$id": "s.json", {secret}}}"#)),
        ("#/$defs/a%20b~1c", format!(r#""a b/c": {{{secret}}}"#)),
        ("#/%24defs/x", format!(r#""x": {{{secret}}}"#)),
    ] {
        let base = r#""$id": "https://a.example/""#;
        let schema = format!(
            r#"{{{new}, {base}, "properties": {{"REGION": {{"$ref": "{reference}"}}}}, "$defs": {{{definition}}}}}"#
        );
        check_schema(&schema, hidden);
    }
}
