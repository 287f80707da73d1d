//! Tests against texts that yaml.v3 3.0.1 wrote, and with a YAML parser.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use saphyr_parser::{Event, Parser, ScalarStyle};

use super::{order, to_yaml};
use crate::time::Time;
use crate::value::{Entries, FloatKey, Key, MapKind, UintKind, Value};

fn check(value: Value, expected: &str) {
    let yaml = to_yaml(&value).expect("a value that can be written");
    assert_eq!(String::from_utf8_lossy(&yaml), expected);
}

fn check_text(text: &str, expected: &str) {
    check(Value::text(text), &format!("{expected}\n"));
}

fn list<const N: usize>(items: [Value; N]) -> Value {
    Value::list(items.to_vec())
}

fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::dict(entries)
}

fn keys(value: &Value) -> Vec<String> {
    let Value::Map(map) = value else { panic!("not a map") };
    order::sorted(map.entries()).into_iter().map(|(key, _)| format!("{key:?}")).collect()
}

#[test]
fn texts_that_could_be_read_as_something_else_get_double_quotes() {
    for text in ["", "~", "null", "true", "FALSE", "y", "N", "yes", "Off", "ON", ".inf", "-.INF", "+.inf", ".NaN"] {
        check_text(text, &format!("\"{text}\""));
    }
    for text in ["7", "-7", "+7", "0x1F", "-0x1f", "0b101", "0b-1", "0o17", "0O7", "017", "089", "1_000", "0_8"] {
        check_text(text, &format!("\"{text}\""));
    }
    for text in ["1.5", "1.", ".5", ".5_5", "1e3", "1E-3", "12e03", "18446744073709551616", "1:20", "-1:59:59.5_"] {
        check_text(text, &format!("\"{text}\""));
    }
}

#[test]
fn texts_that_look_nearly_like_something_else_stay_plain() {
    for text in ["nUll", "yES", "0b12", "0x", "0x-5", "0xg", "1e999", "._5", ".5__5", ".", "+", "1:60", ":1", "1:2:x"] {
        check_text(text, text);
    }
    for text in ["=", "<<", "1.2.3", "-a", "a:b", "a#b", "1 000", "--", "nan", "inf", "v1.0", "/", "a, b", "(x)"] {
        check_text(text, text);
    }
}

#[test]
fn dates_get_double_quotes_if_they_exist() {
    for text in ["2024-02-29", "2024-1-2", "2024-01-02T03:04:05Z", "2024-1-2t3:4:5,6+24:60", "2024-01-02   3:04:05.1"] {
        check_text(text, &format!("\"{text}\""));
    }
    for text in ["2023-02-29", "2024-13-01", "2024-00-10", "24-01-02", "2024-01-02T24:00:00Z", "2024-01-02T03:04:05"] {
        check_text(text, text);
    }
}

#[test]
fn indicators_and_blanks_at_the_border_get_single_quotes() {
    for text in
        [" a", "a ", "#a", "a #b", "a: b", "a:", "- a", "-", "? a", "?", "[a", "*a", "&a", "!a", "%a", "@a", "---"]
    {
        check_text(text, &format!("'{text}'"));
    }
    check_text("'it's'", "'''it''s'''");
}

