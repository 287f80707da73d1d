//! Transactions: statements with their parameters and results.

use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{AssertSqlSafe, Column as _, Postgres, Row as _, Sqlite, TypeInfo as _, ValueRef as _};

use super::dialect::Dialect;
use super::error::DatabaseError;
use super::row::{FromRow, Row, read_all};
use super::rows::Rows;
use super::value::SqlValue;

/// Which transactions may run at the same time as this one, of those that change reported or desired content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Other transactions that store reports: each locks the rows of its own reconcilers.
    Reports,
    /// None: this transaction changes desired content, or which reconcilers count. Both affect all transactions that store reports.
    Alone,
}

/// The number of PostgreSQL's advisory lock for this: `kalypso` in ASCII. Of the rest of the hub, only migrations take an advisory lock, with another
/// number.
const TURN_LOCK: i64 = 0x6b_61_6c_79_70_73_6f;

/// Settings of PostgreSQL for [`Transaction::follow_indexes`]. The compilation of expressions takes longer than such a statement.
const FOLLOW_INDEXES: &str = "set local join_collapse_limit = 1; set local enable_seqscan = off; \
    set local enable_hashjoin = off; set local enable_mergejoin = off; set local jit = off";

/// A transaction of the database.
#[derive(Debug)]
pub enum Transaction {
    /// On SQLite.
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    /// On PostgreSQL.
    Postgres(sqlx::Transaction<'static, Postgres>),
}

impl Transaction {
    /// The SQL dialect of the database.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Takes the lock for this kind of change, until the end of the transaction. It must be the first call: rows that were read earlier could
    /// have been changed by another transaction. SQLite needs no lock: it has one writer.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn take(&mut self, turn: Turn) -> Result<(), DatabaseError> {
        if let Self::Sqlite(_) = self {
            return Ok(());
        }
        let lock = match turn {
            Turn::Reports => "pg_advisory_xact_lock_shared",
            Turn::Alone => "pg_advisory_xact_lock",
        };
        self.execute(&format!("select 1 from {lock}($1)"), vec![TURN_LOCK.into()]).await
    }

    /// Makes the other statements of this transaction follow indexes, with their joins in the order of their text, as on SQLite.
    ///
    /// For statements that read a page with thousands of rows. The planner of PostgreSQL may read whole tables once for such a page, which is the best plan for
    /// one page. For all pages together, it is work that grows with the square of the rows.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn follow_indexes(&mut self) -> Result<(), DatabaseError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_) => self.run(FOLLOW_INDEXES).await,
        }
    }

    /// Runs a statement and returns its rows.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error; or the rows have another type.
    pub async fn query<T: FromRow>(&mut self, sql: &str, parameters: Vec<SqlValue>) -> Result<Vec<T>, DatabaseError> {
        read_all(self.rows(sql, parameters).await?, sql)
    }

    /// Runs a statement and returns its first row, if there is any.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn first<T: FromRow>(
        &mut self,
        sql: &str,
        parameters: Vec<SqlValue>,
    ) -> Result<Option<T>, DatabaseError> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    /// Runs a statement that always has a row, and returns that row.
    ///
    /// # Errors
    /// As [`Self::query`]; and if there is no row.
    pub async fn one<T: FromRow>(&mut self, sql: &str, parameters: Vec<SqlValue>) -> Result<T, DatabaseError> {
        let first = self.first(sql, parameters).await?;
        first.ok_or_else(|| DatabaseError::NoRow { statement: sql.to_owned() })
    }

    /// Whether a statement returns any row.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn exists(&mut self, sql: &str, parameters: Vec<SqlValue>) -> Result<bool, DatabaseError> {
        Ok(!self.rows(sql, parameters).await?.is_empty())
    }

    /// Runs a statement and ignores its rows.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn execute(&mut self, sql: &str, parameters: Vec<SqlValue>) -> Result<(), DatabaseError> {
        self.rows(sql, parameters).await.map(drop)
    }

    /// Runs a statement whose columns are not known at compile time, and returns its rows without conversion.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn rows(&mut self, sql: &str, parameters: Vec<SqlValue>) -> Result<Vec<Row>, DatabaseError> {
        tracing::trace!(sql, "database statement");
        match self {
            Self::Sqlite(transaction) => query_sqlite(&mut **transaction, sql, parameters).await,
            Self::Postgres(transaction) => query_postgres(&mut **transaction, sql, parameters).await,
        }
    }

    /// Runs a statement and passes each row to `take`. So the result can be larger than the memory.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error; or `take` returns an error.
    pub async fn each<E: From<DatabaseError>>(
        &mut self,
        sql: &str,
        parameters: Vec<SqlValue>,
        mut take: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let query = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(transaction) => {
                let query = parameters.into_iter().fold(sqlx::query(query), bind_sqlite);
                let mut rows = query.fetch(&mut **transaction);
                while let Some(row) = rows.try_next().await.map_err(DatabaseError::from)? {
                    take(of_sqlite(&row)?)?;
                }
            }
            Self::Postgres(transaction) => {
                let query = parameters.into_iter().fold(sqlx::query(query), bind_postgres);
                let mut rows = query.fetch(&mut **transaction);
                while let Some(row) = rows.try_next().await.map_err(DatabaseError::from)? {
                    take(of_postgres(&row)?)?;
                }
            }
        }
        Ok(())
    }

    /// Runs a statement that reads `rows` as the table `source`, and returns its rows.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub async fn with<T: FromRow>(&mut self, rows: Rows, statement: &str) -> Result<Vec<T>, DatabaseError> {
        let mut answers = Vec::new();
        for (sql, parameters) in rows.statements(self.dialect(), statement) {
            answers.extend(self.query(&sql, parameters).await?);
        }
        Ok(answers)
    }

    /// Runs a statement that reads `rows` as the table `source`, and ignores its rows.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn execute_with(&mut self, rows: Rows, statement: &str) -> Result<(), DatabaseError> {
        for (sql, parameters) in rows.statements(self.dialect(), statement) {
            self.execute(&sql, parameters).await?;
        }
        Ok(())
    }

    /// Runs several statements without parameters.
    ///
    /// # Errors
    /// The database can't be reached, or returns an error.
    pub async fn run(&mut self, sql: &str) -> Result<(), DatabaseError> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Sqlite(transaction) => sql.execute(&mut **transaction).await.map(|_| ())?,
            Self::Postgres(transaction) => sql.execute(&mut **transaction).await.map(|_| ())?,
        }
        Ok(())
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// The commit failed. Then nothing of the transaction is stored.
    pub async fn commit(self) -> Result<(), DatabaseError> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await?,
            Self::Postgres(transaction) => transaction.commit().await?,
        }
        Ok(())
    }
}

