//! Checks that tainted texts are data in every pass, whichever functions process them.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use gotemplate::value::{Key, MapKind, Struct};
use gotemplate::{ErrorKind, RenderLimits, RenderOptions, Rendered, Taint, Template, TemplateError, Text, Value};
use proptest::prelude::*;

const REFERENCES: &[&str] = &["Type", "Env"];

/// Data with a secret, and with tainted texts in `.Theirs` and `.Name`.
fn data(theirs: &[(&str, &str)], taint: Taint) -> Value {
    let entry = |(key, text): &(&str, &str)| {
        (Key::Text(Text::from(*key).tainted(taint)), Value::Text(Text::from(*text).tainted(taint)))
    };
    let own = Value::dict([
        ("secret", Value::text("hunter2")),
        ("url", Value::text("https://{{ .Own.host }}/")),
        ("host", Value::text("a.example")),
        ("n", Value::int(7)),
    ]);
    let fields = vec![
        ("Own", own),
        ("Type", Value::text("drone")),
        ("Env", Value::text("dev")),
        ("Name", Value::Text(Text::from("e3tgLnh9fQ").tainted(taint.min(Taint::Name)))),
        ("Theirs", Value::map(MapKind::TextToText, theirs.iter().map(entry).collect())),
    ];
    Value::Struct(Arc::new(Struct { type_name: "data", fields }))
}

fn render(template: &str, dot: &Value, is_literal: bool) -> Result<Rendered, TemplateError> {
    let options = RenderOptions { is_literal, references: REFERENCES, ..RenderOptions::default() };
    Template::parse("t", template)?.render_with(dot, &options)
}

/// Checks the output of a template with this tainted text, or the texts that are refused.
fn check(template: &str, text: &str, expected: Result<&str, &[&str]>) {
    let found = render(template, &data(&[("x", text)], Taint::Raw), false);
    let found = found.map(|rendered| String::from_utf8(rendered.bytes).unwrap());
    let refused = found.map_err(|error| {
        assert_eq!(error.kind, ErrorKind::Tainted, "{template} with {text}: {error}");
        error.refused
    });
    let expected = expected.map(str::to_owned).map_err(|texts| texts.iter().map(|text| (*text).to_owned()).collect());
    assert_eq!(refused, expected, "{template} with {text}");
}

/// Checks that the template is refused, because it would make an action from data.
fn check_refused(template: &str, text: &str) {
    let found = render(template, &data(&[("x", text)], Taint::Raw), false);
    let found = found.map(|rendered| String::from_utf8_lossy(&rendered.bytes).into_owned());
    assert_eq!(
        found.as_ref().map_err(|error| error.kind),
        Err(&ErrorKind::Tainted).map_err(|kind| *kind),
        "{template}"
    );
}

#[test]
fn plain_references_are_replaced_and_everything_else_is_refused() {
    check("a {{ .Theirs.x }} b", "x/{{ .Type }}/{{.Env}}", Ok("a x/drone/dev b"));
    check("a {{ .Theirs.x }} b", "x {{- .Type -}} y", Ok("a xdroney b"));
    check("a {{ .Theirs.x }}\nb", "x {{- .Type -}} ", Ok("a xdrone\nb"));
    check("{{ .Theirs.x }}", "{{ .Own.secret }}", Err(&["{{ .Own.secret }}"]));
    check("{{ .Theirs.x }}", "{{ .Own | toJson }} {{ 1 }} {{ 1 }}", Err(&["{{ .Own | toJson }}", "{{ 1 }}"]));
    check("{{ .Theirs.x }}", "{{ .Types }}", Err(&["{{ .Types }}"]));
    check("{{ .Theirs.x }}", "{{ .Own }}", Err(&["{{ .Own }}"]));
    check("{{ .Theirs.x }}", "{{ Type }}", Err(&["{{ Type }}"]));
    check("{{ .Theirs.x }}", "{{ .Type | upper }}", Err(&["{{ .Type | upper }}"]));
    check("{{ .Theirs.x }}", "{{/* nothing */}}", Err(&["{{/* nothing */}}"]));
    check("{{ .Theirs.x }}", "open {{ .Type", Err(&["{{ .Type"]));
}

#[test]
fn functions_of_the_first_pass_see_the_text_as_it_is_written() {
    check("{{ .Theirs.x | upper }}", "a{{ .Type }}", Err(&["{{ .TYPE }}"]));
    check("{{ .Theirs.x | replace \"/\" \"-\" }}", "a/{{ .Type }}", Ok("a-drone"));
    check("{{ len .Theirs.x }}", "{{ .Type }}", Ok("11"));
}

