//! The tables of a database, with the types of their columns.

use super::dialect::Dialect;
use super::error::DatabaseError;
use super::rows::ColumnType;
use super::transaction::Transaction;

/// A table, from the catalog of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The names and types of its columns.
    pub columns: Vec<(String, ColumnType)>,
}

impl Table {
    /// The select list for all columns, with timestamps in milliseconds.
    pub fn selection(&self, dialect: Dialect) -> String {
        let column = |(name, kind): &(String, ColumnType)| match kind {
            ColumnType::Timestamp => dialect.millis(name),
            ColumnType::Int | ColumnType::Text => name.clone(),
        };
        self.columns.iter().map(column).collect::<Vec<_>>().join(", ")
    }
}

/// All tables of the hub, sorted by name.
///
/// # Errors
/// The database can't be reached, or returns an error.
pub async fn tables(transaction: &mut Transaction) -> Result<Vec<Table>, DatabaseError> {
    let sql = match transaction.dialect() {
        Dialect::Sqlite => {
            "select t.name, c.name, lower(c.type) from sqlite_schema t join pragma_table_info(t.name) c \
             where t.type = 'table' and t.name not like 'sqlite%' and t.name <> '_sqlx_migrations' order by t.name, c.cid"
        }
        Dialect::Postgres => {
            "select table_name::text, column_name::text, data_type::text from information_schema.columns \
             join information_schema.tables using (table_schema, table_name) \
             where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> '_sqlx_migrations' \
             order by table_name collate \"C\", ordinal_position"
        }
    };
    let mut tables: Vec<Table> = Vec::new();
    for (table, column, declared) in transaction.query::<(String, String, String)>(sql, Vec::new()).await? {
        let kind = kind(&column, &declared);
        match tables.last_mut().filter(|last| last.name == table) {
            Some(last) => last.columns.push((column, kind)),
            None => tables.push(Table { name: table, columns: vec![(column, kind)] }),
        }
    }
    Ok(tables)
}

/// The type of a column. SQLite has no type for timestamps: the name of a column shows that it holds one.
fn kind(column: &str, declared: &str) -> ColumnType {
    let is_number = declared.contains("int");
    let is_named_so = ["_on", "_after", "_until"].iter().any(|ending| column.ends_with(ending));
    if declared.starts_with("timestamp") || (is_number && is_named_so) {
        return ColumnType::Timestamp;
    }
    if is_number { ColumnType::Int } else { ColumnType::Text }
}
