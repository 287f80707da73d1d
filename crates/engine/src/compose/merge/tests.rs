//! Properties of merging.

use gotemplate::value::MapKind;
use proptest::prelude::{Just, Strategy as _, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;
use crate::compose::record::{Recording, Silent};

/// Generates configuration values: scalars, lists (some items with a name), mappings.
fn value() -> impl proptest::strategy::Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        (0..9_i64).prop_map(Value::int),
        "[ab]{0,2}".prop_map(|text: String| Value::text(text.as_str())),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::vec(("[abn]|name", inner), 0..4).prop_map(mapping),
        ]
    })
}

fn mapping(entries: Vec<(String, Value)>) -> Value {
    let entries = entries.into_iter().map(|(key, value)| (Key::Text(key.as_str().into()), value)).collect();
    Value::map(MapKind::AnyToAny, entries)
}

fn merged_by(earlier: &Value, later: &Value, strategy: Strategy, sink: &mut impl Sink) -> Value {
    let mut value = earlier.clone();
    Merge { strategy, sink, steps_left: &mut STEPS_MAX.clone() }.merge(&mut value, later);
    value
}

fn merged(earlier: &Value, later: &Value, strategy: Strategy) -> Value {
    merged_by(earlier, later, strategy, &mut Silent)
}

fn shown(value: &Value) -> String {
    String::from_utf8_lossy(&gotemplate::yaml::to_yaml(value).unwrap()).into_owned()
}

fn items(value: &Value) -> usize {
    if let Value::List(list) = value { list.items().len() } else { 0 }
}

proptest! {
    #[test]
    fn an_empty_mapping_or_list_changes_nothing(value in value()) {
        let nothing = match &value {
            Value::Map(_) => mapping(Vec::new()),
            Value::List(_) => Value::list(Vec::new()),
            _ => return Ok(()),
        };
        for strategy in [Strategy::Deep, Strategy::Append] {
            prop_assert_eq!(shown(&merged(&value, &nothing, strategy)), shown(&value));
            prop_assert_eq!(shown(&merged(&nothing, &value, Strategy::Append)), shown(&value));
        }
    }

    #[test]
    fn replacing_gives_the_later_value(earlier in value(), later in value()) {
        prop_assert_eq!(shown(&merged(&earlier, &later, Strategy::Replace)), shown(&later));
    }

    #[test]
    fn appended_lists_have_the_sum_of_lengths(
        earlier in prop::collection::vec(value(), 0..4), later in prop::collection::vec(value(), 0..4),
    ) {
        let both = merged(&Value::list(earlier.clone()), &Value::list(later.clone()), Strategy::Append);
        prop_assert_eq!(items(&both), earlier.len() + later.len());
        let deep = merged(&Value::list(earlier.clone()), &Value::list(later.clone()), Strategy::Deep);
        prop_assert!((earlier.len()..=earlier.len() + later.len()).contains(&items(&deep)));
    }

    #[test]
    fn merged_map_has_the_keys_of_both(earlier in value(), later in value()) {
        let both = merged(&earlier, &later, Strategy::Deep);
        if let (Value::Map(earlier), Value::Map(later), Value::Map(both)) = (&earlier, &later, &both) {
            let keys: std::collections::BTreeSet<_> = earlier.entries().keys().chain(later.entries().keys()).collect();
            prop_assert_eq!(both.entries().keys().collect::<Vec<_>>(), keys.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn recording_changes_nothing(earlier in value(), later in value()) {
        for strategy in [Strategy::Deep, Strategy::Append, Strategy::Replace] {
            let recorded = merged_by(&earlier, &later, strategy, &mut Recording::default());
            prop_assert_eq!(shown(&recorded), shown(&merged(&earlier, &later, strategy)));
        }
    }
}

#[test]
fn a_value_that_others_share_is_not_changed() {
    let shared = Value::list(vec![Value::int(1)]);
    let both = merged(&shared, &shared, Strategy::Deep);
    assert_eq!((items(&shared), items(&both)), (1, 2));
}
