//! Tests of rendering: output, places of errors, and limits.

use std::sync::Arc;

use super::{RenderOptions, Template};
use crate::budget::RenderLimits;
use crate::error::ErrorKind;
use crate::value::{Struct, Value};

fn data() -> Value {
    Value::dict([
        ("name", Value::text("kalypso")),
        ("none", Value::Nil),
        ("list", Value::list(vec![Value::int(3), Value::int(1)])),
        ("map", Value::dict([("b", Value::text("two")), ("a", Value::int(1))])),
        ("nested", Value::text("{{ .name }}")),
        ("forever", Value::text("{{ .forever }}")),
        ("broken", Value::text("fine\n{{ .list.x }}")),
    ])
}

/// The output, or the error as text.
fn render(text: &str) -> String {
    let rendered =
        Template::parse("t", text).and_then(|template| template.render_nested(&data(), &RenderLimits::default()));
    match rendered {
        Ok(output) => String::from_utf8(output).unwrap(),
        Err(error) => error.to_string(),
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(render(text), expected, "{text}");
}

/// Checks that a limit stops the rendering.
fn check_stopped(text: &str) {
    let error =
        Template::parse("t", text).and_then(|template| template.render_nested(&data(), &RenderLimits::default()));
    assert_eq!(error.map(|output| output.len()).map_err(|error| error.kind), Err(ErrorKind::Limit), "{text}");
}

#[test]
fn a_missing_key_and_a_nil_are_different() {
    check("{{ .missing }} {{ .missing.x.y }} {{ print .missing }}", "<no value> <no value> <nil>");
    check("{{ .none }}", "<no value>");
    check("{{ .none.x }}", "t:1:9: nil pointer evaluating interface {}.x");
    check("{{ (.none).x }}", "<no value>");
}

#[test]
fn an_unknown_field_of_a_struct_is_an_error() {
    let fields = vec![("Workload", Value::text("w"))];
    let dot = Value::Struct(Arc::new(Struct { type_name: "main.data", fields }));
    let render = |text: &str| Template::parse("t", text).unwrap().render(&dot, &RenderLimits::default());
    assert_eq!(render("{{ .Workload }}").unwrap(), b"w");
    assert_eq!(render("{{ .Wrong }}").unwrap_err().message, "can't evaluate field Wrong in type main.data");
}

#[test]
fn errors_show_line_and_column() {
    check("é\nü {{ .map.a.x }}", "t:2:12: can't evaluate field x in type int");
    check("a\n  {{ len .list | len }}", "t:2:18: error calling len: len of type int");
    check("{{ if .name }}{{ nosuch }}{{ end }}", "t:1:18: function \"nosuch\" not defined");
    check("{{ template \"nowhere\" }}", "t:1:13: template \"nowhere\" not defined");
}

#[test]
fn a_forbidden_function_names_an_alternative() {
    let error = render("{{ now }}");
    assert!(error.starts_with("t:1:4: `now` would make the output depend on the time of rendering"), "{error}");
}

#[test]
fn output_is_rendered_again_while_it_has_braces() {
    check("{{ .nested }}", "kalypso");
    check(
        "{{ .broken }}",
        "t:2:9: can't evaluate field x in type []interface {} (in the output of rendering 1: \"{{ .list.x }}\")",
    );
    let error = render("{{ .forever }}");
    assert_eq!(
        error,
        "t:1:1: its output still contains `{{` after 8 passes (in the output of rendering 8: \"{{ .forever }}\")"
    );
}

#[test]
fn render_stops_after_one_pass() {
    let template = Template::parse("t", "{{ .nested }}").unwrap();
    assert_eq!(template.render(&data(), &RenderLimits::default()).unwrap(), b"{{ .name }}");
}

#[test]
fn loops_break_and_continue() {
    check(
        "{{ range 5 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ if eq . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}",
        "02",
    );
    check("{{ range $k, $v := .map }}{{ $k }}={{ $v }} {{ else }}none{{ end }}", "a=1 b=two ");
}

#[test]
fn variables_end_with_their_block() {
    check("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}", "21");
    check("{{ $x := 1 }}{{ range 3 }}{{ $x = . }}{{ end }}{{ $x }}", "2");
    check("{{ range $x := 0 }}{{ else }}{{ $x }}{{ end }}", "0");
    check("{{ if false }}{{ $y = 1 }}{{ end }}ok", "ok");
    check("{{ $y = 1 }}", "t:1:4: undefined variable");
}

#[test]
fn and_and_or_evaluate_no_more_than_they_need() {
    check("{{ or 1 (len 5) }}{{ and 0 (len 5) }}", "10");
    check("{{ 1 | and 2 | or 0 }}", "1");
}

#[test]
fn a_limit_stops_endless_renderings() {
    check_stopped("{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}");
    check_stopped("{{ template \"t\" . }}");
    check_stopped("{{ range 1000000000000 }}{{ end }}");
    check_stopped("{{ $x := \"0123456789\" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}");
    check_stopped("{{ range 1000 }}{{ printf \"%100000d\" 1 }}{{ end }}");
    let wide = "%[1]*[2]d".repeat(10_000);
    check_stopped(&format!("{{{{ printf \"{wide}\" 1000000 1 | len }}}}"));
    check_stopped("{{ range 100000 }}{{ printf \"%0.1000000f\" 1.5 | len }}{{ end }}");
}

#[test]
fn a_template_is_shared_between_threads() {
    let template = Arc::new(Template::parse("t", "{{ range .list }}{{ . }}{{ $.name }}{{ end }}").unwrap());
    let dot = data();
    let outputs = std::thread::scope(|scope| {
        let render = || (0..100).map(|_| template.render(&dot, &RenderLimits::default()).unwrap()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(render)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(outputs.iter().all(|output| output == b"3kalypso1kalypso"));
}

#[test]
fn a_rendering_returns_its_number_of_passes() {
    let passes = |text: &str, is_literal| {
        let options = RenderOptions { is_literal, ..RenderOptions::default() };
        Template::parse("t", text).unwrap().render_with(&data(), &options).map(|rendered| rendered.passes)
    };
    assert_eq!(passes("{{ .name }}", false), Ok(1));
    assert_eq!(passes("{{ .nested }}", false), Ok(2));
    assert_eq!(passes("{{ .nested }}", true), Ok(1));
    assert_eq!(passes("{{ .broken }}", false).map_err(|error| error.pass), Err(1));
}

#[test]
fn the_position_that_writes_a_byte_is_found() {
    let text = "a: 1\nb: {{ .name }}\n{{ define \"u\" }}x\n  y: {{ . }}{{ end -}}\n{{ range .list }}{{ template \"u\" . }}{{ end }}\nz\n";
    let template = Template::parse("t", text).unwrap();
    let limits = RenderLimits::default();
    let output = String::from_utf8(template.render(&data(), &limits).unwrap()).unwrap();
    assert_eq!(output, "a: 1\nb: kalypso\nx\n  y: 3x\n  y: 1\nz\n");
    let position = |found: &str, skip: usize| {
        let at = output.match_indices(found).nth(skip).unwrap().0;
        template.source_positions(&[0, at], &data(), &limits)[1].unwrap()
    };
    assert_eq!((position("b:", 0), position("kalypso", 0), position("pso", 0)), ((2, 1), (2, 7), (2, 7)));
    assert_eq!(
        (position("y:", 0), position("y:", 1), position("3", 0), position("z", 0)),
        ((4, 3), (4, 3), (4, 9), (6, 1))
    );
    assert_eq!(template.source_positions(&[output.len(), 0], &data(), &limits), [None, Some((1, 1))]);
}

/// Checks which missing values a template prints, with their places.
fn check_missing(text: &str, expected: &[(&str, usize)]) {
    let rendered = Template::parse("t", text).unwrap().render_with(&data(), &RenderOptions::default()).unwrap();
    let found: Vec<_> = rendered
        .missing
        .iter()
        .map(|missing| (&*missing.field, missing.position.map_or(0, |(_, column)| column)))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn printed_values_that_are_missing_are_returned_with_their_places() {
    check_missing("a {{ .missing }} {{ .name }}", &[(".missing", 6)]);
    check_missing(
        "{{ .missing.x.y }}{{ .missing | quote }}{{ toJson .missing }}",
        &[(".missing.x.y", 4), (".missing", 22), (".missing", 51)],
    );
    check_missing("{{ or .missing .other }}", &[(".other", 16)]);
    check_missing("{{ $x := .missing }}{{ $x }}", &[("$x", 24)]);
    check_missing("{{ range .list }}{{ $.missing }}{{ end }}", &[(".missing", 22)]);
    check_missing("{{ .none }}{{ index . \"none\" -}}", &[(".none", 4), ("index . \"none\"", 15)]);
}

#[test]
fn missing_values_that_are_only_tested_are_not_returned() {
    check_missing("{{ if .missing }}x{{ end }}{{ with .missing }}{{ . }}{{ end }}", &[]);
    check_missing("{{ or .missing .name }}{{ .missing | default \"x\" | quote }}{{ empty .missing }}", &[]);
    check_missing("{{ if .missing }}{{ end }}{{ quote .name }}", &[]);
}

#[test]
fn required_keys_are_as_with_missingkey_error_in_go() {
    let options = RenderOptions { requires_keys: true, ..RenderOptions::default() };
    let render = |text: &str| {
        let rendered = Template::parse("t", text).unwrap().render_with(&data(), &options);
        rendered.map(|rendered| String::from_utf8(rendered.bytes).unwrap()).map_err(|error| error.message)
    };
    let refused = Err("map has no entry for key \"missing\"".to_owned());
    for text in ["{{ .missing }}", "{{ if .missing }}{{ end }}", "{{ $x := . }}{{ $x.missing }}"] {
        assert_eq!(render(text), refused, "{text}");
    }
    assert_eq!(render("{{ .name }}{{ if index . \"missing\" }}x{{ end }}"), Ok("kalypso".to_owned()));
}

#[test]
fn a_required_key_that_does_not_exist_is_returned_with_its_field() {
    let options = RenderOptions { requires_keys: true, ..RenderOptions::default() };
    for (text, key, field) in [
        ("{{ .missing }}", "missing", ".missing"),
        ("{{ .missing.x.y }}", "missing", ".missing.x.y"),
        ("{{ $x := . }}{{ $x.missing }}", "missing", ".missing"),
    ] {
        let error = Template::parse("t", text).unwrap().render_with(&data(), &options).unwrap_err();
        assert_eq!(error.message, format!("map has no entry for key {key:?}"));
        assert_eq!(error.missing_field.as_deref(), Some(field), "{text}");
    }
    let error =
        Template::parse("t", "{{ fail \"x\" }}").unwrap().render(&data(), &RenderLimits::default()).unwrap_err();
    assert_eq!(error.missing_field, None);
}

#[test]
fn keys_are_not_required_in_text_that_is_rendered_again() {
    let dot = Value::dict([("nested", Value::text("<{{ .missing }}>"))]);
    let options = RenderOptions { requires_keys: true, ..RenderOptions::default() };
    let rendered = Template::parse("t", "{{ .nested }}").unwrap().render_with(&dot, &options).unwrap();
    assert_eq!(String::from_utf8(rendered.bytes).unwrap(), "<<no value>>");
    assert_eq!(rendered.missing.iter().map(|missing| missing.position).collect::<Vec<_>>(), [None]);
}

#[test]
fn a_template_is_straight_if_its_branches_depend_on_the_field() {
    let check = |text: &str, expected: bool| {
        assert_eq!(Template::parse("t", text).unwrap().is_straight("nested"), expected, "{text}");
    };
    check("a: {{ .name }}\n{{ .list | toYaml }}", true);
    check("{{ range $k, $v := .nested }}{{ $k }}: {{ $v | quote }}\n{{ end }}", true);
    check("{{ if .name }}{{ .nested }}{{ else }}{{ .nested }}{{ end }}", false);
    check("{{ range .list }}{{ $.nested }}{{ end }}", false);
    check("{{ if .name }}a: 1{{ else }}\na: 1{{ end }}", false);
}