#[test]
fn unprintable_characters_are_escaped_in_double_quotes() {
    check_text("a\tb", r#""a\tb""#);
    check_text("a\"\\\r\n\u{1b}\u{7f}\u{85}", r#""a\"\\\r\n\e\x7F\N""#);
    check_text("\u{1f681}", r#""\U0001F681""#);
    check_text("\u{feff}a", r#""\uFEFF\x61""#);
    check_text("é☃日\u{a0}\u{200b}", "é☃日\u{a0}\u{200b}");
    check_text("a\u{2028}b", "'a\u{2028}    b'");
}

#[test]
fn lines_become_literal_blocks() {
    check_text("a\nb", "|-\n    a\n    b");
    check_text("a\n\n\tb\n", "|\n    a\n\n    \tb");
    check_text("a\n\n", "|+\n    a\n");
    check_text("  a\nb", "|4-\n      a\n    b");
    check_text("\na", "|4-\n    a");
    check_text("a \nb", r#""a \nb""#);
    check_text("a\nb ", r#""a\nb ""#);
}

#[test]
fn bytes_that_are_not_utf_8_become_base64() {
    check(Value::text(&b"\xff\xfe"[..]), "!!binary //4=\n");
    check(
        dict([("k", Value::text(&[0xff_u8; 60][..]))]),
        &format!("k: !!binary |\n    {}\n    {}\n", "/".repeat(70), "/".repeat(10)),
    );
}

#[test]
fn numbers() {
    check(list([Value::int(-7), Value::Uint(u64::MAX, UintKind::Uint64)]), "- -7\n- 18446744073709551615\n");
    for (number, expected) in
        [(3.0, "3"), (1e6, "1e+06"), (123_456.789, "123456.789"), (1e-5, "1e-05"), (1.5e300, "1.5e+300")]
    {
        check(Value::Float(number), &format!("{expected}\n"));
    }
    check(list([Value::Float(f64::INFINITY), Value::Float(f64::NAN), Value::Float(-0.0)]), "- .inf\n- .nan\n- -0\n");
    assert!(to_yaml(&list([Value::Complex(0.0, 1.0)])).is_err());
}

#[test]
fn times_and_durations() {
    check(Value::Time(Time::from_unix(1_577_836_800).into()), "2020-01-01T00:00:00Z\n");
    check(Value::Duration(90_000_000_000), "1m30s\n");
}

#[test]
fn indentation_is_irregular_below_lists() {
    check(list([list([Value::int(1), list([Value::int(2)])]), list([])]), "- - 1\n  - - 2\n- []\n");
    let item = dict([("a", list([Value::int(1)])), ("b", dict([("c", Value::text("x\ny"))])), ("d", dict([]))]);
    let expected = "l:\n    - a:\n        - 1\n      b:\n        c: |-\n            x\n            y\n      d: {}\n";
    check(dict([("l", list([item]))]), expected);
    check(list([Value::text("a\nb")]), "- |-\n  a\n  b\n");
}

#[test]
fn long_keys_and_keys_of_several_lines_get_a_question_mark() {
    let long = "k".repeat(129);
    check(dict([(&long, list([Value::Nil]))]), &format!("? {long}\n:   - null\n"));
    check(dict([(&long[1..], Value::Nil)]), &format!("{}: null\n", &long[1..]));
    check(list([dict([("a\nb\n", dict([("c", Value::Nil)]))])]), "- ? |\n    a\n    b\n  : c: null\n");
}

#[test]
fn keys_are_in_natural_order() {
    let names = ["line-10", "line-2", "a1b", "a1", "a1-", "B", "b", "a", "_", "10", "9", "k02", "k2", "ä", "z"];
    let value = Value::dict(names.map(|name| (name, Value::Nil)));
    let expected = ["_", "9", "10", "B", "a", "a1", "a1b", "a1-", "b", "k2", "k02", "line-2", "line-10", "z", "ä"];
    assert_eq!(keys(&value), expected.map(|name| format!("Text({name:?})")));
}

#[test]
fn keys_that_are_no_texts_come_first() {
    let keys = [Key::Text("0".into()), Key::Nil, Key::Int(2), Key::Bool(true), Key::Float(FloatKey(1.5)), Key::Int(-1)];
    let entries = keys.map(|key| (key, Value::Nil));
    let expected = "-1: null\ntrue: null\n1.5: null\n2: null\nnull: null\n\"0\": null\n";
    check(Value::map(MapKind::AnyToAny, Entries::from_iter(entries)), expected);
}

#[test]
fn the_order_of_overflowing_numbers_does_not_panic() {
    let names = (0..200_u64)
        .map(|seed| format!("{}{}", seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), "9".repeat(seed as usize % 23)));
    let value = Value::dict(names.map(|name| (name, Value::Nil)));
    assert_eq!(keys(&value).len(), 200);
}

/// The events of a YAML parser: brackets and scalars. Scalars that are not texts begin with `?`.
fn events_of(yaml: &str) -> Result<Vec<String>, saphyr_parser::ScanError> {
    let mut events = Vec::new();
    for event in Parser::new_from_str(yaml) {
        events.push(match event?.0 {
            Event::Scalar(text, ScalarStyle::Plain, _, _) if is_typed(&text) => format!("?{text}"),
            Event::Scalar(text, ..) => text.into_owned(),
            Event::SequenceStart(..) => "[".into(),
            Event::SequenceEnd => "]".into(),
            Event::MappingStart(..) => "{".into(),
            Event::MappingEnd => "}".into(),
            _ => continue,
        });
    }
    Ok(events)
}

fn is_typed(plain: &str) -> bool {
    let words = ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    words.contains(&plain.to_lowercase().as_str()) || plain.parse::<f64>().is_ok_and(f64::is_finite)
}

fn expected_events(value: &Value, events: &mut Vec<String>) {
    match value {
        Value::Text(text) => events.push(text.to_string()),
        Value::List(list) => {
            events.push("[".into());
            list.items().iter().for_each(|item| expected_events(item, events));
            events.push("]".into());
        }
        Value::Map(map) => {
            events.push("{".into());
            for (key, value) in order::sorted(map.entries()) {
                let Key::Text(key) = key else { panic!("not a text: {key:?}") };
                events.push(key.to_string());
                expected_events(value, events);
            }
            events.push("}".into());
        }
        Value::Bool(flag) => events.push(format!("?{flag}")),
        Value::Int(number, _) => events.push(format!("?{number}")),
        _ => events.push("?null".into()),
    }
}

/// Texts with many characters that have a meaning in YAML. Two cases are left out, because yaml.v3 writes them wrongly: a line break or a blank at
/// the beginning of several lines, and the line breaks of YAML 1.1 alone.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        "[a-c0-9]{1,3}",
        prop::sample::select(vec![
            " ",
            "\n",
            "\n\n",
            "\t",
            "\r",
            ":",
            ": ",
            " #",
            "-",
            "- ",
            "?",
            "'",
            "\"",
            "\\",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&",
            "*",
            "!",
            "|",
            ">",
            "%",
            "@",
            "`",
            "---",
            "...",
            "~",
            "null",
            "yes",
            "n",
            "on",
            ".",
            "_",
            "é",
            "日",
            "\u{85}",
            "\u{feff}",
            "\u{1f681}",
            "\u{0}",
            "<<",
            "=",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(pieces, 0..6)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("written wrongly by yaml.v3", |text| !text.contains('\n') || !text.starts_with(['\n', ' ']))
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        6 => text().prop_map(Value::text),
        1 => any::<i64>().prop_map(Value::int),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Nil),
    ];
    scalar.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::vec((text(), inner), 0..4).prop_map(Value::dict),
        ]
    })
}

#[test]
fn written_yaml_is_parsed_back_unchanged() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases: 4_000, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new_with_rng(config, rng).run(&value(), |value| {
        let yaml = String::from_utf8(to_yaml(&value).expect("a value that can be written")).expect("UTF-8");
        let mut expected = Vec::new();
        expected_events(&value, &mut expected);
        let read = events_of(&yaml).map_err(|error| TestCaseError::fail(format!("{error}\n{yaml}")))?;
        prop_assert_eq!(read, expected, "{}", yaml);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
