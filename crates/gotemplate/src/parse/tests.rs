//! Tests of the parser: errors with their places, and limits.

use std::sync::Arc;

use super::{NESTING_MAX, parse};

fn check_error(text: &str, at: usize, message: &str) {
    let error = parse("t", Arc::from(text.as_bytes()), Vec::new()).expect_err(text);
    assert_eq!((error.at, error.message.as_str()), (at, message), "{text}");
}

fn check_fine(text: &str) {
    assert_eq!(parse("t", Arc::from(text.as_bytes()), Vec::new()).err(), None, "{text}");
}

#[test]
fn mistakes_are_reported_where_they_are() {
    check_error("a {{ .x", 7, "unclosed action");
    check_error("{{ if .x }}", 11, "unexpected EOF");
    check_error("{{ end }}", 0, "unexpected {{end}}");
    check_error("{{ $x }}", 3, "undefined variable \"$x\"");
    check_error("{{ break }}", 3, "{{break}} outside {{range}}");
    check_error("{{ 1 | 2 }}", 7, "non executable command in pipeline stage 2");
    check_error("{{/* x", 2, "unclosed comment");
    check_error("{{ .x.! }}", 6, "bad character U+0021 '!'");
}

#[test]
fn else_must_match_its_block() {
    check_fine("{{ if .a }}{{ else if .b }}{{ else }}{{ end }}{{ with .a }}{{ else with .b }}{{ end }}");
    check_error("{{ with .a }}{{ else if .b }}{{ end }}", 13, "this else does not belong to {{with}}");
    check_error("{{ range .a }}{{ else if .b }}{{ end }}", 14, "this else does not belong to {{range}}");
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let nested = |open: &str, count: usize| open.repeat(count);
    let too_deep = format!("nested more than {NESTING_MAX} levels deep");
    for text in [
        format!("{{{{ {} }}}}", nested("(", 100_000)),
        nested("{{ if 1 }}", 100_000),
        nested("{{ block \"x\" . }}", 100_000),
        nested("{{ range . }}{{ else }}", 100_000),
    ] {
        let error = parse("t", Arc::from(text.as_bytes()), Vec::new()).expect_err("too deep");
        assert_eq!(error.message, too_deep);
    }
    check_fine(&format!("{{{{ if 1 }}}}{}{{{{ end }}}}", nested("{{ else if 1 }}", 10_000)));
    check_fine(&format!("{{{{ print {} }}}}", nested(".a.b ", 10_000)));
}

#[test]
fn numbers_are_read_as_in_go() {
    check_fine(
        "{{ 0x1F }}{{ 0b11 }}{{ 0o17 }}{{ 017 }}{{ 1_000 }}{{ 'a' }}{{ '\\n' }}{{ 1e3 }}{{ 0x1p-2 }}{{ 1+2i }}{{ 3i }}",
    );
    check_error("{{ 08 }}", 3, "integer overflow: \"08\"");
    check_error("{{ 1__0 }}", 3, "illegal number syntax: \"1__0\"");
    check_error("{{ 1x }}", 3, "bad number syntax: \"1x\"");
    check_error("{{ 'ab' }}", 3, "malformed character constant: 'ab'");
}