#[test]
fn data_in_literal_templates_is_unchanged() {
    let rendered = render("{{ .Theirs.x }}", &data(&[("x", "{{ .Own.secret }} {{ .Type }}")], Taint::Raw), true);
    assert_eq!(rendered.unwrap().bytes, b"{{ .Own.secret }} {{ .Type }}");
}

#[test]
fn delimiters_partly_from_data_are_text() {
    check("{{ \"{\" }}{{ .Theirs.x }}", "{ .Own.secret }}", Ok("{{ .Own.secret }}"));
    check("{{ .Theirs.x }}{{ \"{ .Own.secret }}\" }}", "{", Ok("{{ .Own.secret }}"));
    check("{{ .Theirs.x }}{{ .Own.url }}", "{", Ok("{https://a.example/"));
    check("{{ .Theirs.x }}{{ .Theirs.x }} .Type }}", "{", Err(&["{{"]));
}

#[test]
fn the_authors_own_texts_are_rendered_again_around_data() {
    check("{{ .Own.url }}{{ .Theirs.x }}", "x", Ok("https://a.example/x"));
    check("{{ .Own.url }}{{ .Theirs.x }}", "{{ .Type }}", Ok("https://a.example/drone"));
    check("{{ `{{ range 2 }}` }}{{ .Theirs.x }}{{ `{{ end }}` }}", "x{{ .Type }}", Ok("xdronexdrone"));
    check("{{ .Theirs.x }}{{ `{{ \"{{ .Own.url }}\" }}` }}", "a", Ok("ahttps://a.example/"));
    check("{{ `{{- 1 -}}` }}{{ .Theirs.x }}", " a ", Ok("1a "));
}

#[test]
fn data_in_an_action_is_refused() {
    check("{{ `{{ .Own.` }}{{ .Theirs.x }}{{ ` }}` }}", "secret", Err(&["{{ .Own.secret }}"]));
    check_refused("{{ `{{ \"` }}{{ .Theirs.x }}{{ `\" }}` }}", "a\" | print .Own \"");
    check_refused("{{ `{{/* ` }}{{ .Theirs.x }}{{ ` */}}` }}", "note");
    check_refused("{{ `{{` }}{{ .Theirs.x }}", "!");
}

#[test]
fn no_function_makes_a_template_of_data() {
    let code = "{{ .Own.secret }}";
    for action in
        ["$x := .Theirs", "range .Theirs", "range $k, $v := .Theirs", "with .Theirs.x", "range (list .Theirs.x)"]
    {
        let printed = match action {
            "$x := .Theirs" => "{{ $x.x }}".to_owned(),
            "range $k, $v := .Theirs" => "{{ $v }}{{ end }}".to_owned(),
            _ => "{{ . }}{{ end }}".to_owned(),
        };
        check_refused(&format!("{{{{ {action} }}}}{printed}"), code);
    }
    for value in [
        ".Theirs.x",
        ".Theirs",
        "toJson .Theirs",
        "toYaml (list .Theirs.x)",
        "printf \"%s\" .Theirs.x",
        "(dict \"a\" .Theirs.x).a",
        "index (dict \"a\" .Theirs.x) \"a\"",
        "first (list .Theirs.x)",
        "join \"\" (list .Theirs.x)",
        "quote .Theirs.x",
        "default \"\" .Theirs.x",
        "cat .Theirs.x",
        "trim .Theirs.x",
        "(set (dict) \"a\" .Theirs.x).a",
        "values (dict \"a\" .Theirs.x)",
        "toString .Theirs.x",
        "merge (dict) (dict \"a\" .Theirs.x)",
        "deepCopy .Theirs",
        "dict .Theirs.x 1",
        "dict .Theirs 1",
        "keys (dict .Theirs.x 1)",
        "pick (dict \"x\" .Theirs.x) \"x\"",
        "splitList \";\" .Theirs.x",
        "(split \";\" .Theirs.x)._0",
        "ternary .Theirs.x 1 true",
        "regexFind \".*\" .Theirs.x",
        "regexReplaceAll \"^\" .Theirs.x \"\"",
        "sortAlpha (list .Theirs.x)",
        "wrap 90 .Theirs.x",
        "or \"\" .Theirs.x",
        "and 1 .Theirs.x",
        "toStrings (list .Theirs.x)",
        "(list .Theirs.x | uniq)",
        "trunc 90 .Theirs.x",
        "repeat 1 .Theirs.x",
        "coalesce .Theirs.x",
        "concat (list .Theirs.x)",
        "toPrettyJson .Theirs",
        "stringify .Theirs",
        "squote .Theirs.x",
        "print .Theirs",
        "nindent 2 .Theirs.x",
        "abbrev 90 .Theirs.x",
        "nospace .Theirs.x",
        "without (list .Theirs.x) 1",
        "pluck \"x\" (dict \"x\" .Theirs.x)",
    ] {
        check_refused(&format!("{{{{ {value} }}}}"), code);
    }
}

