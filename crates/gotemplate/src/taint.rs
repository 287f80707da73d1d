//! Taint: which values come from texts of an untrusted source, and how functions pass this on.
//!
//! Untrusted texts are data in every pass: text in them that looks like an action is never evaluated. Every value that is made of a tainted value is
//! tainted too. So decoding, cutting and joining can't turn data into a template. Values that only choose (conditions, the key of `index`) do not
//! taint the result.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::fuel::{Exhausted, Fuel};
use crate::heap::Heap;
use crate::value::{Key, List, Map, Value};

/// The source of a text. If several texts are combined, the highest taint applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taint {
    /// A trusted source: the author of the template, or data that the author trusts.
    #[default]
    None,
    /// An untrusted source, but the text is a checked name of letters, digits, `-` and `.`. It is harmless as long as it is not decoded.
    Name,
    /// An untrusted source, but a function has written a list or map of such texts, with all the quotes that they need.
    Structured,
    /// An untrusted source.
    Raw,
}

/// A value that is not a text, and comes from tainted texts. Exists only in the executor, and is never an item of a list or map.
#[derive(Clone, Debug)]
pub struct Tainted {
    /// The value itself: neither tainted, nor missing, nor a text.
    pub(crate) value: Value,
    pub(crate) taint: Taint,
}

/// A range of an output that comes from tainted texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaintedRange {
    /// The range, in bytes.
    pub range: Range<usize>,
    /// Whether the texts are unquoted or were changed. Otherwise they are in a list or map that a function wrote.
    pub is_raw: bool,
}

/// An output, with the ranges that come from tainted texts, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tainted_ranges: Vec<TaintedRange>,
}

impl Output {
    /// Appends bytes with a taint.
    pub(crate) fn write(&mut self, bytes: &[u8], taint: Taint) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.taint_from(start, taint);
    }

    /// Taints the output from the byte `start` on.
    pub(crate) fn taint_from(&mut self, start: usize, taint: Taint) {
        let range = start..self.bytes.len();
        if taint >= Taint::Structured && !range.is_empty() {
            self.tainted_ranges.push(TaintedRange { range, is_raw: taint == Taint::Raw });
        }
    }

    /// Appends a part of a text with the taints that it has in that text.
    pub(crate) fn copy(&mut self, source: &[u8], tainted_ranges: &[TaintedRange], part: Range<usize>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(source.get(part.clone()).unwrap_or_default());
        let first = tainted_ranges.partition_point(|tainted| tainted.range.end <= part.start);
        for tainted in tainted_ranges.get(first..).unwrap_or_default() {
            if tainted.range.start >= part.end {
                break;
            }
            let (from, to) = (tainted.range.start.max(part.start), tainted.range.end.min(part.end));
            let range = start + from - part.start..start + to - part.start;
            self.tainted_ranges.push(TaintedRange { range, is_raw: tainted.is_raw });
        }
    }
}

/// Whether any of these tainted ranges, which are in order, contains a byte of `range`.
pub(crate) fn overlaps(tainted_ranges: &[TaintedRange], range: &Range<usize>) -> bool {
    let first = tainted_ranges.partition_point(|tainted| tainted.range.end <= range.start);
    tainted_ranges.get(first).is_some_and(|tainted| tainted.range.start < range.end)
}

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

    /// Records in `heap` that a function has put a tainted value into an existing map.
    pub(crate) fn record_changes(self, name: &str, heap: &mut Heap) {
        if self.all > Taint::None && IN_PLACE.contains(&name) {
            heap.has_tainted_changes = true;
            // A number in a map does not carry its taint, so every value that this rendering makes from now on gets it.
            heap.taint = heap.taint.max(self.hidden);
        }
    }
}

impl Value {
    /// The value with at least this taint. Missing values, nil and booleans have no taint.
    #[must_use]
    pub(crate) fn tainted(self, taint: Taint) -> Self {
        match self {
            value if taint == Taint::None => value,
            value @ (Self::Missing | Self::Nil | Self::Bool(_)) => value,
            Self::Text(text) => Self::Text(text.tainted(taint)),
            Self::Tainted(known) if known.taint >= taint => Self::Tainted(known),
            Self::Tainted(known) => Self::Tainted(Arc::new(Tainted { value: known.value.clone(), taint })),
            value => Self::Tainted(Arc::new(Tainted { value, taint })),
        }
    }

