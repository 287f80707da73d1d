//! Values of parameters and columns.

use hub_api::timestamp::Timestamp;

/// A value of a parameter or a column. Timestamps are integers, in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// An integer, or null.
    Int(Option<i64>),
    /// A text, or null.
    Text(Option<String>),
    /// Several integers, for `any_int`.
    Ints(Vec<i64>),
    /// Several texts, for `any_text`.
    Texts(Vec<String>),
    /// A column of integers.
    OptionalInts(Vec<Option<i64>>),
    /// A column of texts.
    OptionalTexts(Vec<Option<String>>),
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for SqlValue {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for SqlValue {
    fn from(is: bool) -> Self {
        Self::Int(Some(i64::from(is)))
    }
}

impl From<Timestamp> for SqlValue {
    fn from(timestamp: Timestamp) -> Self {
        Self::Int(Some(timestamp.millis()))
    }
}

impl From<Option<Timestamp>> for SqlValue {
    fn from(timestamp: Option<Timestamp>) -> Self {
        Self::Int(timestamp.map(Timestamp::millis))
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<&str>> for SqlValue {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<Option<String>> for SqlValue {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl SqlValue {
    /// The type of the value, for errors.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Int(None) | Self::Text(None) => "null",
            Self::Int(Some(_)) => "an integer",
            Self::Text(Some(_)) => "a text",
            Self::Ints(_) | Self::Texts(_) | Self::OptionalInts(_) | Self::OptionalTexts(_) => "a list",
        }
    }

    /// Whether the value is null. In SQLite, a null has no type.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Int(None) | Self::Text(None))
    }
}

impl From<Vec<i64>> for SqlValue {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Ints(numbers)
    }
}

impl From<Vec<String>> for SqlValue {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}