#[test]
fn results_of_decoding_joining_and_counting_are_data() {
    let code = "{{ .Own.secret }}";
    check_refused("{{ .Theirs.x | b64dec }}", "e3sgLk93bi5zZWNyZXQgfX0=");
    check_refused("{{ .Theirs.x | b32dec }}", "PN5SALSPO5XC443FMNZGK5BAPV6Q====");
    check_refused("{{ .Theirs.x | replace \"<\" \"{\" }}", "<< .Own.secret >>");
    check_refused("{{ .Theirs.x | nospace }}", "{ { 1 } }");
    check_refused("{{ printf \"{%s\" .Theirs.x }}", "{ 1 }}");
    check_refused("{{ printf .Theirs.x 123 123 }}", "%c%c");
    check_refused("{{ printf \"%c%c\" (index .Theirs.x 0) (index .Theirs.x 1) }}", "{{");
    check_refused("{{ $n := atoi .Theirs.x }}{{ printf \"%c%c\" $n $n }}", "123");
    check_refused("{{ repeat (atoi .Theirs.x) \"{\" }}", "2");
    check_refused("{{ range $i := list (atoi .Theirs.x) }}{{ printf \"%c%c\" $i $i }}{{ end }}", "123");
    check_refused("{{ $d := dict }}{{ $_ := set $d \"n\" (atoi .Theirs.x) }}{{ printf \"%c%c\" $d.n $d.n }}", "123");
    check_refused("{{ $d := dict \"n\" (atoi .Theirs.x) }}{{ printf \"%c%c\" $d.n $d.n }}", "123");
    check_refused("{{ $d := dict }}{{ $e := list $d }}{{ $_ := set $d \"a\" .Theirs.x }}{{ toJson $e }}", code);
    check_refused("{{ $d := dict }}{{ $e := dict \"d\" $d }}{{ $_ := set $d \"a\" .Theirs.x }}{{ $e }}", code);
    check_refused("{{ define \"u\" }}{{ .a }}{{ end }}{{ template \"u\" dict \"a\" .Theirs.x }}", code);
    check_refused("{{ block \"u\" .Theirs }}{{ .x }}{{ end }}", code);
    check_refused("{{ (toDate \"2006-01-02\" .Theirs.x).Format \"{2\" | replace \"2\" \"{\" }}", "2020-01-02");
}

#[test]
fn decoded_names_are_tainted() {
    let name =
        |template: &str| render(template, &data(&[], Taint::Raw), false).map(|rendered| rendered.tainted_ranges.len());
    assert_eq!(name("{{ .Name }}{{ .Name | upper }}{{ printf \"%s-x\" .Name }}"), Ok(0));
    assert_eq!(name("{{ printf \"%s%s\" .Name .Own.url }}"), Ok(0));
    assert_eq!(name("{{ printf \"%s==\" .Name | b64dec }}").unwrap_err().kind, ErrorKind::Tainted);
}

#[test]
fn map_members_beside_data_are_not_tainted() {
    check("{{ $d := dict \"root\" . \"x\" .Theirs.x }}{{ $d.root.Own.url }}", "x", Ok("https://a.example/"));
    check(
        "{{ $d := dict \"root\" . }}{{ $_ := set $d \"x\" .Theirs.x }}{{ $d.root.Own.url }}",
        "x",
        Ok("https://a.example/"),
    );
    check("{{ index .Own .Theirs.x }}", "url", Ok("https://a.example/"));
    check(
        "{{ define \"u\" }}{{ .root.Own.url }}{{ end }}{{ template \"u\" dict \"root\" $ \"x\" .Theirs }}",
        "x",
        Ok("https://a.example/"),
    );
    check("{{ if eq .Theirs.x \"x\" }}{{ .Own.url }}{{ end }}", "x", Ok("https://a.example/"));
    check(
        "{{ toYaml .Own | indent 0 }}",
        "x",
        Ok("host: a.example\n\"n\": 7\nsecret: hunter2\nurl: https://a.example/"),
    );
}

