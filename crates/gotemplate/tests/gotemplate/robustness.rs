//! Checks that no template can crash the process, by nesting, by recursion or by its size.

#![allow(clippy::unwrap_used, reason = "a test may")]

use gotemplate::{ErrorKind, RenderLimits, Template, Value};
use proptest::prelude::*;

/// Renders with the default stack size of threads.
fn render(text: String) -> Result<Vec<u8>, ErrorKind> {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(move || {
        let template = Template::parse("t", &text).map_err(|error| error.kind)?;
        template.render_nested(&data(), &RenderLimits::default()).map_err(|error| error.kind)
    });
    thread.unwrap().join().unwrap()
}

fn data() -> Value {
    let list = Value::list(vec![Value::int(1), Value::Nil, Value::text("x"), Value::Float(2.5)]);
    let map = Value::dict([("a", list.clone()), ("b", Value::text_map([("k", "v")]))]);
    Value::dict([
        ("s", Value::text("text")),
        ("n", Value::int(3)),
        ("l", list),
        ("m", map),
        ("q", Value::text("{{ .s }}")),
    ])
}

/// A template that calls itself inside `action`.
fn recursive(action: &str) -> String {
    let body = action.replace('@', "{{ template \"r\" . }}");
    format!("{{{{ define \"r\" }}}}{body}{{{{ end }}}}{{{{ template \"r\" . }}}}")
}

#[test]
fn recursion_ends_before_the_stack_does() {
    for action in [
        "@",
        "{{ if true }}@{{ end }}",
        "{{ if not true }}{{ else if true }}@{{ end }}",
        "{{ with $x := . }}@{{ end }}",
        "{{ range 2 }}@{{ end }}",
        "{{ range 0 }}{{ else }}@{{ end }}",
        "{{ if true }}{{ with 1 }}{{ range 1 }}{{ block \"b\" . }}{{ template \"r\" . }}{{ end }}{{ end }}{{ end }}{{ end }}",
    ] {
        assert_eq!(render(recursive(action)), Err(ErrorKind::Limit), "{action}");
    }
}

#[test]
fn the_deepest_expression_fits_below_the_deepest_recursion() {
    let nested = format!("{{{{ {}1{} }}}}", "(print ".repeat(95), ")".repeat(95));
    assert_eq!(render(nested.clone()), Ok(b"1".to_vec()));
    assert_eq!(render(recursive(&format!("{nested}@"))), Err(ErrorKind::Limit));
}

#[test]
fn hostile_nesting_is_refused() {
    for text in [
        "{{ if 1 }}",
        "{{ range . }}",
        "{{ with . }}",
        "{{ block \"b\" . }}",
        "{{ (",
        "{{ ((((((",
        "{{ range . }}{{ else }}",
    ] {
        assert_eq!(render(text.repeat(100_000)), Err(ErrorKind::Parse), "{text}");
    }
    assert_eq!(render(format!("{{{{ {}", "(".repeat(100_000))), Err(ErrorKind::Parse));
}

/// Pieces of templates, from which random templates are made.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "{{", "}}", "{{- ", " -}}", "{{ end }}", "{{ else }}", "{{ if .s }}", "{{ range .l }}",
    "{{ range $k, $v := .m }}", "{{ with .m }}", "{{ define \"d\" }}", "{{ template \"d\" . }}",
    "{{ block \"e\" . }}", "{{ break }}", "{{ continue }}", "{{ else if .n }}", "{{/* c */}}", " .s ", ".m.a", "$",
    "$x", " := ", " = ", " | ", "(", ")", ",", "\"q\"", "`r`", "'c'", "1", "-2.5e3", "0x1p4", "3i", "nil", "true",
    ".", "printf ", "\"%[2]*[1]d|%+v|%#v|%x\" ", "print ", "index ", "len ", "eq ", "lt ", "and ", "or ", "not ",
    "html ", "js ", "urlquery ", "call ", "toYaml ", "hash ", "text", "\n", " ", "é", "\\", "\"", "'",
];

fn fragment() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn any_text_is_rendered_or_refused(text in fragment()) {
        let limits = RenderLimits { steps: 10_000, ..RenderLimits::default() };
        if let Ok(template) = Template::parse("t", &text) {
            let output = template.render_nested(&data(), &limits);
            prop_assert_eq!(&output, &template.render_nested(&data(), &limits));
        }
    }

    #[test]
    fn any_action_is_rendered_or_refused(inner in fragment()) {
        let limits = RenderLimits { steps: 10_000, ..RenderLimits::default() };
        let _ = Template::parse("t", &format!("a {{{{ {inner} }}}} b")).and_then(|template| template.render(&data(), &limits));
    }

    #[test]
    fn any_format_can_be_printed(format in "[%a-zA-Z0-9\\[\\].*+# -]{0,20}") {
        let text = format!("{{{{ printf {format:?} .n .s .l .m 2.5 nil true 1i }}}}");
        let output = Template::parse("t", &text).and_then(|template| template.render(&data(), &RenderLimits::default()));
        prop_assert!(output.is_ok() || output.is_err_and(|error| error.kind == ErrorKind::Limit));
    }

    #[test]
    fn text_without_actions_is_unchanged(text in "[^{]{0,200}") {
        let output = Template::parse("t", &text).and_then(|template| template.render(&data(), &RenderLimits::default()));
        prop_assert_eq!(output.map(String::from_utf8), Ok(Ok(text)));
    }
}
