//! Checks that a template's output depends only on the fields that `Template::reads` returns, with random templates that pass the data around.

use std::sync::Arc;

use gotemplate::value::Struct;
use gotemplate::{RenderLimits, Template, Value};
use proptest::prelude::*;

const FIELDS: [&str; 3] = ["A", "B", "C"];

/// An expression that passes the data on: mostly the data itself.
fn place() -> impl Strategy<Value = String> {
    let places = [".", "$", "$x", "$y", "(.)", "($x)"].map(str::to_owned).to_vec();
    prop_oneof![2 => prop::sample::select(places), 1 => expression()]
}

/// An expression that reads values: mostly fields, because a template that reads everything checks nothing.
fn expression() -> impl Strategy<Value = String> {
    let fields = [".A", ".B", ".C.A", "$.A", "$.B.C", "$x.B", "$x.C", "$y.A", "$y.B", "(.).B", "($x).C", "1", "\"A\""];
    let whole = [".", "$", "$x", "$y"];
    let term = prop_oneof![30 => prop::sample::select(fields.to_vec()), 1 => prop::sample::select(whole.to_vec())];
    term.prop_map(str::to_owned).prop_recursive(1, 3, 2, |inner| {
        let calls = ["(or $a $b)", "(index $a $b)", "($a | toJson)", "(dict \"A\" $a)", "(list $a $b)", "($a).B"];
        (prop::sample::select(calls.to_vec()), inner.clone(), inner)
            .prop_map(|(call, first, second)| call.replace("$a", &first).replace("$b", &second))
    })
}

/// Generates a few nodes.
fn nodes() -> impl Strategy<Value = String> {
    let shown = ["{{ @ }}", "{{ if @ }}-{{ end }}"];
    let passed = ["{{ $x := @ }}", "{{ $y = @ }}", "{{ $ = @ }}", "{{ template \"d\" @ }}", "{{ template \"e\" @ }}"];
    let filled = |(node, value): (&str, String)| node.replace('@', &value);
    let node = prop_oneof![
        (prop::sample::select(shown.to_vec()), expression()).prop_map(filled),
        (prop::sample::select(passed.to_vec()), place()).prop_map(filled),
    ];
    prop::collection::vec(node, 1..3).prop_map(|nodes| nodes.concat()).prop_recursive(3, 12, 2, move |inner| {
        let with = ["{{ with @ }}<{{ else }}<{{ end }}", "{{ with $x := @ }}<{{ end }}<"];
        let range = ["{{ range @ }}<{{ else }}<{{ end }}", "{{ range $x, $y := @ }}<{{ end }}<"];
        let block = prop_oneof![
            (prop::sample::select(with.to_vec()), place()).prop_map(filled),
            (prop::sample::select(range.to_vec()), expression()).prop_map(filled),
        ];
        (block, inner.clone(), inner)
            .prop_map(|(block, first, second)| block.replacen('<', &first, 1).replacen('<', &second, 1))
    })
}

/// Generates a template that defines two others and calls them.
fn template() -> impl Strategy<Value = String> {
    (nodes(), nodes(), nodes()).prop_map(|(d, e, main)| {
        let variables = "{{ $x := . }}{{ $y := .A }}";
        format!("{{{{ define \"d\" }}}}{variables}{d}{{{{ end }}}}{{{{ define \"e\" }}}}{variables}{e}{{{{ end }}}}{variables}{main}")
    })
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(&["", "x", "y"]).prop_map(Value::text);
    prop_oneof![text, (0..3_i64).prop_map(Value::int), Just(Value::Nil)].prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::list),
            prop::collection::vec((prop::sample::select(&FIELDS), inner), 0..3).prop_map(Value::dict),
        ]
    })
}

fn data(values: Vec<Value>, is_struct: bool) -> Value {
    let fields: Vec<_> = FIELDS.into_iter().zip(values).collect();
    if is_struct { Value::Struct(Arc::new(Struct { type_name: "data", fields })) } else { Value::dict(fields) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn fields_that_are_not_read_do_not_change_the_output(
        text in template(),
        values in prop::collection::vec((value(), value()), 3),
        is_struct in any::<bool>(),
    ) {
        let template = Template::parse("t", &text).expect("a template");
        let (first, others): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        let other = |(name, (old, new)): (&str, (Value, Value))| if template.reads().field(name) { old } else { new };
        let second = FIELDS.into_iter().zip(first.iter().cloned().zip(others)).map(other).collect();
        let limits = RenderLimits { steps: 2_000, depth: 30, ..RenderLimits::default() };
        let render = |values| template.render(&data(values, is_struct), &limits);
        prop_assert_eq!(render(first), render(second));
    }
}
