//! `hash`: a number computed from a value.

use crate::budget::{Budget, Exhausted};
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::{IntKind, Key, Struct, UintKind, Value};
use crate::yaml::NESTING_MAX;

pub(super) const FUNCTION: Function =
    Function { name: "hash", params: &[Type::Any], variadic: false, reads_deeply: true, body: hash };

/// The number of bytes of a text that one step pays for.
const BYTES_PER_STEP: u64 = 64;

/// The hash of github.com/mitchellh/hashstructure 1.1.0 as a decimal number: FNV-1 with 64 bits.
///
/// The hashes of a list's items are chained. The hashes of a map's entries are combined independently of their order. Maps of different Go types have
/// the same hash if their entries have, but `1` and `1.0` have different hashes. Complex numbers can't be hashed: the result is an empty text.
fn hash(call: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let hash = of_value(arguments.first().unwrap_or(&Value::Nil), 0, call.budget)?;
    Ok(Value::text(hash.map_or_else(String::new, |hash| hash.to_string())))
}

/// The hash of `value`. None if it contains a value that can't be hashed.
fn of_value(value: &Value, depth: u32, budget: &mut Budget) -> Result<Option<u64>, Exhausted> {
    // Many sets of values contain the same lists and maps.
    let known = if depth == 1 { value.known() } else { None };
    match known {
        Some(known) => known.hash.get(budget, |budget| computed(value, depth, budget)).copied(),
        None => computed(value, depth, budget),
    }
}

fn computed(value: &Value, depth: u32, budget: &mut Budget) -> Result<Option<u64>, Exhausted> {
    budget.steps(1)?;
    if depth > NESTING_MAX {
        return Err(Exhausted::Depth(NESTING_MAX));
    }
    Ok(Some(match value {
        Value::Missing | Value::Nil => fnv1(&0_i64.to_le_bytes()),
        Value::Bool(yes) => fnv1(&[u8::from(*yes)]),
        Value::Int(number, IntKind::Int32) => fnv1(&(*number as i32).to_le_bytes()),
        Value::Int(number, _) | Value::Duration(number) => fnv1(&number.to_le_bytes()),
        Value::Uint(number, UintKind::Uint | UintKind::Uint64) => fnv1(&number.to_le_bytes()),
        Value::Uint(number, UintKind::Uint8) => fnv1(&[*number as u8]),
        Value::Float(number) => fnv1(&number.to_le_bytes()),
        Value::Complex(..) => return Ok(None),
        Value::Text(text) => {
            budget.steps(text.len() as u64 / BYTES_PER_STEP)?;
            fnv1(text.as_bytes())
        }
        Value::List(list) => {
            let mut hash = 0;
            for item in list.items() {
                let Some(item) = of_value(item, depth + 1, budget)? else { return Ok(None) };
                hash = chained(hash, item);
            }
            hash
        }
        Value::Map(map) => {
            let mut hash = 0;
            for (key, value) in map.entries() {
                let Some(value) = of_value(value, depth + 1, budget)? else { return Ok(None) };
                hash ^= chained(of_key(key), value);
            }
            hash
        }
        Value::Struct(fields) => return of_struct(fields, depth, budget),
        Value::Time(time) => fnv1(&time.to_binary()),
        // A struct without exported fields. Only its name counts.
        Value::Version(_) => fnv1(b"Version"),
        Value::Tainted(tainted) => return of_value(&tainted.value, depth, budget),
    }))
}

/// The hash of a struct: like the hash of a map, but it begins with the type's name without the package.
fn of_struct(fields: &Struct, depth: u32, budget: &mut Budget) -> Result<Option<u64>, Exhausted> {
    let name = fields.type_name.rsplit('.').next().unwrap_or_default();
    let mut hash = fnv1(name.as_bytes());
    for (name, value) in &fields.fields {
        let Some(value) = of_value(value, depth + 1, budget)? else { return Ok(None) };
        hash ^= chained(fnv1(name.as_bytes()), value);
    }
    Ok(Some(hash))
}

fn of_key(key: &Key) -> u64 {
    match key {
        Key::Nil => fnv1(&0_i64.to_le_bytes()),
        Key::Bool(yes) => fnv1(&[u8::from(*yes)]),
        Key::Int(number) => fnv1(&number.to_le_bytes()),
        Key::Uint(number) => fnv1(&number.to_le_bytes()),
        Key::Float(number) => fnv1(&number.0.to_le_bytes()),
        Key::Text(text) => fnv1(text.as_bytes()),
    }
}

fn chained(first: u64, second: u64) -> u64 {
    fnv1_from(fnv1(&first.to_le_bytes()), &second.to_le_bytes())
}

fn fnv1(bytes: &[u8]) -> u64 {
    fnv1_from(0xcbf2_9ce4_8422_2325, bytes)
}

fn fnv1_from(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::super::tests::call;
    use crate::time::Time;
    use crate::value::{Entries, MapKind, Value};

    fn check(value: Value, expected: &str) {
        assert_eq!(call("hash", value), Ok(expected.into()));
    }

    #[test]
    fn scalars() {
        check(Value::text("Dev"), "15593042013045013178");
        check(Value::text(""), "14695981039346656037");
        check(Value::int(1), "16390143479181108970");
        check(Value::Bool(true), "12638153115695167454");
        check(Value::Float(1.5), "12161883048204943186");
        check(Value::Nil, "12161962213042174405");
    }

    #[test]
    fn lists_and_maps() {
        check(Value::list(vec![Value::text("a"), Value::int(1)]), "7438884963231123619");
        check(Value::dict([("a", Value::text("b"))]), "4550450939398240104");
        check(Value::text_map([("a", "b")]), "4550450939398240104");
        check(Value::map(MapKind::AnyToAny, Entries::new()), "0");
    }

    #[test]
    fn times_by_instant_and_offset() {
        // FNV-1 of version 1, the seconds since year 1, no nanoseconds, no offset.
        check(Value::Time(Time::from_unix(1_577_836_800).into()), "10410217582894203818");
        check(Value::Duration(1), "16390143479181108970");
    }

    #[test]
    fn complex_numbers_have_no_hash() {
        check(Value::list(vec![Value::Complex(1.0, 0.0)]), "");
    }
}
