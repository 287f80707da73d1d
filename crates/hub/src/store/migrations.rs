//! The migrations of each kind of database, which are part of the program.
//!
//! The macro of sqlx for this would compile the drivers of both databases a second time, to run inside the compiler.

use data_encoding::HEXLOWER;
use include_dir::{Dir, include_dir};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, PgConnection, SqlSafeStr as _, SqliteConnection};

use super::error::DatabaseError;

/// The migrations of SQLite: `VERSION_DESCRIPTION.sql`.
pub(super) static SQLITE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/migrations/sqlite");
/// The migrations of PostgreSQL.
pub(super) static POSTGRES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/migrations/postgres");

/// The version of the first migration. Builds before 0.1.0 made the same tables with 28 migrations, up to this version.
pub(super) const FIRST: i64 = 29;

/// Replaces the records of the 28 migrations by the record of the first one. Changes nothing in other databases.
const ADOPT: &str = "update _sqlx_migrations set description = 'schema', checksum = {checksum} where version = {first} \
     and exists (select 1 from _sqlx_migrations where version < {first}); \
     delete from _sqlx_migrations where version < {first} \
     and exists (select 1 from _sqlx_migrations where version = {first})";

/// The migrator for the migrations of a folder, in the order of their versions.
pub(super) fn migrator(folder: &'static Dir<'static>) -> Migrator {
    Migrator::with_migrations(folder.files().filter_map(migration).collect())
}

/// The migration of a file; none if its name is not that of a migration.
fn migration(file: &'static include_dir::File<'static>) -> Option<Migration> {
    let (version, description) = file.path().file_stem()?.to_str()?.split_once('_')?;
    let sql = AssertSqlSafe(file.contents_utf8()?.to_owned()).into_sql_str();
    let description = description.replace('_', " ").into();
    Some(Migration::new(version.parse().ok()?, description, MigrationType::Simple, sql, false))
}

/// Makes or upgrades the tables of an SQLite database.
///
/// # Errors
/// The database can't be written, or has the tables of another version.
pub(super) async fn migrate_sqlite(connection: &mut SqliteConnection) -> Result<(), MigrateError> {
    let migrator = migrator(&SQLITE);
    let is_known = "select exists (select 1 from sqlite_schema where name = '_sqlx_migrations')";
    if sqlx::query_scalar(is_known).fetch_one(&mut *connection).await? {
        let statements = adopting(&migrator, |checksum| format!("x'{checksum}'"));
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *connection).await?;
    }
    migrator.run(connection).await
}

/// Makes or upgrades the tables of a PostgreSQL database.
///
/// # Errors
/// The database can't be written, or has the tables of another version.
pub(super) async fn migrate_postgres(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let migrator = migrator(&POSTGRES);
    if sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null").fetch_one(&mut *connection).await? {
        // Several statements of one request are one transaction.
        let statements = adopting(&migrator, |checksum| format!(r"'\x{checksum}'::bytea"));
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *connection).await?;
    }
    migrator.run(connection).await
}

fn adopting(migrator: &Migrator, literal: impl Fn(&str) -> String) -> String {
    let checksum = migrator.iter().next().map(|first| HEXLOWER.encode(&first.checksum)).unwrap_or_default();
    ADOPT.replace("{checksum}", &literal(&checksum)).replace("{first}", &FIRST.to_string())
}

impl From<MigrateError> for DatabaseError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) => error.into(),
            MigrateError::VersionMissing(version) if version < FIRST => {
                let first = FIRST;
                let text = format!(
                    "they are of a build before 0.1.0. Start a build whose tables have version {first} once: it upgrades the database"
                );
                Self::Tables(text)
            }
            error => Self::Tables(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_migration_with_a_version_of_its_own() {
        for (folder, name) in [(&SQLITE, "sqlite"), (&POSTGRES, "postgres")] {
            let path = format!("{}/migrations/{name}", env!("CARGO_MANIFEST_DIR"));
            let files = std::fs::read_dir(path).unwrap().count();
            let mut versions: Vec<_> = migrator(folder).iter().map(|migration| migration.version).collect();
            versions.dedup();
            assert_eq!((versions.len(), versions[0]), (files, FIRST), "{name}");
        }
    }

    #[test]
    fn checksums_match_existing_databases() {
        for (folder, expected) in [
            (
                &SQLITE,
                "7085469c6d77dacd5112d6316f652b63b3b4c42b4df1e03cfc2861fd76f8b9bc135f0fe7afcb7976c294968c0b6198e2",
            ),
            (
                &POSTGRES,
                "619b12db14bc1ecd9e22b4166cb57f99467a8d4b454d6abf309617d1be645119b9be83b5b5bc9f095f9f743ad39b84b4",
            ),
        ] {
            let migrator = migrator(folder);
            let first = migrator.iter().next().unwrap();
            assert_eq!((HEXLOWER.encode(&first.checksum).as_str(), &*first.description), (expected, "schema"));
        }
    }
}
