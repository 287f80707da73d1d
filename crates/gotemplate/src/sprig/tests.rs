//! Special cases of every group of functions. `docs/reference/template-functions.md` has an example of every function.

use super::FUNCTIONS;
use crate::budget::{Budget, RenderLimits};
use crate::function::{Call, Function, Type};
use crate::map_changes::MapChanges;
use crate::time::Time;
use crate::value::{Entries, Key, MapKind, UintKind};
use crate::{Template, Value};

/// The output of a template, or `error:` with the message.
fn rendered(template: &str) -> String {
    let data = Value::dict([
        ("nil", Value::Nil),
        ("text", Value::text("naïve ☃")),
        ("bytes", Value::text(&b"a\xe6\x9cz"[..])),
        ("untyped", Value::map(MapKind::AnyToAny, Entries::new())),
        (
            "mixed",
            Value::map(MapKind::AnyToAny, [(Key::Int(1), Value::Nil), (Key::Text("b".into()), Value::Nil)].into()),
        ),
    ]);
    let limits = RenderLimits { steps: 100_000, output_bytes: 1 << 20, ..RenderLimits::default() };
    match Template::parse("t", template).and_then(|template| template.render(&data, &limits)) {
        Ok(output) => String::from_utf8_lossy(&output).into_owned(),
        Err(error) => format!("error: {error}"),
    }
}

fn check(template: &str, expected: &str) {
    assert_eq!(rendered(template), expected, "{template}");
}

fn check_error(template: &str, part: &str) {
    let rendered = rendered(template);
    assert!(rendered.starts_with("error: ") && rendered.contains(part), "{template}: {rendered}");
}

