//! What a template is not said to read has no influence on what it gives, however the data wanders through it.

use std::sync::Arc;

use gotemplate::value::Struct;
use gotemplate::{Limits, Template, Value};
use proptest::prelude::*;

const FIELDS: [&str; 3] = ["A", "B", "C"];

/// A term or a call.
fn expression() -> impl Strategy<Value = String> {
    let terms = [".", "$", "$x", "$y", ".A", "$.B", "$x.C", "$y.A", ".A.B", "(.).B", "($x).A.C", "1", "\"A\""];
    prop::sample::select(terms.to_vec()).prop_map(str::to_owned).prop_recursive(2, 6, 2, |inner| {
        let calls =
            ["($a)", "(or $a $b)", "(index $a $b)", "($a | toJson)", "(dict \"A\" $a)", "(list $a $b)", "($a).B"];
        (prop::sample::select(calls.to_vec()), inner.clone(), inner)
            .prop_map(|(call, first, second)| call.replace("$a", &first).replace("$b", &second))
    })
}

/// A few nodes.
fn nodes() -> impl Strategy<Value = String> {
    let nodes = [
        "{{ @ }}",
        "{{ $x := @ }}",
        "{{ $y = @ }}",
        "{{ $ = @ }}",
        "{{ template \"d\" @ }}",
        "{{ template \"e\" @ }}",
        "{{ if @ }}-{{ end }}",
    ];
    let node = (prop::sample::select(nodes.to_vec()), expression()).prop_map(|(node, value)| node.replace('@', &value));
    prop::collection::vec(node, 1..4).prop_map(|nodes| nodes.concat()).prop_recursive(3, 12, 2, |inner| {
        let blocks = [
            "{{ with @ }}<{{ else }}<{{ end }}",
            "{{ range @ }}<{{ else }}<{{ end }}",
            "{{ with $x := @ }}<{{ end }}<",
        ];
        (prop::sample::select(blocks.to_vec()), expression(), inner.clone(), inner).prop_map(
            |(block, value, first, second)| {
                block.replace('@', &value).replacen('<', &first, 1).replacen('<', &second, 1)
            },
        )
    })
}

/// A template that defines and calls two others.
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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn what_is_not_read_does_not_matter(
        text in template(),
        values in prop::collection::vec((value(), value()), 3),
        is_struct in any::<bool>(),
    ) {
        let template = Template::parse("t", &text).expect("a template");
        let (first, others): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        let other = |(name, (old, new)): (&str, (Value, Value))| if template.reads().field(name) { old } else { new };
        let second = FIELDS.into_iter().zip(first.iter().cloned().zip(others)).map(other).collect();
        let limits = Limits { steps: 2_000, depth: 30, ..Limits::default() };
        let render = |values| template.render(&data(values, is_struct), &limits);
        prop_assert_eq!(render(first), render(second));
    }
}
