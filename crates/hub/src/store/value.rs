//! What goes into a database and comes out of it.

use hub_api::timestamp::Timestamp;

/// A value of a parameter or a column. Moments are integers, in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer, or nothing.
    Int(Option<i64>),
    /// A text, or nothing.
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

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Self::Int(Some(i64::from(is)))
    }
}

impl From<Timestamp> for Value {
    fn from(moment: Timestamp) -> Self {
        Self::Int(Some(moment.millis()))
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(moment: Option<Timestamp>) -> Self {
        Self::Int(moment.map(Timestamp::millis))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<i64>> for Value {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Ints(numbers)
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

/// A row of an answer. Columns are taken by their place; a column that is asked for as what it is not holds nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub(super) Vec<Value>);

impl Row {
    /// What is in a column, whatever it is.
    pub fn value(&self, column: usize) -> Option<&Value> {
        self.0.get(column)
    }

    /// The integer in a column.
    pub fn optional_int(&self, column: usize) -> Option<i64> {
        match self.0.get(column) {
            Some(Value::Int(number)) => *number,
            _ => None,
        }
    }

    /// The integer in a column that always has one; 0 where it has none.
    pub fn int(&self, column: usize) -> i64 {
        self.optional_int(column).unwrap_or_default()
    }

    /// Whether a column holds another integer than 0.
    pub fn is(&self, column: usize) -> bool {
        self.int(column) != 0
    }

    /// The moment in a column.
    pub fn moment(&self, column: usize) -> Option<Timestamp> {
        self.optional_int(column).map(Timestamp::from_millis)
    }

    /// The text in a column.
    pub fn optional_text(&self, column: usize) -> Option<&str> {
        match self.0.get(column) {
            Some(Value::Text(text)) => text.as_deref(),
            _ => None,
        }
    }

    /// The text in a column that always has one; empty where it has none.
    pub fn text(&self, column: usize) -> String {
        self.optional_text(column).unwrap_or_default().to_owned()
    }
}
