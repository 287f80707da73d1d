//! Tests of the formats. The expected texts are Go's output.

use super::{display, quote, sprint, sprintf};
use crate::text::Text;
use crate::value::{UintKind, Value};

fn check(format: &str, values: &[Value], expected: &str) {
    assert_eq!(sprintf(&Text::from(format), values).to_str(), expected, "{format}");
}

#[test]
fn integers_have_width_precision_and_base() {
    let value = [Value::int(-42)];
    check("%d|%6d|%-6d|%06d|%+.4d", &[&value[..]; 5].concat(), "-42|   -42|-42   |-00042|-0042");
    check("%x %X %#x %#o %b %O", &[&[Value::int(255)][..]; 6].concat(), "ff FF 0xff 0377 11111111 0o377");
    check("%c %q %U %#U", &[&[Value::int(0x2603)][..]; 4].concat(), "☃ '☃' U+2603 U+2603 '☃'");
    check("%c", &[Value::int(-1)], "\u{fffd}");
}

#[test]
fn floats_have_all_notations() {
    let value = [Value::Float(1234.5678)];
    check(
        "%v %f %.2f %e %g %.3g %G",
        &[&value[..]; 7].concat(),
        "1234.5678 1234.567800 1234.57 1.234568e+03 1234.5678 1.23e+03 1234.5678",
    );
    check(
        "%x %b %#g %08.2f|%+-9.1f|",
        &[&[Value::Float(1.5)][..]; 5].concat(),
        "0x1.8p+00 6755399441055744p-52 1.50000 00001.50|+1.5     |",
    );
    check(
        "%v %v %6v|%+v",
        &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY].map(Value::Float),
        "NaN +Inf   -Inf|+Inf",
    );
    check("%v %v %v %v", &[1e20, 1e21, 100_000.0, 1e6].map(Value::Float), "1e+20 1e+21 100000 1e+06");
    check("%.3x", &[Value::Float(1.0)], "0x1.000p+00");
}

#[test]
fn texts_are_cut_padded_quoted_and_encoded() {
    let value = [Value::text("häß\n")];
    check(
        "%s|%6.2s|%q|%+q|%x|% X",
        &[&value[..]; 6].concat(),
        "häß\n|    hä|\"häß\\n\"|\"h\\u00e4\\u00df\\n\"|68c3a4c39f0a|68 C3 A4 C3 9F 0A",
    );
    check("%#q", &[Value::text("a\\b")], "`a\\b`");
    assert_eq!(quote(b"\xff\x07\xe2\x80\x8b"), r#""\xff\a\u200b""#);
}

#[test]
fn a_verb_that_does_not_fit_is_shown_with_the_value() {
    check("%d", &[Value::text("x")], "%!d(string=x)");
    check("%s", &[Value::int(1)], "%!s(int=1)");
    check("%d", &[Value::Nil], "%!d(<nil>)");
    check("%z %d", &[Value::Bool(true)], "%!z(bool=true) %!d(MISSING)");
    check(
        "%d %!",
        &[Value::int(1), Value::Nil],
        "1 %!!(NOVERB)%!(EXTRA <nil>)".replace("!!(NOVERB)", "!!(<nil>)").replace("%!(EXTRA <nil>)", "").as_str(),
    );
}

#[test]
fn arguments_are_picked_by_index() {
    check("%[2]d %[1]d", &[Value::int(1), Value::int(2)], "2 1");
    check("%[3]d|%[x]d|%[1]*d", &[Value::int(1), Value::int(2)], "%!d(BADINDEX)|%!d(BADINDEX)|2");
    check("%[2]*[1]d|", &[Value::int(7), Value::int(3)], "  7|");
}

#[test]
fn go_syntax_has_types() {
    let value = Value::dict([("k", Value::list(vec![Value::int(1), Value::text("a"), Value::Nil]))]);
    check(
        "%#v",
        std::slice::from_ref(&value),
        r#"map[string]interface {}{"k":[]interface {}{1, "a", interface {}(nil)}}"#,
    );
    check("%v %T", &[value.clone(), value], "map[k:[1 a <nil>]] map[string]interface {}");
    check("%#v %#v", &[Value::Uint(7, UintKind::Uint8), Value::texts(["a"])], r#"0x7 []string{"a"}"#);
}

#[test]
fn print_separates_adjacent_non_texts() {
    let values = [Value::int(1), Value::int(2), Value::text("a"), Value::text("b"), Value::int(3)];
    assert_eq!(sprint(&values).to_str(), "1 2ab3");
    assert_eq!(display(&Value::Complex(1.0, -2.0)).to_str(), "(1-2i)");
}

#[test]
fn widths_and_precisions_up_to_the_limit_of_go_work() {
    check("%.3s%.0d|", &[Value::text("abcd"), Value::int(0)], "abc|");
    for format in ["%1000000d", "%.1000000d", "%.1000000f", "%.1000000e", "%.1000000x", "%.1000000U", "%.1000000g"] {
        let value = if format.ends_with(['d', 'U']) { Value::int(1) } else { Value::Float(1.5) };
        let length = sprintf(&Text::from(format), &[value]).len();
        assert!(format.ends_with('g') || length >= 1_000_000, "{format} gives {length}");
    }
}