#[test]
fn texts_are_cut_by_bytes_and_never_beyond_their_ends() {
    check(r#"{{ trunc 3 .text | printf "%q" }}"#, r#""na\xc3""#);
    check("{{ substr 2 -1 .text }}", "ïve ☃");
    check(r#"{{ abbrevboth 3 6 "hello world" }}"#, "hello world");
    check_error("{{ trunc -1 .text }}", "slice bounds out of range");
    check_error("{{ substr 5 2 .text }}", "slice bounds out of range");
    check_error("{{ substr 99 999 .text }}", "slice bounds out of range");
    check_error(r#"{{ repeat -1 "a" }}"#, "negative Repeat count");
    check_error(r#"{{ indent -1 "a" }}"#, "negative Repeat count");
}

#[test]
fn empty_search_texts_match_everywhere() {
    check(r#"{{ replace "" "-" "aé" }}"#, "-a-é-");
    check(r#"{{ split "" "aé" }}"#, "map[_0:a _1:é]");
    check(r#"{{ splitList "," "" | len }}"#, "1");
    check(r#"{{ splitn "," 0 "a,b" }}"#, "map[]");
    check(r#"{{ contains "" "" }}"#, "true");
}

#[test]
fn cases_follow_go_s_one_to_one_mappings() {
    check(
        r#"{{ snakecase "HTTP20xOK" }} {{ snakecase "_complex__case_" }} {{ kebabcase "日本語テキスト" }}"#,
        "http_20x_ok _complex__case_ 日本語-テキスト",
    );
    check(r#"{{ camelcase "_complex__case_" }} {{ camelcase "HTTPServer" }}"#, "_Complex_Case_ Httpserver");
    check(r#"{{ title "ǆ o'neil" }} {{ swapcase "ǅ" }}"#, "ǅ O'Neil ǆ");
    check(r#"{{ upper .bytes | printf "%q" }}"#, r#""A��Z""#);
    check(r#"{{ initials "日本" }}{{ nospace "é x" }}"#, "æÃ©x");
}

#[test]
fn lines_break_at_blanks() {
    check(r#"{{ wrap 6 "a  b   c    d" }}"#, "a  b  \nc    d");
    check(r#"{{ wrap 4 "abcdefgh ij" }}"#, "abcdefgh\nij");
    check(r#"{{ wrapWith -5 "|" "abc" }}"#, "a|b|c");
}

#[test]
fn numbers_wrap_around_and_are_never_refused() {
    check("{{ add 9223372036854775807 1 }}", "-9223372036854775808");
    check("{{ div -9223372036854775808 -1 }} {{ mod -9223372036854775808 -1 }}", "-9223372036854775808 0");
    check(
        r#"{{ int 1e300 }} {{ int "0x10" }} {{ atoi "99999999999999999999" }}"#,
        "-9223372036854775808 0 9223372036854775807",
    );
    check(
        r#"{{ float64 "1_000" }} {{ float64 "0x1.8p1" }} {{ float64 "1e400" }} {{ float64 "-Inf" }}"#,
        "1000 3 0 -Inf",
    );
    check("{{ round 1.005 400 }} {{ round -2.6 0 }} {{ round 1234.5 -2 }}", "NaN -3 1200");
    check_error("{{ div 1 .nil }}", "integer divide by zero");
    check_error(r#"{{ mod 1 "x" }}"#, "integer divide by zero");
}

#[test]
fn lists_are_compared_by_type_and_content() {
    check(
        r#"{{ has 1 (list 1.0 "1") }} {{ has (dict "a" 1) (list (dict "a" 1)) }} {{ has 1 .nil }}"#,
        "false true false",
    );
    check("{{ uniq (list (list 1) (list 1) 1) }}", "[[1] 1]");
    check("{{ slice (until 5) 1 3 | typeOf }} {{ rest (until 5) | typeOf }}", "[]int []interface {}");
    check_error("{{ slice (list 1) 2 }}", "slice index out of bounds");
    check_error("{{ first .nil }}", "nil pointer");
    check_error(r#"{{ first "abc" }}"#, "Cannot find first on type string");
}

#[test]
fn nil_lists_differ_from_empty_ones() {
    check("{{ rest (list) | toJson }} {{ list | toJson }} {{ concat | toJson }}", "null [] null");
    check("{{ deepEqual (rest (list)) (list) }} {{ rest (list) }}", "false []");
    check(r#"{{ regexFindAll "x" "a" -1 | toJson }}"#, "null");
}

#[test]
fn maps_are_changed_in_place() {
    check(r#"{{ $a := dict "n" (dict "k" 1) }}{{ $b := pick $a "n" }}{{ $_ := set $b.n "k" 2 }}{{ $a.n.k }}"#, "2");
    check(r#"{{ $a := dict "n" (dict) }}{{ $_ := merge $a (dict "n" (dict "k" 1)) }}{{ $a }}"#, "map[n:map[k:1]]");
    check(r#"{{ $d := dict "a" 1 }}{{ $c := deepCopy $d }}{{ $_ := unset $c "a" }}{{ $d }}{{ $c }}"#, "map[a:1]map[]");
    check_error(r#"{{ set .missing "a" 1 }}"#, "nil map");
    check_error("{{ keys .untyped }}", "map[string]interface {}");
}

#[test]
fn merging_fills_empty_values() {
    check(r#"{{ merge (dict "a" 0 "b" "x") (dict "a" 5 "b" "y") }}"#, "map[a:5 b:x]");
    check(r#"{{ mergeOverwrite (dict "a" 1 "b" "x") (dict "a" 0 "b" (dict "c" 1)) }}"#, "map[a:0 b:x]");
    check(r#"{{ mergeOverwrite (dict "a" 1) (dict "a" nil) | toJson }}"#, r#"{"a":null}"#);
    check(r#"{{ merge .missing (dict "a" 1) }}{{ keys .missing }}"#, "map[a:1][]");
    check_error(r#"{{ $a := dict }}{{ $_ := set $a "a" $a }}{{ merge $a $a }}"#, "levels deep");
}

#[test]
fn quotes_leave_bytes_as_they_are() {
    check(r#"{{ squote "a'b" nil 1 true }} {{ cat "a" nil 1.5 }}"#, "'a'b' '1' 'true' a 1.5");
    check(r#"{{ "\xff" | squote | b64enc }} {{ quote "\xff" }}"#, r#"J/8n "\xff""#);
}

#[test]
fn json_is_written_as_go_writes_it() {
    check("{{ toJson (list 1e21 1e-7 1e20 -0.0 2.50) }}", "[1e+21,1e-7,100000000000000000000,-0,2.5]");
    check(r#"{{ toJson "<\u2028\x07\"" }}{{ toJson .bytes }}"#, r#""\u003c\u2028\u0007\"""a\ufffd\ufffdz""#);
    check("{{ toJson (list .untyped .mixed) }}", r#"[{},{"1":null,"b":null}]"#);
    check(r#"{{ toJson (list 1 (float64 "NaN")) }}"#, "");
    check(r#"{{ toPrettyJson (dict "a" (list) "b" (dict)) }}"#, "{\n  \"a\": [],\n  \"b\": {}\n}");
}

#[test]
fn wrong_encodings_are_reported_at_the_same_place_as_in_go() {
    check(r#"{{ b64dec "aGVsbG8" }}"#, "illegal base64 data at input byte 4");
    check(
        r#"{{ b64dec "YQ=x" }} {{ b64dec "YQ==x" }} {{ b64dec "Y=" }}"#,
        "illegal base64 data at input byte 2 illegal base64 data at input byte 4 illegal base64 data at input byte 1",
    );
    check(
        r#"{{ b32dec "ME=====x" }} {{ b32dec "m" }} {{ b32dec "ME" }}"#,
        "illegal base32 data at input byte 6 illegal base32 data at input byte 0 illegal base32 data at input byte 0",
    );
    check(r#"{{ b64dec "aGVs\nbG8=" }} {{ b32dec "NBSWY3DP" }}"#, "hello hello");
}

#[test]
fn regular_expressions_follow_go() {
    check(
        r#"{{ regexReplaceAll "a*" "baac" "-" }} {{ regexReplaceAll "(?P<x>b)" "abc" "[${x}$$$1x$]" }}"#,
        "-b-c- a[b$$]c",
    );
    check(
        r#"{{ regexSplit "" "abc" 2 }} {{ regexSplit "b" "" -1 | len }} {{ regexSplit "b" "abc" 0 | toJson }}"#,
        "[a bc] 1 null",
    );
    check(r#"{{ regexFindAll "\\w+" "naïve ok" 2 }} {{ regexFind "." .bytes }}"#, "[na ve] a");
    check(r#"{{ regexReplaceAllLiteral "[^a-z]" .bytes "-" }} {{ regexMatch "(" "(" }}"#, "a--z false");
    check_error(r#"{{ regexFind "a**" "a" }}"#, "invalid nested repetition");
    check_error(r#"{{ regexFind "(\\pL{900}){900}" "a" }}"#, "regexp");
}

#[test]
fn dates_never_fall_back_to_the_present() {
    check_error(r#"{{ date "2006" "2020" }}"#, "not a date: string");
    check_error("{{ htmlDate .nil }}", "not a date");
    check(r#"{{ date "2006" 253402300800 }} {{ dateInZone "MST" 0 "Nowhere/City" }}"#, "10000 UTC");
    check(r#"{{ (toDate "2006-01-02" "2020-01-31").AddDate 0 1 0 | htmlDate }}"#, "2020-03-02");
}

#[test]
fn paths_are_cleaned() {
    check(
        r#"{{ clean "/../a//b/." }} {{ clean "a/../.." }} {{ base "/" }} {{ dir "" }} {{ ext ".a/b" | quote }}"#,
        r#"/a/b .. / . """#,
    );
}

#[test]
fn urls_are_joined_from_texts_only() {
    check(
        r#"{{ urlJoin (dict "path" "a:b") }} {{ urlJoin (dict "host" "h" "userinfo" "u:p" "path" "x") }}"#,
        "./a:b //u:p@h/x",
    );
    check_error(r#"{{ urlJoin (dict "host" "h" "userinfo" "u:p w") }}"#, "invalid userinfo");
    check_error(r#"{{ urlJoin (dict "host" 5) }}"#, "must be of type string, but int found");
    check_error(r#"{{ urlJoin (dict "host" nil) }}"#, "nil pointer");
}

#[test]
fn huge_results_are_refused_before_they_are_made() {
    for template in [
        r#"{{ repeat 9223372036854775807 "a" }}"#,
        r#"{{ repeat 9223372036854775807 "ab" }}"#,
        r#"{{ indent 9223372036854775807 "a\nb" }}"#,
        "{{ until 9223372036854775807 }}",
        "{{ untilStep -9223372036854775808 9223372036854775807 1 }}",
        r#"{{ $a := repeat 60000 "a" }}{{ replace "" $a $a }}"#,
        r#"{{ $a := repeat 60000 "a" }}{{ regexReplaceAll "a" $a $a }}"#,
        r#"{{ $a := repeat 60000 "a" }}{{ $t := repeat 60000 "$0" }}{{ regexReplaceAll ".*" $a $t }}"#,
        r#"{{ $a := repeat 900000 "a" }}{{ range until 50000 }}{{ $_ := contains "b" $a }}{{ end }}"#,
        "{{ $l := until 4000 }}{{ range until 190 }}{{ $l = list $l }}{{ end }}{{ toPrettyJson $l }}",
        r#"{{ $a := repeat 60000 "a" }}{{ join $a (until 60000) }}"#,
        r#"{{ $a := repeat 60000 "a b" }}{{ wrapWith 1 $a $a }}"#,
        "{{ $l := list 1 }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ uniq (list $l $l) }}",
        "{{ $l := list 1 }}{{ range until 5000 }}{{ $l = list $l }}{{ end }}{{ has $l (list $l) }}",
    ] {
        assert!(rendered(template).starts_with("error: "), "{template}");
    }
}

/// Unusual values of a type.
fn odd_values(parameter: Type) -> Vec<Value> {
    let ints = [i64::MIN, -1, 0, 3, i64::MAX];
    let texts = [&b""[..], b"a", b"\xff(\x80", "ß日 -x_1.2=".as_bytes(), b"[%:/@?#", b"-1.5h", b"1.2.3-x", b"2006"];
    let dict = |key: &str| Value::dict([(key, Value::list(vec![Value::Nil])), ("path", Value::text("a:b"))]);
    match parameter {
        Type::Text => texts.map(Value::text).to_vec(),
        Type::Bool => vec![Value::Bool(true), Value::Bool(false)],
        Type::Int => ints.map(Value::int).to_vec(),
        Type::Int64 => ints.map(Value::int64).to_vec(),
        Type::Float => [f64::NAN, f64::NEG_INFINITY, -0.0, 0.5].map(Value::Float).to_vec(),
        Type::Dict => vec![Value::nil_dict(), dict("a"), dict("host")],
        Type::Time => [0, i64::MIN, i64::MAX].map(|seconds| Value::Time(Time::from_unix(seconds).into())).to_vec(),
        Type::Any => {
            let typed = [Type::Text, Type::Int, Type::Float, Type::Dict, Type::Time];
            let rest = [
                Value::Nil,
                Value::nil_list(),
                Value::list(vec![Value::Nil]),
                Value::Uint(u64::MAX, UintKind::Uint64),
                Value::Complex(f64::NAN, 1.0),
                Value::Duration(i64::MIN),
            ];
            typed.into_iter().flat_map(odd_values).chain(rest).collect()
        }
    }
}

/// Calls the function with every combination of unusual values for the parameters from `args.len()` on.
fn call_with_all(function: &Function, args: &mut Vec<Value>) {
    let Some(parameter) = function.params.get(args.len()) else {
        let (changes, budget) = (
            &mut MapChanges::default(),
            &mut Budget::new(RenderLimits { steps: 10_000, output_bytes: 10_000, ..RenderLimits::default() }),
        );
        // Errors are allowed. The test checks that there is no panic.
        let _ = (function.body)(&mut Call { changes, budget }, args);
        return;
    };
    for value in odd_values(*parameter) {
        args.push(value);
        call_with_all(function, args);
        args.pop();
    }
}

#[test]
fn no_function_panics() {
    for function in FUNCTIONS.iter().chain(crate::methods::times::METHODS) {
        call_with_all(function, &mut Vec::new());
    }
}
