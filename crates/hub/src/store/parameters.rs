//! Parameters of a statement that is put together in parts.

use hub_api::timestamp::Timestamp;

use super::dialect::Dialect;
use super::value::SqlValue;

/// The parameters of a statement. A part of the statement adds the parameters that it needs.
#[derive(Clone, Debug)]
pub struct Parameters {
    dialect: Dialect,
    values: Vec<SqlValue>,
}

impl Parameters {
    /// No parameters yet.
    pub fn new(dialect: Dialect) -> Self {
        Self::with(dialect, Vec::new())
    }

    /// These parameters, which the statement names `$1`, `$2`, …
    pub fn with(dialect: Dialect, values: Vec<SqlValue>) -> Self {
        Self { dialect, values }
    }

    /// The SQL dialect of the statement.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a parameter and returns its name, such as `$1`.
    pub fn add(&mut self, value: impl Into<SqlValue>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// Adds a timestamp and returns its expression.
    pub fn instant(&mut self, at: Timestamp) -> String {
        let millis = self.add(at);
        self.dialect.instant(&millis)
    }

    /// The condition that a column has a value.
    pub fn equals(&mut self, column: &str, value: impl Into<SqlValue>) -> String {
        format!("{column} = {}", self.add(value))
    }

    /// The condition that a column has one of these integers or ids.
    pub fn any_int(&mut self, column: &str, values: impl Into<SqlValue>) -> String {
        let parameter = self.add(values);
        self.dialect.any_int(column, &parameter)
    }

    /// The condition that a column has one of these texts.
    pub fn any_text(&mut self, column: &str, values: Vec<String>) -> String {
        let parameter = self.add(values);
        self.dialect.any_text(column, &parameter)
    }

    /// The values, in the order of their names.
    pub fn into_values(self) -> Vec<SqlValue> {
        self.values
    }
}