    /// The value as functions get it, and the taint that this value does not carry itself.
    pub(crate) fn without_taint(self) -> (Self, Taint) {
        match self {
            Self::Tainted(tainted) => (tainted.value.clone(), tainted.taint),
            value => (value, Taint::None),
        }
    }

    /// The value without the [`Value::Tainted`] wrapper.
    pub(crate) fn plain(&self) -> &Self {
        match self {
            Self::Tainted(tainted) => &tainted.value,
            value => value,
        }
    }

    /// The highest taint of everything in the value, without the changes of this rendering.
    pub(crate) fn taint(&self) -> Taint {
        match self {
            Self::Text(text) => text.taint(),
            Self::List(list) => list.taint(),
            Self::Map(map) => map.taint(),
            Self::Struct(fields) => fields.fields.iter().map(|(_, value)| value.taint()).max().unwrap_or_default(),
            Self::Tainted(tainted) => tainted.taint,
            _ => Taint::None,
        }
    }

    /// A tainted list or map as a plain one, whose items or entries have this taint. None if the value has no [`Value::Tainted`] wrapper.
    pub(crate) fn with_item_taints(&self, heap: &Heap, fuel: &mut Fuel) -> Result<Option<Self>, Exhausted> {
        let Self::Tainted(tainted) = self else { return Ok(None) };
        let taint = tainted.taint;
        Ok(Some(match &tainted.value {
            Self::List(list) => {
                fuel.steps(list.items.len() as u64)?;
                Self::tainted_list(list, taint)
            }
            Self::Map(map) => {
                let entries = heap.entries(map);
                fuel.steps(entries.len() as u64)?;
                let entry = |(key, value): (&Key, &Self)| (key.clone().tainted(taint), value.clone().tainted(taint));
                Self::map(map.kind, entries.iter().map(entry).collect())
            }
            other => other.clone(),
        }))
    }

    fn tainted_list(list: &List, taint: Taint) -> Self {
        let items = list.items.iter().map(|item| item.clone().tainted(taint));
        Self::List(Arc::new(List::new(list.kind, items.collect())))
    }

    /// Whether the value is a number, a time or a version: not a text, and not a value that contains texts.
    fn is_plain_scalar(&self) -> bool {
        !matches!(
            self,
            Self::Missing
                | Self::Nil
                | Self::Bool(_)
                | Self::Text(_)
                | Self::List(_)
                | Self::Map(_)
                | Self::Struct(_)
                | Self::Tainted(_)
        )
    }
}

impl Key {
    pub(crate) fn taint(&self) -> Taint {
        if let Self::Text(text) = self { text.taint() } else { Taint::None }
    }

    fn tainted(self, taint: Taint) -> Self {
        if let Self::Text(text) = self { Self::Text(text.tainted(taint)) } else { self }
    }
}

/// The highest taint of everything in a value, with the changes of this rendering. Visits each list and map once, and only if maps were changed.
pub(crate) fn taint_of(value: &Value, heap: &Heap, fuel: &mut Fuel) -> Result<Taint, Exhausted> {
    let mut taint = value.taint();
    if !heap.has_tainted_changes || !matches!(value.plain(), Value::List(_) | Value::Map(_) | Value::Struct(_)) {
        return Ok(taint);
    }
    let (mut seen, mut rest) = (BTreeSet::new(), vec![value.plain()]);
    while let Some(value) = rest.pop() {
        taint = taint.max(value.taint());
        match value {
            Value::List(list) if seen.insert(Arc::as_ptr(list) as usize) => {
                fuel.steps(list.items.len() as u64)?;
                rest.extend(&list.items);
            }
            Value::Map(map) if seen.insert(Arc::as_ptr(map) as usize) => {
                let entries = heap.entries(map);
                fuel.steps(entries.len() as u64)?;
                taint = entries.keys().map(Key::taint).fold(taint, Taint::max);
                rest.extend(entries.values());
            }
            Value::Struct(fields) => rest.extend(fields.fields.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    Ok(taint)
}

/// The highest taint of the items of a list.
pub(crate) fn of_items(items: &[Value]) -> Taint {
    items.iter().map(Value::taint).max().unwrap_or_default()
}

/// The highest taint of the entries of a map.
pub(crate) fn of_map(map: &Map) -> Taint {
    map.entries.iter().map(|(key, value)| key.taint().max(value.taint())).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{self, Name};

    #[test]
    fn every_function_that_is_handled_with_less_care_exists() {
        for name in HANDLINGS.iter().flat_map(|(_, names)| *names) {
            assert!(matches!(names::find(name), Name::Callee(_)), "{name}");
        }
    }
}
