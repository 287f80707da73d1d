//! The taints of values.

use std::sync::Arc;

use super::{Key, Map, Value};
use crate::taint::Taint;

/// A value that is not a text, and comes from tainted texts. Exists only in the executor, and is never an item of a list or map.
#[derive(Clone, Debug)]
pub struct Tainted {
    /// The value itself: neither tainted, nor missing, nor a text.
    pub(crate) value: Value,
    pub(crate) taint: Taint,
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

    /// Whether the value is a number, a time or a version: not a text, and not a value that contains texts.
    pub(crate) fn is_plain_scalar(&self) -> bool {
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

    pub(crate) fn tainted(self, taint: Taint) -> Self {
        if let Self::Text(text) = self { Self::Text(text.tainted(taint)) } else { self }
    }
}

/// The highest taint of the items of a list.
pub(crate) fn of_items(items: &[Value]) -> Taint {
    items.iter().map(Value::taint).max().unwrap_or_default()
}

/// The highest taint of the entries of a map.
pub(crate) fn of_map(map: &Map) -> Taint {
    map.entries.iter().map(|(key, value)| key.taint().max(value.taint())).max().unwrap_or_default()
}
