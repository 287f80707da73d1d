//! Functions that make and split lists.

use std::sync::Arc;

use super::arguments::{any, int, list, rest};
use super::convert::to_int64;
use super::defaults::is_empty;
use super::equality::deep_equal;
use super::{function, variadic};
use crate::function::{Call, Function, FunctionError, Type};
use crate::nesting::resolve;
use crate::value::{IntKind, List, ListKind, Value};

use Type::{Any, Int};

pub(super) const FUNCTIONS: &[Function] = &[
    function("append", &[Any, Any], push),
    function("compact", &[Any], compact),
    variadic(function("concat", &[Any], concat)),
    function("first", &[Any], |_, args| {
        Ok(list(args, 0, "Cannot find first on type")?.items().first().cloned().unwrap_or(Value::Nil))
    }),
    function("has", &[Any, Any], has),
    function("initial", &[Any], |call, args| {
        let items = list(args, 0, "Cannot find initial on type")?.items();
        part(call, items.split_last().map(|(_, items)| items))
    }),
    function("last", &[Any], |_, args| {
        Ok(list(args, 0, "Cannot find last on type")?.items().last().cloned().unwrap_or(Value::Nil))
    }),
    variadic(function("list", &[Any], |_, args| Ok(Value::list(args.to_vec())))),
    function("prepend", &[Any, Any], prepend),
    function("push", &[Any, Any], push),
    function("rest", &[Any], |call, args| {
        let items = list(args, 0, "Cannot find rest on type")?.items();
        part(call, items.split_first().map(|(_, items)| items))
    }),
    function("reverse", &[Any], reverse),
    variadic(function("slice", &[Any, Any], slice)),
    variadic(function("tuple", &[Any], |_, args| Ok(Value::list(args.to_vec())))),
    function("uniq", &[Any], uniq),
    function("until", &[Int], |call, args| {
        let stop = int(args, 0)?;
        counted(call, 0, stop, if stop < 0 { -1 } else { 1 })
    }),
    function("untilStep", &[Int, Int, Int], |call, args| counted(call, int(args, 0)?, int(args, 1)?, int(args, 2)?)),
    variadic(function("without", &[Any, Any], without)),
];

/// Makes a `[]interface {}` of these items, and charges for it.
fn charged_list<'a>(call: &mut Call<'_>, items: impl IntoIterator<Item = &'a Value>) -> Result<Value, FunctionError> {
    let items: Vec<Value> = items.into_iter().cloned().collect();
    call.budget.steps(items.len() as u64)?;
    Ok(Value::list(items))
}

/// Makes a list of the remaining items, or Go's nil slice for `None`.
fn part(call: &mut Call<'_>, items: Option<&[Value]>) -> Result<Value, FunctionError> {
    items.map_or_else(|| Ok(Value::nil_list()), |items| charged_list(call, items))
}

fn push(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    charged_list(call, list(args, 0, "Cannot push on type")?.items().iter().chain([any(args, 1)]))
}

fn prepend(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    charged_list(call, [any(args, 1)].into_iter().chain(list(args, 0, "Cannot prepend on type")?.items()))
}

fn reverse(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    charged_list(call, list(args, 0, "Cannot find reverse on type")?.items().iter().rev())
}

fn compact(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let items = list(args, 0, "Cannot compact on type")?.items();
    call.budget.steps(items.len() as u64)?;
    let items = items.iter().filter(|item| !is_empty(call.changes, item));
    Ok(Value::list(items.cloned().collect()))
}

fn concat(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let mut all = Vec::new();
    for index in 0..args.len() {
        let items = list(args, index, "Cannot concat as a list type")?.items();
        call.budget.steps(items.len() as u64)?;
        all.extend(items.iter().cloned());
    }
    Ok(if all.is_empty() { Value::nil_list() } else { Value::list(all) })
}

fn has(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    if let Value::Nil | Value::Missing = any(args, 1) {
        return Ok(Value::Bool(false));
    }
    let items = list(args, 1, "Cannot find has on type")?.items();
    let item_to_find = resolve(any(args, 0), call.changes, call.budget)?;
    for item in items {
        if deep_equal(&item_to_find, &resolved_item(call, item)?) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

/// The item with all changes of this rendering, to compare it.
fn resolved_item(call: &mut Call<'_>, item: &Value) -> Result<Value, FunctionError> {
    call.budget.steps(1)?;
    resolve(item, call.changes, call.budget)
}

fn uniq(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let items = list(args, 0, "Cannot find uniq on type")?.items();
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for item in items {
        let comparable = resolved_item(call, item)?;
        if !contains(call, &seen, &comparable)? {
            seen.push(comparable);
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn without(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let items = list(args, 0, "Cannot find without on type")?.items();
    let mut excluded = Vec::new();
    for value in rest(args, 1) {
        excluded.push(resolved_item(call, value)?);
    }
    let mut kept = Vec::new();
    for item in items {
        let comparable = resolved_item(call, item)?;
        if !contains(call, &excluded, &comparable)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

/// Whether `value` is one of `values`. Comparing simple values costs less than a step each. Comparing lists and maps costs steps at all levels.
fn contains(call: &mut Call<'_>, values: &[Value], value: &Value) -> Result<bool, FunctionError> {
    let is_container = matches!(value, Value::List(_) | Value::Map(_));
    if !is_container {
        let words = if let Value::Text(text) = value { text.len() as u64 / 1_024 } else { 0 };
        call.budget.steps((values.len() as u64).saturating_mul(1 + words) / 16)?;
        return Ok(values.iter().any(|other| deep_equal(value, other)));
    }
    for other in values {
        resolve(value, call.changes, call.budget)?;
        if deep_equal(value, other) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `slice list [from [to]]`. Unlike the other functions, it keeps the type of the list, and returns nil for an empty list.
fn slice(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let list = list(args, 0, "list should be type of slice or array but")?;
    if list.items().is_empty() {
        return Ok(Value::Nil);
    }
    let from = args.get(1).map_or(0, to_int64);
    let to = args.get(2).map_or(list.items().len() as i64, to_int64);
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let items = range.and_then(|(from, to)| list.items().get(from..to));
    let items = items.ok_or_else(|| FunctionError::error("reflect.Value.Slice: slice index out of bounds"))?;
    call.budget.steps(items.len() as u64)?;
    Ok(Value::List(Arc::new(List::new(list.kind, items.to_vec()))))
}

fn counted(call: &mut Call<'_>, start: i64, stop: i64, step: i64) -> Result<Value, FunctionError> {
    let (distance, stride) = (i128::from(stop) - i128::from(start), i128::from(step));
    let same_direction = distance.signum() == stride.signum() && stride != 0;
    let count = if same_direction { (distance.abs() + stride.abs() - 1) / stride.abs() } else { 0 };
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    call.budget.steps(count)?;
    let items =
        (0..count as i64).map(|round| Value::Int(start.wrapping_add(round.wrapping_mul(step)), IntKind::Int)).collect();
    Ok(Value::List(Arc::new(List::new(ListKind::Int, items))))
}
