//! The values of templates: the Go types that occur in Kalypso's data and in the results of sprig's functions.
//!
//! Values are immutable and can be shared between threads. In Go, `set`, `unset` and `merge` change a map in place. Here they record the change in
//! the [`MapChanges`](crate::map_changes::MapChanges) of the current rendering. So data that many renderings share does not change.

mod entries;
mod known;
mod taint;

use std::sync::{Arc, LazyLock, OnceLock};

use crate::taint::Taint;
use crate::text::Text;
use crate::time;
pub use entries::Entries;
use known::Known;
pub use taint::Tainted;

/// A Go value.
#[derive(Clone, Debug)]
pub enum Value {
    /// Go's zero `reflect.Value`: the result of a look-up of a missing map key. Prints `<no value>`. Exists only in the executor and is never an item
    /// of a list or map. Functions get [`Value::Nil`] instead.
    Missing,
    /// A nil `interface {}`: YAML's or JSON's `null`.
    Nil,
    /// `bool`
    Bool(bool),
    /// A signed integer.
    Int(i64, IntKind),
    /// An unsigned integer.
    Uint(u64, UintKind),
    /// `float64`
    Float(f64),
    /// `complex128`: real and imaginary part.
    Complex(f64, f64),
    /// `string`
    Text(Text),
    /// A slice.
    List(Arc<List>),
    /// A map. Use [`MapChanges::entries`](crate::map_changes::MapChanges::entries) to look up entries: it includes the changes of the current rendering.
    Map(Arc<Map>),
    /// A struct with a fixed set of fields. An unknown field is an error, not a missing value.
    Struct(Arc<Struct>),
    /// `time.Time`
    Time(Arc<crate::time::Time>),
    /// `time.Duration`, in nanoseconds.
    Duration(i64),
    /// `*semver.Version`
    Version(Arc<crate::semver::Version>),
    /// A value of another variant, not a text, that comes from tainted texts. Exists only in the executor and is never an item of a list or map.
    /// Functions get the value inside.
    Tainted(Arc<Tainted>),
}

/// The Go type of a signed integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntKind {
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `int32`, also known as `rune`
    Int32,
    /// `time.Month`, an `int` that prints its name
    Month,
    /// `time.Weekday`, an `int` that prints its name
    Weekday,
}

impl IntKind {
    /// The name of a month or a day of the week. None for other kinds of numbers.
    pub(crate) fn name_of(self, number: i64) -> Option<&'static str> {
        match self {
            Self::Month => Some(time::month_name(number)),
            Self::Weekday => Some(time::weekday_name(number)),
            Self::Int | Self::Int64 | Self::Int32 => None,
        }
    }
}

/// The Go type of an unsigned integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UintKind {
    /// `uint`
    Uint,
    /// `uint64`
    Uint64,
    /// `uint8`, also known as `byte`
    Uint8,
}

/// A slice with its Go element type.
#[derive(Debug)]
pub struct List {
    /// The element type.
    pub kind: ListKind,
    items: Vec<Value>,
    /// The highest taint of the items.
    taint: Taint,
    known: OnceLock<Box<Known>>,
}

/// The element type of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// `[]interface {}`
    Any,
    /// `[]string`
    Text,
    /// `[]int`
    Int,
    /// `[]uint8`
    Bytes,
}

/// A map with its Go type.
#[derive(Debug)]
pub struct Map {
    /// The type.
    pub kind: MapKind,
    entries: Entries,
    /// The highest taint of the entries.
    taint: Taint,
    known: OnceLock<Box<Known>>,
}

/// The type of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// `map[string]interface {}`
    TextToAny,
    /// `map[string]string`
    TextToText,
    /// `map[interface {}]interface {}`: the type that yaml.v2 uses for nested mappings
    AnyToAny,
}

/// The key of a map entry. Keys of different types are different: `1` is not `"1"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `nil`
    Nil,
    /// `bool`
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer above the range of `i64`.
    Uint(u64),
    /// A `float64`.
    Float(FloatKey),
    /// A `string`.
    Text(Text),
}

impl Key {
    /// The key as a value.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Nil => Value::Nil,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Int(int) => Value::int(*int),
            Self::Uint(uint) => Value::Uint(*uint, UintKind::Uint64),
            Self::Float(float) => Value::Float(float.0),
            Self::Text(text) => Value::Text(text.clone()),
        }
    }
}

/// A `float64` with a total order, so that it can be a map key.
#[derive(Clone, Copy, Debug)]
pub struct FloatKey(pub f64);

impl Eq for FloatKey {}

impl PartialEq for FloatKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl PartialOrd for FloatKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FloatKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl std::hash::Hash for FloatKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A struct value.
#[derive(Clone, Debug)]
pub struct Struct {
    /// The type's name as Go prints it in errors.
    pub type_name: &'static str,
    /// The fields in declaration order.
    pub fields: Vec<(&'static str, Value)>,
}

/// Go's nil slices: one shared list for each type. Only comparing and encoding distinguish them from empty lists.
static NIL_LISTS: LazyLock<[Arc<List>; 2]> =
    LazyLock::new(|| [ListKind::Any, ListKind::Text].map(|kind| Arc::new(List::new(kind, Vec::new()))));

impl List {
    /// Makes a list of these items.
    pub fn new(kind: ListKind, items: Vec<Value>) -> Self {
        let taint = taint::of_items(&items);
        Self { kind, items, taint, known: OnceLock::new() }
    }

