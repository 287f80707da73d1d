//! Taints of arguments: how functions pass the taint of their arguments on to their results.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::budget::{Budget, Exhausted};
use crate::map_changes::MapChanges;
use crate::taint::Taint;
use crate::value::{Key, List, Value};

/// How the taint of a function's result depends on the taints of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handling {
    /// The function returns its arguments or parts of them unchanged: they have their own taints.
    Passes,
    /// The function joins texts, or removes blanks.
    Keeps,
    /// The function writes lists and maps with all quotes that they need.
    Writes,
    /// The function creates characters that are not in its arguments.
    Decodes,
    /// All other functions.
    Changes,
}

/// The handling of functions by name. A function that is not listed gets `Changes`, the strictest handling.
const HANDLINGS: &[(Handling, &[&str])] = &[
    (
        Handling::Passes,
        &[
            "append",
            "coalesce",
            "compact",
            "concat",
            "deepCopy",
            "default",
            "dict",
            "first",
            "index",
            "initial",
            "keys",
            "last",
            "list",
            "merge",
            "mergeOverwrite",
            "omit",
            "pick",
            "pluck",
            "prepend",
            "push",
            "rest",
            "reverse",
            "set",
            "slice",
            "ternary",
            "tuple",
            "uniq",
            "unset",
            "values",
            "without",
        ],
    ),
    (
        Handling::Keeps,
        &[
            "cat",
            "indent",
            "join",
            "nindent",
            "print",
            "println",
            "printf",
            "toString",
            "trim",
            "trimPrefix",
            "trimSuffix",
        ],
    ),
    (Handling::Writes, &["stringify", "toJson", "toPrettyJson", "toYaml"]),
    (Handling::Decodes, &["b32dec", "b64dec"]),
];

/// Functions that put their arguments into an existing map.
const IN_PLACE: &[&str] = &["merge", "mergeOverwrite", "set"];

fn handling(name: &str) -> Handling {
    let found = HANDLINGS.iter().find(|(_, names)| names.contains(&name));
    found.map_or(Handling::Changes, |(handling, _)| *handling)
}

/// The taints of a function's arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArgumentTaints {
    /// The highest taint of all arguments.
    pub(crate) all: Taint,
    /// The highest taint of the arguments that were passed without their taint, because the function gets the plain value.
    pub(crate) hidden: Taint,
    /// Whether an argument is a list or map.
    pub(crate) has_container: bool,
}

impl ArgumentTaints {
    /// Returns the result of a function with its taint.
    pub(crate) fn taint(self, name: &str, result: Value) -> Value {
        if self.all == Taint::None {
            return result;
        }
        let mut taint = match handling(name) {
            Handling::Passes => self.hidden,
            Handling::Writes if self.has_container && self.all == Taint::Raw && self.hidden < Taint::Raw => {
                Taint::Structured
            }
            Handling::Decodes => Taint::Raw,
            Handling::Changes if self.all == Taint::Structured => Taint::Raw,
            Handling::Writes | Handling::Keeps | Handling::Changes => self.all,
        };
        if result.is_plain_scalar() {
            // A number can select or create any character.
            taint = Taint::Raw;
        }
        result.tainted(taint)
    }

    /// Records in `changes` that a function has put a tainted value into an existing map.
    pub(crate) fn record_changes(self, name: &str, changes: &mut MapChanges) {
        if self.all > Taint::None && IN_PLACE.contains(&name) {
            changes.has_tainted_changes = true;
            // A number in a map does not carry its taint, so every value that this rendering makes from now on gets it.
            changes.taint = changes.taint.max(self.hidden);
        }
    }
}

impl Value {
    /// A tainted list or map as a plain one, whose items or entries have this taint. None if the value has no [`Value::Tainted`] wrapper.
    pub(crate) fn with_item_taints(
        &self,
        changes: &MapChanges,
        budget: &mut Budget,
    ) -> Result<Option<Self>, Exhausted> {
        let Self::Tainted(tainted) = self else { return Ok(None) };
        let taint = tainted.taint;
        Ok(Some(match &tainted.value {
            Self::List(list) => {
                budget.steps(list.items().len() as u64)?;
                Self::tainted_list(list, taint)
            }
            Self::Map(map) => {
                let entries = changes.entries(map);
                budget.steps(entries.len() as u64)?;
                let entry = |(key, value): (&Key, &Self)| (key.clone().tainted(taint), value.clone().tainted(taint));
                Self::map(map.kind, entries.iter().map(entry).collect())
            }
            other => other.clone(),
        }))
    }

    fn tainted_list(list: &List, taint: Taint) -> Self {
        let items = list.items().iter().map(|item| item.clone().tainted(taint));
        Self::List(Arc::new(List::new(list.kind, items.collect())))
    }
}

/// The highest taint of everything in a value, with the changes of this rendering. Visits each list and map once, and only if maps were changed.
pub(crate) fn taint_of(value: &Value, changes: &MapChanges, budget: &mut Budget) -> Result<Taint, Exhausted> {
    let mut taint = value.taint();
    if !changes.has_tainted_changes || !matches!(value.plain(), Value::List(_) | Value::Map(_) | Value::Struct(_)) {
        return Ok(taint);
    }
    let (mut seen, mut rest) = (BTreeSet::new(), vec![value.plain()]);
    while let Some(value) = rest.pop() {
        taint = taint.max(value.taint());
        match value {
            Value::List(list) if seen.insert(Arc::as_ptr(list) as usize) => {
                budget.steps(list.items().len() as u64)?;
                rest.extend(list.items());
            }
            Value::Map(map) if seen.insert(Arc::as_ptr(map) as usize) => {
                let entries = changes.entries(map);
                budget.steps(entries.len() as u64)?;
                taint = entries.keys().map(Key::taint).fold(taint, Taint::max);
                rest.extend(entries.values());
            }
            Value::Struct(fields) => rest.extend(fields.fields.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    Ok(taint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{self, Name};

    #[test]
    fn taint_handlings_name_existing_functions() {
        for name in HANDLINGS.iter().flat_map(|(_, names)| *names) {
            assert!(matches!(names::find(name), Name::Callee(_)), "{name}");
        }
    }
}
