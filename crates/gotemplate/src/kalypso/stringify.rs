//! `stringify`: a map as YAML text whose values are all valid in the `data` of a `ConfigMap`.

use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;
use crate::yaml;

pub(super) const FUNCTION: Function =
    Function { name: "stringify", params: &[Type::Any], variadic: false, reads_deeply: true, body: stringify };

/// Like `toYaml`, but lists and maps directly inside a map become texts that contain their YAML. Scalars do not change. Neither do the typed slices
/// that sprig makes.
///
/// Microsoft's scheduler does not convert maps with untyped keys. Composed values contain such maps: there its result is not valid as `data`.
fn stringify(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let written = match arguments.first().unwrap_or(&Value::Nil) {
        Value::Map(map) => yaml::to_yaml_of_texts(map.entries(), call.budget)?,
        other => yaml::to_yaml_with(other, call.budget)?,
    };
    Ok(super::without_newline(written))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::call;
    use crate::value::{Entries, Key, Map, MapKind, Value};

    fn check(value: Value, expected: &str) {
        assert_eq!(call("stringify", value), Ok(expected.into()));
    }

    #[test]
    fn nested_maps_and_lists_become_texts_and_scalars_stay() {
        let list = Value::list(vec![Value::int(1), Value::dict([("x", Value::Nil)])]);
        let nested = [("l", list), ("m", Value::text_map([("a", "b")])), ("n", Value::int(2))];
        check(Value::dict(nested), "l: |\n    - 1\n    - x: null\nm: |\n    a: b\n\"n\": 2");
    }

    #[test]
    fn maps_with_untyped_keys_become_texts_too() {
        let untyped = || Value::map(MapKind::AnyToAny, Entries::from([(Key::Int(1), Value::Bool(true))]));
        check(Value::dict([("a", untyped())]), "a: |\n    1: true");
        check(Value::map(MapKind::AnyToAny, Entries::from([(Key::Bool(true), untyped())])), "true: |\n    1: true");
    }

    #[test]
    fn other_values_are_written_as_by_to_yaml() {
        check(Value::list(vec![Value::dict([("a", Value::list(vec![]))])]), "- a: []");
        check(Value::dict([("a", Value::texts(["x"]))]), "a:\n    - x");
        check(Value::text("true"), "\"true\"");
        check(Value::dict([("", Value::Nil); 0]), "{}");
    }

    #[test]
    fn a_map_that_is_changed_afterwards_is_written_again() {
        let key = || Key::Text("a".into());
        let mut inner = Arc::new(Map::new(MapKind::TextToAny, Entries::from([(key(), Value::int(1))])));
        let written = |inner: &Arc<Map>| {
            let outer = Value::dict([("m", Value::Map(Arc::clone(inner)))]);
            (call("hash", outer.clone()).unwrap(), call("stringify", outer).unwrap())
        };
        let before = written(&inner);
        Arc::make_mut(&mut inner).entries_mut().insert(key(), Value::int(2));
        let after = written(&inner);
        assert_eq!(after.1, "m: |\n    a: 2");
        assert_ne!(before.0, after.0);
    }
}
