//! The migrations of each kind of database, which are part of the program.
//!
//! The macro of sqlx for this would compile the drivers of both databases a second time, to run inside the compiler.

use include_dir::{Dir, include_dir};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr as _};

/// The migrations of SQLite: `VERSION_DESCRIPTION.sql`.
pub(super) static SQLITE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/migrations/sqlite");
/// The migrations of PostgreSQL.
pub(super) static POSTGRES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/migrations/postgres");

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
            assert_eq!(versions.len(), files, "{name}");
        }
    }

    #[test]
    fn checksums_match_existing_databases() {
        let migrator = migrator(&SQLITE);
        let first = migrator.iter().next().unwrap();
        assert_eq!((first.version, &*first.description), (1, "the hub"));
        let expected =
            "7a60b0d2bb6bd288c8db56c0fbcdf7440daed4f8023fd1da4f5ee2646cea56fba0b1034da1acb04a6cc67185f4887503";
        assert_eq!(data_encoding::HEXLOWER.encode(&first.checksum), expected);
    }
}