    /// The items.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The items, to change them.
    pub fn items_mut(&mut self) -> &mut Vec<Value> {
        self.known = OnceLock::new();
        &mut self.items
    }

    /// The highest taint of the items when the list was made.
    pub(crate) fn taint(&self) -> Taint {
        self.taint
    }

    /// Whether this is a nil slice, which differs from an empty one in `toJson` and `deepEqual`.
    pub fn is_nil(self: &Arc<Self>) -> bool {
        self.items.is_empty() && NIL_LISTS.iter().any(|list| Arc::ptr_eq(list, self))
    }
}

/// Go's nil map: one shared map. It can't be changed, and is encoded as null.
static NIL_MAP: LazyLock<Arc<Map>> = LazyLock::new(|| Arc::new(Map::new(MapKind::TextToAny, Entries::new())));

impl Map {
    /// Makes a map of these entries.
    pub fn new(kind: MapKind, entries: Entries) -> Self {
        let mut map = Self { kind, entries, taint: Taint::None, known: OnceLock::new() };
        map.taint = taint::of_map(&map);
        map
    }

    /// The entries at the time when the map was made, in the order in which Go prints them.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// The entries, to change them.
    pub fn entries_mut(&mut self) -> &mut Entries {
        self.known = OnceLock::new();
        &mut self.entries
    }

    /// The highest taint of the entries when the map was made.
    pub(crate) fn taint(&self) -> Taint {
        self.taint
    }

    /// Whether this is a nil map.
    pub fn is_nil(self: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, &NIL_MAP)
    }
}

/// A copy is made to change it.
impl Clone for List {
    fn clone(&self) -> Self {
        Self { kind: self.kind, items: self.items.clone(), taint: self.taint, known: OnceLock::new() }
    }
}

/// A copy is made to change it.
impl Clone for Map {
    fn clone(&self) -> Self {
        Self { kind: self.kind, entries: self.entries.clone(), taint: self.taint, known: OnceLock::new() }
    }
}

/// Takes nested values apart one by one: recursive drops of very deeply nested values would overflow the stack.
impl Drop for List {
    fn drop(&mut self) {
        if self.items.iter().any(Value::is_container) {
            take_apart(std::mem::take(&mut self.items));
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.entries.values().any(Value::is_container) {
            take_apart(std::mem::take(&mut self.entries).into_values());
        }
    }
}

fn take_apart(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::List(list) => values
                .extend(Arc::into_inner(list).map(|mut list| std::mem::take(&mut list.items)).into_iter().flatten()),
            Value::Map(map) => {
                let entries = Arc::into_inner(map).map(|mut map| std::mem::take(&mut map.entries));
                values.extend(entries.into_iter().flat_map(Entries::into_values));
            }
            _ => {}
        }
    }
}

impl Value {
    fn is_container(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_))
    }

    /// What functions have made of the list or map. None for other values.
    pub(crate) fn known(&self) -> Option<&Known> {
        match self {
            Self::List(list) => Some(list.known.get_or_init(Box::default)),
            Self::Map(map) => Some(map.known.get_or_init(Box::default)),
            _ => None,
        }
    }

    /// A nil `[]interface {}`.
    pub fn nil_list() -> Self {
        Self::List(Arc::clone(&NIL_LISTS[0]))
    }

    /// A nil `[]string`.
    pub fn nil_texts() -> Self {
        Self::List(Arc::clone(&NIL_LISTS[1]))
    }

    /// A nil `map[string]interface {}`.
    pub fn nil_dict() -> Self {
        Self::Map(Arc::clone(&NIL_MAP))
    }

    /// A `string`.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(text.into())
    }

    /// An `int`.
    pub fn int(number: i64) -> Self {
        Self::Int(number, IntKind::Int)
    }

    /// An `int64`.
    pub fn int64(number: i64) -> Self {
        Self::Int(number, IntKind::Int64)
    }

    /// A `[]interface {}`.
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(Arc::new(List::new(ListKind::Any, items)))
    }

    /// A `[]string`.
    pub fn texts<T: Into<Text>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(Value::text).collect();
        Self::List(Arc::new(List::new(ListKind::Text, items)))
    }

    /// A map of the given kind.
    pub fn map(kind: MapKind, entries: Entries) -> Self {
        Self::Map(Arc::new(Map::new(kind, entries)))
    }

    /// A `map[string]interface {}`.
    pub fn dict<K: Into<Text>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Key::Text(key.into()), value)).collect();
        Self::map(MapKind::TextToAny, entries)
    }

    /// A `map[string]string`.
    pub fn text_map<K: Into<Text>, V: Into<Text>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Key::Text(key.into()), Value::text(value))).collect();
        Self::map(MapKind::TextToText, entries)
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Value};

    #[test]
    fn values_nested_very_deeply_are_dropped_without_recursion() {
        let nested = (0..200_000).fold(Value::Nil, |inner, _| Value::list(vec![inner]));
        let nested = (0..200_000).fold(nested, |inner, _| Value::dict([("k", inner)]));
        drop(nested);
    }

    #[test]
    fn a_nil_list_is_not_an_empty_one() {
        let is_nil = |value| matches!(value, Value::List(list) if List::is_nil(&list));
        assert!(is_nil(Value::nil_list()) && is_nil(Value::nil_texts()));
        assert!(!is_nil(Value::list(Vec::new())));
    }
}
