//! Tests of the cache: it changes only the time of a rendering, not its results.

use std::sync::Arc;

use super::{PartCache, PartResult};
use crate::budget::RenderLimits;
use crate::taint::Taint;
use crate::template::{RenderOptions, Template};
use crate::text::Text;
use crate::value::Value;

fn values() -> Value {
    let nested = Value::dict([("e", Value::Nil), ("f", Value::texts(["p", "q"]))]);
    let long = "a somewhat longer text ".repeat(20);
    let texts = ["x", "y", "z"].map(|name| (name, Value::text(format!("{name} {{ {name}"))));
    let others = [("a", Value::int(1)), ("b", Value::texts(["x"])), ("d", nested), ("l", Value::text(long))];
    Value::dict(texts.into_iter().chain(others))
}

fn dot(values: &Value, number: usize) -> Value {
    let of_application = Value::Text(Text::from(format!("own: {number}")).tainted(Taint::Raw));
    Value::dict([("data", values.clone()), ("number", Value::int(number as i64)), ("tainted", of_application)])
}

fn cache(values: &Value) -> Arc<PartCache> {
    let Value::Map(map) = values else { panic!("the values are a map") };
    Arc::new(PartCache::new("data", Arc::clone(map)))
}

/// Renders six times with the cache and compares each result with a rendering without it: bytes, tainted ranges, passes, or the error with its place. Shared
/// parts have the bytes of the output.
fn check_within(text: &str, limits: RenderLimits, is_literal: bool) -> Arc<PartCache> {
    let values = values();
    let cache = cache(&values);
    let template = Template::parse("t", text).expect("a template");
    for number in [0, 1, 1, 2, 1, 3] {
        let dot = dot(&values, number);
        let alone = template.render_with(&dot, &RenderOptions { limits, is_literal, ..RenderOptions::default() });
        let options = RenderOptions { limits, is_literal, part_cache: Some(&cache), ..RenderOptions::default() };
        let mut shared = template.render_with(&dot, &options);
        if let Ok(rendered) = &mut shared {
            for (start, part) in std::mem::take(&mut rendered.shared_parts) {
                assert_eq!(rendered.bytes.get(start..start + part.len()), Some(&*part), "{text}");
            }
        }
        assert_eq!(shared, alone, "{text}");
    }
    cache
}

/// Checks the same with and without nested rendering, and the number of stored results.
fn check(text: &str, stored_count: usize) {
    check_within(text, RenderLimits::default(), false);
    let cache = check_within(text, RenderLimits::default(), true);
    let programs = cache.programs.read().unwrap();
    let stored = programs.iter().flat_map(|(_, slots)| slots.iter()).filter_map(|slot| slot.result.get());
    assert_eq!(stored.flatten().count(), stored_count, "{text}");
}

#[test]
fn parts_that_read_only_the_field_are_rendered_once() {
    check("{{ toYaml .data }}{{ .data | toYaml | indent 2 }}{{ stringify .data }}", 1);
    check("{{ hash .data }} {{ .number }} {{ hash .data | quote }} {{ .data | toJson | sha256sum | trunc 8 }}", 2);
    check(
        "a{{ .data.a }}b{{ .data.x }}c{{ .data.l }}d{{ .number }}{{ .data.a }}{{ .data.b }}{{ .data.l }}{{ .data.y }}",
        1,
    );
    check("{{ range $key, $value := .data }}export {{ $key }}={{ $value | toJson | squote }}\n{{ end }}", 1);
    check("{{ with .data }}{{ range .d.f }}{{ . | repeat 300 }}{{ end }}{{ end }}", 1);
    check("{{ if .data.a }}{{ $x := .data.l | upper }}{{ $x | repeat 2 }}{{ else }}{{ .data.b }}{{ end }}", 1);
    check("{{ range .data }}{{ if kindIs \"string\" . }}{{ continue }}{{ end }}{{ break }}{{ end }}", 0);
    check("{{ printf \"%s-%d\" (hash .data) .number }}{{ hash .data | printf \"%d %s\" .number }}", 2);
    check("{{ range $name := keys .data | sortAlpha }}{{ $name }}{{ $.number }}{{ end }}", 1);
    check(
        "{{ $d := .data }}{{ $y := toYaml $d }}{{ if eq .number 1 }}{{ $y }}{{ else }}{{ $y | indent 2 }}{{ end }}",
        2,
    );
    check("{{ define \"c\" }}{{ toYaml .data }}{{ end }}{{ template \"c\" . }}{{ template \"c\" $ }}", 1);
}

