//! The hub's database: SQLite or PostgreSQL.
//!
//! The two are the twins of this seam: the same statements run on both, with the few fragments of [`Dialect`] that differ, and the same tests.
//! `sqlite::memory:` is the one for tests and for trying something out.

mod catalog;
pub mod checkpoint;
mod database;
mod dialect;
mod error;
mod ids;
mod migrations;
mod parameters;
mod row;
mod rows;
mod transaction;
mod value;

pub use catalog::{Table, tables};
pub use database::{Database, DatabaseUrl, DatabaseUrlError};
pub use dialect::Dialect;
pub use error::{ColumnError, DatabaseError};
pub use ids::{
    BranchId, CommitId, DeploymentId, EnvironmentId, HostId, NotificationId, PlaceGroupId, PlaceId, ReconcilerId,
    RevisionId, TallyId, TargetId, WorkloadId, WorkloadVersionId,
};
pub use parameters::Parameters;
pub use row::{Columns, FromColumn, FromRow, Row};
pub use rows::{Kind, Rows};
pub use transaction::{Transaction, Turn};
pub use value::Value;