#[test]
fn an_output_has_its_tainted_ranges() {
    let tainted_ranges = |template: &str| {
        let rendered = render(template, &data(&[("x", "a{{ .Type }}")], Taint::Raw), false).unwrap();
        let text = String::from_utf8(rendered.bytes).unwrap();
        let shown = |tainted: &gotemplate::TaintedRange| (text[tainted.range.clone()].to_owned(), tainted.is_raw);
        rendered.tainted_ranges.iter().map(shown).collect::<Vec<_>>()
    };
    let raw = |text: &str| (text.to_owned(), true);
    assert_eq!(tainted_ranges("1{{ .Theirs.x }}2{{ .Own.url }}"), [raw("adrone")]);
    assert_eq!(tainted_ranges("1{{ quote .Theirs.x }}{{ .Theirs.x }}"), [raw("\"adrone\"adrone")]);
    assert_eq!(tainted_ranges("{{ toJson .Theirs | indent 1 }}"), [(" {\"x\":\"adrone\"}".to_owned(), false)]);
    assert_eq!(tainted_ranges("{{ toJson .Theirs.x }}{{ .Own.host }}"), [raw("\"adrone\"")]);
    assert_eq!(tainted_ranges("{{ toJson .Theirs | replace \"\\\"\" \"\" }}"), [raw("{x:adrone}")]);
}

#[test]
fn a_reference_that_refers_to_itself_ends() {
    let fields = vec![("Type", Value::Text(Text::from("{{ .Type }}").tainted(Taint::Raw)))];
    let dot = Value::Struct(Arc::new(Struct { type_name: "data", fields }));
    assert_eq!(render("{{ .Type }}", &dot, false).unwrap_err().kind, ErrorKind::Limit);
    let many = "{{ .Type }}".repeat(10_000);
    let limits = RenderLimits { output_bytes: 200_000, ..RenderLimits::default() };
    let template = Template::parse("t", "{{ .Theirs.x }}").unwrap();
    let options = RenderOptions { limits, references: REFERENCES, ..RenderOptions::default() };
    let found = template.render_with(&data(&[("x", &many)], Taint::Raw), &options);
    assert_eq!(found.map(|rendered| rendered.bytes.len()).map_err(|error| error.kind), Ok(50_000));
}

/// Templates that print a tainted text, some of them with functions.
const TEMPLATES: &[&str] = &[
    "a: {{ .Theirs.x }}\nb: {{ .Own.url }}\n",
    "{{ .Theirs.x }}{{ .Theirs.y }}",
    "{ {{- .Theirs.x }}: \"{{ .Theirs.y }}\" }",
    "{{ printf \"%s{%s\" .Theirs.x .Theirs.y }}",
    "{{ .Theirs.x | b64dec }}",
    "{{ .Theirs.x | replace \"<\" \"{\" | replace \">\" \"}\" }}",
    "{{ range $k, $v := .Theirs }}{{ $k }}: {{ $v | quote }}\n{{ end }}",
    "{{ toYaml .Theirs }}",
    "{{ .Theirs.x | nospace }}",
    "{{ join .Theirs.x (list \"{\" \"{ .Own.secret }\" \"}\") }}",
    "{{ range splitList \".\" .Theirs.x }}{{ . }}{{ end }}",
    "{{ `{{` }}{{ .Theirs.x }}}}",
    "{{ .Theirs.x }}{{ `{ .Own.secret }}` }}",
];

/// Pieces of template text, from which random texts are made.
const PIECES: &[&str] = &[
    "{{",
    "{",
    "}}",
    "}",
    " ",
    ".Own",
    ".secret",
    ".Own.secret",
    ".Type",
    "toJson",
    "|",
    "\"",
    "`",
    "-",
    "<",
    "<<",
    ">>",
    "e3s",
    "text",
    "{{ .Type }}",
    "{{ .Own.secret }}",
    "{{ . }}",
    "/*",
    "*/",
    "e3sgLk93bi5zZWNyZXQgfX0=",
    "\n",
    ".",
    "é",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn untrusted_texts_cannot_print_other_data(template in prop::sample::select(TEMPLATES), x in text(), y in text(), is_literal: bool) {
        let rendered = render(template, &data(&[("x", &x), ("y", &y)], Taint::Raw), is_literal);
        if let Ok(rendered) = rendered {
            let shown = String::from_utf8_lossy(&rendered.bytes);
            prop_assert!(!shown.contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn a_taint_changes_no_byte_of_a_pass(template in prop::sample::select(TEMPLATES), x in text(), y in text()) {
        let bytes = |taint| {
            let rendered = render(template, &data(&[("x", &x), ("y", &y)], taint), true);
            rendered.map(|rendered| rendered.bytes).map_err(|error| error.message)
        };
        prop_assert_eq!(bytes(Taint::Raw), bytes(Taint::None));
    }
}