/// The output is rendered again, although one brace of its action is in a cached part, or the whole action.
#[test]
fn actions_that_touch_a_cached_part_are_found() {
    check(r#"{{ with .data }}{{ repeat 2 .l }}{{ print "{" }}{{ end }}{ .number }}"#, 1);
    check(r#"{{ print "{" }}{{ with .data }}{{ print "{ .number }}" }}{{ repeat 2 .l }}{{ end }}"#, 1);
    check(r#"{{ with .data }}{{ repeat 2 .l }}{{ print "{" "{ .number }}" }}{{ .a }}{{ end }}"#, 1);
    check(
        r#"{{ with .data }}{{ repeat 2 .l }}{{ print "{ .number }}" }}{{ .a }}{{ end }}{{ print "{" "{ .number }}" }}"#,
        1,
    );
}

#[test]
fn parts_that_read_more_are_not_cached() {
    check("{{ range .data }}{{ $.number }}{{ . }}{{ end }}", 0);
    check("{{ toYaml . }}{{ toYaml $ }}{{ with . }}{{ printf \"%v%v\" .data .number }}{{ end }}", 0);
    check("{{ $x := .number }}{{ range .data }}{{ $x }}{{ end }}", 0);
    check(
        "{{ define \"c\" }}{{ toYaml .data }}{{ end }}{{ template \"c\" . }}{{ template \"c\" dict \"data\" .number }}",
        0,
    );
    check("{{ $x := .data }}{{ if eq .number 1 }}{{ $x = .number }}{{ end }}{{ toYaml $x }}", 0);
    check("{{ $first := true }}{{ range .data }}{{ if not $first }},{{ end }}{{ $first = false }}{{ . }}{{ end }}", 0);
    check("{{ range .tainted | list }}{{ toYaml . }}{{ end }}{{ toYaml (dict \"a\" $.data \"b\" $.tainted) }}", 0);
    check("{{ range until 3 }}{{ $x := . }}{{ range $.data }}{{ $x }}{{ $.number }}{{ end }}{{ end }}", 0);
    check("{{ (index . \"data\") | toYaml }}{{ (.).number | toYaml }}", 0);
    check("{{ .data.a }}{{ \"x\" | upper }}", 0);
    check("{{ repeat 700 .data.l }}", 0);
}

#[test]
fn maps_changed_by_a_rendering_are_read_again() {
    check(r#"{{ toYaml .data }}{{ $_ := set .data "c" 2 }}{{ toYaml .data | indent 2 }}"#, 1);
    check(r#"{{ $_ := set .data.d "c" .number }}{{ toYaml .data | indent 2 }}"#, 0);
    check(r#"{{ if eq .number 1 }}{{ $_ := set .data "c" .tainted }}{{ end }}{{ toYaml .data }}"#, 1);
    check(r#"{{ range .data }}{{ $_ := set $.data "c" 2 }}{{ end }}{{ toYaml .data }}"#, 0);
    check(r#"{{ range until 3 }}{{ $x := dict "a" $.data }}{{ $_ := set $x "b" . }}{{ $x.b }}{{ end }}"#, 0);
    check(
        r#"{{ $a := list }}{{ range until 3 }}{{ $a = append $a (pick $.data "a") }}{{ end }}{{ set (first $a) "a" 5 }}{{ $a }}"#,
        0,
    );
}

#[test]
fn regular_expressions_cost_the_same_with_the_cache() {
    check(r#"{{ regexReplaceAll "[a-m]+" (toYaml .data) "<$0>" }}{{ regexReplaceAll "[a-m]+" (toYaml .data) "" }}"#, 1);
    check(
        r#"{{ if eq .number 1 }}{{ regexMatch "[a-m]+" "x" }}{{ end }}{{ regexFindAll "[a-m]+" (toJson .data) -1 }}"#,
        1,
    );
    check(r#"{{ regexMatch "[a-m]+" "x" }}{{ toYaml .data }}{{ toYaml .data | regexMatch "[a-m]+" }}"#, 1);
}

#[test]
fn cached_results_have_the_same_cost_and_errors() {
    let texts = [
        "{{ toYaml .data | indent 2 }}{{ .number }}",
        "{{ range $key, $value := .data }}{{ $key }}={{ $value | toJson }}{{ end }}{{ hash .data }}",
        r#"{{ regexReplaceAll "[a-m]" (toJson .data) "x" }}{{ regexMatch "[a-m]" (toJson .data) }}"#,
        "{{ printf \"%s-%d\" (stringify .data) .number }}",
    ];
    for text in texts {
        for spent in (0..1_500).step_by(7) {
            check_within(text, RenderLimits { steps: spent, ..RenderLimits::default() }, false);
            check_within(text, RenderLimits { output_bytes: spent, ..RenderLimits::default() }, false);
        }
        for depth in 0..6 {
            check_within(text, RenderLimits { depth, ..RenderLimits::default() }, false);
        }
    }
    check("{{ range .data }}{{ fail \"no\" }}{{ end }}", 0);
    check("{{ index .data.b 7 | toYaml }}", 0);
}

#[test]
fn cached_results_belong_to_one_program_and_one_map() {
    let (values, others) = (values(), Value::dict([("a", Value::int(7))]));
    let cache = cache(&values);
    for number in 0..40 {
        let template = Template::parse("t", &format!("{number}{{{{ toYaml .data }}}}")).expect("a template");
        for data in [&values, &others, &values, &others] {
            let dot = dot(data, 0);
            let options = RenderOptions { part_cache: Some(&cache), ..RenderOptions::default() };
            let rendered = template.render_with(&dot, &options).expect("it renders");
            assert_eq!(rendered.bytes, template.render(&dot, &RenderLimits::default()).expect("it renders"));
        }
    }
    assert!(cache.programs.read().unwrap().len() <= super::PROGRAMS_MAX);
}

#[test]
fn a_cached_text_does_not_keep_its_inputs() {
    let cache = check_within("{{ toYaml .data | indent 2 }}", RenderLimits::default(), false);
    let programs = cache.programs.read().unwrap();
    let made: Vec<_> =
        programs.iter().flat_map(|(_, slots)| slots.iter()).filter_map(|slot| slot.result.get()).collect();
    assert!(matches!(made.as_slice(), [Some(made)] if matches!(made.result, PartResult::Text(_))));
}
