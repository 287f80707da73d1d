//! The hub's database: SQLite or PostgreSQL.
//!
//! The same statements and the same tests run on both. The few fragments that differ are in [`Dialect`]. `sqlite::memory:` is for tests and experiments.

pub mod backup;
mod catalog;
pub mod checkpoint;
mod database;
mod dialect;
mod error;
mod ids;
mod migrations;
mod parameters;
mod postgres;
mod row;
mod rows;
mod sqlite;
mod transaction;
mod value;

use std::time::Duration;

pub use catalog::{Table, tables};
pub use database::{Database, DatabaseUrl, DatabaseUrlError};
pub use dialect::Dialect;
pub use error::{ColumnError, DatabaseError};
pub use ids::{
    BranchId, CommitId, CountRecordId, DeploymentId, EnvironmentId, HostId, NotificationId, PlaceGroupId, PlaceId,
    ReconcilerId, RevisionId, TallyId, TargetId, WorkloadId, WorkloadVersionId,
};
pub use parameters::Parameters;
pub use row::{Columns, FromColumn, FromRow, Row};
pub use rows::{ColumnType, Rows};
pub use transaction::{Transaction, Turn};
pub use value::SqlValue;

/// How long to wait for a connection before the database counts as unreachable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of connections for questions.
const READERS: u32 = 8;