pub(super) async fn query_sqlite<'c, E>(
    executor: E,
    sql: &str,
    parameters: Vec<SqlValue>,
) -> Result<Vec<Row>, DatabaseError>
where
    E: sqlx::Executor<'c, Database = Sqlite>,
{
    let query = parameters.into_iter().fold(sqlx::query(AssertSqlSafe(sql.to_owned())), bind_sqlite);
    executor.fetch_all(query).await?.iter().map(of_sqlite).collect()
}

pub(super) async fn query_postgres<'c, E>(
    executor: E,
    sql: &str,
    parameters: Vec<SqlValue>,
) -> Result<Vec<Row>, DatabaseError>
where
    E: sqlx::Executor<'c, Database = Postgres>,
{
    let query = parameters.into_iter().fold(sqlx::query(AssertSqlSafe(sql.to_owned())), bind_postgres);
    executor.fetch_all(query).await?.iter().map(of_postgres).collect()
}

fn bind_sqlite(query: Query<'_, Sqlite, SqliteArguments>, value: SqlValue) -> Query<'_, Sqlite, SqliteArguments> {
    match value {
        SqlValue::Int(number) => query.bind(number),
        SqlValue::Text(text) => query.bind(text),
        SqlValue::Ints(numbers) => query.bind(serde_json::json!(numbers).to_string()),
        SqlValue::Texts(texts) => query.bind(serde_json::json!(texts).to_string()),
        SqlValue::OptionalInts(numbers) => query.bind(serde_json::json!(numbers).to_string()),
        SqlValue::OptionalTexts(texts) => query.bind(serde_json::json!(texts).to_string()),
    }
}

fn bind_postgres(query: Query<'_, Postgres, PgArguments>, value: SqlValue) -> Query<'_, Postgres, PgArguments> {
    match value {
        SqlValue::Int(number) => query.bind(number),
        SqlValue::Text(text) => query.bind(text),
        SqlValue::Ints(numbers) => query.bind(numbers),
        SqlValue::Texts(texts) => query.bind(texts),
        SqlValue::OptionalInts(numbers) => query.bind(numbers),
        SqlValue::OptionalTexts(texts) => query.bind(texts),
    }
}

fn of_sqlite(row: &SqliteRow) -> Result<Row, DatabaseError> {
    let value = |index| {
        let raw = row.try_get_raw(index)?;
        let is_text = raw.type_info().name() == "TEXT";
        Ok(match (raw.is_null(), is_text) {
            (true, _) => SqlValue::Int(None),
            (false, true) => SqlValue::Text(Some(row.try_get(index)?)),
            (false, false) => SqlValue::Int(Some(row.try_get(index)?)),
        })
    };
    (0..row.len()).map(value).collect::<Result<_, sqlx::Error>>().map(Row).map_err(Into::into)
}

fn of_postgres(row: &PgRow) -> Result<Row, DatabaseError> {
    let value = |index: usize| {
        Ok(match row.column(index).type_info().name() {
            "INT8" => SqlValue::Int(row.try_get(index)?),
            "INT4" => SqlValue::Int(row.try_get::<Option<i32>, _>(index)?.map(i64::from)),
            "INT2" => SqlValue::Int(row.try_get::<Option<i16>, _>(index)?.map(i64::from)),
            "BOOL" => SqlValue::Int(row.try_get::<Option<bool>, _>(index)?.map(i64::from)),
            _ => SqlValue::Text(row.try_get(index)?),
        })
    };
    (0..row.len()).map(value).collect::<Result<_, sqlx::Error>>().map(Row).map_err(Into::into)
}
